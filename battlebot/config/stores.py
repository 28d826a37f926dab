"""REDIS_URL and MONGODB_DATABASE examined, so that no driver fails later. MongoDB's driver examines its URI itself."""

from __future__ import annotations

import re
from urllib.parse import parse_qs, urlsplit

from battlebot.errors import SettingError

REDIS_SCHEMES = ("redis://", "rediss://", "unix://")
MONGODB_SCHEMES = ("mongodb://", "mongodb+srv://")
LOGIN = frozenset({"username", "password"})
DATABASE = re.compile(r"(?:/[0-9]*)?")
NAME_BYTES = 63
NOT_IN_NAMES = frozenset(' /\\."$')


def check_redis_url(url: str) -> None:
    """Raises SettingError, which does not repeat it, unless the nodes and Celery, which reads less of it, take it."""
    _check_begin("REDIS_URL", url, REDIS_SCHEMES)
    local = url.startswith("unix://")
    try:
        parts = urlsplit(url)
        # the property raises for a port that is no number, as what follows a / in a password is none
        good = parts.port != 0 and not any(character.isspace() for character in parts.netloc)
    except ValueError:
        good = False
    if not good or (parts.netloc if local else not DATABASE.fullmatch(parts.path)):
        raise SettingError(
            "REDIS_URL must have the form redis://user:password@host:6379/0, rediss://host or unix:///path?db=0; "
            "other characters than letters and digits in a password are percent-encoded."
        )
    for name in parse_qs(parts.query, keep_blank_values=True):
        if name in LOGIN:
            raise SettingError(
                f"REDIS_URL must not have the option {name}, which Celery does not read: "
                "user and password stand before the options, as in redis://user:password@host:6379/0."
            )


def check_mongodb(uri: str, database: str) -> None:
    """Raises SettingError, which does not repeat the URI."""
    if uri:
        _check_begin("MONGODB_URI", uri, MONGODB_SCHEMES)
        if any(character.isspace() for character in uri):
            raise SettingError("MONGODB_URI must not have blanks; in a password they are percent-encoded.")
    if not database.isprintable() or NOT_IN_NAMES & set(database) or len(database.encode()) > NAME_BYTES:
        raise SettingError(
            f"MONGODB_DATABASE={database!r} is no name of a database: "
            f'that has at most {NAME_BYTES} bytes, no blanks, and none of / \\ . " $.'
        )


def _check_begin(variable: str, url: str, schemes: tuple[str, ...]) -> None:
    if not url.startswith(schemes):
        raise SettingError(f"{variable} must begin with {' or '.join(schemes)}.")
