"""Turns of many tables that are committed together, over a real Valkey, with bots that only note what they are told."""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

import gevent
import pytest
import redis
from cluster import wait_for
from conductors import Conductor
from msgspec.structs import replace
from players import login_of, player_of
from records import entries

from battlebot.arena.live.finished import Finished
from battlebot.arena.live.making import begin, new_match
from battlebot.arena.live.queue import BY_A_TASK, Queues, Ticket
from battlebot.arena.live.store import COMMIT, MatchStore
from battlebot.arena.node.opening import Opening
from battlebot.arena.node.player import Player
from battlebot.arena.node.service import Arena
from battlebot.arena.node.turns import CONNECTIONS, Turns, is_usual
from battlebot.config import Settings
from battlebot.errors import Unavailable
from battlebot.redisio import keys
from battlebot.redisio.transactions import Command, TransactionConnection
from battlebot.referee.events import Failed, Left, Turned
from battlebot.referee.match import Match, Series
from battlebot.referee.step import step
from battlebot.rules.registry import Registry
from battlebot.runtime.gate import greenlet_lock
from battlebot.runtime.lag import Lag
from battlebot.runtime.timers import Timers
from battlebot.wire import closing
from battlebot.wire.closing import Closing

GAME = "numberwang"


class Bot:
    """A channel to a bot that reads at once."""

    held_up = False

    def __init__(self) -> None:
        self.told: list[dict[str, Any]] = []
        self.closed: list[Closing] = []
        self.fails = False

    def send(self, text: str, on_written: Callable[[float], None] | None = None) -> None:
        if self.fails:
            raise RuntimeError("the door is broken")
        self.told.append(json.loads(text))
        if on_written is not None:
            on_written(time.monotonic())

    def close(self, reason: Closing) -> None:
        self.closed.append(reason)


def commits(commands: Sequence[Command]) -> int:
    """How many matches the one call is for that a group is: four keys are common to all, and three each one's own."""
    ((_, _, keys_named, *_),) = commands
    return (int(keys_named) - 4) // 3


class Noting(TransactionConnection):
    """Notes how many commits travel together. What `instead` answers for them, if it does, is their answer."""

    groups: list[int]
    errors: list[Exception]
    instead: Callable[[TransactionConnection, Sequence[Command]], list[Any] | None] | None = None

    def answers(self, commands: Sequence[Command]) -> list[Any]:
        self.groups.append(commits(commands))
        found = None if Noting.instead is None else Noting.instead(self, commands)
        answers = super().answers(commands) if found is None else found
        self.errors += [answer for answer in answers if isinstance(answer, Exception)]
        return answers


class House:
    """A node with its players: `a<i>` and `b<i>` of the i-th match, the first to move."""

    def __init__(self, store: MatchStore, registry: Registry, settings: Settings) -> None:
        self.store, self.registry, self.settings = store, registry, settings
        self.groups: list[int] = []
        self.errors: list[Exception] = []  # of groups: then each turn has been committed by itself
        self.released: list[str] = []
        self.failures: list[Unavailable] = []
        conductor = Conductor(registry, store, "n1", now_s=lambda: 1001.0)
        turns = partial(Turns, new_connection=self._connection)
        self.arena = Arena(conductor, Timers(), Opening(), turns, greenlet_lock)

    def _connection(self) -> TransactionConnection:
        connection = Noting(self.store.client)
        connection.groups, connection.errors = self.groups, self.errors
        return connection

    def seats(self, number: int, **changes: Any) -> tuple[Player, Player]:
        """The two of a new match."""
        players = []
        for bot in (f"a{number}", f"b{number}"):
            player = player_of(login_of(bot, GAME), Bot(), bot, released=lambda one: self.released.append(one.bot))
            Queues(self.store.client).wait(GAME, Ticket(player.new_place("n1", 1000.0), bot, 1000.0), BY_A_TASK)
            self.arena.expect(player)
            players.append(player)
        places = [(player.bot, player.place) for player in players]
        match = new_match(self.registry[GAME], places, self.settings, 1000.0, **changes)
        assert begin(self.store, self.registry[GAME], match, GAME)
        self.arena.look_after(match.id, players[0])
        self.arena.look_after(match.id, players[1])
        assert all(player.table is not None for player in players)
        return players[0], players[1]

    def offer(self, player: Player, n: int = 1, refusal: str | None = None) -> bool:
        """Whether a turn of the player is taken along."""
        turn = None if refusal else {"n": n}
        return self.arena.offered(player, turn, time.monotonic(), refusal, self.failures.append)

    def match_of(self, player: Player) -> Match:
        """The player's match as it stands in Redis."""
        (match,) = [one for one in self.store.load_many(self.store.live_ids()).values() if one.seat_of(player.bot)]
        return match


