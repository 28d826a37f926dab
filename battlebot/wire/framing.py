"""Messages with their length before them, as the TCP door has them: bytes in, payloads out. No sockets, no JSON.

A frame is four bytes, unsigned, big-endian: how many bytes follow; then those bytes (protocol duel-arena).
"""

from __future__ import annotations

from battlebot.errors import TooBig

HEAD_BYTES = 4
MAX_PAYLOAD_BYTES = 65_536


def frame(payload: bytes) -> bytes:
    """The payload with its length before it: to be sent as one piece."""
    return len(payload).to_bytes(HEAD_BYTES) + payload


class Decoder:
    """Takes bytes as they come, `feed`, and gives the payloads that are whole, `next`, until it answers None.

    `empty` counts the frames of length 0 so far.

    After TooBig there is nothing to be made of the bytes any more: the caller must end the connection.
    """

    def __init__(self, max_payload_bytes: int = MAX_PAYLOAD_BYTES) -> None:
        self._max = max_payload_bytes
        self._data = bytearray()
        self._wanted: int | None = None
        self.empty = 0

    def feed(self, data: bytes) -> None:
        """More bytes have come: any number, split anywhere."""
        self._data += data

    def next(self) -> bytes | None:
        """The next payload; None while it is not whole. Frames of length 0 are passed over.

        Raises TooBig as soon as a frame announces more than is taken, and for good.
        """
        while True:
            if self._wanted is None:
                if len(self._data) < HEAD_BYTES:
                    return None
                self._wanted = int.from_bytes(self._data[:HEAD_BYTES])
                del self._data[:HEAD_BYTES]
            if self._wanted > self._max:
                raise TooBig(f"A message may have {self._max} bytes; this one announces {self._wanted}.")
            if len(self._data) < self._wanted:
                return None
            payload = bytes(self._data[: self._wanted])
            del self._data[: self._wanted]
            self._wanted = None
            if payload:
                return payload
            self.empty += 1

    @property
    def between(self) -> bool:
        """Whether the bytes so far end with a whole frame: the peer may leave here without breaking a message off."""
        return self._wanted is None and not self._data
