"""gunicorn's parser of requests, with rests: it reads and takes what is there without ever letting others run.

Reading what has come already never waits. A connection may hold hundreds of short requests, headers that are searched
anew with each part that comes, or chunks of one byte: the bots' turns would wait until all of it is done.
"""

from __future__ import annotations

import time
from typing import Any

from gunicorn.http.errors import InvalidHeader
from gunicorn.http.message import Request
from gunicorn.http.parser import RequestParser
from gunicorn.http.unreader import SocketUnreader

from battlebot.runtime.cooperative import MOST_S, in_turn

READ_BYTES = 8_192  # that gunicorn reads at a time
NAMES_ITS_HOST = (1, 1)  # the first version of HTTP in which every request does
HEADERS_BYTES = 32_768  # all headers of a request together: each part that comes is searched with all before it


class Unhurried(SocketUnreader):
    """Reads from a socket; before that, all others run whenever what it has read took `MOST_S`."""

    def __init__(self, sock: Any) -> None:
        super().__init__(sock)
        self._worked_s = 0.0
        self._since_s = time.monotonic()

    def chunk(self, size_hint: int | None = None) -> bytes:
        """Returns what has come, b"" at the end; waits for it."""
        self.rest()
        data: bytes = super().chunk(size_hint)
        self._since_s = time.monotonic()
        return data

    def rest(self) -> None:
        """Lets all others run, if it is time."""
        self._worked_s += time.monotonic() - self._since_s
        if self._worked_s >= MOST_S:
            in_turn()
            self._worked_s = 0.0
        self._since_s = time.monotonic()

    def next_request(self) -> None:
        """Notes that a request has been answered; rests, if it is time and the next one has come along with it."""
        if self.buf.tell():
            self.rest()
        else:
            # reading will wait, as a rule
            self._worked_s, self._since_s = 0.0, time.monotonic()


class LightRequest(Request):
    """A request whose headers, or trailers, have `HEADERS_BYTES` together; what follows them may come along.

    In HTTP/1.1 it must name the host it is for (RFC 9112, section 3.2), which gunicorn does not ask for. Its body may
    not be encoded (section 6.1): gunicorn lets gzip pass, and would hand on what nobody decodes.
    """

    max_buffer_headers: int

    def parse(self, unreader: Any) -> bytes:
        """Returns what has come after the headers. Raises gunicorn's ParseException."""
        most = max(HEADERS_BYTES, self.limit_request_field_size) + READ_BYTES
        self.max_buffer_headers = min(self.max_buffer_headers, most)
        rest: bytes = super().parse(unreader)
        if self.version >= NAMES_ITS_HOST and all(name != "HOST" for name, _ in self.headers):
            raise InvalidHeader("HOST")
        for name, value in self.headers:
            if name == "TRANSFER-ENCODING" and value.strip().lower() != "chunked":
                raise InvalidHeader(name)
        return rest

    def should_close(self) -> bool:
        """Returns whether the answer ends the connection: also if `close` is one of several words of `Connection`."""
        words = ",".join(value for name, value in self.headers if name == "CONNECTION").lower().split(",")
        return "close" in (word.strip() for word in words) or bool(super().should_close())


class UnhurriedParser(RequestParser):
    """Yields the requests of a connection."""

    mesg_class = LightRequest

    def __init__(self, cfg: Any, source: Any, source_addr: Any) -> None:
        super().__init__(cfg, source, source_addr)
        self.unreader = Unhurried(source)

    def __next__(self) -> Any:
        self.unreader.next_request()
        return super().__next__()
