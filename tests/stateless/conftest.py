"""Bots behind HTTP, and a server that asks them."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import pytest
from battling import Field
from cluster import START_S, cluster, free_port, wait_for
from httpbots import Bots, http_bots
from natsbots import nats_server, wait_until_listening

from battlebot.config import Settings
from battlebot.stateless.nats.line import NatsLine


@pytest.fixture
def bots() -> Iterator[Bots]:
    """Yields bots behind HTTP of all behaviours, for one test."""
    with http_bots() as made:
        yield made


@pytest.fixture
def kept_long(monkeypatch: pytest.MonkeyPatch) -> None:
    """Keeps connections for longer than a test may take on a slow machine."""
    monkeypatch.setattr("battlebot.stateless.http.connections.KEPT_S", 60.0)


@pytest.fixture(scope="module")
def field(module_settings: Settings, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Field]:
    """Yields a worker that asks, another for all other tasks, and beat, for all tests of a module."""
    with cluster(replace(module_settings, bot_loopback=True), tmp_path_factory.mktemp("field")) as parts:
        parts.bots()
        parts.worker()
        parts.beat()
        # the sweep takes over a battle that no worker has asked for when it is due, and slow steps are timed
        wait_for(lambda: parts.logs().count(" ready.") == 2, "the workers", START_S)
        yield Field(parts)


@pytest.fixture(scope="module")
def pages() -> int:
    """Returns the port of nats-server's monitoring pages."""
    return free_port()


@pytest.fixture(scope="module")
def nats_url(pages: int) -> Iterator[str]:
    """Yields the url of a NATS server for all tests of the module."""
    with nats_server(None, "--http_port", str(pages)) as url:
        wait_until_listening(url)
        yield url


@pytest.fixture
def line(nats_url: str) -> Iterator[NatsLine]:
    """Yields the server's connection to NATS."""
    made = NatsLine(nats_url)
    yield made
    made.close()
