"""A bot's HTTP response, parsed by llhttp (httptools) as it arrives, and bounded in size. No sockets."""

from __future__ import annotations

import httptools

PART_BYTES = 16_384  # an answer is checked in parts of this size, however it was split on the way
LEAST_BODY_BYTES = 2_048  # in each part after the first; even with chunks of one byte, a sixth of the part is body
TOO_MANY_HEADERS = ("too-big", f"The answer's headers have more than {PART_BYTES} bytes.")
TOO_LITTLE_BODY = (
    "too-big",
    f"Less than {LEAST_BODY_BYTES} of {PART_BYTES} bytes after the headers are the answer's body.",
)
STATUS_LINES = (b"HTTP/1.0 ", b"HTTP/1.1 ")  # the parser also accepts other protocols
MOST_INTERIM = 5  # 1xx answers before the final one


class Surplus(Exception):
    """Stops the parser: another message follows the complete answer."""


class Response:
    """Takes bytes until it is `done`, or until `problem` (a code and a sentence) says why it never will be.

    Everything received is bounded, not only the body: the first part must hold all headers, and each later part enough
    of the body to keep the rest (sizes and extensions of chunks, trailers) in proportion. `close` must follow.
    """

    def __init__(self, most_bytes: int) -> None:
        self.done = False
        self.problem: tuple[str, str] | None = None
        self.status = 0
        self.reusable = False
        self.began = False
        self._most_bytes = most_bytes
        self._parser = httptools.HttpResponseParser(self)
        self._head = bytearray()  # everything received until the headers are complete
        self._body = bytearray()  # not a list: chunks may be tiny, and each object takes many times that
        self._came = self._size = self._size_before = self._interim = 0
        self._framed = False

    @property
    def body(self) -> bytes:
        """The body so far."""
        return bytes(self._body)

    def close(self) -> None:
        """Lets go of the parser, which holds this object in turn; what has been read can still be had.

        The collector runs too seldom: until then every answer would stay in memory.
        """
        del self._parser

    def feed(self, data: bytes) -> None:
        """Takes bytes; empty `data` means that the connection has ended."""
        if not data:
            self._ended()
            return
        self.began = True
        while data and self.problem is None and not self.done:
            room = PART_BYTES - self._came % PART_BYTES
            self._take(data[:room])
            data = data[room:]
        if data:
            self.reusable = False

    def broke(self, why: str) -> None:
        """Notes that the connection broke: the answer is incomplete, even if a regular end would have completed it."""
        self._fail("cut-off", f"The connection broke: {why}.")

    def _take(self, data: bytes) -> None:
        """Parses bytes of one part."""
        self._came += len(data)
        if not self.status:
            self._head += data
        try:
            self._parser.feed_data(data)
        except (httptools.HttpParserError, httptools.HttpParserUpgrade):
            if self.done:
                self.reusable = False
            else:
                self._fail("bad-http", "The answer is not HTTP.")
        if self._came % PART_BYTES == 0 and not self.done:
            self._look()

    def _look(self) -> None:
        """Checks the bounds at the end of a part."""
        if not self.status:
            self._fail(*TOO_MANY_HEADERS)
        elif self._came > PART_BYTES and self._size - self._size_before < LEAST_BODY_BYTES:
            self._fail(*TOO_LITTLE_BODY)
        self._size_before = self._size

    def _ended(self) -> None:
        if self.status and not self._framed and self.problem is None:
            # HTTP/1.0, or a server that marks the end of its answer by closing
            self.done = True
        elif not self.done:
            self._fail("cut-off", "The connection was closed before the answer was complete.")

    def _fail(self, code: str, sentence: str) -> None:
        if self.problem is None:
            self.problem = (code, sentence)
        self.done = self.reusable = False

    # called by the parser

    def on_message_begin(self) -> None:
        if self.done:
            # more than one answer to one question: this connection cannot be trusted with the next question
            raise Surplus

    def on_header(self, name: bytes, value: bytes) -> None:
        if self.status:
            return  # a trailer
        key = name.lower()
        if key == b"transfer-encoding":
            if self._framed or value.strip().lower() != b"chunked":
                self._fail("bad-http", "The answer's Transfer-Encoding is not chunked alone.")
            self._framed = True
        elif key == b"content-length":
            self._framed = True
        elif key == b"content-encoding" and value.strip().lower() not in (b"", b"identity"):
            self._fail("bad-http", "The answer is compressed, which was not asked for.")

    def on_headers_complete(self) -> None:
        status = self._parser.get_status_code()
        if status < 200:
            self._framed = False
            return
        if not _is_http(bytes(self._head), self._interim + 1):
            self._fail("bad-http", "The answer is not HTTP/1.0 or HTTP/1.1.")
        self.status = status
        if status in (204, 304):
            self._framed = True

    def on_body(self, body: bytes) -> None:
        if self.problem is not None:
            return
        self._size += len(body)
        if self._size > self._most_bytes:
            self._fail("too-big", f"The answer has more than {self._most_bytes} bytes.")
        else:
            self._body += body

    def on_message_complete(self) -> None:
        if self.problem is not None:
            return
        if not self.status:
            self._interim += 1
            if self._interim > MOST_INTERIM:
                self._fail("bad-http", "There are too many interim answers.")
            return
        self.done = True
        self.reusable = bool(self._parser.should_keep_alive()) and self._framed


def _is_http(head: bytes, count: int) -> bool:
    """Whether each of the first `count` answers, all but the last of them interim, begins with an HTTP status line."""
    for _ in range(count):
        head = head.lstrip(b"\r\n")
        if not head.startswith(STATUS_LINES):
            return False
        head = head.partition(b"\r\n\r\n")[2]
    return True
