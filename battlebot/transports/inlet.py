"""Reads one socket: the reading greenlet waits until data arrive, a time-out passes, or it is interrupted.

Like gevent's own `recv` with a time-out, but without setting up a timer and a watcher for each read.
"""

from __future__ import annotations

import math
import sys
import time
from typing import Any

import gevent
from gevent import socket

READ_BYTES = 8192
READABLE = 1
LONG_S = 5.0
ESTABLISHED = 1  # the state of a connection that neither side has ended, as Linux numbers them
TOGETHER_S = 0.1  # long time-outs within it end together: ten thousand silent peers wake the hub ten times a second


def rings_at(now_s: float, after_s: float) -> float:
    """When a time-out of `after_s` ends: if it is long, up to `TOGETHER_S` late, together with others."""
    due_s = now_s + after_s
    return due_s if after_s < LONG_S else math.ceil(due_s / TOGETHER_S) * TOGETHER_S


class Inlet:
    """Only one greenlet may read at a time. The caller must call `close` before it closes the socket."""

    def __init__(self, sock: socket.socket) -> None:
        self._sock = sock
        self._reader: Any = None
        self._until_s = self._rings_s = math.inf
        self._data: Any = gevent.get_hub().loop.io(sock.fileno(), READABLE)
        self._watched = False
        self._timer: Any = None

    def read(self, wait_s: float) -> bytes | None:
        """Returns received bytes, b"" at the end of the stream, or None if nothing came within `wait_s`.

        Raises OSError, and the error given to `interrupt`.
        """
        self._until_s = time.monotonic() + wait_s
        if self._until_s < self._rings_s:
            self._set_timer(wait_s)
        if not self._watched:
            self._watched = True
            self._data.start(self._on_data)
        self._reader = gevent.getcurrent()
        try:
            came = gevent.get_hub().switch()
        finally:
            self._reader = None
        return self._sock.recv(READ_BYTES) if came else None

    @property
    def has_ended(self) -> bool:
        """Whether the peer has ended the stream, though what came before may be unread; False if that is not known."""
        if sys.platform != "linux":
            # elsewhere the states have other numbers, or are not told
            return False
        try:
            state = self._sock.getsockopt(socket.IPPROTO_TCP, socket.TCP_INFO, 1)[0]
        except OSError:
            # not TCP
            return False
        return bool(state != ESTABLISHED)

    def interrupt(self, error: Exception) -> None:
        """Raises the error in the greenlet that reads, if there is one. Only the hub may call it."""
        if self._reader is not None:
            self._reader.throw(error)

    def close(self) -> None:
        """Frees the watchers; nothing can be read afterwards."""
        for watcher in (self._data, self._timer):
            if watcher is not None:
                watcher.close()

    def _set_timer(self, after_s: float) -> None:
        if self._timer is not None:
            self._timer.close()
        now_s = time.monotonic()
        self._rings_s = rings_at(now_s, after_s)
        self._timer = gevent.get_hub().loop.timer(self._rings_s - now_s)
        # counted from now, not from the loop's last round
        self._timer.start(self._on_time, update=True)

    def _on_data(self) -> None:
        if self._reader is None:
            # the reader still handles earlier data; until it reads again, a readable socket would wake the hub for ever
            self._watched = False
            self._data.stop()
        else:
            self._reader.switch(True)

    def _on_time(self) -> None:
        self._rings_s = math.inf
        if self._reader is None:
            return
        left_s = self._until_s - time.monotonic()
        if left_s > 0:
            self._set_timer(left_s)
        else:
            self._reader.switch(False)
