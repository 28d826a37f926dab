"""TLS over a socket in steps of bounded size: a peer that sends records without data keeps nobody else waiting.

Python's own TLS socket reads on within one call while such records arrive.
"""

from __future__ import annotations

import socket
import ssl
import time
from contextlib import suppress
from typing import Any

from battlebot.runtime.acknowledging import acknowledge

STEP_BYTES = 16_384  # encrypted
MOST_SILENT = 65_536  # bytes received without any data for us; no chain of certificates is longer


class Unfinished(Exception):
    """Something was received or sent, but there is no result yet: call again after letting others run."""


class Tls:
    """The client's side over a connected socket, with those methods of a socket that are needed. `work_s`: CPU time."""

    def __init__(self, connection: socket.socket, context: ssl.SSLContext, host: str) -> None:
        self.work_s = 0.0
        self._socket = connection
        self._incoming, self._outgoing = ssl.MemoryBIO(), ssl.MemoryBIO()
        self._tls = context.wrap_bio(self._incoming, self._outgoing, server_hostname=host)
        self._unsent = bytearray()
        self._accepted = self._silent = 0
        self._timeout_s = 0.0
        self._broken: ssl.SSLError | None = None

    def settimeout(self, seconds: float) -> None:
        """Sets how long one call waits for the socket."""
        self._timeout_s = seconds
        self._socket.settimeout(seconds)

    def setsockopt(self, level: int, name: int, value: int) -> None:
        """Sets an option of the socket."""
        self._socket.setsockopt(level, name, value)

    def getpeername(self) -> Any:
        """The other side's address."""
        return self._socket.getpeername()

    def close(self) -> None:
        """Closes the connection without a TLS shutdown."""
        self._socket.close()
        # its traceback holds this object in turn: all would stay in memory until the collector runs
        self._broken = None

    def handshake(self) -> None:
        """Takes one step; call until it returns. Raises Unfinished, TimeoutError, BlockingIOError, another OSError."""
        with suppress(ssl.SSLWantReadError):
            self._worked(self._tls.do_handshake)
            self._push()
            self._silent = 0
            return
        self._push()
        self._pull()
        raise Unfinished

    def recv(self, most: int) -> bytes:
        """Returns received data, b"" at the end. Raises like `handshake`."""
        data = self._worked(self._read, most)
        if data is None:
            self._pull()
            data = self._worked(self._read, most)
        if data is None:
            # where a session ticket came, the bot's system may hold its answer back until that is acknowledged
            acknowledge(self._socket)
            raise Unfinished
        self._silent = 0
        return bytes(data)

    def send(self, data: memoryview) -> int:
        """Returns how many bytes were sent. After an error, call again with the same data.

        Raises TimeoutError, another OSError.
        """
        if not self._accepted:
            self._accepted = self._worked(self._tls.write, data[:STEP_BYTES])
        self._push()
        accepted, self._accepted = self._accepted, 0
        return accepted

    def _worked(self, work: Any, *arguments: Any) -> Any:
        began_s = time.thread_time()
        try:
            return work(*arguments)
        finally:
            self._unsent += self._outgoing.read()
            self.work_s += time.thread_time() - began_s

    def _read(self, most: int) -> bytes | None:
        """Returns the decrypted data available, None if there is none; it is never more than one step's.

        Data that came before an error is returned, and the error is raised by the next call.
        """
        if self._broken is not None:
            raise self._broken
        pieces: list[bytes] = []
        try:
            while most > 0 and (piece := self._tls.read(most)):
                pieces.append(piece)
                most -= len(piece)
        except ssl.SSLWantReadError:
            if not pieces:
                return None
        except ssl.SSLEOFError:
            pass  # many servers close without a TLS shutdown
        except ssl.SSLError as error:
            if not pieces:
                raise
            # kept here: the next time, OpenSSL would report no more than the end of the connection
            self._broken = error
        return b"".join(pieces)

    def _pull(self) -> None:
        # messages of TLS's own are sent only if the socket takes them at once
        self._socket.settimeout(0.0)
        try:
            with suppress(BlockingIOError):
                self._push()
        finally:
            self._socket.settimeout(self._timeout_s)
        data = self._socket.recv(STEP_BYTES)
        self._silent += len(data)
        if max(self._silent, len(self._unsent)) > MOST_SILENT:
            raise ssl.SSLError(1, "too much came that is no part of an answer")
        if data:
            self._incoming.write(data)
        else:
            self._incoming.write_eof()

    def _push(self) -> None:
        while self._unsent:
            del self._unsent[: self._socket.send(bytes(self._unsent))]


Connection = socket.socket | Tls
