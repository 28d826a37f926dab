"""A contest's events: how far it is and how it stands, until it is over."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from typing import Any

import pytest
from records import reserve
from webhouse import CONTESTS, House, finished

from battlebot.contests.contest import Contest
from battlebot.redisio import keys


def data_of(chunks: Iterator[bytes]) -> dict[str, Any]:
    """The data of the next event; comments are left out."""
    while (block := next(chunks).decode()).startswith(":"):
        pass
    found = re.search(r"^data: (.*)$", block, re.MULTILINE)
    assert found
    return json.loads(found[1])


def test_a_contest_is_followed_to_its_end(home: House) -> None:
    """The state at once; again when a result came, with the ranking; the last event says that it is the last."""
    home.register("a", "b")
    body = {"name": "cup", "format": "round-robin", "entrants": ["a", "b"], "meetings": 2}
    home.organise("POST", "", body)
    home.organise("POST", "/cup/start")
    answer = home.client.get(f"{CONTESTS}/cup/events", buffered=False)
    assert (answer.status_code, answer.mimetype) == (200, "text/event-stream")
    chunks = iter(answer.iter_encoded())
    first = data_of(chunks)
    assert {name: first[name] for name in ("contest", "state", "played", "planned", "live", "final")} == {
        "contest": "cup",
        "state": "running",
        "played": 0,
        "planned": 2,
        "live": 0,
        "final": False,
    }
    home.play("a", "b", "b", "cup", n=1)
    home.redis.publish(keys.contest_events("noughtsandcrosses", "cup"), b"archived")
    second = data_of(chunks)
    assert (second["played"], second["bots"][0]["bot_id"], second["bots"][0]["score"]) == (1, "b", 3)
    home.organise("POST", "/cup/finish")
    last = data_of(chunks)
    assert (last["state"], last["final"]) == ("finished", True)
    with pytest.raises(StopIteration):
        next(chunks)
    answer.close()


def test_what_is_planned_follows_the_settings_at_once(home: House) -> None:
    """Whoever changes them looks at the contest next; a page shows an event's values until the next event."""
    home.register("a", "b", "c")
    home.organise("POST", "", {"name": "cup", "format": "round-robin", "entrants": ["a", "b", "c"], "meetings": 5})

    def planned() -> int | None:
        return home.client.get(f"{CONTESTS}/cup").json["progress"]["planned"]

    assert planned() == 15
    home.organise("PATCH", "/cup", {"meetings": 1})
    assert planned() == 3
    home.organise("PATCH", "/cup", {"format": "swiss", "config": {"rounds": 1}})
    assert planned() == 1
    home.organise("DELETE", "/cup/entrants/c")
    home.organise("PATCH", "/cup", {"format": "round-robin", "config": {}})
    assert planned() == 1


def test_a_meeting_that_is_open_is_live(home: House) -> None:
    """Reserved, and not over: the stream of a finished contest waits for it."""
    home.contest("cup", bots=("a", "b"))
    reserve(home.storage, "noughtsandcrosses", "cup", [{"match": "m", "bots": ["a", "b"], "n": 1}])
    home.organise("POST", "/cup/finish")
    answer = home.client.get(f"{CONTESTS}/cup/events", buffered=False)
    chunks = iter(answer.iter_encoded())
    first = data_of(chunks)
    assert (first["state"], first["live"], first["final"]) == ("finished", 1, False)
    home.storage.meetings.release(["m"])
    home.redis.publish(keys.contest_events("noughtsandcrosses", "cup"), b"void")
    assert data_of(chunks)["final"] is True
    answer.close()


def test_the_last_event_has_the_last_match(home: House, monkeypatch: pytest.MonkeyPatch) -> None:
    """It ends while somebody looks, after the ranking has been read: that look does not say that it is the last."""
    home.contest("cup", bots=("a", "b"))
    match = finished("a", "b", "b", "cup")
    reserve(home.storage, "noughtsandcrosses", "cup", [{"match": match["_id"], "bots": ["a", "b"], "n": 1}])
    home.organise("POST", "/cup/finish")
    lookout = home.context.lookout
    ranking = lookout.ranking

    def and_then_it_ends(contest: Contest) -> list[dict[str, Any]]:
        rows = ranking(contest)
        home.storage.archive.store([match])
        return rows

    monkeypatch.setattr(lookout, "ranking", and_then_it_ends)
    answer = home.client.get(f"{CONTESTS}/cup/events", buffered=False)
    chunks = iter(answer.iter_encoded())
    while not (last := data_of(chunks))["final"]:
        pass
    answer.close()
    assert (last["played"], last["bots"][0]["bot_id"], last["bots"][0]["score"]) == (1, "b", 3)
