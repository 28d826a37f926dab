"""A champion's battles while the url of one of its bots fails, is paused, is tried again; all processes are real."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from battling import Field
from cluster import wait_for
from httpbots import Bots

from battlebot.contests.service.organiser import Organiser
from battlebot.stateless.health import FIRST_PAUSE_S, PAUSED_AFTER, Health

GAME = "battlecube"
LONG_S = 3600  # for whoever is waited for: longer than any test
PAUSE_LIMIT_S = 4 * FIRST_PAUSE_S
BATTLES = 100  # so many that the failures are noted before the last begins


@pytest.fixture
def champion(field: Field) -> Callable[..., Callable[[], list[dict[str, Any]]]]:
    """Starts a contest of these bots (name -> url); what it answers lists its battles that are over, in their order."""

    def start(name: str, bots: dict[str, str], battles: int) -> Callable[[], list[dict[str, Any]]]:
        storage, ask = field.storage, field.celery.send_task
        for bot, url in bots.items():
            storage.bots.register(GAME, bot, "ann", b"sealed", bot, url=url, available=True)
        organiser = Organiser(
            storage,
            field.conductor,
            field.battles.bus,
            lambda *where: ask("tasks.contests.pair", args=where),
            lambda *_: None,
        )
        fields = {
            "name": name,
            "format": "champion",
            "config": {"battles": battles},
            "meetings": 5,
            "entrants": list(bots),
        }
        options = {"edgeLength": 6, "maxNumOfTicks": 3}
        organiser.create(GAME, {**fields, "absentAfterS": LONG_S, "options": options}, "ann")
        organiser.transition("start", GAME, name, "ann")
        return lambda: list(storage.games.each_of_contest(GAME, name))

    return start


def test_battles_go_on_without_a_bot_whose_url_is_paused(field: Field, bots: Bots, champion: Any) -> None:
    """Those that it plays it loses, and they go on to their end; it is left out of those to come; all are fought."""
    urls = {"well": bots.url("good"), "hale": bots.url("good/2"), "ill": bots.url("failing")}
    over = champion("sick", urls, BATTLES)
    sick = field.storage.contests.find
    wait_for(lambda: (found := sick(GAME, "sick")) and found.state == "finished", "the contest's end", 90)
    games = over()
    assert sorted(row["n"] for row in field.storage.meetings.of_contest(GAME, "sick")) == list(range(1, BATTLES + 1))
    with_it = [game for game in games if "ill" in game["players"]]
    assert PAUSED_AFTER <= len(with_it) < BATTLES
    assert all(game["match"]["fault"] != "server" for game in games)
    assert all({"name": "ill", "score": 0} in game["scores"] for game in with_it)
    assert all({row["name"]: row["score"] for row in game["scores"]}["well"] == 3 for game in games)
    health = Health(field.client)
    assert health.report(urls["ill"], "ill")["pausedUntil"] is not None


@pytest.mark.long
def test_a_paused_url_is_tried_again_and_its_bot_is_in_the_battles_to_come(
    field: Field, bots: Bots, champion: Any
) -> None:
    """It passes its test after the pause and fails again: the next pause is twice as long. Mended, it fights on."""
    urls = {"sound": bots.url("slow"), "safe": bots.url("slow/2"), "lame": bots.url("lame")}
    over = champion("lasting", urls, 1000)
    health = Health(field.client)
    bots.broken.set()
    pauses: list[float] = []

    def paused_again() -> bool:
        until_ms = health.report(urls["lame"], "lame")["pausedUntil"]
        if until_ms is not None and until_ms not in pauses:
            pauses.append(until_ms)
        return len(pauses) > 1

    wait_for(paused_again, "a second pause", PAUSE_LIMIT_S)
    first, second = (until_ms / 1000 for until_ms in pauses)
    assert second - first >= 2 * FIRST_PAUSE_S
    without = [game for game in over() if "lame" not in game["players"]]
    assert without
    bots.broken.clear()
    health.resume(urls["lame"])
    known = {game["_id"] for game in over()}
    wait_for(lambda: any("lame" in game["players"] for game in over() if game["_id"] not in known), "its return")
