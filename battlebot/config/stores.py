"""REDIS_URL and MONGODB_DATABASE examined, so that no driver fails later. MongoDB's driver examines its URI itself."""

from __future__ import annotations

import os
import re
from collections.abc import Sequence
from pathlib import Path
from urllib.parse import parse_qs, unquote, urlsplit

from battlebot.errors import SettingError

REDIS_SCHEMES = ("redis://", "rediss://", "unix://")
MONGODB_SCHEMES = ("mongodb://", "mongodb+srv://")

COUNT = (re.compile(r"0*[1-9][0-9]{0,8}"), "a whole number from 1 on")
# of a node: 16 requests at a time, three groups of turns, and its mailbox; whoever finds none free may wait too long
CONNECTIONS = (re.compile(r"0*(?:[2-9][0-9]|[1-9][0-9]{2,8})"), "a whole number from 20 on")
NUMBER = (re.compile(r"[0-9]{1,9}"), "a whole number from 0 on")
SECONDS = (re.compile(r"(?=.*[1-9])[0-9]{1,9}(?:\.[0-9]{1,9})?"), "a number of seconds above 0")
SWITCH = (re.compile(r"true|false"), "true or false")
TEXT = (re.compile(r"[^\0]+"), "a text")
# What the driver takes in each kind of its pools, and Celery takes in the same way or need not know. Others of the
# driver's would break us.
REDIS_OPTIONS = {
    "client_name": TEXT,
    "db": NUMBER,
    "health_check_interval": NUMBER,
    "max_connections": CONNECTIONS,
    "retry_on_timeout": SWITCH,
    "socket_connect_timeout": SECONDS,
    "socket_keepalive": SWITCH,
    "socket_read_size": COUNT,
    "socket_timeout": SECONDS,
    "ssl_ca_certs": TEXT,
    "ssl_ca_path": TEXT,
    "ssl_cert_reqs": (re.compile(r"none|optional|required"), "none, optional or required"),
    "ssl_certfile": TEXT,
    "ssl_check_hostname": SWITCH,
    "ssl_ciphers": TEXT,
    "ssl_keyfile": TEXT,
    "ssl_password": TEXT,
}
FILES = frozenset({"ssl_ca_certs", "ssl_certfile", "ssl_keyfile"})
LOGIN = frozenset({"username", "password"})
DATABASE = re.compile(r"(?:/[0-9]{0,9})?")
NAME_BYTES = 63
NOT_IN_NAMES = frozenset(' /\\."$')
DATABASE_NAME = f'that has at most {NAME_BYTES} bytes, no blanks, and none of / \\ . " $.'
# without / and @, which would be of a password that is not encoded
DATABASE_OF_URI = re.compile(r"mongodb(?:\+srv)?://[^/?]*/([^/@?]+)(?:\?.*)?")


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
    # a # that is not encoded may stand in a password: what follows would be left out in silence
    if not good or "#" in url or not (not parts.netloc and parts.path if local else DATABASE.fullmatch(parts.path)):
        raise SettingError(
            "REDIS_URL must have the form redis://user:password@host:6379/0, rediss://host or unix:///path?db=0; "
            "other characters than letters and digits in a password are percent-encoded."
        )
    for name, values in parse_qs(parts.query, keep_blank_values=True).items():
        _check_option(parts.scheme, name, values)


def _check_option(scheme: str, name: str, values: Sequence[str]) -> None:
    if name in LOGIN:
        raise SettingError(
            f"REDIS_URL must not have the option {name}, which Celery does not read: "
            "user and password stand before the options, as in redis://user:password@host:6379/0."
        )
    if name not in REDIS_OPTIONS:
        # after a ? that is not encoded, it may be the end of a password
        raise SettingError(f"REDIS_URL has an option that is none of {', '.join(REDIS_OPTIONS)}.")
    if name.startswith("ssl_") and scheme != "rediss":
        raise SettingError(f"REDIS_URL has the option {name}, which goes with rediss:// only.")
    if name == "socket_keepalive" and scheme == "unix":
        raise SettingError(f"REDIS_URL has the option {name}, which goes with redis:// and rediss:// only.")
    pattern, must = REDIS_OPTIONS[name]
    if not all(pattern.fullmatch(value) for value in values):
        raise SettingError(f"REDIS_URL's option {name} must be {must}.")
    if name in FILES and not all(_is_readable(value) for value in values):
        raise SettingError(f"REDIS_URL's option {name} must name a file that can be read.")


def check_mongodb(uri: str, database: str) -> None:
    """Raises SettingError, which does not repeat the URI."""
    if uri:
        _check_begin("MONGODB_URI", uri, MONGODB_SCHEMES)
        if any(character.isspace() for character in uri):
            raise SettingError("MONGODB_URI must not have blanks; in a password they are percent-encoded.")
        # the driver would take what follows a dot for a collection, and leave it out in silence
        if (named := DATABASE_OF_URI.fullmatch(uri)) and not _is_database(unquote(named[1])):
            raise SettingError(f"MONGODB_URI names what is no name of a database: {DATABASE_NAME}")
    if not _is_database(database):
        raise SettingError(f"MONGODB_DATABASE={database!r} is no name of a database: {DATABASE_NAME}")


def _is_database(name: str) -> bool:
    return name.isprintable() and not NOT_IN_NAMES & set(name) and len(name.encode()) <= NAME_BYTES


def _check_begin(variable: str, url: str, schemes: tuple[str, ...]) -> None:
    if not url.startswith(schemes):
        raise SettingError(f"{variable} must begin with {' or '.join(schemes)}.")


def _is_readable(path: str) -> bool:
    return os.access(path, os.R_OK) and not Path(path).is_dir()
