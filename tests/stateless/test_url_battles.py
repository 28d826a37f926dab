"""Battles of bots behind HTTP from their beginning to the archive: real bots, a real worker that asks them."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any

import pytest
from battling import Field
from conductors import Conductor
from httpbots import Bots, OneAtATime, http_bots

from battlebot.arena.live import following
from battlebot.arena.live.store import MatchStore
from battlebot.errors import BadAddress, BadMessage, Unavailable
from battlebot.redisio import keys
from battlebot.referee.replay import check_match
from battlebot.stateless.asking import Question
from battlebot.stateless.kinds import make_askers
from battlebot.storage import games

APART = [{"name": name, "x": at, "y": at, "z": at} for at, name in enumerate("abcd")]


def test_a_battle_is_played_to_its_end_and_kept(field: Field, bots: Bots) -> None:
    """Four that do nothing live to the last tick; each is asked once a tick."""
    match = field.begin([bots.url("good")] * 4, maxNumOfTicks=5, playerStartPositions=APART)
    states = field.states(match)
    assert [state["currentTick"] for state in states if len(state["waitingFor"]) == 4] == [0, 1, 2, 3, 4]
    assert (states[-1]["complete"], states[-1]["victor"]) == (True, None)
    record = field.record(match)
    assert (record["reason"], len(record["turns"]), record["match"]["unrated"]) == ("complete", 20, True)
    assert bots.asked == {"good": 20}


def test_a_bot_is_asked_in_the_words_of_the_seed(field: Field, bots: Bots) -> None:
    """Who it is, the game's numbers, who and what is where."""
    match = field.begin([bots.url("good")] * 2, maxNumOfTicks=1, playerStartPositions=APART[:2])
    field.states(match)
    question = bots.questions["good"]
    assert question["currentPlayer"] in [{"name": name, "url": bots.url("good")} for name in "ab"]
    info = {"edgeLength": 8, "numOfBotsInPlay": 2, "currentTick": 0, "numOfTasksPerTick": 1}
    assert (question["gameInfo"], question["players"], question["items"]) == (info, APART[:2], [])


def test_a_server_that_serves_one_connection_at_a_time_is_soon_free_after_a_battle(field: Field) -> None:
    """For another process, well within the time that a bot has: the worker keeps no connection for so long."""
    with http_bots(OneAtATime) as bots:
        field.states(field.begin([bots.url("good"), bots.url("good/2")], maxNumOfTicks=3))
        question = Question(bots.url("chunked"), "battlecube", "match", "bot", {}, 4.0)
        assert make_askers(replace(field.parts.settings, bot_loopback=True), keeps=False).ask(question).failure is None


def test_several_ticks_are_planned_at_once(field: Field, bots: Bots) -> None:
    """With three tasks a question, nine ticks are three questions."""
    field.states(field.begin([bots.url("good")] * 2, maxNumOfTicks=9, numOfTasksPerTick=3))
    assert bots.asked["good"] <= 6


@pytest.mark.parametrize("error", [KeyError, SystemExit])
def test_a_battle_is_refused_whose_game_fails_to_say_who_may_start(field: Field, error: type[BaseException]) -> None:
    """Whatever it raises: the node goes on."""

    def raising(players: list[str], options: dict[str, Any]) -> str | None:
        raise error(players[0])

    game = field.conductor.registry["battlecube"]
    broken = {"battlecube": replace(game, rules=replace(game.rules, objection=raising))}
    battles = replace(field.battles, conductor=Conductor(broken, field.store))
    with pytest.raises(BadMessage, match=rf"its code fails \({error.__name__}\)$"):
        battles.begin("battlecube", [("a", "http://a"), ("b", "http://b")], {})


NO_ANSWER = "The bot gave no answer that counts."


