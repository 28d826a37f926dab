"""The frames of the TCP door: any split, any junction, the cap, a peer that leaves in the middle."""

from __future__ import annotations

from contextlib import suppress

import pytest
from cpu import least_cpu_s
from hypothesis import given
from hypothesis import strategies as st

from battlebot.errors import TooBig
from battlebot.wire.framing import MAX_PAYLOAD_BYTES, Decoder, frame


def all_of(decoder: Decoder) -> list[bytes]:
    """Every payload that is whole by now."""
    payloads = []
    while (payload := decoder.next()) is not None:
        payloads.append(payload)
    return payloads


def test_a_frame_is_four_bytes_of_length_and_the_payload() -> None:
    """Unsigned, the most significant byte first; bytes are counted, not characters."""
    assert frame(b'{"a": 1}') == b'\x00\x00\x00\x08{"a": 1}'
    assert frame("é".encode()) == b"\x00\x00\x00\x02\xc3\xa9"
    assert frame(b"x" * 258)[:4] == b"\x00\x00\x01\x02"


def test_one_byte_at_a_time() -> None:
    """The payload is there with its last byte, not before."""
    decoder, data = Decoder(), frame(b"first") + frame(b"2")
    found = []
    for at in range(len(data)):
        decoder.feed(data[at : at + 1])
        found += [(at, payload) for payload in all_of(decoder)]
    assert found == [(8, b"first"), (13, b"2")]


def test_many_in_one_read() -> None:
    """And the beginning of the next."""
    decoder = Decoder()
    decoder.feed(frame(b"a") + frame(b"b") + frame(b"c")[:3])
    assert all_of(decoder) == [b"a", b"b"]
    decoder.feed(frame(b"c")[3:])
    assert all_of(decoder) == [b"c"]


def test_length_zero_is_ignored() -> None:
    """Before, between and after others."""
    decoder = Decoder()
    decoder.feed(frame(b"") * 3 + frame(b"a") + frame(b"") + frame(b"b") + frame(b""))
    assert decoder.empty == 0
    assert all_of(decoder) == [b"a", b"b"]
    assert decoder.between


def test_lengths_zero_of_one_read_are_skipped_together() -> None:
    """Thousands cost next to nothing, and the length after them keeps its own zeros."""

    def decode(data: bytes, found: int, empty: int) -> None:
        decoder = Decoder()
        decoder.feed(data)
        assert (len(all_of(decoder)), decoder.empty) == (found, empty)

    number = 10_000
    none_s = least_cpu_s(lambda: decode(frame(b"") * number + frame(b"a"), 1, number))
    each_s = least_cpu_s(lambda: decode(frame(b"a") * number, number, 0))
    assert none_s < each_s / 4


@pytest.mark.parametrize("size", [MAX_PAYLOAD_BYTES + 1, 2**31, 2**32 - 1])
def test_more_than_the_cap_is_refused_at_its_head(size: int) -> None:
    """Not one byte of it is waited for, and what was whole before it is not lost; nothing comes after."""
    decoder = Decoder()
    decoder.feed(frame(b"good") + size.to_bytes(4))
    assert decoder.next() == b"good"
    for _ in range(2):
        with pytest.raises(TooBig) as caught:
            decoder.next()
    assert caught.value.code == "too-big"
    assert str(size) in str(caught.value)


def test_exactly_the_cap_is_taken() -> None:
    """64 KiB."""
    decoder = Decoder()
    decoder.feed(frame(b"x" * MAX_PAYLOAD_BYTES))
    assert decoder.next() == b"x" * MAX_PAYLOAD_BYTES


@pytest.mark.parametrize(("data", "between"), [(b"", True), (b"\0", False), (frame(b"ab"), True)])
def test_it_knows_whether_a_peer_leaves_in_the_middle(data: bytes, between: bool) -> None:
    """In the length, in the payload, or between two messages."""
    decoder = Decoder()
    decoder.feed(data)
    all_of(decoder)
    assert decoder.between is between


@pytest.mark.parametrize("cut", range(1, len(frame(b"abc"))))
def test_every_cut_within_a_frame_is_in_the_middle(cut: int) -> None:
    """Whatever is missing."""
    decoder = Decoder()
    decoder.feed(frame(b"abc")[:cut])
    assert all_of(decoder) == []
    assert not decoder.between


@given(st.lists(st.binary(max_size=40)), st.data())
def test_any_split_and_any_junction_give_the_same_payloads(payloads: list[bytes], data: st.DataObject) -> None:
    """The stream is cut anywhere, also into empty reads, and read whenever one likes."""
    stream = b"".join(map(frame, payloads))
    cuts = sorted(data.draw(st.lists(st.integers(0, len(stream)))))
    decoder, found = Decoder(), []
    for begin, end in zip([0, *cuts], [*cuts, len(stream)], strict=True):
        decoder.feed(stream[begin:end])
        if data.draw(st.booleans()):
            found += all_of(decoder)
    found += all_of(decoder)
    assert found == [payload for payload in payloads if payload]
    assert decoder.between


@given(st.binary(max_size=200))
def test_no_bytes_break_it(data: bytes) -> None:
    """Whatever comes is payloads, or too big, or not whole yet."""
    decoder = Decoder(50)
    decoder.feed(data)
    with suppress(TooBig):
        assert all(0 < len(payload) <= 50 for payload in all_of(decoder))
