"""An HTTP answer as it comes in, read by llhttp (httptools) and held to its bounds. No sockets."""

from __future__ import annotations

import httptools

MOST_HEADER_BYTES = 16_384
TOO_MANY_HEADERS = ("too-big", f"The answer's headers have more than {MOST_HEADER_BYTES} bytes.")
MOST_INTERIM = 5  # answers 1xx before the one that counts


class Answer:
    """Fed with bytes until `done`; or until `problem`, a code and a sentence, says why it never will be."""

    def __init__(self, most_bytes: int) -> None:
        self.done = False
        self.problem: tuple[str, str] | None = None
        self.status = 0
        self.reusable = False
        self.began = False
        self._most_bytes = most_bytes
        self._parser = httptools.HttpResponseParser(self)
        self._body: list[bytes] = []
        self._size = self._header_bytes = self._unheaded_bytes = self._interim = 0
        self._framed = False

    @property
    def body(self) -> bytes:
        """The body so far."""
        return self._body[0] if len(self._body) == 1 else b"".join(self._body)

    def feed(self, data: bytes) -> None:
        """Takes bytes; none are the end of the connection."""
        if not data:
            self._ended()
            return
        self.began = True
        self._unheaded_bytes += len(data)
        try:
            self._parser.feed_data(data)
        except (httptools.HttpParserError, httptools.HttpParserUpgrade):
            self._fail("bad-http", "The answer is not HTTP.")
        if not self.status and self._unheaded_bytes > MOST_HEADER_BYTES:
            self._fail(*TOO_MANY_HEADERS)

    def _ended(self) -> None:
        if self.status and not self._framed and self.problem is None:
            # HTTP/1.0, or a server that says by closing that this was all
            self.done = True
        elif not self.done:
            self._fail("cut-off", "The connection was closed before the answer was complete.")

    def _fail(self, code: str, sentence: str) -> None:
        if self.problem is None:
            self.problem = (code, sentence)
        self.done = self.reusable = False

    # what the parser calls

    def on_message_begin(self) -> None:
        if self.done:
            # more than one answer to one question: nothing that comes here can be trusted to be for the next
            self.reusable = False

    def on_header(self, name: bytes, value: bytes) -> None:
        self._header_bytes += len(name) + len(value)
        if self._header_bytes > MOST_HEADER_BYTES:
            self._fail(*TOO_MANY_HEADERS)
        key = name.lower()
        if key in (b"content-length", b"transfer-encoding"):
            self._framed = True
        elif key == b"content-encoding" and value.lower() not in (b"", b"identity"):
            self._fail("bad-http", "The answer is compressed, which was not asked for.")

    def on_headers_complete(self) -> None:
        status = self._parser.get_status_code()
        if status < 200:
            self._framed = False
            return
        self.status = status
        if status in (204, 304):
            self._framed = True

    def on_body(self, body: bytes) -> None:
        if self.done or self.problem is not None:
            return
        self._size += len(body)
        if self._size > self._most_bytes:
            self._fail("too-big", f"The answer has more than {self._most_bytes} bytes.")
        else:
            self._body.append(body)

    def on_message_complete(self) -> None:
        if self.problem is not None or self.done:
            return
        if not self.status:
            self._interim += 1
            if self._interim > MOST_INTERIM:
                self._fail("bad-http", "There are too many interim answers.")
            return
        self.done = True
        self.reusable = bool(self._parser.should_keep_alive()) and self._framed
