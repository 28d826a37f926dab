"""What waits to be written to one socket: bounded, and with exactly one writer at any moment.

Two greenlets that write to one socket would interleave their frames; so everything goes through here, pongs and the
close frame too. What the system takes at once is written by whoever has it; a writer, a greenlet, lives only while
something waits.
"""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Callable

import gevent
from gevent import socket, timeout

Written = Callable[[float], None]

# what the system keeps for a peer that does not read, beyond the outbox; Linux takes twice as much
SEND_BUFFER_BYTES = 65_536
LEAST_S = 0.1  # for a message that has waited its time out in the queue: not every late message is a slow reader's


class Outbox:
    """`on_failure()` is called once if the peer reads too slowly (`held_up`, then) or the socket breaks.

    `on_written(monotonic)` is called when a message has been written, or when the peer holds it up: what the system
    does not take at once waits for nobody but a peer that leaves its full buffers unread, and its clock runs.

    Too slowly: a message has not been written `send_timeout_s` after it was queued. Were it counted from the moment
    its turn came, a peer that reads a little now and then could put off its own update, and with it its clock, for
    as long as the queue holds. The socket must have no time-out of its own.
    """

    def __init__(self, sock: socket.socket, limit: int, send_timeout_s: float, on_failure: Callable[[], None]) -> None:
        self._sock = sock
        self._limit = limit
        self._send_timeout_s = send_timeout_s
        self._on_failure = on_failure
        self._queue: deque[tuple[bytes, float]] = deque()
        self._writer: gevent.Greenlet | None = None
        self._last = False
        self._unread = False
        self.failed = False

    def put(self, data: bytes, on_written: Written | None = None) -> bool:
        """Queues bytes; False if too many wait already, or the outbox is closed: then nothing was queued."""
        if self._last or self.failed:
            return False
        if len(self._queue) >= self._limit:
            return False
        self._push(data, on_written)
        return True

    def put_last(self, data: bytes, on_written: Written | None = None) -> None:
        """Queues the very last bytes, whatever waits before them. Nothing can be queued after."""
        if not self._last and not self.failed:
            self._push(data, on_written)
        self._last = True

    def drain(self, timeout_s: float) -> None:
        """Waits until all has been handed to the system, or cannot be any more; at most `timeout_s`."""
        if self._writer is not None:
            self._writer.join(max(0.0, timeout_s))

    @property
    def waiting(self) -> int:
        """How many messages wait."""
        return len(self._queue)

    @property
    def held_up(self) -> bool:
        """Whether messages wait because the peer does not read, or were dropped for that."""
        return self._unread or self._writer is not None

    def _push(self, data: bytes, on_written: Written | None) -> None:
        if self._writer is None:
            try:
                data = data[self._sock.send(data, 0, 0.0) :]
            except BlockingIOError:
                pass
            except OSError:
                self._fail()
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
            # the network's own time-out has a number
            self._unread = isinstance(error, TimeoutError) and error.errno is None
            self._fail()
        finally:
            self._writer = None

    def _fail(self) -> None:
        self.failed = True
        self._queue.clear()
        self._on_failure()
