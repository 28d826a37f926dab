"""What a node does after its mailbox was unreadable for a time, over a real Valkey."""

from __future__ import annotations

import json
import threading
from collections.abc import Callable

import pytest
from cluster import wait_for
from conductors import Conductor
from nodes import arena_of
from players import login_of, player_of

from battlebot.arena.live.calls import encode_match
from battlebot.arena.live.mail import Mail
from battlebot.arena.live.store import MatchStore
from battlebot.errors import Unavailable
from battlebot.referee.events import Turned
from battlebot.referee.match import Match
from battlebot.referee.telling import update_for
from battlebot.rules.registry import Registry
from battlebot.runtime.timers import Timers
from battlebot.wire.closing import Closing

Begun = Callable[..., Match]


class Bot:
    """A channel to a bot, which notes the versions that it is told."""

    held_up = False

    def __init__(self) -> None:
        self.versions: list[int] = []

    def send(self, text: str, on_written: Callable[[float], None] | None = None) -> None:
        self.versions.append(json.loads(text)["match"]["version"])

    def close(self, reason: Closing) -> None:
        raise AssertionError(reason)


class Nodes:
    """The node n1, at which bobs sit, and n2, from which n1 hears nothing."""

    def __init__(self, store: MatchStore, registry: Registry, begun: Begun) -> None:
        timers = Timers()
        timers.start()
        self.arena = arena_of(Conductor(registry, store, "n1", now_s=lambda: 1001.0), timers)
        self._registry, self._begun = registry, begun
        self._other = Conductor(registry, store, "n2", now_s=lambda: 1001.0)

    def match(self, number: int) -> tuple[Match, Bot]:
        """A match in which ada, at n2, is on turn; and bob, who has been told its beginning."""
        bot = Bot()
        player = player_of(login_of("bob"), bot, str(number))
        place = player.new_place("n1", 1000.0)
        self.arena.expect(player)
        match = self._begun("numberwang", ada=f"n2/{number}.1", bob=place)
        seat = match.seat_of("bob")
        assert seat is not None
        update = update_for(self._registry["numberwang"], match, seat)
        self.arena.post().take(Mail.of(place, update, encode_match(match)).encode())
        return match, bot

    def ada_moves(self, match: Match) -> None:
        """A valid first turn."""
        self._other.conduct(match, Turned("ada", {"n": 1}, 0.1))


@pytest.fixture
def nodes(store: MatchStore, registry: Registry, begun: Begun) -> Nodes:
    """Both."""
    return Nodes(store, registry, begun)


def test_where_redis_falls_silent_meanwhile_the_rest_is_looked_after_when_it_is_back(
    nodes: Nodes, store: MatchStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The sweep would find these matches too, but only when somebody's time is over."""
    made = [nodes.match(number) for number in (1, 2, 3)]
    for match, _ in made:
        nodes.ada_moves(match)
    load, silent = store.load, [True]

    def load_if_redis_answers(match_id: str) -> Match:
        if silent[0] and match_id != made[0][0].id:
            raise Unavailable("away")
        return load(match_id)

    monkeypatch.setattr(store, "load", load_if_redis_answers)
    nodes.arena.look_after_all()
    assert [bot.versions for _, bot in made] == [[0, 1], [0], [0]]
    silent[0] = False
    wait_for(lambda: [bot.versions for _, bot in made] == [[0, 1]] * 3, "all to be told")


def test_a_match_that_cannot_be_looked_after_keeps_no_other_waiting(
    nodes: Nodes, store: MatchStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Whatever is wrong with it, and though its table is the first."""
    (broken, _), (match, bot) = nodes.match(1), nodes.match(2)
    nodes.ada_moves(match)
    load = store.load

    def load_unless_broken(match_id: str) -> Match:
        if match_id == broken.id:
            raise ValueError("no match")
        return load(match_id)

    monkeypatch.setattr(store, "load", load_unless_broken)
    nodes.arena.look_after_all()
    assert bot.versions == [0, 1]


def test_who_asks_while_all_are_looked_after_is_answered_by_another_round(
    nodes: Nodes, store: MatchStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What was missed in the meantime is seen, and nobody waits, however often the connection breaks."""
    match, bot = nodes.match(1)
    load, has_read, go_on = store.load, threading.Event(), threading.Event()

    def load_slowly(match_id: str) -> Match:
        found = load(match_id)
        has_read.set()
        assert go_on.wait(30)
        return found

    def look() -> threading.Thread:
        thread = threading.Thread(target=nodes.arena.look_after_all)
        thread.start()
        return thread

    monkeypatch.setattr(store, "load", load_slowly)
    first = look()
    assert has_read.wait(30)
    nodes.ada_moves(match)
    for again in [look() for _ in range(3)]:
        again.join(30)
        assert not again.is_alive()
    go_on.set()
    first.join(30)
    assert bot.versions == [0, 1]
