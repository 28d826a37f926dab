"""What the web node's worker changes of gunicorn's and gevent's."""

from __future__ import annotations

import socket

import pytest
from gevent.server import StreamServer
from gunicorn import http
from gunicorn.config import Config
from gunicorn.workers.ggevent import GeventWorker

from battlebot.embedded.webparser import UnhurriedParser
from battlebot.embedded.webworker import ACCEPTED_AT_ONCE, WebWorker


def test_few_connections_are_accepted_at_a_time(monkeypatch: pytest.MonkeyPatch) -> None:
    """gunicorn makes its servers by this class, and leaves gevent's hundred as they are."""
    _patch(monkeypatch)
    assert StreamServer.max_accept == ACCEPTED_AT_ONCE < 100


def test_requests_are_parsed_by_the_parser_that_rests(monkeypatch: pytest.MonkeyPatch) -> None:
    """gunicorn looks it up for each connection."""
    _patch(monkeypatch)
    assert isinstance(http.get_parser(Config(), socket.socket(), ("192.0.2.1", 1)), UnhurriedParser)


def _patch(monkeypatch: pytest.MonkeyPatch) -> None:
    """Has a worker patch what it does, for this test."""
    monkeypatch.setattr(StreamServer, "max_accept", StreamServer.max_accept)
    monkeypatch.setattr(http, "RequestParser", http.RequestParser)
    monkeypatch.setattr(GeventWorker, "patch", lambda worker: None)
    worker = WebWorker.__new__(WebWorker)
    worker.sockets = []
    worker.patch()
