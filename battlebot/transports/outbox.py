"""A bounded queue of bytes to be written to one socket, with only one writer at a time.

Two greenlets that write to one socket would interleave their frames, so everything goes through here, including pongs
and the close frame. Whoever queues data writes what the system takes at once; a greenlet writes the rest, and ends
when the queue is empty.
"""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Callable
from contextlib import suppress

import gevent
from gevent import socket, timeout

Written = Callable[[float], None]

# the system's buffer for a peer that does not read, in addition to the outbox; Linux doubles it
SEND_BUFFER_BYTES = 65_536
LEAST_S = 0.1  # to write a message whose time ran out in the queue: it may be late though the peer reads


class Outbox:
    """Cuts the connection if the peer reads too slowly (then `held_up` is True) or the socket breaks: it has `failed`.

    `on_written(monotonic)` is called as soon as a message is written or queued: it is queued only if the peer leaves
    full buffers unread, and then its clock runs. So it does if the socket is broken: who comes back by connections that
    it breaks at once must not win time.

    Too slowly means that a message is not written `send_timeout_s` after it was queued. If the time were counted from
    when the message is next to be written, a peer that reads a little now and then could delay its own update, and
    with it its clock, for as long as the queue lasts. The socket must have no time-out of its own.
    """

    def __init__(self, sock: socket.socket, limit: int, send_timeout_s: float) -> None:
        self._sock = sock
        self._limit = limit
        self._send_timeout_s = send_timeout_s
        self._queue: deque[tuple[bytes, float]] = deque()
        self._writer: gevent.Greenlet | None = None
        self._last = False
        self._unread = False
        self.failed = False

    def put(self, data: bytes, on_written: Written | None = None) -> bool:
        """Queues bytes; returns False, without queueing, if too many messages wait, or if it is closed or failed."""
        if self.failed and on_written is not None:
            on_written(time.monotonic())
        if self._last or self.failed:
            return False
        if len(self._queue) >= self._limit:
            return False
        self._push(data, on_written)
        return True

    def put_last(self, data: bytes) -> None:
        """Queues the last bytes, however many messages wait. Nothing can be queued afterwards."""
        if not self._last and not self.failed:
            self._push(data, None)
        self._last = True

    def drain(self, timeout_s: float) -> None:
        """Waits until the queue is written to the system or has failed, at most `timeout_s`."""
        if self._writer is not None:
            self._writer.join(max(0.0, timeout_s))

    def cut(self) -> None:
        """Breaks the connection, which wakes its reader at once."""
        with suppress(OSError):
            self._sock.shutdown(socket.SHUT_RDWR)

    @property
    def held_up(self) -> bool:
        """Whether messages wait because the peer does not read, or were dropped because it did not."""
        return self._unread or self._writer is not None

    def _push(self, data: bytes, on_written: Written | None) -> None:
        if self._writer is None:
            try:
                data = data[self._sock.send(data, 0, 0.0) :]
            except BlockingIOError:
                pass
            except OSError:
                self._fail()
                if on_written is not None:
                    on_written(time.monotonic())
                return
            if data:
                self._writer = gevent.spawn(self._write)
        now_s = time.monotonic()
        if data:
            self._queue.append((data, now_s))
        if on_written is not None:
            on_written(now_s)

    def _write(self) -> None:
        try:
            while self._queue:
                data, queued_s = self._queue.popleft()
                left_s = max(LEAST_S, queued_s + self._send_timeout_s - time.monotonic())
                with timeout.Timeout(left_s, TimeoutError("the peer does not read")):
                    self._sock.sendall(data)
        except OSError as error:
            # unlike ours, the network's time-out has an errno
            self._unread = isinstance(error, TimeoutError) and error.errno is None
            self._fail()
        finally:
            self._writer = None

    def _fail(self) -> None:
        self.failed = True
        self._queue.clear()
        self.cut()
