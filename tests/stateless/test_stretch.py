"""Stretches in the test's own process: nobody else asks."""

from __future__ import annotations

import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import nullcontext
from dataclasses import replace
from pathlib import Path
from typing import Any

import gevent
import msgspec.structs
import pytest
from battling import Field
from cluster import LIMIT_S, cluster, free_port, wait_for
from conductors import Conductor
from httpbots import Bots
from natsbots import nats_server
from records import entries

from battlebot.arena.live.calls import encode_match
from battlebot.arena.live.leases import Leases
from battlebot.arena.live.making import begin, new_match
from battlebot.arena.live.queue import Queues
from battlebot.arena.live.sweep import Sweeper
from battlebot.arena.places import STATELESS_PLACE
from battlebot.config import Settings
from battlebot.redisio import keys
from battlebot.redisio.scripts import Scripts
from battlebot.referee.advance import asked_from_s
from battlebot.referee.match import Match
from battlebot.rules.registry import Registry
from battlebot.stateless import pace, stretch
from battlebot.stateless.asking import Askers, Failure, Question, Reply
from battlebot.stateless.health import PAUSED_AFTER, Health
from battlebot.stateless.http import connections
from battlebot.stateless.kinds import make_askers
from battlebot.stateless.nats import link
from battlebot.stateless.nats.line import NatsLine


@pytest.fixture
def ground(settings: Settings, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Field]:
    """Where battles are begun that no worker asks for. Connections to NATS end with the test, and try no longer."""
    lines: list[NatsLine] = []

    class Line(NatsLine):
        def __init__(self, *arguments: Any) -> None:
            super().__init__(*arguments)
            lines.append(self)

    monkeypatch.setattr("battlebot.stateless.nats.line.NatsLine", Line)
    with cluster(replace(settings, bot_loopback=True), tmp_path) as parts:
        field = Field(parts)
        field.conductor.ask_bots = lambda match_id: None
        yield field
    for line in lines:
        line.close()


def stretches(field: Field, health: Health, again: list[str]) -> stretch.Stretches:
    """Stretches that say in `again` what is to be asked for again."""
    askers, leases = make_askers(field.parts.settings), Leases(Scripts(field.client))
    return stretch.Stretches(field.conductor, askers, leases, health, again.append, lambda: None, most_unrated=50)


def look_after(field: Field, match: Match, late_s: float) -> None:
    """What the sweep does so much later with a match that stands still."""
    again, registry = list[str](), field.conductor.registry
    late = Conductor(registry, field.store, now_s=lambda: time.time() + late_s, ask_bots=again.append)
    assert Sweeper(late, Queues(field.client), 5.0, 1.0).sweep() == 1
    assert again == ([] if field.client.exists(keys.asking(match.id)) else [match.id])


def test_the_answers_to_a_tick_are_one_commit(ground: Field, bots: Bots) -> None:
    """Of all four bots together."""
    match = ground.begin([bots.url("good")] * 4, maxNumOfTicks=5)
    assert stretches(ground, Health(ground.client), []).conduct(match.id) == 20
    assert ground.store.load(match.id).revision == 5


def test_a_battle_leaves_a_rated_match_time_whenever_it_has_computed(
    ground: Field, bots: Bots, monkeypatch: pytest.MonkeyPatch
) -> None:
    """For each question and each commit. The rated match makes no pauses, and a battle alone makes short ones."""
    pauses = list[float]()
    monkeypatch.setattr(pace, "MOST_S", 1e-9)
    monkeypatch.setattr(pace.gevent, "sleep", pauses.append)
    asking = stretches(ground, Health(ground.client), [])
    asking.conduct(ground.begin([bots.url("good")] * 2, maxNumOfTicks=5).id)
    # the first computes at once
    assert pauses == [pace.YIELD_S] * (5 * 3 - 1)
    seats = [("Ann", STATELESS_PLACE), ("Bob", STATELESS_PLACE)]
    addresses = dict.fromkeys(("Ann", "Bob"), bots.url("good"))
    options = {"maxNumOfTicks": 5, "playerStartPositions": None}
    game = ground.conductor.registry["battlecube"]
    rated = new_match(game, seats, ground.parts.settings, time.time(), options=options, addresses=addresses)
    begin(ground.store, game, rated, keys.queue_name(game.name, None))
    assert (asking.conduct(rated.id), len(pauses)) == (10, 14)
    asking.conduct(ground.begin([bots.url("good")] * 2, maxNumOfTicks=5).id)
    assert len(pauses) == 14 + 15
    assert pace.YIELD_S not in pauses[14:]


