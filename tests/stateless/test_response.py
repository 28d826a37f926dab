"""What is read as an HTTP answer, and what is not: the forms that other clients let pass. No sockets."""

from __future__ import annotations

import pytest

from battlebot.errors import BadMessage
from battlebot.stateless.http.response import Response
from battlebot.wire.jsontext import decode_value

STATUS = b"HTTP/1.1 200 OK\r\n"
LENGTH = b"Content-Length: 2\r\n"
CHUNKED = STATUS + b"Transfer-Encoding: chunked\r\n\r\n"
AT_ONCE = 1_000_000  # bytes
REFUSED = {
    "lines that end by LF alone": b"HTTP/1.1 200 OK\nContent-Length: 2\n\n[]",
    "a last line that ends by LF alone": STATUS + LENGTH + b"\n[]",
    "a folded header": STATUS + b"X-Note: one\r\n two\r\n" + LENGTH + b"\r\n[]",
    "Content-Length twice": STATUS + LENGTH + LENGTH + b"\r\n[]",
    "Content-Length and Transfer-Encoding": STATUS + LENGTH + b"Transfer-Encoding: chunked\r\n\r\n2\r\n[]\r\n0\r\n\r\n",
    "a compressed body": STATUS + b"Content-Encoding: gzip\r\n" + LENGTH + b"\r\n[]",
    "a compressed body in chunks": STATUS + b"Transfer-Encoding: gzip, chunked\r\n\r\n2\r\n[]\r\n0\r\n\r\n",
    "chunks of something": STATUS
    + b"Transfer-Encoding: gzip\r\nTransfer-Encoding: chunked\r\n\r\n2\r\n[]\r\n0\r\n\r\n",
    "chunks of chunks": STATUS + b"Transfer-Encoding: chunked, chunked\r\n\r\n2\r\n[]\r\n0\r\n\r\n",
    "Transfer-Encoding twice": STATUS + 2 * b"Transfer-Encoding: chunked\r\n" + b"\r\n2\r\n[]\r\n0\r\n\r\n",
    "another encoding": STATUS + b"Transfer-Encoding: identity\r\n\r\n[]",
    "RTSP": b"RTSP/1.0 200 OK\r\n" + LENGTH + b"\r\n[]",
    "ICE": b"ICE/1.0 200 OK\r\n" + LENGTH + b"\r\n[]",
    "HTTP/2.0": b"HTTP/2.0 200 OK\r\n" + LENGTH + b"\r\n[]",
    "HTTP/0.9": b"HTTP/0.9 200 OK\r\n" + LENGTH + b"\r\n[]",
    "an interim answer, then RTSP": b"HTTP/1.1 100 Continue\r\n\r\nRTSP/1.0 200 OK\r\n" + LENGTH + b"\r\n[]",
    "RTSP, then an answer": b"RTSP/1.0 100 Continue\r\n\r\n" + STATUS + LENGTH + b"\r\n[]",
    "a blank before the colon": STATUS + b"Content-Length : 2\r\n\r\n[]",
}
TAKEN = {
    "HTTP/1.0": b"HTTP/1.0 200 OK\r\n" + LENGTH + b"\r\n[]",
    "its length": STATUS + LENGTH + b"\r\n[]",
    "chunks": CHUNKED + b"2\r\n[]\r\n0\r\n\r\n",
    "chunks, said otherwise": STATUS + b"transfer-encoding:\tChunked \r\n\r\n2\r\n[]\r\n0\r\n\r\n",
    "a trailer": CHUNKED + b"2\r\n[]\r\n0\r\nContent-Encoding: gzip\r\n\r\n",
    "interim answers": 3 * b"HTTP/1.1 103 Early Hints\r\nLink: x\r\n\r\n" + STATUS + LENGTH + b"\r\n[]",
    "the end of a line that was left of the answer before": b"\r\n" + STATUS + LENGTH + b"\r\n[]",
}


