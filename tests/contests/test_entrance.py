"""What a node knows of the contests in which its players wait."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
import redis
from cup import cup
from structlog.testing import capture_logs

from battlebot.config import Settings
from battlebot.contests.contest import Contest
from battlebot.contests.service import entrance
from battlebot.contests.service.entrance import Entrance
from battlebot.errors import Unavailable
from battlebot.redisio.bus import Bus
from battlebot.runtime import sharedtime
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


@pytest.mark.parametrize(("state", "letter", "how"), [("running", "end", "for-now"), ("finished", "reopen", None)])
def test_what_a_letter_tells_outlives_a_look_that_began_before(
    with_settings: Callable[..., Settings],
    storage: Storage,
    client: redis.Redis,
    monkeypatch: pytest.MonkeyPatch,
    state: str,
    letter: str,
    how: str | None,
) -> None:
    """And what the next look finds outlives the letter."""
    storage.contests.create(cup(state=state), [])
    door = Entrance(storage, Bus(client), with_settings(), lambda address: True)
    door.enter("numberwang", "cup", "ada", "1.2.3.4")
    monkeypatch.setattr(entrance, "KNOWN_FOR_S", 0.0)
    monkeypatch.setattr(entrance, "in_background", lambda call, *arguments: call(*arguments))
    real, letters = storage.contests.find, [letter]

    def find(game: str, contest: str) -> Contest | None:
        found = real(game, contest)
        while letters:
            more = ("for-now",) if letters.pop() == "end" else ()
            getattr(door, letter)(game, contest, *more)
        return found

    monkeypatch.setattr(storage.contests, "find", find)
    door.over("numberwang", "cup")
    monkeypatch.setattr(entrance, "in_background", lambda call, *arguments: None)
    assert door.over("numberwang", "cup") == how
    monkeypatch.setattr(entrance, "in_background", lambda call, *arguments: call(*arguments))
    for _ in range(2):
        before = door.over("numberwang", "cup")
    assert before == cup(state=state).over(sharedtime.now())
