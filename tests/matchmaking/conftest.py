"""The lobby of one node over a real Valkey."""

from __future__ import annotations

import pytest
import redis
from lobbies import lobby_of

from battlebot.config import Settings
from battlebot.matchmaking.lobby import Lobby


@pytest.fixture
def lobby(client: redis.Redis, settings: Settings) -> Lobby:
    """Of the node n1, outside contests."""
    return lobby_of("n1", client, settings)
