"""Turns the `host` given by an author into the URLs of the WebSocket and REST doors, and what opens the latter."""

from __future__ import annotations

import ipaddress
import ssl
import urllib.request
from dataclasses import dataclass
from typing import Any
from urllib.parse import quote, urlsplit

from battlebot.client.errors import BadAddress

_SECURE = {"http": False, "ws": False, "https": True, "wss": True}


@dataclass(frozen=True)
class Address:
    """A server's address: `netloc` is `name` or `name:port`; `path` is "" or the prefix that a proxy adds."""

    netloc: str
    secure: bool
    local: bool
    path: str = ""

    @property
    def websocket_url(self) -> str:
        """The URL of the WebSocket door."""
        return f"{'wss' if self.secure else 'ws'}://{self.netloc}{self.path}/ws"

    def rest_url(self, *parts: str) -> str:
        """A REST URL below the server's root; each part is escaped."""
        tail = "/".join(quote(part, safe="") for part in parts)
        return f"{'https' if self.secure else 'http'}://{self.netloc}{self.path}/{tail}"

    def opener(self, tls: ssl.SSLContext | None = None) -> urllib.request.OpenerDirector:
        """What sends requests to the REST door; answers other than success raise HTTPError, also redirects."""
        # a proxy from the environment cannot reach this machine's loopback
        proxies = [urllib.request.ProxyHandler({})] if self.local else []
        return urllib.request.build_opener(_NoRedirect, urllib.request.HTTPSHandler(context=tls), *proxies)


def parse_address(host: str) -> Address:
    """Read `localhost:3000`, `bots.example.org`, or a URL that begins with http, https, ws or wss.

    Without a scheme, loopback hosts are reached in plain text and all others over TLS. Raises BadAddress.
    """
    text = host.strip()
    scheme, marker, _ = text.partition("://")
    try:
        url = urlsplit(text if marker else f"//{text}")
        name, _ = url.hostname, url.port  # a port that is not a number raises only when it is read
    except ValueError as error:
        raise BadAddress(f"{host!r} is not an address: {error}.") from None
    if marker and scheme.lower() not in _SECURE:
        raise BadAddress(f"{host!r} begins with {scheme}://, not with http, https, ws or wss.")
    if not name or "@" in url.netloc or url.query or url.fragment or any(c.isspace() for c in text):
        raise BadAddress(f"{host!r} is not an address like localhost:3000 or https://bots.example.org.")
    local = _is_loopback(name)
    if not is_host_name(name):
        raise BadAddress(f"{host!r} is not an address: a name has labels of 1 to 63 characters, with a dot between.")
    path = url.path.rstrip("/").removesuffix("/ws")
    return Address(url.netloc, _SECURE[scheme.lower()] if marker else not local, local, path)


def is_host_name(name: str) -> bool:
    """Whether it can be looked up: Python raises UnicodeError, and no OSError, on looking up anything else."""
    try:
        name.encode("idna")
    except UnicodeError:
        return False
    return True


def _is_loopback(name: str) -> bool:
    try:
        return ipaddress.ip_address(name).is_loopback
    except ValueError:
        return name == "localhost" or name.endswith(".localhost")


class _NoRedirect(urllib.request.HTTPRedirectHandler):
    """Turns redirects into errors: a POST would become a GET, and a token be sent to another server."""

    def redirect_request(self, *_args: Any, **_kwargs: Any) -> None:
        """Return None: do not follow."""
