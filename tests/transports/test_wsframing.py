"""What the bytes of a WebSocket's peer say, without a socket."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st
from wsproto.events import CloseConnection, Ping, Pong

from battlebot.transports.wsframing import Broken, Framing, Message, Part, Said
from battlebot.wire.closing import PROTOCOL_ERROR, TOO_BIG

MOST = 300


def frame(head: int, payload: bytes = b"") -> bytes:
    """A client's frame, whose mask leaves the payload as it is."""
    size = len(payload)
    length = bytes([128 + size]) if size < 126 else b"\xfe" + size.to_bytes(2, "big")
    return bytes([head]) + length + bytes(4) + payload


CONVERSATION = [
    (frame(0x81, b"{}"), Message("{}")),
    (frame(0x81, b"x" * MOST), Message("x" * MOST)),
    (frame(0x89, b"?"), Ping(b"?")),
    (frame(0x01, b"on"), Part()),
    (frame(0x8A), Pong(b"")),
    (frame(0x00, "ü".encode()), Part()),
    (frame(0x80, b"ce"), Message("onüce")),
    (frame(0x82, b"\xff"), Message(None)),
    (frame(0x88, b"\x03\xe8bye"), CloseConnection(1000, "bye")),
    (frame(0x81, b"too late"), None),
    (b"\xff\xff\xff", None),
]
SENT = b"".join(data for data, _ in CONVERSATION)
SAID = [said for _, said in CONVERSATION if said is not None]


def said_by(framing: Framing, chunks: Sequence[bytes]) -> list[Said]:
    """Reads the chunks as a connection does."""
    said: list[Said] = []
    for chunk in chunks:
        text = framing.whole(chunk)
        said += framing.read(chunk) if text is None else [Message(text)]
    return said


@given(st.sets(st.integers(1, len(SENT) - 1)))
def test_it_is_the_same_however_the_bytes_are_cut(cuts: set[int]) -> None:
    """Also the shortest ways, for one whole text message and for one pong, must not be taken within another frame."""
    chunks = [SENT[at:end] for at, end in pairwise([0, *sorted(cuts), len(SENT)])]
    assert said_by(Framing(MOST), chunks) == SAID


def test_each_frame_by_itself_says_the_same() -> None:
    """Then the shortest ways are taken."""
    assert said_by(Framing(MOST), [data for data, _ in CONVERSATION]) == SAID


@pytest.mark.parametrize("looks", [frame(0x81, b"{}"), frame(0x8A)], ids=["text", "pong"])
def test_a_payload_that_looks_like_a_frame_is_none(looks: bytes) -> None:
    """Though it comes by itself."""
    whole = frame(0x82, looks)
    assert said_by(Framing(MOST), [whole[: -len(looks)], looks]) == [Message(None)]


def test_a_text_that_comes_by_itself_within_the_parts_of_another_breaks_the_protocol() -> None:
    """As it does in one piece with them."""
    with pytest.raises(Broken):
        said_by(Framing(MOST), [frame(0x01, b"x"), frame(0x81, b"{}")])


def test_what_a_message_may_have_is_counted_for_each_by_itself() -> None:
    """And a ping between its parts does not count."""
    parts = [frame(0x01, b"x" * (MOST - 1)), frame(0x89, b"??"), frame(0x80, b"x")]
    message = [Part(), Ping(b"??"), Message("x" * MOST)]
    assert said_by(Framing(MOST), parts * 2) == message * 2


@pytest.mark.parametrize(
    ("sent", "status"),
    [
        (frame(0x81, b"x" * (MOST + 1))[:4], TOO_BIG.status),
        (frame(0x01, b"x" * MOST) + frame(0x80, b"x"), TOO_BIG.status),
        (frame(0x81, b"\xff"), 1007),
        (frame(0x01, b"x") + frame(0x81, b"{}"), PROTOCOL_ERROR.status),
        (b"\x81\x02{}", PROTOCOL_ERROR.status),
        (frame(0xC1, b"{}"), PROTOCOL_ERROR.status),
        (frame(0x83, b"{}"), PROTOCOL_ERROR.status),
        (frame(0x88, b"\x03\xed"), PROTOCOL_ERROR.status),
    ],
    ids=["header", "parts", "no UTF-8", "within parts", "unmasked", "reserved bit", "reserved opcode", "close code"],
)
def test_what_breaks_a_rule_names_the_status_for_the_close_frame(sent: bytes, status: int) -> None:
    """And what came before it counts."""
    framing = Framing(MOST)
    said: list[Said] = []
    with pytest.raises(Broken) as caught:
        said.extend(framing.read(frame(0x81, b"{}") + sent))
    assert caught.value.reason.status == status
    goodbye = framing.goodbye(caught.value.reason)
    assert (goodbye[0], int.from_bytes(goodbye[2:4], "big")) == (0x88, status)
    assert framing.goodbye(caught.value.reason) == b"", "one is enough"


def test_pings_and_closes_are_answered_with_what_they_said() -> None:
    """By frames of their own kind."""
    framing = Framing(MOST)
    [ping, close] = framing.read(frame(0x89, b"?") + frame(0x88, b"\x03\xe8"))
    assert isinstance(ping, Ping)
    assert isinstance(close, CloseConnection)
    assert framing.answer(close) == b"\x88\x02\x03\xe8"
    with pytest.raises(Broken):
        framing.answer(ping)
