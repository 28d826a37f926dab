"""Contests over the test process's stores."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
import redis
from hall import Hall

from battlebot.config import Settings
from battlebot.redisio.connection import connect
from battlebot.storage import Storage


@pytest.fixture
def client(settings: Settings) -> Iterator[redis.Redis]:
    """Yields a client of the emptied Valkey."""
    made = connect(settings.redis_url)
    yield made
    made.close()


@pytest.fixture
def hall(settings: Settings, storage: Storage, client: redis.Redis) -> Hall:
    """Returns a contest in motion, not yet begun."""
    return Hall(settings, storage, client)
