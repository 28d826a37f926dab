"""A commit was done, but its answer was lost: what it said is done once, whatever happened before it is asked again."""

from __future__ import annotations

import json
import threading
import time
from collections.abc import Callable
from typing import Any

import pytest
import redis
from cluster import wait_for
from conductors import Conductor
from nodes import arena_of
from players import login_of, player_of

from battlebot.arena.live.calls import encode_match
from battlebot.arena.live.mail import Mail
from battlebot.arena.live.store import MatchStore
from battlebot.errors import Unavailable
from battlebot.redisio import keys
from battlebot.referee.events import Event, Joined, Left, Turned
from battlebot.referee.match import Match
from battlebot.referee.telling import update_for
from battlebot.rules.registry import Registry
from battlebot.runtime.lag import Lag
from battlebot.runtime.timers import Timers
from battlebot.wire.closing import Closing

Begun = Callable[..., Match]
Meanwhile = Callable[[], object]


def losing(store: MatchStore, meanwhile: Meanwhile) -> MatchStore:
    """The store, the answer to whose first script is lost; then something happens before it asks again."""
    real, lost = store._scripts.run, []

    def run(*arguments: Any) -> Any:
        answer = real(*arguments)
        if not lost:
            lost.append(answer)
            meanwhile()
            raise Unavailable("the answer was lost")
        return answer

    store._scripts.run = run  # type: ignore[method-assign]
    return store


def a_mark(bot: str, mark: str, row: int, column: int) -> Turned:
    """A turn of an original client: it says no version."""
    return Turned(bot, {"mark": mark, "space": [row, column]}, 0.1)


MEANWHILE: dict[str, list[Event]] = {
    "nothing": [],
    "the opponent's answer": [a_mark("bob", "O", 1, 1)],
    "the opponent's coming and going": [
        Left("bob", "n2/1.1", False),
        Joined("bob", "n2/2.1"),
        Left("bob", "n2/2.1", False),
    ],
    "the bot's seat emptied and taken again": [Left("ada", "n1/1.1", False), Joined("ada", "n3/1.1")],
}


@pytest.mark.parametrize("event", ["a turn", "a strike"])
@pytest.mark.parametrize("meanwhile", MEANWHILE)
def test_what_was_committed_is_not_answered_once_more(
    client: redis.Redis, store: MatchStore, begun: Begun, registry: Registry, meanwhile: str, event: str
) -> None:
    """The bot is told of its turn, or strike, as if nothing had been; no second one is made of it."""
    match = begun("noughtsandcrosses")
    other = Conductor(registry, MatchStore(client), "n2")

    def happens() -> None:
        for one in MEANWHILE[meanwhile]:
            other.conduct(store.load(match.id), one)

    node = Conductor(registry, losing(MatchStore(client, hold_s=2.0), happens), "n1")
    sent = a_mark("ada", "X", 0, 0) if event == "a turn" else a_mark("ada", "X", 7, 7)
    answer = node.conduct(match, sent)
    assert (answer.updates[0].turn or {})["valid"] is (event == "a turn")
    assert (answer.updates[0].bot, answer.updates[0].code == "stale") == ("ada", False)
    after = store.load(match.id)
    seat = after.seat_of("ada")
    assert seat is not None
    assert seat.strikes == (0 if event == "a turn" else 1)
    assert sum(space == "X" for row in after.state["board"] for space in row) == (event == "a turn")
    assert store.client.llen(keys.turns(match.id)) == after.version


def test_a_turn_that_nobody_remembers_answers_no_later_question(
    client: redis.Redis, store: MatchStore, begun: Begun, registry: Registry
) -> None:
    """So much has happened that its commit is not recognised: it is an old turn, and neither one nor a strike."""
    match = begun("numberwang")
    other = Conductor(registry, MatchStore(client), "n2")

    def happens() -> None:
        for version in range(1, 40):
            other.conduct(store.load(match.id), Turned("bob" if version % 2 else "ada", {"n": 0}, 0.1))

    node = Conductor(registry, losing(MatchStore(client, hold_s=2.0), happens), "n1")
    answer = node.conduct(match, Turned("ada", {"n": 1}, 0.1))
    assert (answer.updates[0].bot, answer.updates[0].code) == ("ada", "stale")
    after = store.load(match.id)
    assert (after.version, after.state["board"]) == (40, {"n": 1})
    assert all(seat.strikes == 0 for seat in after.seats)


