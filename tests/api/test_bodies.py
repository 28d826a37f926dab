"""A request's body, however it is cut up, holds up nobody else."""

from __future__ import annotations

from io import BytesIO

import pytest
from flask import Flask, request

from battlebot.api import bodies as module
from battlebot.api.bodies import STEP_BYTES, read_body
from battlebot.config import Settings

SIZE = 20 * STEP_BYTES


class Stream:
    """Gives what it is asked for, and notes how much that was at most between two rests."""

    def __init__(self) -> None:
        self._body = BytesIO(b"x" * SIZE)
        self._since = self.longest = 0

    def read(self, size: int) -> bytes:
        """Returns some bytes."""
        part = self._body.read(size)
        self._since += len(part)
        self.longest = max(self.longest, self._since)
        return part

    def rest(self) -> None:
        """Others go on."""
        self._since = 0


def test_others_go_on_while_a_body_in_chunks_is_read(monkeypatch: pytest.MonkeyPatch) -> None:
    """Each chunk may hold a byte: sixty thousand of them would stop the node for half a second."""
    stream = Stream()
    monkeypatch.setattr(module, "yield_to_others", stream.rest)
    environ = {"wsgi.input_terminated": True, "HTTP_TRANSFER_ENCODING": "chunked", "wsgi.input": stream}
    with Flask("test").test_request_context("/", method="POST", environ_overrides=environ):
        read_body(Settings())
        assert request.get_data() == b"x" * SIZE
    assert 0 < stream.longest <= STEP_BYTES
