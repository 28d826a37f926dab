"""Parts that talk to Redis are tested with a real Valkey."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
import redis

from battlebot.config import Settings
from battlebot.redisio.connection import connect


@pytest.fixture
def client(settings: Settings) -> Iterator[redis.Redis]:
    """Yields a client of the emptied Valkey."""
    made = connect(settings.redis_url)
    yield made
    made.close()
