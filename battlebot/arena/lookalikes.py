"""Which names look alike across scripts: Unicode's list of confusable characters (UTS 39), folded to one key a name."""

from __future__ import annotations

import unicodedata
from functools import cache

from confusable_homoglyphs.utils import load

from battlebot.wire.names import EMOJI_STYLE


def likeness(name: str) -> str:
    """A key that two names share if and only if they look alike; that of an ASCII name is the name itself.

    Within ASCII nothing is folded: `bot1` and `botl` are two names, as they are on the original server.
    """
    key, folded = "", name.replace(EMOJI_STYLE, "")
    # what a character is folded into may hold one that is folded again
    while key != folded:
        key = folded
        folded = unicodedata.normalize("NFD", "".join(map(_folded, unicodedata.normalize("NFD", key))))
    return key


def _folded(char: str) -> str:
    return char if char.isascii() else _table().get(char, char)


@cache
def _table() -> dict[str, str]:
    """Each character that is not ASCII -> what stands for all that look like it. 50 ms; needed to register only."""
    pairs = {char: [other["c"] for other in others] for char, others in load("confusables.json").items()}
    table = {}
    for char, others in pairs.items():
        if len(char) == 1 and not char.isascii():
            folded = _prototype(char, others, pairs)
            if folded != char:
                table[char] = _in_case(char, folded)
    return table


def _prototype(char: str, others: list[str], pairs: dict[str, list[str]]) -> str:
    """A character has one other in the list, its prototype; a prototype has all those whose it is."""
    if len(others) != 1:
        return char
    return others[0] if others[0].isascii() or len(pairs.get(others[0], ())) > 1 else min(char, others[0])


def _in_case(char: str, folded: str) -> str:
    """Unicode folds I, l and 1 into l, 0 into O: of these, the one that the character is most like."""
    kind = unicodedata.category(char)
    if folded == "l" and kind in ("Lu", "Nd"):
        return "I" if kind == "Lu" else "1"
    return "0" if folded == "O" and kind == "Nd" else folded