def read(data: bytes, size: int = AT_ONCE) -> Response:
    """The answer, of which all has come, or as much as it takes; so many bytes at a time."""
    answer = Response(65_536)
    for at in range(0, len(data), size):
        if answer.done or answer.problem is not None:
            break
        answer.feed(data[at : at + size])
    return answer


def headed(size: int) -> bytes:
    """An answer whose headers, from the first byte to the blank line, have so many bytes; of most there is no value."""
    rest = size - len(STATUS) - len(LENGTH) - len(b"X-Note: \r\n\r\n")
    return STATUS + b"A:\r\n" * (rest // 4) + b"X-Note: " + b"x" * (rest % 4) + b"\r\n" + LENGTH + b"\r\n[]"


@pytest.mark.parametrize("size", [1, AT_ONCE])
@pytest.mark.parametrize("form", REFUSED)
def test_what_two_readers_could_read_in_two_ways_is_no_answer(form: str, size: int) -> None:
    """As the page for authors of bots says it."""
    answer = read(REFUSED[form], size)
    assert not answer.done
    assert answer.problem is not None
    assert answer.problem[0] == "bad-http"


@pytest.mark.parametrize("size", [1, AT_ONCE])
@pytest.mark.parametrize("form", TAKEN)
def test_the_same_in_its_usual_forms_is_one(form: str, size: int) -> None:
    """With the length of its body, or in chunks."""
    answer = read(TAKEN[form], size)
    assert (answer.done, answer.problem, answer.body) == (True, None, b"[]")


@pytest.mark.parametrize("size", [1, AT_ONCE])
@pytest.mark.parametrize(
    "more",
    [
        STATUS + LENGTH + b"\r\n{}",
        b"HTTP/1.1 500 No\r\n" + LENGTH + b"\r\n{}",
        STATUS + b"Content-Encoding: gzip\r\n" + LENGTH + b"\r\n{}",
        b"RTSP/1.0 200 OK\r\n" + LENGTH + b"\r\n{}",
        b"{}",
        b"x" * 100_000,
    ],
)
def test_what_follows_an_answer_changes_nothing_of_it(more: bytes, size: int) -> None:
    """Whether it comes in one piece with it or not; but if it does, the connection is not kept."""
    answer = read(STATUS + LENGTH + b"\r\n[]" + more, size)
    assert (answer.done, answer.problem, answer.status, answer.body) == (True, None, 200, b"[]")
    assert answer.reusable == (size == 1)


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


@pytest.mark.parametrize("size", [1, AT_ONCE])
def test_an_answer_may_end_with_its_connection(size: int) -> None:
    """Where nothing says how long its body is; such a connection cannot be kept."""
    answer = read(STATUS + b"\r\n[]", size)
    assert (answer.done, answer.problem) == (False, None)
    answer.feed(b"")
    assert (answer.done, answer.problem, answer.status, answer.body) == (True, None, 200, b"[]")
    assert not answer.reusable


CUT = {
    "nothing": b"",
    "headers": STATUS + b"X-Note: x",
    "a body with a length": STATUS + LENGTH + b"\r\n[",
    "a chunk": CHUNKED + b"2\r\n[",
    "chunks without their end": CHUNKED + b"2\r\n[]\r\n",
    "an interim answer": b"HTTP/1.1 100 Continue\r\n\r\n",
    "an interim answer with a length": b"HTTP/1.1 103 Early Hints\r\n" + LENGTH + b"\r\n",
}


@pytest.mark.parametrize("part", CUT)
def test_an_answer_that_says_how_long_it_is_does_not_end_before(part: str) -> None:
    """Nor one whose headers have not come."""
    answer = Response(65_536)
    assert not answer.began
    if CUT[part]:
        answer.feed(CUT[part])
        assert answer.began
    assert (answer.done, answer.problem) == (False, None)
    answer.feed(b"")
    assert answer.problem is not None
    assert (answer.done, answer.problem[0], answer.reusable) == (False, "cut-off", False)


def test_a_length_of_an_interim_answer_is_not_that_of_the_answer() -> None:
    """Which ends with its connection here."""
    answer = read(b"HTTP/1.1 103 Early Hints\r\nContent-Length: 0\r\n\r\n" + STATUS + b"\r\n[]")
    answer.feed(b"")
    assert (answer.done, answer.problem, answer.body) == (True, None, b"[]")


@pytest.mark.parametrize("data", [STATUS + b"\r\n[]", STATUS + LENGTH + b"\r\n["])
def test_a_connection_that_breaks_completes_nothing(data: bytes) -> None:
    """Not even an answer that its end would have completed; and what is wrong stays so."""
    answer = read(data)
    answer.broke("it was reset")
    assert answer.problem == ("cut-off", "The connection broke: it was reset.")
    answer.feed(b"")
    assert (answer.done, answer.problem[0]) == (False, "cut-off")


@pytest.mark.parametrize(
    ("data", "kept"),
    [
        (STATUS + LENGTH + b"\r\n[]", True),
        (CHUNKED + b"2\r\n[]\r\n0\r\n\r\n", True),
        (STATUS + b"Connection: close\r\n" + LENGTH + b"\r\n[]", False),
        (b"HTTP/1.0 200 OK\r\n" + LENGTH + b"\r\n[]", False),
        (b"HTTP/1.0 200 OK\r\nConnection: keep-alive\r\n" + LENGTH + b"\r\n[]", True),
        (b"HTTP/1.1 204 No Content\r\n\r\n", True),
        (b"HTTP/1.1 304 Not Modified\r\n\r\n", True),
    ],
)
def test_a_connection_is_kept_where_both_sides_know_the_answers_end(data: bytes, kept: bool) -> None:
    """And the bot does not say otherwise."""
    answer = read(data)
    assert (answer.done, answer.reusable) == (True, kept)


@pytest.mark.parametrize(("count", "problem"), [(5, None), (6, "bad-http")])
def test_few_interim_answers_may_come_before_the_answer(count: int, problem: str | None) -> None:
    """Five."""
    answer = read(count * b"HTTP/1.1 103 Early Hints\r\n\r\n" + STATUS + LENGTH + b"\r\n[]")
    assert (answer.problem or (None,))[0] == problem
    assert answer.done is (problem is None)


@pytest.mark.parametrize("form", [STATUS + b"Content-Length: %d\r\n\r\n%s", STATUS + b"X-%d: x\r\n\r\n%s"])
def test_a_body_is_as_large_as_may_be_and_no_larger(form: bytes) -> None:
    """However its end is told; the first byte too many is enough."""
    for size, problem in ((65_536, None), (65_537, "too-big")):
        answer = read(form % (size, b" " * size), 10_007)
        answer.feed(b"")
        assert (answer.problem or (None,))[0] == problem
        assert answer.done is (problem is None)


@pytest.mark.parametrize("encoding", [b"identity", b"Identity", b"identity \t", b""])
def test_an_encoding_that_changes_nothing_is_none(encoding: bytes) -> None:
    """Whoever says so; blanks around a header's value are none of it."""
    answer = read(STATUS + b"Content-Encoding: " + encoding + b"\r\n" + LENGTH + b"\r\n[]")
    assert (answer.done, answer.problem) == (True, None)


@pytest.mark.parametrize(("size", "problem"), [(2_048, None), (2_047, "too-big")])
def test_each_part_after_the_first_holds_2048_bytes_of_the_body(size: int, problem: str | None) -> None:
    """Of its 16,384, whatever came before; the rest may be what stands beside the size of a chunk."""
    head, body = CHUNKED + b"800\r\n" + b" " * 2_048 + b"\r\nffff;", b"\r\n" + b" " * size
    answer = read(head + b"x" * (2 * 16_384 - len(head) - len(body)) + body)
    assert (answer.problem or (None,))[0] == problem
