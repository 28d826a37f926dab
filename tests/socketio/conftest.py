"""Two web nodes with the socket.io door, workers of both kinds, beat, and bots behind HTTP, for a module's tests."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest
from cluster import Cluster, Web, cluster

from battlebot.config import Settings

sys.path.insert(0, str(Path(__file__).parent.parent / "stateless"))
sys.path.insert(0, str(Path(__file__).parent.parent / "degraded"))

from httpbots import Bots, http_bots


@pytest.fixture(scope="module")
def parts(module_settings: Settings, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Cluster]:
    """Yields all processes but the two web nodes; no part may have logged an error at the end."""
    settings = replace(module_settings, bot_loopback=True)
    with cluster(settings, tmp_path_factory.mktemp("socketio")) as made:
        made.worker()
        made.bots()
        made.beat()
        yield made
    assert "Traceback" not in made.logs()


@pytest.fixture(scope="module")
def nodes(parts: Cluster) -> tuple[Web, Web]:
    """Returns two web nodes, ready."""
    made = parts.web(), parts.web()
    made[0].wait_until_ready()
    return made


@pytest.fixture
def bots() -> Iterator[Bots]:
    """Yields bots behind HTTP, for one test."""
    with http_bots() as made:
        yield made