def test_as_many_commits_are_remembered_as_a_pause_may_bring(
    client: redis.Redis, store: MatchStore, begun: Begun, registry: Registry
) -> None:
    """And no more: a match's memory does not grow with it."""
    match = begun("numberwang")
    node = Conductor(registry, store, "n1")
    for _ in range(30):
        match = node.conduct(match, Turned(match.state["nextPlayer"], {"n": 0}, 0.1)).match
    remembered = (client.hget(keys.match(match.id), "token") or b"").split(b" ")
    assert 6 <= len(remembered) <= 12
    assert len(set(remembered)) == len(remembered)
    assert all(b"." in token for token in remembered)


class Bot:
    """A channel to a bot that reads at once."""

    held_up = False

    def __init__(self) -> None:
        self.told: list[dict[str, Any]] = []

    def send(self, text: str, on_written: Callable[[float], None] | None = None) -> None:
        self.told.append(json.loads(text))
        if on_written is not None:
            on_written(time.monotonic())

    def close(self, reason: Closing) -> None:
        """Nobody looks."""


@pytest.mark.parametrize("how", ["timeout", "disconnect"])
def test_an_end_that_nobody_heard_is_told_when_redis_answers_again(
    client: redis.Redis, begun: Begun, registry: Registry, how: str
) -> None:
    """Redis did it after nobody waited for the answer any more: no letter comes, and who waits must not hang."""
    timers, lag = Timers(), Lag()
    timers.start()
    lag.start()
    store = MatchStore(client, hold_s=0.0)
    arena = arena_of(Conductor(registry, store, "n1"), timers)
    players = [player_of(login_of(bot), Bot(), bot, lag=lag) for bot in ("ada", "bob")]
    for player in players:
        player.new_place("n1", time.time())
        arena.expect(player)
    ada, bob = players
    match = begun("numberwang", ada=ada.place, bob=bob.place, now_s=time.time())
    for seat in match.seats:
        mail = Mail.of(str(seat.place), update_for(registry[match.game], match, seat), encode_match(match))
        arena.post().take(mail.encode())
    if how == "disconnect":
        arena.left(ada, False, "broken")
    losing(store, lambda: None)
    channel = bob.channel
    assert isinstance(channel, Bot)
    wait_for(lambda: channel.told[-1]["state"]["complete"], "the end")
    assert (channel.told[-1]["state"]["victor"], channel.told[-1]["state"]["reason"]) == ("bob", how)


def test_a_match_that_cannot_be_written_is_looked_after_by_one_at_a_time(
    client: redis.Redis, begun: Begun, registry: Registry
) -> None:
    """A Redis that takes no writes for long: each look that fails, at whatever step, is followed by one more."""
    others = set(threading.enumerate())
    timers, store = Timers(), MatchStore(client, hold_s=0.0)
    arena = arena_of(Conductor(registry, store, "n1"), timers)
    ada = player_of(login_of("ada"), Bot())
    ada.new_place("n1", time.time())
    arena.expect(ada)
    match = begun("numberwang", ada=ada.place, now_s=time.time())
    mail = Mail.of(ada.place, update_for(registry[match.game], match, match.seats[0]), encode_match(match))
    arena.post().take(mail.encode())
    Conductor(registry, store, "n2").conduct(match, Left("ada", ada.place, False))
    timers._heap.clear()  # of her clock
    client.config_set("min-replicas-to-write", 1)
    try:
        with pytest.raises(Unavailable):
            arena.look_after(match.id)
        for _ in range(3):
            ((_, _, look),) = timers._heap
            timers._heap.clear()
            look()
            wait_for(lambda: timers._heap and not _looking(others), "a look that failed")
    finally:
        client.config_set("min-replicas-to-write", 0)


def _looking(others: set[threading.Thread]) -> bool:
    own = set(threading.enumerate()) - others
    return any("in_background" in thread.name or "logging_failure" in thread.name for thread in own)
