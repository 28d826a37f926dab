"""What the web node's worker changes of gunicorn's and gevent's."""

from __future__ import annotations

import pytest
from gevent.server import StreamServer
from gunicorn.workers.ggevent import GeventWorker

from battlebot.embedded.webworker import ACCEPTED_AT_ONCE, WebWorker


def test_few_connections_are_accepted_at_a_time(monkeypatch: pytest.MonkeyPatch) -> None:
    """gunicorn makes its servers by this class, and leaves gevent's hundred as they are."""
    monkeypatch.setattr(StreamServer, "max_accept", StreamServer.max_accept)
    monkeypatch.setattr(GeventWorker, "patch", lambda worker: None)
    worker = WebWorker.__new__(WebWorker)
    worker.sockets = []
    worker.patch()
    assert StreamServer.max_accept == ACCEPTED_AT_ONCE < 100