def told(player: Player) -> list[dict[str, Any]]:
    """What the bot has been told so far."""
    assert isinstance(player.channel, Bot)
    return player.channel.told


def comes(condition: Callable[[], Any]) -> None:
    """Lets the greenlets go on until the condition holds."""

    def holds() -> bool:
        gevent.sleep(0.001)
        return bool(condition())

    wait_for(holds)


@pytest.fixture
def house(store: MatchStore, registry: Registry, settings: Settings, monkeypatch: pytest.MonkeyPatch) -> House:
    """The node n1. Its timers stand."""
    monkeypatch.setattr(Noting, "instead", None)
    return House(store, registry, settings)


def test_turns_that_come_at_one_moment_are_one_call(house: House) -> None:
    """Each is told to both its bots; and what comes while Redis is asked is the next."""
    pairs = [house.seats(number) for number in range(20)]
    before = [len(told(bob)) for _, bob in pairs]
    assert all(house.offer(ada, number % 5) for number, (ada, _) in enumerate(pairs))
    comes(lambda: all(len(told(bob)) > count for (_, bob), count in zip(pairs, before, strict=True)))
    assert house.groups == [20]
    for number, (ada, bob) in enumerate(pairs):
        assert (told(ada)[-1]["turn"]["n"], told(bob)[-1]["turn"]["n"]) == (number % 5, number % 5)
        assert house.match_of(ada).version == 1
    assert all(house.offer(bob) for _, bob in pairs)
    comes(lambda: all(house.match_of(bob).version == 2 for _, bob in pairs))
    assert house.groups == [20, 20]


def test_no_more_groups_are_under_way_than_there_are_connections(house: House, monkeypatch: pytest.MonkeyPatch) -> None:
    """What comes then waits, and is the next group, all of it."""
    under_way: list[int] = []
    may_go = gevent.event.Event()

    def wait(connection: TransactionConnection, commands: Sequence[Command]) -> None:
        under_way.append(commits(commands))
        may_go.wait(10)

    monkeypatch.setattr(Noting, "instead", wait)
    pairs = [house.seats(number) for number in range(CONNECTIONS + 2)]
    for count, (ada, _) in enumerate(pairs[:CONNECTIONS]):
        assert house.offer(ada)
        comes(lambda count=count: len(under_way) == count + 1)
    for ada, _ in pairs[CONNECTIONS:]:
        assert house.offer(ada)
    gevent.sleep(0.01)
    assert under_way == [1] * CONNECTIONS
    may_go.set()
    comes(lambda: all(house.match_of(ada).version == 1 for ada, _ in pairs))
    assert under_way == [1] * CONNECTIONS + [2]


def test_a_turn_in_a_series_is_not_taken_along(house: House) -> None:
    """Nor is anything done: it goes the other way."""
    ada, _ = house.seats(0, series=Series(id="s", board=1, boards=1, number=1))
    assert not house.offer(ada)
    house.arena.turned(ada, {"n": 1}, time.monotonic())
    assert (house.match_of(ada).version, house.groups) == (1, [])


def test_matches_with_bots_that_are_asked_at_an_address_are_not_usual(house: House) -> None:
    """Somebody has to be asked then; nor are those that are over."""
    ada, _ = house.seats(0)
    match = house.match_of(ada)
    stateless = replace(match.seats[1], address="http://bot.example/")
    over = step(house.registry[GAME], match, Failed("over"), 1001.0).match
    assert is_usual(match)
    assert not is_usual(replace(match, seats=(match.seats[0], stateless)))
    assert not is_usual(over)