def test_a_bomb_may_be_as_far_away_as_a_bot_likes(field: Field, bots: Bots) -> None:
    """It has no effect; all see where it was placed, as JavaScript has such numbers, and the record holds it."""
    match = field.begin([bots.url("good"), bots.url("far")], maxNumOfTicks=2, playerStartPositions=APART[:2])
    states = field.states(match)
    assert (states[-1]["lost"], states[-1]["items"], states[-1]["currentTick"]) == ([], [], 2)
    placed = ["PLAYER_PLACED_BOMB", {"name": "b", "x": 2.0**63, "y": 2.0**64, "z": 1e30}]
    assert placed in states[-1]["events"]
    record = field.record(match)
    assert placed in record["events"]
    assert check_match(field.conductor.registry["battlecube"], record) == []


BAD = [
    *((behaviour, NO_ANSWER) for behaviour in ("dying", "failing", "moved", "huge", "garbled")),
    (
        "lying",
        {
            "error": "VALIDATION_ERROR",
            "details": 'Task 0: "direction" must be one of +X, -X, +Y, -Y, +Z, -Z.',
        },
    ),
]


@pytest.mark.parametrize(("behaviour", "cause"), BAD)
def test_a_bot_without_an_answer_that_counts_has_lost(field: Field, bots: Bots, behaviour: str, cause: Any) -> None:
    """At once, and the others know why; who is left has won."""
    match = field.begin([bots.url("good"), bots.url(behaviour)], playerStartPositions=APART[:2])
    last = field.states(match)[-1]
    assert (last["victor"], last["lost"]) == ("a", [{"name": "b", "score": 0, "cause": cause}])
    assert field.record(match)["match"]["forfeit"] in ([1], [2])


NOWHERE = ["http://127.0.0.1:65535/secret", "http://no-such-host.invalid:4001/secret", "http://127.0.0.1:4001/secret"]


def test_nobody_is_told_where_a_bot_is(field: Field, bots: Bots) -> None:
    """Neither by what viewers see, nor by the record; also where nobody listens, or there is no such host."""
    match = field.begin([*NOWHERE, bots.url("failing")], playerStartPositions=APART)
    shown = json.dumps(field.states(match)) + json.dumps(field.record(match), default=str)
    for part in ("127.0.0.1", "no-such-host", "secret", "status", "refused", "resolved"):
        assert part not in shown
    assert field.states(match)[-1]["lost"][0]["cause"] == NO_ANSWER


def test_a_bot_that_takes_too_long_has_lost(field: Field, bots: Bots) -> None:
    """Here it has half a second; the other's answer counts."""
    field.battles.settings = type(field.battles.settings)(turn_timeout_ms=500, bot_loopback=True)
    match = field.begin([bots.url("hanging"), bots.url("good")], maxNumOfTicks=3, playerStartPositions=APART[:2])
    last = field.states(match)[-1]
    field.battles.settings = field.parts.settings
    assert (last["victor"], last["lost"][0]["cause"]) == ("b", "The bot did not answer within 500 ms.")


def test_many_bots_are_asked_at_the_same_time(field: Field, bots: Bots) -> None:
    """Sixteen that take 0.3 s each: a tick takes far less than their sum."""
    import time

    began_s = time.monotonic()
    match = field.begin([bots.url("slow")] * 16, "abcdefghijklmnop", maxNumOfTicks=2)
    field.states(match)
    assert time.monotonic() - began_s < 16 * 0.3 * 2


def test_another_setup_takes_effect_during_a_battle(field: Field, bots: Bots) -> None:
    """From the next question on: another size, and all are placed anew."""
    match = field.begin([bots.url("slow")] * 2, maxNumOfTicks=6, playerStartPositions=APART[:2])
    assert field.battles.reconfigure(match.id, {"edgeLength": 3})
    assert field.states(match)[-1]["edgeLength"] == 3


