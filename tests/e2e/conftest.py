"""A module's servers, and bots at them."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from cluster import Cluster, cluster
from doors import meet, servers, sit, web, workers  # noqa: F401

from battlebot.config import Settings


@pytest.fixture(scope="module")
def town(module_settings: Settings, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Cluster]:
    """Yields a cluster for all tests of a module, no part started yet. Contests and bots need names of their own."""
    with cluster(module_settings, tmp_path_factory.mktemp("town")) as made:
        yield made
