"""WebSocket frames as bytes (RFC 6455, section 5.2): where one ends, and the plain ones whole. No sockets, no state.

What a conversation is made of, text in one masked frame and text in answer, is read and made here; the rules of all
other frames (fragments, pings, closes) are a library's work.
"""

from __future__ import annotations

TEXT = 0x81  # a whole message of text
HEADS = frozenset({0x00, 0x01, 0x02, 0x80, TEXT, 0x82, 0x88, 0x89, 0x8A})  # first bytes that the RFC knows
CONTROL = 0x08
MASKED = 0x80
LENGTH_IN_2, LENGTH_IN_8 = 126, 127
MASK_BYTES = 4


class Irregular(Exception):
    """No frame of a client begins so."""


def payload_at(data: bytes | bytearray, at: int) -> tuple[int, int] | None:
    """Where the payload begins and ends of the frame that begins at `at`; None if its header is not whole.

    The end may lie beyond the data. Raises Irregular: a reserved bit or opcode, no mask, a control frame that is long
    or in parts, a length in more bytes than it needs.
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
    """The payload that lies there, after its mask."""
    length = end - begin
    mask = data[begin - MASK_BYTES : begin] * (length // MASK_BYTES + 1)
    masked = int.from_bytes(data[begin:end], "little") ^ int.from_bytes(mask[:length], "little")
    return masked.to_bytes(length, "little")


def whole_text(data: bytes, most: int) -> bytes | None:
    """The payload, if the data are just one whole frame that holds a whole message of text, of `most` bytes or fewer.

    Turns nearly always come so, in one frame with a short header; None says nothing of what the data are else.
    """
    if len(data) < 2 or data[0] != TEXT:
        return None
    length, begin = data[1] - MASKED, 2 + MASK_BYTES
    if not 0 <= length < LENGTH_IN_2 or length > most or len(data) != begin + length:
        return None
    return unmasked(data, begin, begin + length)


def text_frame(text: str) -> bytes:
    """A server's frame for a whole message of text."""
    payload = text.encode()
    length = len(payload)
    if length < LENGTH_IN_2:
        return bytes((TEXT, length)) + payload
    if length < 1 << 16:
        return bytes((TEXT, LENGTH_IN_2, length >> 8, length & 255)) + payload
    return bytes((TEXT, LENGTH_IN_8)) + length.to_bytes(8, "big") + payload
