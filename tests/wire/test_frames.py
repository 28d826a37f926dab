"""WebSocket frames as bytes: where they end, what they hold, which are none of a client's."""

from __future__ import annotations

import struct

import pytest

from battlebot.wire.frames import TEXT, Irregular, payload_at, text_frame, unmasked, whole_pong, whole_text

MASK = b"\x37\xfa\x21\x3d"  # of the RFC's own examples
LENGTHS = [0, 1, 3, 4, 5, 125, 126, 127, 65_535, 65_536, 70_001]


def head(length: int, first: int = TEXT) -> bytes:
    """A client's header, as short as may be."""
    if length < 126:
        return bytes((first, 0x80 | length)) + MASK
    if length < 65_536:
        return struct.pack("!BBH", first, 0xFE, length) + MASK
    return struct.pack("!BBQ", first, 0xFF, length) + MASK


def masked(payload: bytes) -> bytes:
    """Masked as the RFC says, byte by byte."""
    return bytes(byte ^ MASK[at % 4] for at, byte in enumerate(payload))


@pytest.mark.parametrize("length", LENGTHS)
def test_a_payload_is_found_and_unmasked(length: int) -> None:
    """Of any length, also behind another frame."""
    payload = bytes(at % 251 for at in range(length))
    data = b"before" + head(length) + masked(payload) + b"after"
    found = payload_at(data, 6)
    assert found is not None
    assert unmasked(data, *found) == payload
    assert data[found[1] :] == b"after"


@pytest.mark.parametrize("length", LENGTHS)
def test_a_header_tells_the_end_as_soon_as_it_is_there_and_no_sooner(length: int) -> None:
    """The mask's own bytes may still be missing."""
    whole = head(length)
    known = len(whole) - len(MASK)
    assert [payload_at(whole[:size], 0) for size in range(known)] == [None] * known
    assert payload_at(whole[:known], 0) == (len(whole), len(whole) + length)


@pytest.mark.parametrize(
    "begin",
    [
        b"\x81\x02{}",  # no mask
        b"\x83\x80",  # an opcode that is none
        b"\xc1\x80",  # a reserved bit
        b"\x09\x80",  # a ping in parts
        b"\x89\xfe\x00\x7e",  # a long ping
        struct.pack("!BBH", TEXT, 0xFE, 125),  # more bytes of length than it needs
        struct.pack("!BBQ", TEXT, 0xFF, 65_535),
        struct.pack("!BBQ", TEXT, 0xFF, 1 << 63),
        b"GET / HTTP/1.1",
    ],
)
def test_what_no_client_sends_is_irregular(begin: bytes) -> None:
    """RFC 6455, sections 5.1, 5.2 and 5.5."""
    with pytest.raises(Irregular):
        payload_at(begin + MASK, 0)


@pytest.mark.parametrize("first", range(256), ids=hex)
def test_a_frame_begins_with_what_the_rfc_defines(first: int) -> None:
    """Text, binary and further parts of one, the last or not; a close, a ping and a pong, which have one part."""
    if first in {0x00, 0x01, 0x02, 0x80, 0x81, 0x82, 0x88, 0x89, 0x8A}:
        assert payload_at(head(3, first), 0) == (6, 9)
    else:
        with pytest.raises(Irregular):
            payload_at(head(3, first), 0)


def test_a_length_has_63_bits() -> None:
    """Whoever takes so much."""
    assert payload_at(struct.pack("!BBQ", TEXT, 0xFF, 2**63 - 1), 0) == (14, 14 + 2**63 - 1)


@pytest.mark.parametrize("length", LENGTHS)
def test_a_servers_text_has_the_shortest_header_and_no_mask(length: int) -> None:
    """As the RFC's section 5.2 wants the length."""
    expected = head(length)[: -len(MASK)]
    assert text_frame("x" * length) == bytes((expected[0], expected[1] & 0x7F)) + expected[2:] + b"x" * length


def test_a_servers_text_is_counted_in_bytes() -> None:
    """Not in characters."""
    assert text_frame("€") == b"\x81\x03\xe2\x82\xac"


@pytest.mark.parametrize(
    ("data", "payload"),
    [
        (head(0), b""),
        (head(7) + masked(b'{"n":0}'), b'{"n":0}'),
        (head(125) + masked(b"x" * 125), b"x" * 125),
        (head(126) + masked(b"x" * 126), None),  # more than it is to take
        (head(2) + masked(b"{"), None),  # not all of it
        (head(1) + masked(b"12"), None),  # and something behind it
        (head(1, first=0x01) + masked(b"1"), None),  # a part of a message
        (head(1, first=0x82) + masked(b"1"), None),  # binary
        (b"\x81\x02{}" + MASK, None),  # no mask
        (
            (head(200) + masked(b"x" * 200))[:132],
            None,
        ),  # a part, as long as a frame would be of which 126 were the length
        ((head(70_000) + masked(b"x" * 200))[:133], None),  # or 127
        (b"\x81\x7e\x00\x7e", None),  # or one less than none
        (b"\x81", None),
        (b"", None),
    ],
)
def test_a_whole_message_is_taken_at_a_glance_or_left_to_be_looked_at(data: bytes, payload: bytes | None) -> None:
    """Only just one whole text in one frame, with a length of one byte and within the bound."""
    assert whole_text(data, 1000) == payload
    if payload:
        assert whole_text(data, len(payload)) == payload
        assert whole_text(data, len(payload) - 1) is None


@pytest.mark.parametrize(
    ("data", "is_pong"),
    [
        (head(0, first=0x8A), True),
        (head(0, first=0x89), False),
        (head(1, first=0x8A) + masked(b"1"), False),  # with data
        (head(0, first=0x8A) * 2, False),
        (head(0, first=0x8A)[:-1], False),
        (b"\x8a\x00" + MASK, False),  # no mask
    ],
)
def test_the_answer_to_a_ping_of_ours_is_known_at_a_glance(data: bytes, is_pong: bool) -> None:
    """Only just the one frame; all else is looked at."""
    assert whole_pong(data) is is_pong
