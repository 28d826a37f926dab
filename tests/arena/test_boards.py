"""The board that follows in a series: what becomes of who was away when the one before it ended."""

from __future__ import annotations

import math
import threading
import time
from dataclasses import replace
from typing import Any

import orjson
import pytest
import redis
from cluster import wait_for
from conductors import Conductor
from nodes import arena_of

from battlebot.arena.live.boards import next_board
from battlebot.arena.live.calls import Beginning
from battlebot.arena.live.finished import Finished
from battlebot.arena.live.heartbeats import Heartbeats
from battlebot.arena.live.mail import Mail, onward
from battlebot.arena.live.making import new_match
from battlebot.arena.live.store import MatchStore
from battlebot.arena.places import node_of, stateless_place
from battlebot.config import load_settings
from battlebot.redisio import keys
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
    assert store.begin(Beginning(match, [], []), "queue")
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
    assert store.begin(Beginning(match, [], []), "queue")

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


@pytest.mark.parametrize(("asked", "other"), [("n1/1.1", "n2/1.1"), ("n2/1.1", "n1/1.1"), ("n2/1.1", "n3/1.1")])
def test_the_question_on_the_next_board_goes_round_by_the_other_players_node(
    store: MatchStore, registry: Registry, client: redis.Redis, asked: str, other: str
) -> None:
    """duel-arena: both know how a board ended before one is asked on the next, whichever node ended it, here `n1`."""
    now_s = time.time()
    seats = [("ada", other), ("bob", asked)]
    match = new_match(registry["gomoku"], seats, load_settings({}, None), now_s, series=Series("s", 1, 2, 7))
    assert store.begin(Beginning(match, [], []), "queue")
    letters = client.pubsub(ignore_subscribe_messages=True)
    letters.subscribe(*(keys.mailbox(node) for node in ("n1", "n2", "n3")))
    wait_for(lambda: client.pubsub_numsub(keys.mailbox("n3"))[0][1] == 1, "the subscription")
    answer = Conductor(registry, store, "n1", now_s=lambda: now_s + 9.0).conduct(match, TimedOut("ada", 0, 9.0))
    assert answer.then is not None
    assert [update.bot for update in answer.then.updates] == ["ada"]
    came: list[tuple[str, dict[str, Any]]] = []

    def question() -> bool:
        while (message := letters.get_message(timeout=0.01)) is not None:
            came.append((message["channel"].decode().rpartition(":")[2], orjson.loads(message["data"])))
        return any(letter["do"] == "onward" for _, letter in came)

    wait_for(question, "the question")
    [(at, onward)] = [(node, letter) for node, letter in came if letter["do"] == "onward"]
    assert (at, onward["match_id"], onward["node"]) == (node_of(other), match.id, node_of(asked))
    assert Mail.decode(onward["letter"].encode()).place == asked
    assert not [letter for _, letter in came if letter["do"] == "update" and letter["asks"]]
    # the end is in the same mailbox before it, or is told by the node that ended the board
    ends = [node for node, letter in came[: came.index((at, onward))] if letter["do"] == "update" and letter["final"]]
    assert at in (*ends, "n1")


def test_a_question_is_passed_on_when_the_end_has_been_told(
    store: MatchStore, registry: Registry, client: redis.Redis
) -> None:
    """A node holds the table of a match until all its players have been told."""
    arena = arena_of(Conductor(registry, store, "n1"))
    letters = client.pubsub(ignore_subscribe_messages=True)
    letters.subscribe(keys.mailbox("n2"))
    wait_for(lambda: client.pubsub_numsub(keys.mailbox("n2"))[0][1] == 1, "the subscription")
    assert letters.get_message(timeout=1.0) is None  # its confirmation
    mail = Mail("n2/1.1", "bob", "next", 0, 0, "{}", True, False, 5.5, 0, "{}")
    with arena._tables.at("m"):
        arena.post().take(onward("m", "n2", mail))
        assert any("logging_failure" in one.name for one in threading.enumerate())
        assert letters.get_message(timeout=0.2) is None
    came: list[Any] = []
    wait_for(lambda: came.append(letters.get_message(timeout=0.01)) or came[-1] is not None, "the letter")
    assert Mail.decode(came[-1]["data"]) == mail


@pytest.mark.parametrize("first", ["ada", "url"])
def test_a_stateless_bot_plays_the_next_board_too(
    store: MatchStore, registry: Registry, client: redis.Redis, first: str
) -> None:
    """It has no node by which a question could go round, and its address counts the board that it now plays."""
    seats, now_s = [("ada", "n1/1.1"), ("url", stateless_place("w"))], time.time()
    seats, addresses = (seats if first == "ada" else seats[::-1]), {"url": "http://bot/"}
    settings, series = load_settings({}, None), Series("s", 1, 2, 7)
    match = new_match(registry["gomoku"], seats, settings, now_s, series=series, addresses=addresses)
    assert store.begin(Beginning(match, [], []), "queue")
    letters, asked = client.pubsub(ignore_subscribe_messages=True), list[str]()
    letters.subscribe(keys.mailbox("n1"))
    wait_for(lambda: client.pubsub_numsub(keys.mailbox("n1"))[0][1] == 1, "the subscription")
    conductor = Conductor(registry, store, "", now_s=lambda: now_s + 9.0, ask_bots=asked.append)
    answer = conductor.conduct(match, TimedOut(first, 0, 9.0))
    assert answer.then is not None
    follows = answer.then.match
    assert [(seat.bot, seat.address) for seat in follows.seats] == [(bot, addresses.get(bot)) for bot, _ in seats[::-1]]
    assert asked == ([follows.id] if first == "ada" else [])
    assert store.client.smembers(keys.asked_at("http://bot/")) == {follows.id.encode()}
    came: list[tuple[str, bool, bool]] = []

    def both() -> bool:
        while (message := letters.get_message(timeout=0.01)) is not None:
            letter = orjson.loads(message["data"])
            came.append((letter["do"], letter["final"], letter["asks"]))
        return len(came) == 2

    wait_for(both, "the end and the beginning")
    assert came == [("update", True, False), ("update", False, first == "url")]