def test_while_a_seat_stands_empty_turns_go_the_other_way(house: House) -> None:
    """Who comes back may have to be told first."""
    ada, bob = house.seats(0)
    house.arena.left(bob, False, "broken")
    assert not house.offer(ada)
    house.arena.turned(ada, {"n": 1}, time.monotonic())
    assert house.match_of(ada).version == 1


def test_a_table_at_which_a_turn_is_under_way_takes_no_other_along(house: House) -> None:
    """Whatever else happens there comes after it: the second turn, and the end of a connection."""
    ada, bob = house.seats(0)
    assert house.offer(ada)
    assert not house.offer(bob)
    answered = gevent.spawn(house.arena.turned, bob, {"n": 2}, time.monotonic())
    gone = gevent.spawn(house.arena.left, ada, False, "broken")
    comes(lambda: answered.ready() and gone.ready())
    match = house.match_of(ada)
    assert [row["turn"]["player"] for row in entries(house.store, match.id)] == ["a0", "b0"]
    seat = match.seat_of("a0")
    assert seat is not None
    assert (seat.place, seat.how) == (None, "broken")


def test_a_turn_that_ends_the_match_frees_its_players(house: House) -> None:
    """Both are told the end, and the table is forgotten."""
    ada, bob = house.seats(0)
    assert house.offer(ada, 10)
    comes(lambda: len(house.released) == 2)
    assert told(ada)[-1]["state"]["complete"]
    assert told(bob)[-1]["state"]["complete"]
    assert (ada.table, bob.table) == (None, None)
    assert len(Finished(house.store.client).ids(10)) == 1


def test_strikes_and_stale_turns_are_told_to_their_bot_alone(house: House) -> None:
    """A strike is committed; of a turn for a question that has passed nothing is."""
    ada, bob = house.seats(0)
    before = len(told(bob))
    assert house.offer(ada, refusal="This is not JSON.")
    comes(lambda: told(ada)[-1].get("code") == "bad-message")
    assert len(told(bob)) == before
    assert house.match_of(ada).seats[0].strikes == 1
    assert house.offer(ada)
    comes(lambda: house.match_of(ada).version == 1)
    assert house.arena.offered(ada, {"n": 2, "version": 0}, time.monotonic(), None, house.failures.append)
    comes(lambda: told(ada)[-1].get("code") == "stale")
    assert house.groups == [1, 1]
    assert house.offer(bob)
    comes(lambda: house.match_of(ada).version == 2)


def test_a_match_that_ends_goes_beside_those_that_go_on(house: House) -> None:
    """It is finished; they are due at their own times."""
    pairs = [house.seats(number) for number in range(3)]
    matches = [house.match_of(ada).id for ada, _ in pairs]
    assert all(house.offer(ada, n) for (ada, _), n in zip(pairs, (1, 10, 2), strict=True))
    comes(lambda: len(house.released) == 2)
    comes(lambda: all(house.match_of(ada).version == 1 for ada in (pairs[0][0], pairs[2][0])))
    assert house.groups == [3]
    assert Finished(house.store.client).ids(10) == [matches[1]]
    due = house.store.client.zrange(keys.DEADLINES, 0, -1, withscores=True)
    loaded = house.store.load_many(house.store.live_ids())
    assert set(loaded) == {matches[0], matches[2]}
    assert {one.decode(): ms for one, ms in due} == {
        one.id: int(one.due_s * 1000) for one in loaded.values() if one.due_s is not None
    }


def test_a_match_whose_keys_are_broken_costs_nobody_else_his_turn(house: House) -> None:
    """Redis refuses it its turn; the others are committed, once, and due at their own times."""
    house.store.client.script_load(COMMIT.text)
    pairs = [house.seats(number) for number in range(3)]
    house.store.client.set(keys.turns(house.match_of(pairs[1][0]).id), "no list")
    assert all(house.offer(ada) for ada, _ in pairs)
    comes(lambda: all(told(bob)[-1].get("turn") for _, bob in (pairs[0], pairs[2])))
    for ada, _ in (pairs[0], pairs[2]):
        match = house.match_of(ada)
        assert match.due_s is not None
        assert len(entries(house.store, match.id)) == 1
        assert house.store.client.zscore(keys.DEADLINES, match.id) == int(match.due_s * 1000)


