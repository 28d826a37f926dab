"""What a node knows of the contests in which its players wait."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
import redis
from structlog.testing import capture_logs

from battlebot.config import Settings
from battlebot.contests.service import entrance
from battlebot.contests.service.entrance import Entrance
from battlebot.errors import Unavailable
from battlebot.redisio.bus import Bus
from battlebot.storage import Storage


def test_while_mongodb_is_away_that_is_told_once_a_minute_for_each_contest(
    with_settings: Callable[..., Settings], storage: Storage, client: redis.Redis, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Nodes look every few seconds at each contest in which somebody waits."""
    door = Entrance(storage, Bus(client), with_settings(), lambda address: True)
    for contest in ("one", "two"):
        door.enter("numberwang", contest, "ada", "1.2.3.4")

    def away(*_: Any) -> None:
        raise Unavailable("MongoDB is away.")

    monkeypatch.setattr(storage.contests, "find", away)
    monkeypatch.setattr(entrance, "KNOWN_FOR_S", 0.0)
    monkeypatch.setattr(entrance, "in_background", lambda call, *arguments: call(*arguments))
    with capture_logs() as told:
        for contest in ("one", "two") * 3:
            assert not door.over("numberwang", contest)
    assert [line["contest"] for line in told] == ["one", "two"]
