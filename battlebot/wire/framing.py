"""The TCP door's length-prefixed messages: bytes in, payloads out. No sockets, no JSON.

A frame is the payload's length in four bytes (unsigned, big-endian), then the payload (protocol duel-arena).
"""

from __future__ import annotations

import re

from battlebot.errors import TooBig

HEAD_BYTES = 4
_ZEROS = re.compile(rb"\0*")
MAX_PAYLOAD_BYTES = 65_536


def frame(payload: bytes) -> bytes:
    """The payload with its length prefix, to be sent in one write."""
    return len(payload).to_bytes(HEAD_BYTES) + payload


class Decoder:
    """Pass it bytes by `feed` as they arrive; then call `next` for complete payloads until it returns None.

    `empty` counts the frames of length 0 so far.

    After TooBig the rest of the stream cannot be decoded: the caller must end the connection.
    """

    def __init__(self, max_payload_bytes: int = MAX_PAYLOAD_BYTES) -> None:
        self._max = max_payload_bytes
        self._data = bytearray()
        self._wanted: int | None = None
        self.empty = 0

    def feed(self, data: bytes) -> None:
        """Add received bytes: any number, split anywhere."""
        self._data += data

    def next(self) -> bytes | None:
        """Return the next payload, or None while it is incomplete. Frames of length 0 are skipped.

        Raises TooBig as soon as a frame announces a length above the limit, and at every later call.
        """
        if self._wanted is None:
            self._skip_empty()
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
        return payload

    def _skip_empty(self) -> None:
        # all that are there at once: a client may send thousands with one write
        zeros = _ZEROS.match(self._data)
        assert zeros is not None
        number = zeros.end() // HEAD_BYTES
        del self._data[: number * HEAD_BYTES]
        self.empty += number

    @property
    def between(self) -> bool:
        """Whether the bytes so far end with a complete frame: the peer can close here without truncating a message."""
        return self._wanted is None and not self._data
