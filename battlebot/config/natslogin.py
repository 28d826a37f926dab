"""NATS_URL taken apart: the server, and as whom this process connects. nats-py decodes nothing in a URL.

It also keeps the credentials of a URL to that server: at the others of its cluster it would have none.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field

from battlebot.errors import SettingError

SCHEMES = ("nats", "tls")
# what stands behind the credentials; an IPv6 address has brackets
PLACE = re.compile(r"(?P<host>\[[0-9A-Fa-f:.]+\]|[^\s:/?#@,\[\]]+)(?::(?P<port>[0-9]{1,5}))?/?")
ENCODED = re.compile(rb"%([0-9A-Fa-f]{2})")
PORT = 4222


@dataclass(frozen=True)
class NatsLogin:
    """`server`: its URL without credentials. `credentials`: `user` and `password`, or `token`, or nothing."""

    server: str
    credentials: dict[str, str] = field(repr=False)


def nats_login(url: str) -> NatsLogin:
    """Takes a NATS_URL apart. Raises SettingError, which does not repeat it: it may hold a password."""
    scheme, found, rest = url.partition("://")
    if not found:
        scheme, rest = SCHEMES[0], url
    login, _, place = rest.rpartition("@")
    match = PLACE.fullmatch(place)
    # a second address in a list would be taken for a part of the password
    listed = "://" in login or ("@" in login and "," in login)
    if scheme not in SCHEMES or match is None or listed or not 0 < int(match["port"] or PORT) < 2**16:
        raise SettingError(
            "NATS_URL must name one server, as nats://user:password@host:4222 and tls://host do; "
            "a comma or :// in a password is percent-encoded."
        )
    return NatsLogin(f"{scheme}://{match['host']}:{match['port'] or PORT}", _credentials(login))


def _credentials(login: str) -> dict[str, str]:
    user, colon, password = login.partition(":")
    if colon:
        return {"user": _decoded(user), "password": _decoded(password)}
    return {"token": _decoded(user)} if user else {}


def _decoded(text: str) -> str:
    octets = ENCODED.sub(lambda found: bytes.fromhex(found[1].decode()), text.encode())
    try:
        return octets.decode()
    except UnicodeDecodeError:
        pass
    # outside of the handler: the error that led to it would repeat the text
    raise SettingError("NATS_URL: user and password must be UTF-8 when percent-decoded.")
