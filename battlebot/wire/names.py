"""Validates the names of bots, contests, players and owners. No I/O.

Refuses names that people cannot read reliably: invisible or bidirectional control characters, letters of scripts that
are not used together, stacked accents, compatibility forms of plain characters. `arena/names/lookalikes.py` detects
different names that look alike. The rules follow Unicode (UTS 39) where a section is named.
"""

from __future__ import annotations

import unicodedata
from functools import lru_cache
from itertools import groupby

from battlebot.errors import BadName
from battlebot.storable import is_storable_key

MAX_NAME_LENGTH = 64
MAX_ACCENTS = 4  # on one letter; UTS 39, section 5.4
# letters, marks and symbols for Unicode, hence "printable", but invisible: fillers, joiners, a blank
UNSEEN = frozenset("\u034f\u115f\u1160\u17b4\u17b5\u2800\u3164\uffa0")
EMOJI_STYLE = "\ufe0f"  # selects the emoji presentation of the symbol before it
SELECTORS = (("\u180b", "\u180d"), ("\u180f", "\u180f"), ("\ufe00", "\ufe0f"), ("\U000e0100", "\U000e01ef"))
# scripts that may be mixed, as the first words of their letters' names: UTS 39, section 5.2
TOGETHER = frozenset({"LATIN", "CJK", "IDEOGRAPHIC", "HIRAGANA", "KATAKANA", "HANGUL", "BOPOMOFO"})
OF_ANY_SCRIPT = "MODIFIER"
# names are keys of what is stored: how each bot left, its strikes
UNSTORABLE = "not be a word of MongoDB's own"


def checked_name(value: object, what: str) -> str:
    """Return the name if valid: 1 to 64 visible characters in NFKC, no slash, no white space at either end, no mixture.

    `what` is the field named in the error ("bot_id", "contest"). Raises BadName.
    The rule is from the protocol page ("names are validated"); `.` and `..` are refused because names are used in URLs.
    """
    if not isinstance(value, str):
        raise BadName(f"{what} must be a string.", field=what)
    if not 1 <= len(value) <= MAX_NAME_LENGTH:
        raise BadName(f"{what} must have 1 to {MAX_NAME_LENGTH} characters.", field=what)
    fault = _fault(value)
    if fault is not None:
        raise BadName(f"{what} must {fault}.", field=what)
    return value


def checked_label(value: object, what: str) -> str:
    """Return a name that identifies nobody elsewhere if valid: 1 to 64 visible characters or blanks, not all blank.

    Looser than `checked_name`, for what original clients name: owners, players of the TCP door and of viewers' battles.
    Raises BadName.
    """
    if not isinstance(value, str) or not 1 <= len(value) <= MAX_NAME_LENGTH:
        raise BadName(f"{what} must be a string of 1 to {MAX_NAME_LENGTH} characters.", field=what)
    if hides(value) or not value.strip():
        raise BadName(f"{what} must not hold control characters or invisible ones, nor be blank.", field=what)
    if not is_storable_key(value):
        raise BadName(f"{what} must {UNSTORABLE}.", field=what)
    return value


def hides(name: str) -> bool:
    """Whether the name contains invisible, bidirectional or other control characters."""
    return not name.isprintable() or not UNSEEN.isdisjoint(name) or _shapes_nothing(name)


@lru_cache(1024)  # the same bots log in again and again
def _fault(name: str) -> str | None:
    return _unseen(name) or _unplain(name) or _mixed(name)


def _unseen(name: str) -> str | None:
    if hides(name) or "/" in name or "\\" in name:
        return "not hold control characters, invisible characters or slashes"
    if name != name.strip() or name in {".", ".."}:
        return "not begin or end with a blank, nor be a dot or two"
    if not is_storable_key(name):
        return UNSTORABLE
    return None


def _unplain(name: str) -> str | None:
    if unicodedata.normalize("NFC", name) != name:
        return "be in Unicode's normal form C"
    plain = unicodedata.normalize("NFKC", name)
    if plain != name:
        return f"be written with plain characters: {plain!r} (Unicode's normal form KC)"
    if _heaps_accents(name):
        return "not begin with an accent, nor heap accents on a letter"
    return None


def _mixed(name: str) -> str | None:
    scripts = {_script(char) for char in name if unicodedata.category(char).startswith("L")} - {OF_ANY_SCRIPT}
    if len(scripts) > 1 and not scripts <= TOGETHER:
        return f"not mix letters of {' and '.join(sorted(scripts))}"
    # the code point of a digit minus its value is the zero of its script
    if len({ord(char) - unicodedata.decimal(char) for char in name if char.isdecimal()}) > 1:
        return "not mix digits of two scripts"
    return None


def _shapes_nothing(name: str) -> bool:
    """Whether the name contains a variation selector without effect: any but EMOJI_STYLE after a symbol."""
    for before, char in zip(" " + name, name, strict=False):
        if char == EMOJI_STYLE and unicodedata.category(before) == "So":
            continue
        if any(first <= char <= last for first, last in SELECTORS):
            return True
    return False


def _heaps_accents(name: str) -> bool:
    letters = unicodedata.normalize("NFD", name.replace(EMOJI_STYLE, ""))
    if unicodedata.category(letters[0]).startswith("M"):
        return True
    for is_accent, run in groupby(letters, lambda char: unicodedata.category(char) in ("Mn", "Me")):
        accents = list(run)
        if is_accent and (len(accents) > MAX_ACCENTS or len(set(accents)) < len(accents)):
            return True
    return False


def _script(letter: str) -> str:
    """The script of a letter: the first word of its Unicode name."""
    return unicodedata.name(letter, "UNNAMED").replace("-", " ").split(" ")[0]
