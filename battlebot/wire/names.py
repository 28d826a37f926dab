"""What a name of a bot, an owner or a contest may look like. No I/O.

A name is refused where a person could not see what it is: characters that show nothing or turn the text around, letters
of scripts that are not written together, heaps of accents, other ways to write plain characters. Two names that look
alike all the same are found out in `arena/lookalikes.py`. The rules are Unicode's (UTS 39), as far as named here.
"""

from __future__ import annotations

import unicodedata
from itertools import groupby

from battlebot.errors import BadName

MAX_NAME_LENGTH = 64
MAX_ACCENTS = 4  # on one letter; UTS 39, section 5.4
# letters and marks for Unicode, and so "printable", but nothing is to be seen of them: fillers, joiners, a blank
UNSEEN = frozenset("\u034f\u115f\u1160\u17b4\u17b5\u2800\u3164\uffa0")
EMOJI_STYLE = "\ufe0f"  # asks for the colourful form of the symbol before it
SELECTORS = (("\u180b", "\u180d"), ("\u180f", "\u180f"), ("\ufe00", "\ufe0f"), ("\U000e0100", "\U000e01ef"))
# the first words of letters' names that stand for scripts written together, with Latin too: UTS 39, section 5.2
TOGETHER = frozenset({"LATIN", "CJK", "IDEOGRAPHIC", "HIRAGANA", "KATAKANA", "HANGUL", "BOPOMOFO"})
OF_ANY_SCRIPT = "MODIFIER"


def checked_name(value: object, what: str) -> str:
    """The name, if it is one: 1 to 64 characters to be seen and told apart, no slash, no blank at either end, NFKC.

    `what` says in the error which name it is ("bot_id", "contest"). Raises BadName.
    The rule is the protocol page's ("names are validated"); `.` and `..` are refused because they stand in URLs.
    """
    if not isinstance(value, str):
        raise BadName(f"{what} must be a string.", field=what)
    if not 1 <= len(value) <= MAX_NAME_LENGTH:
        raise BadName(f"{what} must have 1 to {MAX_NAME_LENGTH} characters.", field=what)
    fault = _unseen(value) or _unplain(value) or _mixed(value)
    if fault is not None:
        raise BadName(f"{what} must {fault}.", field=what)
    return value


def hides(name: str) -> bool:
    """Whether there is something in the name that cannot be seen, or turns the text around: control characters too."""
    return not name.isprintable() or not UNSEEN.isdisjoint(name) or _shapes_nothing(name)


def _unseen(name: str) -> str | None:
    if hides(name) or "/" in name or "\\" in name:
        return "not hold control characters, invisible characters or slashes"
    if name != name.strip() or name in {".", ".."}:
        return "not begin or end with a blank, nor be a dot or two"
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
    # a decimal digit less its value is the zero of its script
    if len({ord(char) - unicodedata.decimal(char) for char in name if char.isdecimal()}) > 1:
        return "not mix digits of two scripts"
    return None


def _shapes_nothing(name: str) -> bool:
    """Whether there is a variation selector in it where there is no symbol to be shown otherwise."""
    for before, char in zip(" " + name, name, strict=False):
        if char == EMOJI_STYLE and unicodedata.category(before) == "So":
            continue
        if (
            "\ufe00" <= char <= EMOJI_STYLE
            or "\U000e0100" <= char <= "\U000e01ef"
            or char in "\u180b\u180c\u180d\u180f"
        ):
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
    """The script of a letter, as the first word of the character's name has it."""
    return unicodedata.name(letter, "UNNAMED").replace("-", " ").split(" ")[0]
