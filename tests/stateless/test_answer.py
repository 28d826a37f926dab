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


def read(data: bytes) -> Answer:
    """The answer, of which all has come."""
    answer = Answer(65_536)
    answer.feed(data)
    return answer


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
