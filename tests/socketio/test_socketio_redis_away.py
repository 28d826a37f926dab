"""Redis is gone, or hangs, while viewers watch: they are told the rest when it is back."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from cluster import Web, wait_for
from frail import SETTINGS, Frail, frail_house
from httpbots import Bots
from test_socketio_games import check_told
from viewers import Original, game


@pytest.fixture(scope="module")
def frail(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Frail]:
    """Stores to be killed, and all parts but the web node over them."""
    with frail_house(tmp_path_factory.mktemp("frail"), bot_loopback=True, **SETTINGS) as made:
        made.parts.worker()
        made.parts.bots()
        made.parts.beat()
        yield made


@pytest.fixture(scope="module")
def web(frail: Frail) -> Web:
    """A ready web node."""
    node = frail.parts.web()
    node.wait_until_ready()
    return node


@pytest.mark.parametrize("how", ["killed", "paused"])
def test_a_viewer_is_told_the_rest_when_redis_is_back(frail: Frail, web: Web, bots: Bots, how: str) -> None:
    """Who began the game and who watches it: no error, no event twice, none left out, and the end."""
    slow = bots.url("slow")
    with Original(web) as viewer, Original(web) as other:
        viewer.say("NEW_GAME", game(slow, slow, maxNumOfTicks=20))
        other.say("WATCH_GAME", {"id": viewer.until("GAME_STARTED")["id"]})
        other.until("NEXT_TICK", 4)
        with getattr(frail, how)("valkey"):
            wait_for(lambda: "redis" in web.request("/readyz")[1]["since"], "the node to notice")
        viewer.until("GAME_ENDED")
        check_told(viewer.got, 20, {"a": slow, "b": slow})
        other.until("GAME_ENDED")
        assert other.names() == viewer.names()


def test_the_next_game_of_a_batch_waits_for_redis(frail: Frail, web: Web, bots: Bots) -> None:
    """The original's "Run 100 games" stops at an error."""
    good = bots.url("good")
    with Original(web) as viewer:
        viewer.say("NEW_GAME", game(good))
        viewer.until("GAME_ENDED")
        with frail.killed("valkey"):
            viewer.say("NEW_GAME", game(good))
            viewer.say("NEW_GAME", game(good))
            assert viewer.until("ERROR")["error"] == "GAME_ALREADY_RUNNING", "the first of the two is put off"
        viewer.until("GAME_ENDED", 2)
        assert len(viewer.bodies("ERROR")) == 1