def test_looks_after_a_match_cost_its_bots_nothing(ground: Field, bots: Bots) -> None:
    """Before they are asked, and while one thinks: no clock runs, nothing is asked twice, no answer counts twice."""
    ground.battles.settings = replace(ground.parts.settings, turn_timeout_ms=60_000)
    match = ground.begin([bots.url("hanging"), bots.url("good")], maxNumOfTicks=2)
    asking = stretches(ground, Health(ground.client), [])
    look_after(ground, match, 3600)
    with ThreadPoolExecutor() as worker:
        stretch_of_it = worker.submit(asking.conduct, match.id)
        wait_for(lambda: bots.asked["hanging"] == 1, "the question")
        look_after(ground, match, 7200)
        assert ground.store.load(match.id).seats == match.seats
        # the task that the sweep sends
        assert asking.conduct(match.id) == 0
        bots.hanging.set()
        assert stretch_of_it.result() == 4
    # a look while a worker asks changes nothing
    after, looks, ticks = ground.store.load(match.id), 1, 2
    assert (after.revision, after.version, len(entries(ground.store, match.id))) == (looks + ticks, 4, 4)
    assert bots.asked == {"hanging": 2, "good": 2}


def test_a_stretch_ends_in_a_pause_that_is_longer(ground: Field, bots: Bots, monkeypatch: pytest.MonkeyPatch) -> None:
    """The match is given back and asked for again: no task waits for longer than tasks may take."""
    monkeypatch.setattr(stretch, "LONGEST_S", 0.1)
    match, again = ground.begin([bots.url("good")] * 2, numOfTasksPerTick=2, speed=5000), list[str]()
    assert stretches(ground, Health(ground.client), again).conduct(match.id) == 2
    assert again == [match.id]
    after = ground.store.load(match.id)
    assert asked_from_s(ground.conductor.registry[match.game], after) > time.time()


