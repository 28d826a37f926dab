"""The arena of one node over a real Valkey, with bots that only note what they are told."""

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
from msgspec.structs import replace
from nodes import arena_of
from players import login_of, player_of

from battlebot.arena.live.calls import encode_match
from battlebot.arena.live.mail import Mail, eviction
from battlebot.arena.live.making import begin, new_match
from battlebot.arena.live.queue import BY_A_TASK, Queues, Ticket
from battlebot.arena.live.store import Commit, MatchStore
from battlebot.arena.node.player import Player
from battlebot.arena.node.service import Arena
from battlebot.config import Settings
from battlebot.redisio import keys
from battlebot.referee.events import Turned
from battlebot.referee.match import Fault, Match, Series
from battlebot.referee.telling import update_for
from battlebot.rules.registry import Registry
from battlebot.runtime.lag import BEAT_S, Lag
from battlebot.wire.closing import Closing
from battlebot.wire.updates import Update

Begun = Callable[..., Match]


class Bot:
    """A channel to a bot that reads at once."""

    held_up = False

    def __init__(self) -> None:
        self.told: list[str] = []
        self.closed: list[Closing] = []

    def send(self, text: str, on_written: Callable[[float], None] | None = None) -> None:
        self.told.append(text)
        if on_written is not None:
            on_written(time.monotonic())

    def close(self, reason: Closing) -> None:
        self.closed.append(reason)


@pytest.fixture
def arena(store: MatchStore, registry: Registry) -> Arena:
    """Of the node n1. Its timers stand."""
    return arena_of(Conductor(registry, store, "n1", now_s=lambda: 1001.0))


def waiting(arena: Arena, bot: str = "ada", connection: str = "1", **more: Any) -> Player:
    """The bot waits at its first place; `more` as in `player_of`."""
    player = player_of(login_of(bot), Bot(), connection, **more)
    player.new_place("n1", 1000.0)
    arena.expect(player)
    return player


def letter(match: Match, registry: Registry, place: str = "n1/1.1", bot: str = "ada") -> bytes:
    """The letter by which the node hears of the match."""
    seat = match.seat_of(bot)
    assert seat is not None
    return Mail.of(place, update_for(registry[match.game], match, seat), encode_match(match)).encode()


DEPARTURES: dict[str, tuple[Callable[[Arena, Player], None], Fault, str]] = {
    "by a goodbye": (lambda arena, player: arena.left(player, True, "goodbye"), Fault.BOT, "goodbye"),
    "by a broken line": (lambda arena, player: arena.left(player, False, "broken"), Fault.NETWORK, "broken"),
    "sent away by the server": (lambda arena, player: arena.orphaned(player, "restart"), Fault.SERVER, "restart"),
}


@pytest.mark.parametrize("departure", DEPARTURES)
def test_who_is_gone_before_the_letter_comes_has_left_as_it_left(
    arena: Arena, begun: Begun, store: MatchStore, registry: Registry, departure: str
) -> None:
    """The match was made with its ticket a moment before: what it loses by is what it did, or nothing at all."""
    leave, fault, how = DEPARTURES[departure]
    player = waiting(arena)
    match = begun("numberwang")
    leave(arena, player)
    arena.post().take(letter(match, registry))
    seat = wait_for(lambda: next((seat for seat in store.load(match.id).seats if seat.place is None), None), "its seat")
    assert (seat.bot, seat.emptied_by, seat.how, seat.left_s) == ("ada", fault, how, 1001.0)


def test_who_goes_while_the_letter_comes_has_left_as_it_left(
    arena: Arena, begun: Begun, store: MatchStore, registry: Registry
) -> None:
    """Its connection is over, but nobody has told the arena yet."""
    player = waiting(arena)
    match = begun("numberwang")
    player.gone = True
    arena.post().take(letter(match, registry))
    arena.left(player, True, "goodbye")
    seat = store.load(match.id).seat_of("ada")
    assert seat is not None
    assert (seat.place, seat.emptied_by, seat.how) == (None, Fault.BOT, "goodbye")


