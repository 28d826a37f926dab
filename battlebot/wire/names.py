"""What a name of a bot, an owner or a contest may look like. No I/O."""

from __future__ import annotations

import unicodedata

from battlebot.errors import BadName

MAX_NAME_LENGTH = 64
# letters and marks for Unicode, and so "printable", but nothing is to be seen of them: fillers, joiners, a blank
UNSEEN = frozenset("\u034f\u115f\u1160\u17b4\u17b5\u2800\u3164\uffa0")


def checked_name(value: object, what: str) -> str:
    """The name, if it is one: 1 to 64 printable characters, no slash, no blank at either end, in NFC form.

    `what` says in the error which name it is ("bot_id", "contest"). Raises BadName.
    The rule is the protocol page's ("names are validated"); `.` and `..` are refused because they stand in URLs.
    """
    if not isinstance(value, str):
        raise BadName(f"{what} must be a string.", field=what)
    if not 1 <= len(value) <= MAX_NAME_LENGTH:
        raise BadName(f"{what} must have 1 to {MAX_NAME_LENGTH} characters.", field=what)
    if not value.isprintable() or not UNSEEN.isdisjoint(value) or "/" in value or "\\" in value:
        raise BadName(f"{what} must not hold control characters, invisible characters or slashes.", field=what)
    if value != value.strip() or value in {".", ".."}:
        raise BadName(f"{what} must not begin or end with a blank, nor be a dot or two.", field=what)
    if unicodedata.normalize("NFC", value) != value:
        raise BadName(f"{what} must be in Unicode's normal form C.", field=what)
    return value
