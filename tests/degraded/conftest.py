"""Fragile stores for the tests of a module, and bots at the node over them."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress

import pytest
from cluster import Web
from frail import SETTINGS, Frail, frail_house
from switchboard import Switchboard


@pytest.fixture(scope="module")
def frail(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Frail]:
    """Yields a module's stores."""
    with frail_house(tmp_path_factory.mktemp("frail"), **SETTINGS) as made:
        yield made


@pytest.fixture(scope="module")
def web(frail: Frail, request: pytest.FixtureRequest) -> Web:
    """Returns a web node over them, with a worker and beat beside it."""
    changes = getattr(request.module, "PLAY", {})
    node = frail.parts.web(**changes)
    frail.parts.worker(**changes)
    frail.parts.beat()
    node.wait_until_ready()
    return node


@pytest.fixture
def meet(web: Web) -> Iterator[Switchboard]:
    """Yields a maker of connections to the node; closes them after the test."""
    switchboard = Switchboard(web)
    yield switchboard
    for peer in switchboard.peers:
        with suppress(OSError):
            peer.reset()