@pytest.mark.parametrize("hears", ["by a letter", "by a nudge"])
def test_a_seat_that_nobody_knows_is_the_servers_fault(
    arena: Arena, begun: Begun, store: MatchStore, registry: Registry, hears: str
) -> None:
    """Who sat there, and how it went, is forgotten: that is no bot's doing."""
    match = begun("numberwang")
    if hears == "by a letter":
        arena.post().take(letter(match, registry))
    else:
        arena.look_after(match.id)
    seat = store.load(match.id).seat_of("ada")
    assert seat is not None
    assert (seat.place, seat.emptied_by) == (None, Fault.SERVER)


def test_who_waits_gets_its_seat_by_the_letter(
    arena: Arena, begun: Begun, store: MatchStore, registry: Registry, client: redis.Redis
) -> None:
    """And is told."""
    player = waiting(arena)
    match = begun("numberwang")
    arena.post().take(letter(match, registry))
    channel: Any = player.channel
    assert len(channel.told) == 1
    assert player.table is not None


def told_of(player: Player) -> list[str]:
    """All updates that the player was sent."""
    channel: Any = player.channel
    return list(channel.told)


def last_told(player: Player) -> dict[str, Any]:
    """The last update that the player was sent."""
    channel: Any = player.channel
    return dict(json.loads(channel.told[-1]))


def test_a_second_connection_is_charged_what_the_first_has_thought(
    arena: Arena, begun: Begun, store: MatchStore, registry: Registry
) -> None:
    """By the node's clock, a second has passed since the match began; the bot was told only just now."""
    first = waiting(arena)
    match = begun("numberwang")
    arena.post().take(letter(match, registry))
    second = waiting(arena, connection="2")
    assert arena.join(second, match.id)
    assert last_told(second)["match"]["remainingMs"] > 2500
    seat = store.load(match.id).seat_of("ada")
    assert seat is not None
    assert seat.place == second.place
    channel: Any = first.channel
    assert [closed.slug for closed in channel.closed] == ["taken-over"]


@pytest.mark.parametrize("looks", [False, True], ids=["unseen", "looked at when the mailbox could be read again"])
def test_a_redis_that_has_lost_turns_ends_the_match_as_nobodys_loss(
    arena: Arena, begun: Begun, store: MatchStore, registry: Registry, client: redis.Redis, looks: bool
) -> None:
    """It came back with an older state than bots have been told: to go on would take their turns away in silence."""
    player = waiting(arena)
    match = begun("numberwang")
    arena.post().take(letter(match, registry))
    held = client.hgetall(keys.match(match.id))
    arena.turned(player, {"n": 1}, time.monotonic())
    assert last_told(player)["match"]["version"] == 1
    client.hset(keys.match(match.id), mapping=held)
    if looks:
        arena.look_after_all()
    for _ in range(2):
        arena.turned(player, {"n": "x"}, time.monotonic())
    after = store.load(match.id)
    assert after.verdict is not None
    assert (after.verdict.fault, after.verdict.void) == (Fault.SERVER, True)
    assert last_told(player)["state"]["reason"] == "error"
    assert player.table is None


def test_a_letter_that_the_match_has_overtaken_sets_nothing_back(
    arena: Arena, begun: Begun, store: MatchStore, registry: Registry
) -> None:
    """The one on turn has answered before the other's letter was read: that one is asked now, and its turn counts."""
    ada, bob = waiting(arena), waiting(arena, "bob", "2")
    match = begun("numberwang", bob=bob.place)
    late = letter(match, registry, bob.place, "bob")
    arena.post().take(letter(match, registry))
    arena.turned(ada, {"n": 1}, time.monotonic())
    arena.post().take(late)
    begins, answers = map(json.loads, told_of(bob))
    assert begins["match"]["version"] == 0
    assert answers["match"]["version"] == 1
    assert (answers["turn"]["n"], answers["turn"]["player"], answers["turn"]["valid"]) == (1, "ada", True)
    assert answers == {**json.loads(told_of(ada)[-1]), "match": answers["match"]}
    assert bob.asked_version == 1
    arena.turned(bob, {"n": 2}, time.monotonic(), version=1)
    assert store.load(match.id).version == 2


