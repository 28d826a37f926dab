"""A bot at the level of frames, on a raw socket, that keeps to no rules: it can do what no WebSocket library would."""

from __future__ import annotations

import hashlib
import json
import os
import socket
import struct
import time
from itertools import cycle
from typing import Any

LIMIT_S = 20.0  # for anything that a peer waits for
TEXT, BINARY, CLOSE, PING, PONG = 0x1, 0x2, 0x8, 0x9, 0xA
CONTINUED = 0x0
MASK = b"\x4d\x61\x73\x6b"
UPGRADE = (
    "GET {path} HTTP/1.1\r\nHost: {host}\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
    "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\nSec-WebSocket-Version: 13\r\n\r\n"
)

Message = dict[str, Any]


class Closed(Exception):
    """The server closed: with a close frame (`code`, `reason`), or without one (`code` None)."""

    def __init__(self, code: int | None, reason: str = "") -> None:
        super().__init__(f"closed with {code} {reason}")
        self.code = code
        self.reason = reason

    @property
    def slug(self) -> str:
        """Returns the reason up to its colon."""
        return self.reason.partition(":")[0]


def frame(opcode: int, payload: bytes, fin: bool = True) -> bytes:
    """A client's frame, masked."""
    size = len(payload)
    if size < 126:
        length = bytes([0x80 | size])
    elif size < 2**16:
        length = b"\xfe" + size.to_bytes(2)
    else:
        length = b"\xff" + size.to_bytes(8)
    masked = bytes(byte ^ mask for byte, mask in zip(payload, cycle(MASK), strict=False))
    return bytes([opcode | (0x80 if fin else 0)]) + length + MASK + masked


class Peer:
    """One raw WebSocket connection. `pongs` counts the pongs seen; pings are answered unless `mute`."""

    def __init__(self, address: str, path: str = "/", receive_buffer: int | None = None) -> None:
        host, _, port = address.partition(":")
        self.bot = ""
        self.mute = False
        self.pongs: list[bytes] = []
        self._data = b""
        self._ended: Closed | None = None
        self.sock = socket.socket()
        if receive_buffer is not None:
            self.sock.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, receive_buffer)
        self.sock.settimeout(LIMIT_S)
        self.sock.connect((host, int(port)))
        self.sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self.sock.sendall(UPGRADE.format(path=path, host=address).encode())
        head = self._until(b"\r\n\r\n")
        assert head.startswith(b"HTTP/1.1 101 "), head

    def send(self, message: Any) -> None:
        """Sends a text frame: a str unchanged, anything else as JSON."""
        text = message if isinstance(message, str) else json.dumps(message)
        self.frame(TEXT, text.encode())

    def frame(self, opcode: int, payload: bytes = b"", fin: bool = True) -> None:
        """Sends one frame of any kind."""
        self.raw(frame(opcode, payload, fin))

    def raw(self, data: bytes) -> None:
        """Sends bytes unchanged."""
        self.sock.sendall(data)

    def message(self, limit_s: float = LIMIT_S) -> Message:
        """Returns the next message, decoded. Raises Closed when there is none any more."""
        while True:
            opcode, payload = self.any_frame(limit_s)
            if opcode == TEXT:
                return json.loads(payload)

    def update(self, limit_s: float = LIMIT_S) -> Message:
        """Returns the next message, which must be an update: original clients index `state` in all of them."""
        message = self.message(limit_s)
        assert "state" in message, message
        return message

    def final(self) -> Message:
        """Reads updates up to the last one of the match, and returns it."""
        while not (update := self.update())["state"]["complete"]:
            pass
        return update

    def any_frame(self, limit_s: float = LIMIT_S) -> tuple[int, bytes]:
        """Returns the next frame but a ping, a pong or a close. Raises Closed, and TimeoutError after `limit_s`."""
        until_s = time.monotonic() + limit_s
        while True:
            opcode, payload = self._frame(until_s)
            if opcode == PING and not self.mute:
                self.frame(PONG, payload)
            elif opcode == PONG:
                self.pongs.append(payload)
            elif opcode == CLOSE:
                code = struct.unpack("!H", payload[:2])[0] if payload else 1005
                self._ended = Closed(code, payload[2:].decode())
                raise self._ended
            elif opcode != PING:
                return opcode, payload

    def unanswered_ping(self) -> None:
        """Reads a ping, which must come next, and does not answer it."""
        opcode, payload = self._frame(time.monotonic() + LIMIT_S)
        assert opcode == PING, payload

    def closed(self) -> Closed:
        """Reads on to the end of the connection, whatever comes, and returns how it ended."""
        while self._ended is None:
            try:
                self.any_frame()
            except Closed as closed:
                return closed
        return self._ended

    def nothing_more(self) -> bool:
        """Returns whether the server only ends the connection, sending nothing, once its close frame is answered."""
        if self._ended is not None and self._ended.code is not None:
            self.frame(CLOSE, struct.pack("!H", 1000))
        try:
            return not self._data and not self.sock.recv(1)
        except ConnectionError:
            return True

    def close(self, code: int = 1000) -> None:
        """Closes the connection cleanly."""
        try:
            self.frame(CLOSE, struct.pack("!H", code))
            self.closed()
        except (OSError, TimeoutError):
            pass
        self.sock.close()

    def reset(self) -> None:
        """Ends the connection like a broken network or a killed process: with a RST, without a close frame."""
        self.sock.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        self.sock.close()

    def log_in(self, auth: dict[str, str], **more: Any) -> Message:
        """Reads the salt, sends the login with the keys in `more`, and returns the reply."""
        salt = self.message()["salt"]
        self.bot = auth["bot_id"]
        self.send({**login_for(auth, salt), **more})
        return self.message()

    def _until(self, mark: bytes) -> bytes:
        while mark not in self._data:
            self._more(time.monotonic() + LIMIT_S)
        head, _, self._data = self._data.partition(mark)
        return head

    def _more(self, until_s: float) -> None:
        self.sock.settimeout(max(0.001, until_s - time.monotonic()))
        try:
            data = self.sock.recv(65536)
        except ConnectionError:
            data = b""
        if not data:
            self._ended = Closed(None)
            raise self._ended
        self._data += data

    def _frame(self, until_s: float) -> tuple[int, bytes]:
        while True:
            parsed = _parsed(self._data)
            if parsed is not None:
                opcode, payload, self._data = parsed
                return opcode, payload
            self._more(until_s)


def login_for(auth: dict[str, str], salt: str) -> Message:
    """Returns the original login."""
    hashed = hashlib.sha256((auth["pass_hash"] + salt).encode()).hexdigest()
    return {"game": auth["game"], "bot_id": auth["bot_id"], "login_hash": hashed}


def _parsed(data: bytes) -> tuple[int, bytes, bytes] | None:
    if len(data) < 2:
        return None
    size, at = data[1] & 0x7F, 2
    if size >= 126:
        width = 2 if size == 126 else 8
        if len(data) < 2 + width:
            return None
        size, at = int.from_bytes(data[2 : 2 + width]), 2 + width
    if len(data) < at + size:
        return None
    return data[0] & 0x0F, data[at : at + size], data[at + size :]


def new_name(stem: str = "bot") -> str:
    """Returns a name that no other test uses."""
    return f"{stem}-{os.urandom(5).hex()}"