@pytest.mark.parametrize("lost", ["its record", "all of it"])
def test_what_redis_has_no_more_is_told_from_the_archive(field: Field, bots: Bots, lost: str) -> None:
    """To who is behind: the same states in the same order, to the same end."""
    match = field.begin([bots.url("good")] * 2, maxNumOfTicks=5, playerStartPositions=APART[:2])
    whole = list(field.battles.follow(match))
    field.record(match)
    behind = field.battles.follow(match)
    seen = [next(behind)]
    field.client.delete(keys.turns(match.id), *([] if lost == "its record" else [keys.match(match.id)]))
    seen += behind
    assert seen == whole


@pytest.mark.parametrize("kept", ["in Redis", "in the archive"])
def test_a_viewer_has_little_of_a_match_in_memory(
    field: Field, bots: Bots, monkeypatch: pytest.MonkeyPatch, kept: str
) -> None:
    """Its record comes a few entries at a time, and its state, which may be large, is not read at all."""
    match = field.begin([bots.url("good")] * 2, maxNumOfTicks=5, playerStartPositions=APART[:2])
    whole = list(field.battles.follow(match))
    field.record(match)
    if kept == "in the archive":
        field.client.delete(keys.turns(match.id), keys.match(match.id))
    entries, progress = field.storage.games.entries, field.store.progress
    parts: list[int] = []

    def in_parts(record: Mapping[str, Any], name: str) -> Iterator[list[Any]]:
        for part in entries(record, name):
            parts.append(len(part))
            yield part

    def some(match_id: str, first: int, most: int) -> tuple[bool, int, list[dict[str, Any]]]:
        found = progress(match_id, first, most)
        parts.append(len(found[2]))
        return found

    monkeypatch.setattr(following, "ROWS", 3)
    monkeypatch.setitem(games.ENTRIES_AT_ONCE, "turns", 3)
    monkeypatch.setattr(field.storage.games, "entries", in_parts)
    monkeypatch.setattr(field.store, "progress", some)
    monkeypatch.delattr(MatchStore, "load")
    monkeypatch.delattr(games.Games, "find")
    assert list(field.battles.follow(match)) == whole
    assert parts == [3, 3, 3, 1]


def test_a_viewer_is_told_the_rest_when_the_archive_is_back(
    field: Field, bots: Bots, monkeypatch: pytest.MonkeyPatch
) -> None:
    """MongoDB goes away while a long match is told from it: no state is told twice, and none is left out."""
    match = field.begin([bots.url("good")] * 2, maxNumOfTicks=5, playerStartPositions=APART[:2])
    whole = list(field.battles.follow(match))
    field.record(match)
    field.client.delete(keys.turns(match.id), keys.match(match.id))
    entries, away = field.storage.games.entries, [1]

    def broken_off(record: Mapping[str, Any], name: str) -> Iterator[list[Any]]:
        for part in entries(record, name):
            yield part
            if away and away.pop():
                raise Unavailable("MongoDB does not answer.")

    monkeypatch.setitem(games.ENTRIES_AT_ONCE, "turns", 3)
    monkeypatch.setattr(field.storage.games, "entries", broken_off)
    assert list(field.battles.follow(match)) == whole
    assert not away


REFUSED = [
    ({"edgeLength": 1}, "Too many players for the selected game area size"),
    ({"playerStartPositions": APART}, "There are no player start positions for all players in the game"),
    ({"maxNumOfTicks": 0}, "The option 'maxNumOfTicks' of battlecube"),
]


@pytest.mark.parametrize(("options", "sentence"), REFUSED)
def test_what_cannot_be_played_is_refused(field: Field, bots: Bots, options: dict[str, Any], sentence: str) -> None:
    """With a sentence; nobody is asked."""
    with pytest.raises(BadMessage, match=sentence):
        field.begin([bots.url("good")] * 2, **options)
    assert not bots.asked


def test_an_address_that_may_not_be_asked_is_refused(field: Field) -> None:
    """Before anything is begun."""
    with pytest.raises(BadAddress):
        field.begin(["http://10.0.0.1/", "http://10.0.0.2/"])
