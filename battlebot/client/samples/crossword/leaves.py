"""The value of tiles kept on the rack, in points: a rule of thumb, not a table of millions of racks."""

from __future__ import annotations

from battlebot.client.samples.crossword.tables import BLANK, RACK

KEEP = {
    **{BLANK: 24.0, "S": 8.0, "Z": 4.0, "X": 3.0, "E": 1.5, "R": 1.5, "H": 1.0, "N": 0.5, "C": 0.5, "D": 0.5, "M": 0.5},
    **{"A": 0.5, "T": 0.5, "L": 0.0, "P": 0.0, "K": -1.0, "Y": 0.0, "I": -1.0, "O": -1.5, "B": -1.0, "F": -2.0},
    **{"G": -2.0, "W": -3.0, "J": -2.0, "U": -3.5, "V": -5.5, "Q": -7.0},
}
AGAIN = -3.0  # for each duplicate of a letter
LOPSIDED = -1.5  # for each surplus vowel or consonant
VOWELS = "AEIOU"


def worth(leave: str) -> float:
    """The value of the kept tiles for later turns."""
    total = sum(KEEP[tile] for tile in leave)
    letters = leave.replace(BLANK, "")
    total += AGAIN * (len(letters) - len(set(letters)))
    if "Q" in letters and "U" in letters:
        total += 6.0
    vowels = sum(letter in VOWELS for letter in letters)
    balance = abs(2 * vowels - len(letters))
    return total + LOPSIDED * max(0, balance - 1) if len(leave) < RACK else total


def without(rack: str, tiles: str) -> str:
    """The rack minus the given tiles, all of which it holds."""
    for tile in tiles:
        rack = rack.replace(tile, "", 1)
    return rack
