"""WebSocket frames as bytes (RFC 6455, section 5.2): frame boundaries, and whole text messages. No sockets, no state.

The common case, a text message in one frame in either direction, is decoded and encoded here; a library handles all
other frames (fragments, pings, closes).
"""

from __future__ import annotations

from struct import Struct

TEXT = 0x81  # a whole message of text
HEADS = frozenset({0x00, 0x01, 0x02, 0x80, TEXT, 0x82, 0x88, 0x89, 0x8A})  # first bytes defined by the RFC
CONTROL = 0x08
MASKED = 0x80
LENGTH_IN_2, LENGTH_IN_8 = 126, 127
MASK_BYTES = 4
PING = b"\x89\x00"  # without data, as all pings of ours
_HEAD_WITH_2 = Struct(">BBH")  # of a frame from a server, its length in two bytes
PONG = b"\x8a\x80"  # the head of its answer; a mask follows


class Irregular(Exception):
    """The bytes are not a valid frame header from a client."""


def payload_at(data: bytes | bytearray, at: int) -> tuple[int, int] | None:
    """Return where the payload of the frame at `at` begins and ends, or None if its header is incomplete.

    The end may lie beyond the data. Raises Irregular for a reserved bit or opcode, a missing mask, a long or
    fragmented control frame, or a length that is not encoded in the fewest bytes or is 2^63 or more.
    """
    if len(data) < at + 2:
        return None
    first, length = data[at], data[at + 1] - MASKED
    if first not in HEADS or length < 0:
        raise Irregular
    begin = at + 2
    if length >= LENGTH_IN_2:
        if first & CONTROL:
            raise Irregular
        more, least = (2, LENGTH_IN_2) if length == LENGTH_IN_2 else (8, 1 << 16)
        begin += more
        if len(data) < begin:
            return None
        length = int.from_bytes(data[at + 2 : begin], "big")
        if length < least or length >= 1 << 63:
            raise Irregular
    begin += MASK_BYTES
    return begin, begin + length


def unmasked(data: bytes | bytearray, begin: int, end: int) -> bytes:
    """The payload from `begin` to `end`, unmasked with the mask directly before it."""
    length = end - begin
    mask = data[begin - MASK_BYTES : begin] * (length // MASK_BYTES + 1)
    masked = int.from_bytes(data[begin:end], "little") ^ int.from_bytes(mask[:length], "little")
    return masked.to_bytes(length, "little")


def whole_text(data: bytes, most: int) -> bytes | None:
    """Return the payload if the data are exactly one frame with a short header and a whole text message; else None.

    Turns nearly always arrive like this. The payload has at most `most` bytes, and fewer than 126. After None the
    data may still be valid.
    """
    if len(data) < 2 or data[0] != TEXT:
        return None
    length, begin = data[1] - MASKED, 2 + MASK_BYTES
    if not 0 <= length < LENGTH_IN_2 or length > most or len(data) != begin + length:
        return None
    return unmasked(data, begin, begin + length)


def whole_pong(data: bytes) -> bool:
    """Whether the data are exactly one frame, the answer to `PING`."""
    return len(data) == len(PONG) + MASK_BYTES and data.startswith(PONG)


def text_frame(text: str) -> bytes:
    """An unmasked frame, as sent by servers, with a whole text message."""
    payload = text.encode()
    length = len(payload)
    if length < LENGTH_IN_2:
        return bytes((TEXT, length)) + payload
    if length < 1 << 16:
        return _HEAD_WITH_2.pack(TEXT, LENGTH_IN_2, length) + payload
    return bytes((TEXT, LENGTH_IN_8)) + length.to_bytes(8, "big") + payload