def test_turns_of_all_kinds_go_in_one_group(house: House) -> None:
    """A strike, which appends no turn, and one that ends its match, beside turns."""
    house.store.client.script_load(COMMIT.text)
    pairs = [house.seats(number) for number in range(4)]
    assert house.offer(pairs[0][0], refusal="This is not JSON.")
    assert house.offer(pairs[1][0], 1)
    assert house.offer(pairs[2][0], 10)
    assert house.offer(pairs[3][0], 2)
    comes(lambda: len(house.released) == 2)
    comes(lambda: all(told(bob)[-1].get("turn") for _, bob in (pairs[1], pairs[3])))
    assert (house.groups, house.errors) == ([4], [])
    struck, first, last = (house.match_of(pairs[number][0]) for number in (0, 1, 3))
    assert (struck.version, struck.seats[0].strikes) == (0, 1)
    records = [entries(house.store, match.id) for match in (struck, first, last)]
    assert [[row["turn"]["n"] for row in record] for record in records] == [[], [1], [2]]


def test_a_commit_of_another_node_before_ours_costs_nobody_else_his(house: House) -> None:
    """The turn is refereed again, after what has happened; the others of its group are told as if nothing had been."""
    pairs = [house.seats(number) for number in range(3)]
    other = Conductor(house.registry, MatchStore(house.store.client), "n2")
    bob = pairs[1][1]
    other.conduct(house.match_of(bob), Left(bob.bot, bob.place, False))
    assert all(house.offer(ada) for ada, _ in pairs)
    comes(lambda: all(house.match_of(ada).version == 1 for ada, _ in pairs))
    comes(lambda: all(told(ada)[-1].get("turn") for ada, _ in pairs))
    assert house.groups == [3]
    assert [len(entries(house.store, house.match_of(ada).id)) for ada, _ in pairs] == [1, 1, 1]


def test_a_group_whose_answer_is_lost_is_committed_once(house: House, monkeypatch: pytest.MonkeyPatch) -> None:
    """Each turn is asked for again by itself, and found done."""

    def lose(connection: TransactionConnection, commands: Sequence[Command]) -> list[Any]:
        TransactionConnection.answers(connection, commands)
        return [redis.ConnectionError("the connection broke")] * len(commands)

    monkeypatch.setattr(Noting, "instead", lose)
    pairs = [house.seats(number) for number in range(3)]
    before = [len(told(ada)) for ada, _ in pairs]
    assert all(house.offer(ada) for ada, _ in pairs)
    comes(lambda: all(told(bob)[-1].get("turn") for _, bob in pairs))
    assert [len(told(ada)) for ada, _ in pairs] == [count + 1 for count in before]
    assert [len(entries(house.store, house.match_of(ada).id)) for ada, _ in pairs] == [1, 1, 1]
    assert house.failures == []


@pytest.mark.parametrize("answer", [[], None, b"OK", 7, redis.ResponseError("BUSY Redis is busy running a script.")])
def test_what_redis_never_answers_keeps_no_table_and_no_connection(
    house: House, monkeypatch: pytest.MonkeyPatch, answer: Any
) -> None:
    """The turn is committed by itself, and those after it together again."""
    monkeypatch.setattr(Noting, "instead", lambda connection, commands: [answer] * len(commands))
    pairs = [house.seats(number) for number in range(CONNECTIONS + 1)]
    for ada, _ in pairs:
        assert house.offer(ada)
        comes(lambda ada=ada: house.match_of(ada).version == 1)
    monkeypatch.setattr(Noting, "instead", None)
    comes(lambda: all(house.offer(bob) for _, bob in pairs))
    comes(lambda: all(house.match_of(bob).version == 2 for _, bob in pairs))