def test_a_match_is_left_to_the_sweep_when_the_server_fails_to_ask_time_after_time(
    ground: Field, bots: Bots, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What it failed before an answer does not count."""
    monkeypatch.setattr(stretch, "TROUBLE_PAUSE_S", 0.0)
    asked, real = list[str](), Askers.ask

    def ask(self: Askers, question: Question) -> Reply:
        asked.append(question.bot)
        # two at once: for their sixth answer they are asked
        fails = len(asked) not in (2 * stretch.MOST_TROUBLES + 1, 2 * stretch.MOST_TROUBLES + 2)
        return Reply(failure=Failure("server", "It failed.", ours=True)) if fails else real(self, question)

    monkeypatch.setattr(Askers, "ask", ask)
    match, again = ground.begin([bots.url("good")] * 2, maxNumOfTicks=5), list[str]()
    assert stretches(ground, Health(ground.client), again).conduct(match.id) == 2
    assert len(asked) == 2 * (stretch.MOST_TROUBLES + 1 + stretch.MOST_TROUBLES + 1)
    assert again == []


@pytest.mark.parametrize("until", ["NATS is back", "the worker stops", "another worker may try"])
def test_while_nats_is_away_a_match_waits_and_takes_up_no_place(
    ground: Field, until: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its lease is kept, so that the sweep leaves it alone; then it is asked for again."""
    monkeypatch.setattr(link, "CONNECT_S", 0.01)
    monkeypatch.setattr(stretch, "LONGEST_S", 0.01 if until == "another worker may try" else 3600.0)
    game, port, again = ground.conductor.registry["crossword"], free_port(), list[str]()
    ground.parts.settings = replace(ground.parts.settings, nats_url=f"nats://127.0.0.1:{port}")
    seats = [(bot, STATELESS_PLACE) for bot in "ab"]
    match = new_match(game, seats, ground.parts.settings, time.time(), addresses=dict.fromkeys("ab", "nats://x"))
    assert begin(ground.store, game, match, game.name)
    asking = stretches(ground, Health(ground.client), again)
    assert asking.conduct(match.id) == 0
    assert (again, ground.client.exists(keys.asking(match.id))) == ([], 1)
    if until == "the worker stops":
        asking.stop()
    with nats_server(port) if until == "NATS is back" else nullcontext():
        assert gevent.wait(timeout=LIMIT_S)
    assert (again, ground.client.exists(keys.asking(match.id))) == ([match.id], 0)
    assert ground.store.load(match.id) == match


@pytest.mark.parametrize("rated", [True, False])
def test_what_a_bot_does_in_a_battle_that_anybody_may_ask_for_says_nothing_of_its_health(
    ground: Field, bots: Bots, rated: bool
) -> None:
    """In other matches it does. No bot is paused because somebody asks it what it cannot answer."""
    url, health = bots.url("failing"), Health(ground.client)
    match = ground.begin([url] * PAUSED_AFTER)
    ground.conductor.store.client.hset(
        keys.match(match.id), "doc", encode_match(msgspec.structs.replace(match, rated=rated))
    )
    assert stretches(ground, health, []).conduct(match.id) == PAUSED_AFTER
    assert health.flush() == ([url] if rated else [])
    assert health.report(url, "any")["failuresInARow"] == (PAUSED_AFTER if rated else 0)


def test_a_battle_of_slow_bots_holds_up_no_rated_match_at_their_host(
    ground: Field, bots: Bots, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Though it is asked there as often at a time as battles may be."""
    monkeypatch.setattr(connections, "MOST_AT_ONCE", 1)
    battle, match = ground.begin([bots.url("hanging")]), ground.begin([bots.url("good")] * 2, maxNumOfTicks=3)
    rated = encode_match(msgspec.structs.replace(match, rated=True))
    ground.client.hset(keys.match(match.id), "doc", rated)
    asking = stretches(ground, Health(ground.client), [])
    with ThreadPoolExecutor() as worker:
        slow = worker.submit(asking.conduct, battle.id)
        wait_for(lambda: bots.asked["hanging"] == 1, "the question")
        try:
            assert worker.submit(asking.conduct, match.id).result(LIMIT_S) == 6
            assert not slow.done()
        finally:
            bots.hanging.set()


def as_rated(ground: Field, match: Match) -> Match:
    """The match, which now counts."""
    ground.client.hset(keys.match(match.id), "doc", encode_match(msgspec.structs.replace(match, rated=True)))
    return match


def test_however_many_battles_there_are_rated_matches_go_on(ground: Field, bots: Bots) -> None:
    """Battles are in line meanwhile, looked after, for one place; a worker that stops gives those in line back."""
    field, again = ground, list[str]()
    first, second, third = (ground.begin([bots.url("good")] * 2, maxNumOfTicks=2) for _ in range(3))
    rated = as_rated(ground, ground.begin([bots.url("good")] * 2, maxNumOfTicks=3))
    askers, came = make_askers(field.parts.settings), list[int]()
    ask = askers.ask

    def asked(question: Question) -> Reply:
        if not came:
            came.append(-1)
            came[:] = [asking.conduct(match.id) for match in (second, third, rated)]
            assert [field.client.exists(keys.asking(match.id)) for match in (second, third, rated)] == [1, 1, 0]
        if question.match_id == second.id:
            asking.stop()
        return ask(question)

    askers.ask = asked  # type: ignore[method-assign]
    asking = stretch.Stretches(
        field.conductor,
        askers,
        Leases(Scripts(field.client)),
        Health(field.client),
        again.append,
        lambda: None,
        most_unrated=1,
    )
    assert asking.conduct(first.id) == 4
    assert came == [0, 0, 6]
    assert gevent.wait(timeout=LIMIT_S)
    assert sorted(again) == sorted([second.id, third.id])
    assert not any(field.client.exists(keys.asking(match.id)) for match in (second, third))
    assert field.store.load(third.id).version == 0


def failing(*arguments: Any) -> Any:
    """A game's function with a mistake."""
    raise RuntimeError("a mistake")


def nonsense(*arguments: Any) -> Any:
    """A game's function that returns what is no JSON."""
    return {1, 2}


@pytest.mark.parametrize(
    ("function", "does", "error"),
    [
        ("question", failing, "RuntimeError"),
        ("turn_from", failing, "RuntimeError"),
        ("view", failing, "RuntimeError"),
        ("pause_ms", failing, "RuntimeError"),
        ("question", nonsense, "TypeError"),
        ("turn_from", nonsense, "TypeError"),
        ("pause_ms", nonsense, "ValueError"),
    ],
)
def test_an_error_in_what_a_game_asks_or_understands_ends_the_match_at_once(
    ground: Field, bots: Bots, function: str, does: Any, error: str
) -> None:
    """By the server's fault, with the same evidence as an error in its reducer. No bot is asked again."""
    match = ground.begin([bots.url("good")] * 2)
    conductor, again = ground.conductor, list[str]()
    game = conductor.registry[match.game]
    broken = replace(game, rules=replace(game.rules, **{function: does}))
    conductor.registry = Registry({game.name: broken})
    stretches(ground, Health(ground.client), again).conduct(match.id)
    verdict = ground.store.load(match.id).verdict
    assert verdict is not None
    assert (verdict.victor, verdict.void) == (None, True)
    assert verdict.evidence == {"error": error, "event": "Failed"}
    assert (bots.asked["good"], again) == (2 if function == "turn_from" else 0, [])
