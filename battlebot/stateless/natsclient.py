"""nats-py's client, but for what it reads: whoever may publish chooses most of that, and is not to break it.

Its own parser takes some bytes of a subject for the end of the word, raises at texts that are no UTF-8 and at headers
that are none, upon which nothing is read any more, and takes apart headers that nobody looks at.
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
STATUS = b"NATS/1.0 "  # what NATS itself says, in three digits: the headers of others have no status


class Parser:
    """Takes the place of nats-py's: a line is parted at blanks alone, as nats-server parts it."""

    def __init__(self, client: LineClient) -> None:
        self._client = client
        self.reset()

    def reset(self) -> None:
        """Another connection begins."""
        self._buffer = bytearray()
        self._message: list[bytes] | None = None  # the words of its line

    async def parse(self, data: bytes = b"") -> None:
        """Takes what came from nats-server. Raises ProtocolError at what it never sends."""
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
    """`most_bytes`: messages are cut off behind as many and one more, so that few that are too big fill no memory."""

    def __init__(self, most_bytes: int) -> None:
        super().__init__()
        self._ps: Any = Parser(self)
        self._most_bytes = most_bytes

    async def _process_connect_init(self) -> None:
        # nothing of the connection before is in the way of this one
        self._ps.reset()
        await super()._process_connect_init()

    async def _process_msg(self, sid: int, subject: bytes, reply: bytes, data: bytes, headers: bytes) -> None:
        self.stats["in_msgs"] += 1
        self.stats["in_bytes"] += len(data)
        subscription = self._subs.get(sid)
        if subscription is None:
            # closed a moment ago; or of a connection that was lost, and sent again without its end
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
    """What is no text is nobody's subject: an answer goes nowhere."""
    try:
        return word.decode()
    except UnicodeDecodeError:
        return ""


def _status(headers: bytes) -> dict[str, str] | None:
    if not headers.startswith(STATUS):
        return None
    return {"Status": headers[len(STATUS) : len(STATUS) + 3].decode(errors="replace")}