def test_a_turn_that_redis_does_not_take_stops_the_clock(house: House, monkeypatch: pytest.MonkeyPatch) -> None:
    """Its bot's door hears of it; what comes later goes on."""
    ada, _ = house.seats(0)
    monkeypatch.setattr(Noting, "instead", lambda connection, commands: [redis.ConnectionError("gone")] * len(commands))
    monkeypatch.setattr(house.store, "_hold_s", 0.0)
    with monkeypatch.context() as away:
        away.setattr(house.store._scripts, "run", _unavailable)
        assert house.offer(ada)
        comes(lambda: house.failures)
    assert ada.asked_s is None
    monkeypatch.setattr(Noting, "instead", None)
    assert house.offer(ada)
    comes(lambda: house.match_of(ada).version == 1)


def _unavailable(*_: Any) -> Any:
    raise Unavailable("Redis does not answer now.")


def test_a_door_that_fails_costs_nobody_else_his_turn(house: House) -> None:
    """Its bot is closed, as the server's doing; the others of the group are told, and the table is free."""
    pairs = [house.seats(number) for number in range(3)]
    channel = pairs[1][0].channel
    assert isinstance(channel, Bot)
    channel.fails = True
    assert all(house.offer(ada) for ada, _ in pairs)
    comes(lambda: channel.closed)
    assert channel.closed == [closing.SERVER_ERROR]
    comes(lambda: all(told(bob)[-1].get("turn") for _, bob in (pairs[0], pairs[2])))
    table = pairs[1][0].table
    assert table is not None
    assert table.lock.lend()


def test_a_match_that_redis_has_lost_ends(house: House) -> None:
    """By the server's fault."""
    ada, bob = house.seats(0)
    house.store.client.delete(keys.match(house.match_of(ada).id))
    assert house.offer(ada)
    comes(lambda: told(bob)[-1]["state"]["complete"])
    assert told(ada)[-1]["match"]["fault"] == "server"


class Punctual(Lag):
    """Of a process that is never late."""

    def total_s(self) -> float:
        """None at all."""
        return 0.0


@pytest.mark.parametrize("taken", [True, False])
def test_who_goes_while_its_turn_is_under_way_is_charged_for_its_own_time_once(
    house: House, monkeypatch: pytest.MonkeyPatch, taken: bool
) -> None:
    """Of 3 s it took half a one for a turn that was a strike, and Redis two more to take it, or not to."""
    ada, _ = house.seats(0)
    ada._lag, ada._lag_at_asking_s = Punctual(), 0.0
    ada.asked_s = time.monotonic() - 2.5

    def failed(error: Unavailable) -> None:
        house.failures.append(error)
        monkeypatch.undo()  # Redis is back

    if not taken:
        monkeypatch.setattr(Noting, "instead", lambda connection, commands: [redis.ConnectionError("gone")])
        monkeypatch.setattr(house.store, "_hold_s", 0.0)
        monkeypatch.setattr(house.store._scripts, "run", _unavailable)
    assert house.arena.offered(ada, None, ada.asked_s + 0.5, "This is not JSON.", failed)
    house.arena.left(ada, False, "broken")
    seat = house.match_of(ada).seats[0]
    assert (seat.place, seat.strikes, bool(house.failures)) == (None, int(taken), not taken)
    left_s = 2.5 if taken else 3.0
    # a wrong charge would be half a second, or more
    assert seat.remaining_s == pytest.approx(left_s, abs=0.4)


def test_the_time_of_a_turn_is_that_of_its_coming(house: House) -> None:
    """Not of the moment at which it is refereed, which a busy node may reach late."""
    ada, _ = house.seats(0)
    events: list[Turned] = []
    real = house.arena._host.conductor.draft
    house.arena._host.conductor.draft = lambda match, events_: (events.extend(events_), real(match, events_))[1]  # type: ignore[method-assign]
    ada.asked_s = time.monotonic() - 1.0
    assert house.arena.offered(ada, {"n": 1}, ada.asked_s + 0.5, None, house.failures.append)
    comes(lambda: events)
    assert 0.4 < events[0].thinking_s < 0.6
