"""nats-py's client with a parser of our own, for one connection: whatever happens to it, it ends, and says so.

Publishers choose most of what is read, and must not be able to break it. nats-py's parser takes some bytes within a
subject for its end, raises at text that is not UTF-8 and at malformed headers, after which it reads nothing any more,
and parses headers that nobody looks at. Its reconnecting stops for good at errors that it does not expect, and waits
for ever where the network takes nothing any more.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from contextlib import suppress
from typing import Any

import orjson
from nats.aio.client import Client, Srv
from nats.aio.msg import Msg
from nats.aio.subscription import Subscription
from nats.errors import Error, ProtocolError

CRLF = b"\r\n"
LONGEST_LINE = 2**20
FLUSH_S = 1.0  # how long a publisher waits where the network takes nothing
REFUSAL = "permissions violation"  # the one error after which nats-server keeps the connection
STATUS = b"NATS/1.0 "  # three digits follow in messages of NATS itself; the headers of others have no status


class Parser:
    """Replaces nats-py's parser; splits a line at spaces only, as nats-server does."""

    def __init__(self, client: NatsClient) -> None:
        self._client = client
        self.reset()

    def reset(self) -> None:
        """Forgets what it holds, as a new connection begins."""
        self._buffer = bytearray()
        self._message: list[bytes] | None = None  # the words of its line, until its payload has come

    async def parse(self, data: bytes = b"") -> None:
        """Takes bytes from nats-server. Raises ProtocolError, and nothing else, at anything that it never sends."""
        self._buffer += data
        try:
            while self._buffer:
                done = await self._payload(self._message) if self._message else await self._line()
                if not done:
                    return
        except (ValueError, TypeError, LookupError, AttributeError) as error:
            raise ProtocolError from error

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
            await self._client._process_err(rest.decode(errors="replace"))
        elif name != b"+OK":
            raise ProtocolError
        return True

    async def _payload(self, words: list[bytes]) -> bool:
        # MSG subject sid [reply] size; HMSG subject sid [reply] size-of-headers size
        numbers = 1 if words[0] == b"MSG" else 2
        headed, size = (int(words[-2]) if numbers == 2 else 0), int(words[-1])
        sid, (reply,) = int(words[2]), words[3:-numbers] or (b"",)
        if not 0 <= headed <= size:
            raise ProtocolError
        if len(self._buffer) < size + len(CRLF):
            return False
        headers, data = bytes(self._buffer[:headed]), bytes(self._buffer[headed:size])
        del self._buffer[: size + len(CRLF)]
        self._message = None
        await self._client._process_msg(sid, words[1], reply, data, headers)
        return True


class NatsClient(Client):
    """One connection, which is over for good, and at once, when anything goes wrong with it: `ended` is set then.

    Cuts off messages one byte after `most_bytes`, so that big ones are noticed and do not fill the memory. `servers`
    are those of the cluster that are known, as nats-py keeps them; it adds those that it learns of. `refused` takes
    NATS's sentence when this user may not publish, or subscribe, to a subject.
    """

    def __init__(self, most_bytes: int, servers: list[Srv], refused: Callable[[str], None]) -> None:
        super().__init__()
        self._ps: Any = Parser(self)
        self._most_bytes = most_bytes
        self._server_pool = servers
        self._refused = refused
        self.ended = asyncio.Event()

    async def open(self, url: str, **options: Any) -> None:
        """Connects to `url`, or to the next server that is known. Raises Error, OSError, TimeoutError."""
        servers: Any = [] if self._server_pool else url
        once: dict[str, Any] = {"allow_reconnect": False, "max_reconnect_attempts": -1, "dont_randomize": True}
        await self.connect(servers, flush_timeout=FLUSH_S, **once, **options)

    def drop(self) -> None:
        """Ends the connection without waiting for what is unsent; what has been received can still be read."""
        if self.ended.is_set():
            return
        self.ended.set()
        self._status = Client.CLOSED
        for task in (self._reading_task, self._ping_interval_task, self._flusher_task):
            if task is not None and task is not asyncio.current_task():
                task.cancel()
        writer = getattr(self._transport, "_io_writer", None)
        if writer is not None:
            writer.transport.abort()
        for subscription in self._subs.values():
            messages: asyncio.Queue[Any] = subscription._pending_queue
            with suppress(asyncio.QueueFull):
                messages.put_nowait(None)
        self._subs.clear()

    async def close(self) -> None:
        """Drops the connection."""
        self.drop()

    def _connect_command(self) -> bytes:
        # nats-py would send the credentials in plain text. The SDK has the same: it imports nothing of the server
        asked = self._current_server is not None and self._current_server.uri.scheme == "tls"
        if asked and not self._server_info.get("tls_required"):
            raise Error("nats: NATS_URL asks for TLS, and NATS has none")
        return super()._connect_command()

    async def _process_connect_init(self) -> None:
        try:
            await super()._process_connect_init()
        except (ValueError, TypeError, LookupError, AttributeError) as error:
            raise ProtocolError from error
        if not self.is_connected or self._reading_task is None:
            # neither PONG nor an error has come
            raise ProtocolError
        # nats-py only logs errors that it does not expect, and reads on no more
        self._reading_task.add_done_callback(lambda task: self.drop())

    async def _process_op_err(self, e: Exception) -> None:
        self._err = e
        self.drop()

    async def _process_err(self, err_msg: str) -> None:
        sentence = err_msg.strip("'")
        self._err = Error(f"nats: {sentence}")
        await self._error_cb(self._err)
        if sentence.lower().startswith(REFUSAL):
            self._refused(sentence)
        else:
            self.drop()

    async def _process_msg(self, sid: int, subject: bytes, reply: bytes, data: bytes, headers: bytes) -> None:
        self.stats["in_msgs"] += 1
        self.stats["in_bytes"] += len(data)
        subscription = self._subs.get(sid)
        if subscription is None:
            # closed a moment ago
            await self._send_unsubscribe(sid)
            return
        subscription._received += 1
        if 0 < subscription._max_msgs <= subscription._received:
            self._subs.pop(sid, None)
        message = Msg(self, _text(subject), _text(reply), data[: self._most_bytes + 1], _status(headers))
        with suppress(asyncio.QueueFull):
            subscription._pending_queue.put_nowait(message)


async def next_message(subscription: Subscription) -> Msg | None:
    """The next message of a NatsClient's subscription, also when the connection has ended; None behind its last."""
    message: Msg | None = await subscription._pending_queue.get()
    return message


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
