"""The board that follows in a series: what becomes of who was away when the one before it ended."""

from __future__ import annotations

import math
import time
from dataclasses import replace
from typing import Any

import pytest
import redis

from battlebot.arena.live.boards import next_board
from battlebot.arena.live.conduct import Conductor
from battlebot.arena.live.finished import Finished
from battlebot.arena.live.heartbeats import Heartbeats
from battlebot.arena.live.making import new_match
from battlebot.arena.live.store import MatchStore
from battlebot.config import load_settings
from battlebot.referee.events import Left, Overdue, TimedOut
from battlebot.referee.match import Match, Series
from battlebot.referee.step import step
from battlebot.rules.registry import Registry

START_S = 1000.0
LIMIT_S = 5.5
SEATS = [("ada", "n/1.1"), ("bob", "n/2.1")]


@pytest.mark.parametrize("first", ["ada", "bob"])
@pytest.mark.parametrize(("later_s", "victor"), [(3.0, True), (0.5, False)])
def test_who_left_first_loses_both_boards(registry: Registry, first: str, later_s: float, victor: bool) -> None:
    """Also where the other has left since, later than at about the same time; the evidence is that of the first."""
    game, other = registry["gomoku"], "bob" if first == "ada" else "ada"
    series = Series("s", 1, 2, 7)
    match = new_match(game, SEATS, load_settings({}, None), START_S, series=series)
    places = dict(SEATS)
    for bot, at_s in ((first, START_S), (other, START_S + later_s)):
        match = step(game, match, Left(bot, places[bot], True, at_s - START_S, "goodbye", at_s), at_s).match
    boards: list[Match] = [step(game, match, Overdue(), START_S + LIMIT_S).match]
    follows = next_board(game, boards[0], 8, START_S + LIMIT_S)
    boards.append(step(game, follows, Overdue(), START_S + LIMIT_S).match)
    for board in boards:
        assert board.verdict is not None
        assert board.verdict.victor == (other if victor else None)
        assert board.verdict.evidence["how"] == {"ada": "goodbye", "bob": "goodbye"}
        assert board.verdict.evidence["awayMs"][first] == round(LIMIT_S * 1000)


@pytest.mark.parametrize("drains_after", [2, 9])
def test_the_next_board_is_told_to_its_bots_unless_it_is_lost_already(
    store: MatchStore, registry: Registry, client: redis.Redis, drains_after: int
) -> None:
    """Whether it is cannot be told any more if the node begins to drain between the two boards."""
    now_s = time.time()
    left_s = now_s - 3.0
    settings = load_settings({}, None, turn_timeout_ms=1500)
    match = new_match(registry["gomoku"], SEATS, settings, left_s, series=Series("s", 1, 2, 7))
    assert store.begin(match, "queue", [], [])
    Heartbeats(client).send("n", left_s, first=True)
    Heartbeats(client).send("n", now_s - 1.6, first=False)
    Conductor(registry, store, "n", now_s=lambda: left_s).conduct(match, Left("ada", "n/1.1", False))
    known = iter([0.0] * drains_after + [math.inf] * 9)
    conductor = Conductor(registry, store, "n", now_s=lambda: now_s, open_ago_s=lambda: next(known))
    answer = conductor.conduct(store.load(match.id), Overdue())
    assert answer.match.verdict is not None
    assert answer.then is not None
    assert [update.final for update in answer.then.updates if update.bot == "bob"] == [drains_after > 2]
    assert (answer.then.match.verdict is not None) is (drains_after > 2)


def test_a_board_that_the_game_fails_to_begin_ends_the_series(
    store: MatchStore, registry: Registry, client: redis.Redis
) -> None:
    """The board before it ends as it was played; its bots are told of both ends."""
    settings, now_s = load_settings({}, None), time.time()
    match = new_match(registry["gomoku"], SEATS, settings, now_s, series=Series("s", 1, 3, 7))
    assert store.begin(match, "queue", [], [])

    def no_beginning(players: list[str], seed: int, options: dict[str, Any]) -> dict[str, Any]:
        raise RuntimeError

    broken = replace(registry["gomoku"], rules=replace(registry["gomoku"].rules, initial_state=no_beginning))
    answer = Conductor(Registry({broken.name: broken}), store, "n").conduct(match, TimedOut("ada", 0, 99.0))
    assert answer.then is not None
    before, after = Finished(client).read(Finished(client).ids(9))
    assert before.seq < after.seq
    assert [row.match.verdict and row.match.verdict.reason for row in (before, after)] == ["timeout", "error"]
    assert after.match.id == answer.then.match.id
    assert not after.match.goes_on
    assert [(update.bot, update.final) for update in answer.then.updates] == [("bob", True), ("ada", True)]
    assert store.live_ids() == []
