"""Real sockets in one process: a gevent socket of the server, and a plain one of its peer."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from pairs import Pair, connected


@pytest.fixture
def pair() -> Iterator[Pair]:
    """Yields (ours, the peer's), see `connected`."""
    with connected() as made:
        yield made
