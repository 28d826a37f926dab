"""What is read as an HTTP answer, and what is not: the forms that other clients let pass. No sockets."""

from __future__ import annotations

import pytest

from battlebot.errors import BadMessage
from battlebot.stateless.answer import Answer
from battlebot.wire.jsontext import decode_value

STATUS = b"HTTP/1.1 200 OK\r\n"
LENGTH = b"Content-Length: 2\r\n"
REFUSED = {
    "lines that end by LF alone": b"HTTP/1.1 200 OK\nContent-Length: 2\n\n[]",
    "a last line that ends by LF alone": STATUS + LENGTH + b"\n[]",
    "a folded header": STATUS + b"X-Note: one\r\n two\r\n" + LENGTH + b"\r\n[]",
    "Content-Length twice": STATUS + LENGTH + LENGTH + b"\r\n[]",
    "Content-Length and Transfer-Encoding": STATUS + LENGTH + b"Transfer-Encoding: chunked\r\n\r\n2\r\n[]\r\n0\r\n\r\n",
    "a blank before the colon": STATUS + b"Content-Length : 2\r\n\r\n[]",
}


CHUNKED = STATUS + b"Transfer-Encoding: chunked\r\n\r\n"
AT_ONCE = 1_000_000  # bytes


def read(data: bytes, size: int = AT_ONCE) -> Answer:
    """The answer, of which all has come, or as much as it takes; so many bytes at a time."""
    answer = Answer(65_536)
    for at in range(0, len(data), size):
        if answer.done or answer.problem is not None:
            break
        answer.feed(data[at : at + size])
    return answer


def headed(size: int) -> bytes:
    """An answer whose headers, from the first byte to the blank line, have so many bytes; of most there is no value."""
    rest = size - len(STATUS) - len(LENGTH) - len(b"X-Note: \r\n\r\n")
    return STATUS + b"A:\r\n" * (rest // 4) + b"X-Note: " + b"x" * (rest % 4) + b"\r\n" + LENGTH + b"\r\n[]"


@pytest.mark.parametrize("form", REFUSED)
def test_what_two_readers_could_read_in_two_ways_is_no_answer(form: str) -> None:
    """As the page for authors of bots says it."""
    answer = read(REFUSED[form])
    assert not answer.done
    assert answer.problem is not None
    assert answer.problem[0] == "bad-http"


def test_the_same_in_its_usual_form_is_one() -> None:
    """With the length of its body."""
    answer = read(STATUS + LENGTH + b"\r\n[]")
    assert (answer.done, answer.problem, answer.body) == (True, None, b"[]")


@pytest.mark.parametrize("body", [b"\xef\xbb\xbf[]", "[]".encode("utf-16"), "[]".encode("utf-16-le")])
def test_a_body_is_utf_8_without_a_byte_order_mark(body: bytes) -> None:
    """As RFC 8259 has it for what is sent."""
    with pytest.raises(BadMessage):
        decode_value(body, 16)


@pytest.mark.parametrize("size", [1, 4096, 10_007, AT_ONCE])
def test_headers_have_16_kb_however_they_come(size: int) -> None:
    """From the first byte to the blank line, also where nearly all of it is the ends of lines."""
    answer = read(headed(16_384), size)
    assert (answer.done, answer.problem, answer.body) == (True, None, b"[]")
    for more in (16_385, 60_000):
        answer = read(headed(more), size)
        assert answer.problem is not None
        assert (answer.done, answer.problem[0], answer.status) == (False, "too-big", 0)


@pytest.mark.parametrize("size", [1, 4096, 10_007, AT_ONCE])
@pytest.mark.parametrize(
    "flood",
    [
        b"1;" + b"x" * 100_000,
        b"0" * 100_000,
        b"2\r\n[]\r\n0\r\nX-Note: " + b"x" * 100_000,
        b"2\r\n[]\r\n0\r\n" + b"X:\r\n" * 25_000,
        (b"1;" + b"x" * 10 + b"\r\n \r\n") * 10_000,
    ],
)
def test_what_is_not_body_is_bounded_however_it_comes(flood: bytes, size: int) -> None:
    """What stands beside a chunk's size, zeros before it, trailers, and many times a little more than there is body."""
    answer = read(CHUNKED + flood, size)
    assert answer.problem is not None
    assert (answer.done, answer.problem[0]) == (False, "too-big")


@pytest.mark.parametrize("size", [1, 10_007, AT_ONCE])
def test_chunks_may_be_as_small_as_they_like(size: int) -> None:
    """A body as big as it may be, byte by byte, with a trailer."""
    body = b"[" + b" " * 65_534 + b"]"
    answer = read(CHUNKED + b"".join(b"1\r\n%c\r\n" % byte for byte in body) + b"0\r\nX-Note: x\r\n\r\n", size)
    assert (answer.done, answer.problem, answer.body) == (True, None, body)
