"""Which names look alike across scripts: one key per name, by Unicode's list of confusable characters (UTS 39)."""

from __future__ import annotations

import unicodedata
from functools import cache, lru_cache
from hashlib import blake2b

from confusable_homoglyphs.utils import load

from battlebot.wire.names import EMOJI_STYLE

REMEMBERED = 40_000  # names of players, some hundred bytes each: twice as many as one node has connections


def likeness(name: str) -> str:
    """Returns a key that two names share if and only if they look alike; an ASCII name is its own key.

    Within ASCII nothing is folded: `bot1` and `botl` are two names, as they are on the original server.
    """
    key, folded = "", name.replace(EMOJI_STYLE, "")
    # a character may be folded into some that are folded again
    while key != folded:
        key = folded
        folded = unicodedata.normalize("NFD", "".join(map(_folded, unicodedata.normalize("NFD", key))))
    return key


def forms(name: str) -> set[str]:
    """Returns a player's name as it is and, as bots are registered only by it, in the normal form."""
    return {name, unicodedata.normalize("NFKC", name).strip()}


def mark(name: str) -> bytes:
    """Returns a digest of the name's likeness: as short for a name of which one character looks like eighteen."""
    return blake2b(likeness(name).encode(errors="surrogatepass"), digest_size=16).digest()


@lru_cache(REMEMBERED)
def marks(name: str) -> tuple[bytes, ...]:
    """Returns the marks of the name's forms. For some names that takes milliseconds, so they are remembered."""
    return tuple(mark(form) for form in forms(name))


def _folded(char: str) -> str:
    return char if char.isascii() else _table().get(char, char)


@cache
def _table() -> dict[str, str]:
    """Returns non-ASCII character -> what stands for all that look like it. Takes 50 ms, at the first such name."""
    pairs = {char: [other["c"] for other in others] for char, others in load("confusables.json").items()}
    table = {}
    for char, others in pairs.items():
        if len(char) == 1 and not char.isascii():
            folded = _prototype(char, others, pairs)
            if folded != char:
                table[char] = _in_case(char, folded)
    return table


def _prototype(char: str, others: list[str], pairs: dict[str, list[str]]) -> str:
    """Returns the prototype. The list gives a character its prototype alone, and a prototype all its characters."""
    if len(others) != 1:
        return char
    return others[0] if others[0].isascii() or len(pairs.get(others[0], ())) > 1 else min(char, others[0])


def _in_case(char: str, folded: str) -> str:
    """Unicode folds I, l and 1 into l, 0 into O: returns the one that the character is most like."""
    kind = unicodedata.category(char)
    if folded == "l" and kind in ("Lu", "Nd"):
        return "I" if kind == "Lu" else "1"
    return "0" if folded == "O" and kind == "Nd" else folded
