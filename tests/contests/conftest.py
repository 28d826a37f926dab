"""Contests over the test process's stores."""

from __future__ import annotations

import pytest
import redis
from hall import Hall

from battlebot.config import Settings
from battlebot.storage import Storage


@pytest.fixture
def hall(settings: Settings, storage: Storage, client: redis.Redis) -> Hall:
    """Returns a contest in motion, not yet begun."""
    return Hall(settings, storage, client)
