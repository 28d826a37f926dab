"""The upgrade of an HTTP request to a WebSocket (RFC 6455, section 4.2). No sockets."""

from __future__ import annotations

import base64
import hashlib
import re
from collections.abc import Mapping
from typing import Any

GUID = "258EAFA5-E914-47DA-95CA-C5AB0DC85B11"
VERSION = "13"
ANSWER = "HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Accept: {}\r\n"
OFFER = {"Upgrade": "websocket", "Connection": "Upgrade"}  # what every 426 must name: RFC 9110, section 15.5.22
PORT = re.compile(r":[0-9]*\Z")
FIRST_TOKEN = re.compile(r"[ \t]*([!#$%&'*+.^_`|~0-9A-Za-z-]+)[ \t]*(?:,|\Z)")  # RFC 9110, section 5.6.2


class BadUpgrade(Exception):
    """The request is not an acceptable WebSocket upgrade; `status` and `headers` are for the HTTP response."""

    def __init__(self, status: int = 400, headers: Mapping[str, str] | None = None) -> None:
        super().__init__("This is no WebSocket upgrade.")
        self.status = status
        self.headers = dict(headers or {})


def accepted(environ: Mapping[str, Any]) -> bytes:
    """The response that accepts the upgrade request in a WSGI environment, without extensions. Raises BadUpgrade.

    The first of the subprotocols that are asked for, whichever it is, is confirmed, as the original server did: clients
    that ask for one (the example of a common library does) give up if none is.
    """
    is_get = environ.get("REQUEST_METHOD", "GET") == "GET"
    if not is_upgrade(environ) or not is_get or not _is_host(environ.get("HTTP_HOST", "")):
        raise BadUpgrade
    version = environ.get("HTTP_SEC_WEBSOCKET_VERSION")
    if version != VERSION:
        spoken = {"Sec-WebSocket-Version": VERSION}
        raise BadUpgrade(426, {**spoken, **OFFER}) if version else BadUpgrade(400, spoken)
    key = environ.get("HTTP_SEC_WEBSOCKET_KEY", "").strip()
    if not key:
        raise BadUpgrade
    # SHA-1 is required by the RFC; nothing here is secret
    digest = hashlib.sha1((key + GUID).encode("latin-1", "replace"), usedforsecurity=False).digest()
    answer = ANSWER.format(base64.b64encode(digest).decode())
    if protocol := FIRST_TOKEN.match(environ.get("HTTP_SEC_WEBSOCKET_PROTOCOL", "")):
        answer += f"Sec-WebSocket-Protocol: {protocol[1]}\r\n"
    return f"{answer}\r\n".encode()


def is_upgrade(environ: Mapping[str, Any]) -> bool:
    """Whether the request in a WSGI environment asks for a WebSocket, as Flask sees it, too."""
    tokens = environ.get("HTTP_CONNECTION", "").lower().split(",")
    return environ.get("HTTP_UPGRADE", "").lower() == "websocket" and any(one.strip() == "upgrade" for one in tokens)


def _is_host(host: str) -> bool:
    name = PORT.sub("", host)  # a label with a port may be longer than a name's
    try:
        return name.isascii() and bool(name.encode("idna"))
    except UnicodeError:
        return False
