"""Parses addresses `http(s)://host:port/path` strictly: refuses what two parsers could read differently."""

from __future__ import annotations

import ipaddress
import re
from contextlib import suppress
from functools import lru_cache
from typing import NamedTuple
from urllib.parse import urlsplit

from battlebot.errors import BadAddress

LONGEST = 2048
PORTS = {"http": 80, "https": 443}
FORM = re.compile(r"[\x21-\x5b\x5d-\x7e]+")  # visible ASCII, without the backslash
NETLOC = re.compile(r"(?:\[([^\[\]]+)\]|([^\[\]:]*))(?::([1-9][0-9]{0,4}))?")  # [IPv6] or another host, and a port
LABEL = re.compile(r"[a-z0-9_]([a-z0-9_-]{0,61}[a-z0-9_])?")
HIGHEST_PORT = 65_535
LOWEST_PORT = 1024  # below, only HTTP's own ports are allowed: other protocols listen there
# ports of protocols that might take a line of HTTP for one of their own (the Fetch standard's list, and databases)
BAD_PORTS = frozenset(
    (
        *(1719, 1720, 1723, 2049, 3659, 4045, 4190, 5060, 5061, 6000, 6566, *range(6665, 6670), 6679, 6697, 10080),
        *(3306, 5432, 6379, 9042, 9200, 9300, 11211, 27017),
    )
)


class Location(NamedTuple):
    """Where an HTTP bot is: `host` is resolved, `name` goes into the Host header, `target` into the request line."""

    tls: bool
    host: str
    port: int
    name: str
    target: str


@lru_cache(maxsize=4096)
def location_of(address: str) -> Location:
    """Parses an address. Raises BadAddress, saying what is wrong with it."""
    if len(address) > LONGEST or not FORM.fullmatch(address):
        raise _bad(f"it must have at most {LONGEST} characters, of ASCII, without blanks and backslashes")
    try:
        parts = urlsplit(address)
    except ValueError:
        raise _bad("its host or port cannot be read") from None
    scheme = parts.scheme.lower()
    if scheme not in PORTS:
        raise _bad("it must begin with http:// or https://")
    if "@" in parts.netloc:
        raise _bad("it must hold no user and no password")
    if "#" in address:
        raise _bad("it must hold no #fragment")
    found = NETLOC.fullmatch(parts.netloc)
    if found is None:
        raise _bad("its host or port is not in its usual form")
    literal, host, digits = found.groups()
    host, shown = _host(host) if literal is None else _literal(literal)
    port = int(digits or PORTS[scheme])
    if port not in PORTS.values() and (not LOWEST_PORT <= port <= HIGHEST_PORT or port in BAD_PORTS):
        raise _bad(f"the port {port} is not one for HTTP")
    name = shown if port == PORTS[scheme] else f"{shown}:{port}"
    target = (parts.path or "/") + (f"?{parts.query}" if parts.query else "")
    return Location(scheme == "https", host, port, name, target)


def _literal(host: str) -> tuple[str, str]:
    """An IPv6 address from between brackets: as it is connected to, and as the bot sees it."""
    if "%" in host:
        raise _bad("it must hold no zone of an IPv6 address")
    try:
        ipaddress.IPv6Address(host)
    except ValueError:
        raise _bad("what stands in brackets must be an IPv6 address") from None
    return host.lower(), f"[{host.lower()}]"


def _host(host: str) -> tuple[str, str]:
    """A name or an IPv4 address: as it is resolved, and as the bot sees it."""
    host = host.removesuffix(".").lower()
    with suppress(ValueError):
        ipaddress.IPv4Address(host)
        return host, host
    labels = host.split(".")
    if len(host) > 253 or not all(LABEL.fullmatch(label) for label in labels):
        raise _bad("it has no host that is a name or an address")
    if labels[-1].isdigit() or labels[-1].startswith("0x"):
        # an IPv4 address in one of the old forms: decimal, octal, hexadecimal, short (WHATWG's URL, "ends in a number")
        raise _bad("its host must be a name, or an IP address in its usual form")
    return host, host


def _bad(sentence: str) -> BadAddress:
    return BadAddress(f"This url cannot be used: {sentence}.", field="url")
