"""What counts against the games that an address may begin in a minute: those that it begins."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from cluster import Cluster, Web
from httpbots import Bots
from viewers import Original, game

from battlebot.redisio.connection import connect

WRONG: dict[str, Callable[[str], Any]] = {
    "an address that is none": lambda url: game(url, "http://"),
    "a setup that is none": lambda url: game(url, edgeLength="wide"),
    "players for whom there is no room": lambda url: game(*[url] * 8, edgeLength=1),
}


@pytest.fixture(scope="module")
def strict(parts: Cluster) -> Web:
    """Returns a web node at which an address may begin one game in a minute."""
    return parts.web(games_per_minute=1)


@pytest.mark.parametrize("how", WRONG)
def test_a_game_that_is_refused_does_not_count(parts: Cluster, strict: Web, bots: Bots, how: str) -> None:
    """It is refused at once, also when its address may begin no more."""
    good = bots.url("good")
    wrong = WRONG[how](good)
    with Original(strict) as viewer, Original(strict) as other:
        for number in (1, 2):
            viewer.say("NEW_GAME", wrong)
            viewer.until("ERROR", number)
        other.say("NEW_GAME", game(good, maxNumOfTicks=1))
        other.until("GAME_STARTED")
        viewer.say("NEW_GAME", wrong)
        viewer.until("ERROR", 3)
    with connect(parts.settings.redis_url) as client:
        keys = list(client.scan_iter("*allowance:games:*"))
        assert [client.get(key) for key in keys] == [b"1"]
        client.delete(*keys)