def test_who_looks_after_a_match_sees_it_as_it_is_when_its_turn_comes(
    arena: Arena, begun: Begun, store: MatchStore, registry: Registry, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What was read while another was still at the table would set that back, and make the next turn a stale one."""
    ada, bob = waiting(arena), waiting(arena, "bob", "2")
    match = begun("numberwang", bob=bob.place)
    for player in (ada, bob):
        arena.post().take(letter(match, registry, player.place, player.bot))
    table, has_read, load = ada.table, threading.Event(), store.load
    assert table is not None

    def read(match_id: str) -> Match:
        found = load(match_id)
        has_read.set()
        return found

    with table.lock:
        monkeypatch.setattr(store, "load", read)
        looks = threading.Thread(target=arena.look_after, args=(match.id,))
        looks.start()
        has_read.wait(0.3)  # not to wait for something: if it reads too early, it does so now
        arena.turned(ada, {"n": 1}, time.monotonic())
    looks.join(10)
    arena.turned(bob, {"n": 2}, time.monotonic(), version=1)
    assert load(match.id).version == 2


def test_of_a_match_that_is_over_nobody_need_take_a_seat(
    arena: Arena, begun: Begun, store: MatchStore, registry: Registry
) -> None:
    """Who was told its end is not told it again."""
    player = waiting(arena)
    match = begun("numberwang")
    arena.post().take(letter(match, registry))
    arena.turned(player, {"n": 10}, time.monotonic())
    channel: Any = player.channel
    told = len(channel.told)
    assert last_told(player)["state"]["complete"]
    assert not arena.join(player, match.id, live=True)
    assert len(channel.told) == told
    assert arena.join(player, match.id)
    assert len(channel.told) == told + 1


def first_board(
    arena: Arena, store: MatchStore, registry: Registry, settings: Settings, *seats: tuple[str, str]
) -> Match:
    """The first board of two, begun between bots at these places; the node n1 has been told."""
    game = registry["numberwang"]
    match = new_match(game, seats, settings, 1000.0, series=Series("s", 1, 2, 7))
    for bot, place in seats:
        Queues(store.client).wait("numberwang", Ticket(place, bot, 1000.0), BY_A_TASK)
    assert begin(store, game, match, "numberwang")
    arena.post().take(letter(match, registry))
    return match


def test_a_letter_of_the_next_board_that_is_quicker_than_the_end_of_this_one_waits_for_it(
    arena: Arena, store: MatchStore, registry: Registry, settings: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The opponent's node has read the end and brought its first turn before this node tells its own player."""
    ada = waiting(arena)
    match = first_board(arena, store, registry, settings, ("ada", ada.place), ("bob", "n2/1.1+b2"))
    threads: list[threading.Thread] = []
    commit = store.commit

    def committed(made: Commit) -> bool:
        done = commit(made)
        if made.match_id == match.id:
            (follows,) = store.live_ids()
            second = Conductor(registry, store, "n2", now_s=lambda: 1001.0)
            moved = second.conduct(store.load(follows), Turned("bob", {"n": 1}, 0.1)).match
            threads.append(threading.Thread(target=arena.post().take, args=(letter(moved, registry, ada.place),)))
            threads[0].start()
            threads[0].join(0.3)  # not to wait for something: if it is handled too early, it is so now
        return done

    monkeypatch.setattr(store, "commit", committed)
    arena.turned(ada, {"n": 10}, time.monotonic())
    wait_for(lambda: last_told(ada)["match"]["version"] == 1, "the turn")
    told = last_told(ada)
    assert told["match"]["series"]["board"] == 2
    assert ada.asked_version == 1
    seat = store.load(told["match"]["id"]).seat_of("ada")
    assert seat is not None
    assert seat.place == ada.place


def test_who_waits_for_the_next_board_is_not_told_the_end_of_this_one_again(
    arena: Arena, store: MatchStore, registry: Registry, settings: Settings
) -> None:
    """The TCP door looks for its match in that moment: the player sits nowhere, and its board may be found over."""
    ada = waiting(arena)
    match = first_board(arena, store, registry, settings, ("bob", "n2/1.1"), ("ada", ada.place))
    other = Conductor(registry, store, "n2", now_s=lambda: 1001.0)
    ended = other.conduct(match, Turned("bob", {"n": 10}, 0.1)).match
    arena.post().take(letter(ended, registry))
    channel: Any = ada.channel
    told = list(channel.told)
    assert last_told(ada)["state"]["complete"]
    arena.look_after(match.id)
    assert channel.told == told
    # the next board still finds it
    (follows,) = store.live_ids()
    arena.post().take(letter(store.load(follows), registry))
    assert last_told(ada)["match"]["series"]["board"] == 2


def test_two_who_come_back_while_the_last_one_leaves_sit_at_one_table(
    arena: Arena, begun: Begun, store: MatchStore, registry: Registry, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The one waits for the table that is given up then, the other makes a new one: each is told the other's turns."""
    bob = waiting(arena, "bob", "2")
    match = begun("numberwang", bob=bob.place)
    arena.post().take(letter(match, registry, bob.place, "bob"))
    table, load, threads = bob.table, store.load, list[threading.Thread]()
    assert table is not None
    back = [waiting(arena, "ada", "3"), waiting(arena, "bob", "4")]

    def read(match_id: str) -> Match:
        found = load(match_id)
        if len(threads) == 1 and threading.current_thread() is threads[0]:
            threads.append(threading.Thread(target=arena.join, args=(back[1], match_id)))
            threads[1].start()
            threads[1].join(0.5)  # not to wait for something: if it sits down too early, it does so now
        return found

    with table.lock:
        threads.append(threading.Thread(target=arena.join, args=(back[0], match.id)))
        threads[0].start()
        threads[0].join(0.3)  # not to wait for something: if it does not wait for the table by then, it finds another
        arena.left(bob, False, "broken")
        monkeypatch.setattr(store, "load", read)
    wait_for(lambda: len(threads) == 2, "both to come back")
    for thread in threads:
        thread.join(10)
    assert back[0].table is back[1].table is not None
    arena.turned(back[0], {"n": 1}, time.monotonic())
    assert last_told(back[1])["turn"]["n"] == 1


def test_a_table_whose_only_player_was_evicted_is_forgotten(arena: Arena, begun: Begun, registry: Registry) -> None:
    """Nothing else would be heard of that match here."""
    ada = waiting(arena)
    arena.post().take(letter(begun("numberwang"), registry))
    assert ada.table is not None
    arena.post().take(eviction(ada.place))
    wait_for(lambda: ada.table is None and arena._tables.all() == [], "it to be forgotten")


RETURNS: dict[str, tuple[float, float, float]] = {
    # when its login arrived, when it sits down, what is left of 3 s for one that left at 1001
    "it waited before the other left": (1000.5, 1002.0, 2.0),
    "it waited, and the server stood": (1000.5, 1040.0, 1.5),
    "it came after the other had left": (1001.25, 1002.0, 2.75),
    "it came after that, and the server stood": (1001.25, 1040.0, 2.75),
}


@pytest.mark.parametrize("how", RETURNS)
def test_who_sits_down_in_a_seat_it_has_left_is_charged_for_its_absence(
    store: MatchStore, registry: Registry, begun: Begun, how: str
) -> None:
    """Until its login arrived; a connection that was there all the time is charged until it could sit down."""
    came_s, sits_s, left_s = RETURNS[how]
    clock = [1001.0]
    arena = arena_of(Conductor(registry, store, "n1", now_s=lambda: clock[0]))
    first = waiting(arena)
    match = begun("numberwang")
    arena.post().take(letter(match, registry))
    arena.left(first, True, "goodbye")
    second = waiting(arena, connection="2", came_s=came_s)
    clock[0] = sits_s
    assert arena.join(second, match.id)
    seat = store.load(match.id).seat_of("ada")
    assert seat is not None
    # what the first thought is by the machine's own clock
    assert seat.remaining_s == pytest.approx(left_s, abs=0.3)


def test_who_comes_back_is_not_charged_for_the_time_in_which_the_node_stood_still(
    store: MatchStore, registry: Registry, begun: Begun
) -> None:
    """It could not be given the salt that its login needs, nor be heard: 1.5 of the 2 s in which it was away."""
    clock, began_s = [1001.0], [time.monotonic() - 1.5 - BEAT_S]
    arena = arena_of(Conductor(registry, store, "n1", now_s=lambda: clock[0]))
    first = waiting(arena)
    match = begun("numberwang")
    arena.post().take(letter(match, registry))
    arena.left(first, False, "broken")
    lag = Lag(lambda: began_s.pop() if began_s else time.monotonic())
    clock[0] = 1003.0
    second = waiting(arena, connection="2", lag=lag, came_s=1003.0)
    assert arena.join(second, match.id)
    seat = store.load(match.id).seat_of("ada")
    assert seat is not None
    assert seat.remaining_s == pytest.approx(2.5, abs=0.4)


def test_who_left_and_came_back_while_nothing_could_be_noted_came_back_when_it_did(
    store: MatchStore, registry: Registry, begun: Begun
) -> None:
    """Redis was away, so that its leaving is committed long after its login arrived: neither is charged."""
    clock = [1001.0]
    arena = arena_of(Conductor(registry, store, "n1", now_s=lambda: clock[0]))
    first = waiting(arena)
    match = begun("numberwang")
    arena.post().take(letter(match, registry))
    table = first.table
    assert table is not None
    with table.lock:
        leaving = threading.Thread(target=arena.left, args=(first, False, "broken"))
        leaving.start()
        # it waits for the table, which another holds that waits for Redis
        leaving.join(0.3)
        clock[0] = 1040.0
    leaving.join(10)
    clock[0] = 1050.0
    second = waiting(arena, connection="2", came_s=1001.25)
    assert arena.join(second, match.id)
    seat = store.load(match.id).seat_of("ada")
    assert seat is not None
    assert seat.remaining_s == pytest.approx(3.0, abs=0.3)


def asking(arena: Arena, begun: Begun, registry: Registry) -> tuple[Player, Update]:
    """A player that is on turn, and the update that asks it."""
    player, match = waiting(arena), begun("numberwang")
    update = update_for(registry[match.game], match, match.seats[0])
    assert update.asks
    return player, update


def test_a_player_is_told_an_update_once(arena: Arena, begun: Begun, registry: Registry) -> None:
    """It comes by a letter, and is found by a look."""
    player, update = asking(arena, begun, registry)
    update = replace(update, turn={"n": 1})
    player.tell(update)
    player.tell(update)
    assert isinstance(player.channel, Bot)
    assert len(player.channel.told) == 1


@pytest.mark.parametrize(("turn", "told"), [(None, 1), ({"n": 1}, 2)], ids=["as it knows", "with another bot's turn"])
def test_a_clock_that_stood_goes_on_though_its_bot_is_not_asked_again(
    arena: Arena, begun: Begun, registry: Registry, turn: dict[str, Any] | None, told: int
) -> None:
    """Its seat was taken back: otherwise it would have for ever."""
    player, update = asking(arena, begun, registry)
    player.tell(update)
    player.pause_clock()
    assert player.asked_s is None
    player.tell(replace(update, revision=update.revision + 1, turn=turn))
    assert isinstance(player.channel, Bot)
    assert len(player.channel.told) == told
    assert player.asked_s is not None
