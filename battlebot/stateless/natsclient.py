"""nats-py's client with a parser of our own: publishers choose most of what it reads, and must not be able to break it.

nats-py's parser takes some bytes within a subject for its end, raises at text that is not UTF-8 and at malformed
headers, after which it reads nothing any more, and parses headers that nobody looks at.
"""

from __future__ import annotations

import asyncio
from contextlib import suppress
from typing import Any

import orjson
from nats.aio.client import Client
from nats.aio.msg import Msg
from nats.errors import ProtocolError

CRLF = b"\r\n"
LONGEST_LINE = 2**20
STATUS = b"NATS/1.0 "  # three digits follow in messages of NATS itself; the headers of others have no status


class Parser:
    """Replaces nats-py's parser; splits a line at spaces only, as nats-server does."""

    def __init__(self, client: LineClient) -> None:
        self._client = client
        self.reset()

    def reset(self) -> None:
        """Forgets what it holds, as a new connection begins."""
        self._buffer = bytearray()
        self._message: list[bytes] | None = None  # the words of its line, until its payload has come

    async def parse(self, data: bytes = b"") -> None:
        """Takes bytes from nats-server. Raises ProtocolError at anything that it never sends."""
        self._buffer += data
        while self._buffer:
            done = await self._payload(self._message) if self._message else await self._line()
            if not done:
                return

    async def _line(self) -> bool:
        end = self._buffer.find(CRLF)
        if end < 0:
            if len(self._buffer) > LONGEST_LINE:
                raise ProtocolError
            return False
        line = bytes(self._buffer[:end])
        del self._buffer[: end + len(CRLF)]
        name, _, rest = line.partition(b" ")
        if name in (b"MSG", b"HMSG"):
            self._message = line.split(b" ")
        elif name == b"PING":
            await self._client._process_ping()
        elif name == b"PONG":
            await self._client._process_pong()
        elif name == b"INFO":
            await self._client._process_info(orjson.loads(rest))
        elif name == b"-ERR":
            await self._client._process_err(rest.decode(errors="replace").lower())
        elif name != b"+OK":
            raise ProtocolError
        return True

    async def _payload(self, words: list[bytes]) -> bool:
        # MSG subject sid [reply] size; HMSG subject sid [reply] size-of-headers size
        numbers = 1 if words[0] == b"MSG" else 2
        try:
            headed, size = (int(words[-2]) if numbers == 2 else 0), int(words[-1])
            sid, (reply,) = int(words[2]), words[3:-numbers] or (b"",)
        except (ValueError, IndexError):
            raise ProtocolError from None
        if len(self._buffer) < size + len(CRLF):
            return False
        headers, data = bytes(self._buffer[:headed]), bytes(self._buffer[headed:size])
        del self._buffer[: size + len(CRLF)]
        self._message = None
        await self._client._process_msg(sid, words[1], reply, data, headers)
        return True


class LineClient(Client):
    """Cuts off messages one byte after `most_bytes`, so that big ones are noticed and do not fill the memory."""

    def __init__(self, most_bytes: int) -> None:
        super().__init__()
        self._ps: Any = Parser(self)
        self._most_bytes = most_bytes

    async def _process_connect_init(self) -> None:
        # drop what is left of the previous connection
        self._ps.reset()
        await super()._process_connect_init()

    async def _process_msg(self, sid: int, subject: bytes, reply: bytes, data: bytes, headers: bytes) -> None:
        self.stats["in_msgs"] += 1
        self.stats["in_bytes"] += len(data)
        subscription = self._subs.get(sid)
        if subscription is None:
            # closed a moment ago, or sent again without its limit after the connection was lost
            if not self.is_reconnecting:
                await self._send_unsubscribe(sid)
            return
        subscription._received += 1
        if 0 < subscription._max_msgs <= subscription._received:
            self._subs.pop(sid, None)
        message = Msg(self, _text(subject), _text(reply), data[: self._most_bytes + 1], _status(headers))
        with suppress(asyncio.QueueFull):
            subscription._pending_queue.put_nowait(message)
            subscription._pending_size += len(message.data)


def _text(word: bytes) -> str:
    """Decodes a subject; one that is not UTF-8 becomes empty, so that no answer is sent to it."""
    try:
        return word.decode()
    except UnicodeDecodeError:
        return ""


def _status(headers: bytes) -> dict[str, str] | None:
    if not headers.startswith(STATUS):
        return None
    return {"Status": headers[len(STATUS) : len(STATUS) + 3].decode(errors="replace")}
