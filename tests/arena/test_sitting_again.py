"""Players whose seats were emptied by mistake: their node stood still, or Redis did. They take them again, unasked."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable

import pytest
import redis
from cluster import wait_for
from conductors import Conductor
from nodes import arena_of
from seated import Bot, Node, other_plays, refused

from battlebot.arena.live.calls import encode_match
from battlebot.arena.live.heartbeats import GAP_S, Heartbeats
from battlebot.arena.live.mail import Mail, rejoin
from battlebot.arena.node.host import LOOK_LATE_S, SEATED_AFTER_S
from battlebot.arena.node.opening import Opening
from battlebot.arena.node.running import Node as WebNode
from battlebot.arena.node.tables import Table
from battlebot.errors import Unavailable
from battlebot.redisio import keys
from battlebot.redisio.bus import HEARTBEAT
from battlebot.referee.events import Joined, Orphaned, Turned
from battlebot.referee.match import Match
from battlebot.runtime.answering import Answering
from battlebot.runtime.timers import Timers
from battlebot.wire import closing


def test_a_turn_that_lay_unread_is_acknowledged_and_its_bot_sits_again(node: Node, match: Match) -> None:
    """The turn comes first, the node finds out by it that its seat was emptied."""
    node.read_letter(match)
    node.empty_seat(match)
    node.arena.turned(node.ada, {"n": 1}, time.monotonic())
    assert node.bot.told[1]["turn"]["valid"] is True
    assert node.seat(match).place == "n1/1.1"


def test_who_sits_again_is_not_asked_again(node: Node, match: Match) -> None:
    """An original client would answer twice, and the second answer would be a strike. Its clock begins anew."""
    node.read_letter(match)
    node.ada.asked_s = time.monotonic() - 2.5
    node.empty_seat(match)
    node.arena.look_after_all()
    assert node.seat(match).place == "n1/1.1"
    assert len(node.bot.told) == 1
    assert node.ada.thinking_s() < 2
    node.arena.turned(node.ada, {"n": 1}, time.monotonic())
    assert node.bot.told[1]["match"]["strikes"] == 0


def test_the_clock_of_who_sits_again_waits_for_a_question_not_yet_written(node: Node, match: Match) -> None:
    """It lay in the outbox all the time."""
    node.bot.writes = False
    node.read_letter(match)
    node.empty_seat(match)
    node.arena.look_after_all()
    assert (len(node.bot.told), node.ada.asked_s) == (1, None)
    node.bot.write()
    assert node.ada.asked_s is not None


def test_a_seat_that_was_emptied_before_its_letter_was_read_is_taken_too(node: Node, match: Match) -> None:
    """The node asks itself to look again, by a letter that comes after all that lie unread."""
    node.empty_seat(match)
    node.arena.look_after_all()
    assert node.seat(match).place is None
    node.read_letter(match)
    node.arena.post().take(rejoin())
    wait_for(lambda: node.seat(match).place == "n1/1.1", "the seat")


def test_who_waits_for_a_match_takes_its_emptied_seat_though_the_letter_was_lost(node: Node, match: Match) -> None:
    """The lobby finds the match by the ticket's mark."""
    node.empty_seat(match)
    node.arena.look_after(match.id, node.ada)
    assert node.seat(match).place == "n1/1.1"
    assert [told["match"]["version"] for told in node.bot.told] == [0]


def test_who_has_gone_meanwhile_takes_no_seat(node: Node, match: Match) -> None:
    """Its connection ended while the lobby asked."""
    node.empty_seat(match)
    node.arena.left(node.ada, True, "goodbye")
    node.arena.look_after(match.id, node.ada)
    assert node.seat(match).place is None


def test_who_sits_elsewhere_by_now_keeps_the_seat(node: Node, match: Match) -> None:
    """The bot has come back to another node: the old connection is closed, whatever it sends."""
    node.read_letter(match)
    node.empty_seat(match)
    table = node.ada.table
    assert table is not None
    table.load()
    Conductor(node.registry, node.store).conduct(node.store.load(match.id), Joined("ada", "n2/7.1"))
    node.arena.turned(node.ada, {}, time.monotonic())
    assert node.seat(match).place == "n2/7.1"
    node.arena.look_after_all()
    assert node.seat(match).place == "n2/7.1"
    assert node.bot.closed == [closing.TAKEN_OVER]


def test_a_node_that_was_taken_for_dead_does_not_forget_it(
    node: Node, match: Match, client: redis.Redis, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Redis answers that it was, and is away before anything has been done about it."""
    life = WebNode(client, node.arena, Timers())
    life.beat()
    node.read_letter(match)
    node.empty_seat(match)
    client.zrem(keys.NODES, "n1")
    with monkeypatch.context() as away:
        away.setattr(client, "publish", refused)
        with pytest.raises(Unavailable):
            life.beat()
    life.beat()
    wait_for(lambda: node.seat(match).place == "n1/1.1", "the seat")


def test_a_node_that_takes_its_seats_back_sends_heartbeats_meanwhile(
    node: Node, match: Match, client: redis.Redis, monkeypatch: pytest.MonkeyPatch
) -> None:
    """With thousands of matches that takes long: without heartbeats it would be taken for dead again."""
    life = WebNode(client, node.arena, Timers())
    life.beat()
    node.read_letter(match)
    node.empty_seat(match)
    client.zrem(keys.NODES, "n1")
    load, looks, may_load = node.store.load, threading.Event(), threading.Event()

    def load_slowly(match_id: str) -> Match:
        looks.set()
        assert may_load.wait(10.0)
        return load(match_id)

    monkeypatch.setattr(node.store, "load", load_slowly)
    life.beat()
    assert looks.wait(10.0)
    before_s = Heartbeats(client).last_s("n1")
    wait_for(lambda: time.time() > before_s + 0.01)
    life.beat()
    assert Heartbeats(client).last_s("n1") > before_s
    may_load.set()
    wait_for(lambda: node.seat(match).place == "n1/1.1", "the seat")


def test_a_look_at_an_empty_seat_that_comes_late_is_put_off(
    node: Node, begun: Callable[..., Match], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its bot may have been back in time, and be on its way in."""
    monkeypatch.setattr("battlebot.arena.node.host.AGAIN_S", 600.0)
    match, looks = begun("numberwang", now_s=time.time(), turn_timeout_ms=100), list[float]()
    at = node.timers.at
    monkeypatch.setattr(node.timers, "at", lambda moment_s, call: (looks.append(moment_s), at(moment_s, call)))
    node.read_letter(match)
    node.arena.left(node.ada, False, "broken")
    wait_for(lambda: time.monotonic() > looks[-1] + LOOK_LATE_S)
    node.timers.start()
    wait_for(lambda: max(looks) > time.monotonic() + 60.0 or node.store.load(match.id).verdict, "the look")
    assert node.arena.join(node.comes("ada", "2", Bot()), match.id)
    assert node.seat(match).place == "n1/2.1"


@pytest.mark.parametrize("late", ["the look", "the departure", "the departure behind a turn"])
def test_who_may_wait_at_another_node_is_not_missed_before_it_could_be_seated_there(
    node: Node, begun: Callable[..., Match], client: redis.Redis, monkeypatch: pytest.MonkeyPatch, late: str
) -> None:
    """Redis hangs: the other node cannot see that the seat is empty, and looks every second."""
    match, looks = begun("numberwang", now_s=time.time(), turn_timeout_ms=100), list[tuple[float, float]]()
    at = node.timers.at

    def noted(moment_s: float, call: Callable[[], None]) -> None:
        looks.append((moment_s, moment_s - time.monotonic()))
        at(moment_s, call)

    monkeypatch.setattr(node.timers, "at", noted)
    node.read_letter(match)
    if late == "the departure":
        client.client_pause(int(LOOK_LATE_S * 3000))
    elif late == "the departure behind a turn":
        _hold(node.ada.table, LOOK_LATE_S * 3)
    node.arena.left(node.ada, False, "broken")
    if late == "the look":
        wait_for(lambda: time.monotonic() > looks[-1][0] + LOOK_LATE_S)
        seen = len(looks)
        node.timers.start()
        wait_for(lambda: len(looks) > seen, "another look")
    assert looks[-1][1] > SEATED_AFTER_S


@pytest.mark.parametrize("drains", [False, True])
def test_a_node_misses_who_is_absent_at_once_if_it_could_let_it_in(
    node: Node, begun: Callable[..., Match], client: redis.Redis, monkeypatch: pytest.MonkeyPatch, drains: bool
) -> None:
    """It need not wait for the next heartbeat. A node that drains turns bots away, and leaves it to others."""
    monkeypatch.setattr("battlebot.arena.node.host.AGAIN_S", 600.0)
    store = Answering(lambda: None)
    opening = Opening(store)
    conductor = Conductor(node.registry, node.store, "n1", open_ago_s=opening.ago_s)
    node.arena = arena_of(conductor, node.timers, opening=opening)
    ada = node.comes("ada", "1", Bot())
    store.require(1.0)
    WebNode(client, node.arena, Timers()).beat()
    match, looks = begun("numberwang", now_s=time.time(), turn_timeout_ms=100), list[float]()
    at = node.timers.at
    monkeypatch.setattr(node.timers, "at", lambda moment_s, call: (looks.append(moment_s), at(moment_s, call)))
    node.timers.start()
    node.read_letter(match)
    if drains:
        opening.drain()
    node.arena.left(ada, False, "broken")
    wait_for(lambda: max(looks) > time.monotonic() + 60.0 or node.store.load(match.id).verdict, "the look")
    assert (node.store.load(match.id).verdict is None) is drains


def test_a_node_that_drains_lives_and_does_not_open_its_door(node: Node, client: redis.Redis) -> None:
    """So its heartbeats end no outage, and are no proof against who is absent."""
    heartbeats = Heartbeats(client)
    life = WebNode(client, node.arena, Timers())
    life.beat()
    open_s, drained_s = heartbeats.shown("web", time.time()).open_s, time.time()
    node.arena.opening.drain()
    wait_for(lambda: time.time() > drained_s + 0.01)
    life.beat()
    assert heartbeats.shown("web", time.time()).open_s == open_s
    assert heartbeats.all()["n1"] >= drained_s


def test_an_outage_ends_when_a_node_that_has_just_started_can_let_bots_in(node: Node, client: redis.Redis) -> None:
    """However short it was: all connections are gone. While the node only lives, nobody can come back."""
    heartbeats, store = Heartbeats(client), Answering(lambda: None)
    node.arena.opening = Opening(store)
    heartbeats.send("n2", time.time() - GAP_S - 0.5, first=True)
    life = WebNode(client, node.arena, Timers())
    life.beat()
    assert heartbeats.shown("web", time.time()).outages == []
    store.require(1.0)
    life.beat()
    [outage] = heartbeats.shown("web", time.time()).outages
    client.hset(keys.door("web"), "opened", int((time.time() - GAP_S - 0.5) * 1000))
    store.require(0.0)
    life.beat()
    assert heartbeats.shown("web", time.time()).outages == [outage], "its later heartbeats are only late"


def _hold(table: Table | None, seconds: float) -> None:
    """Something else goes on at the table, for so long."""
    assert table is not None
    held, until_s = threading.Event(), time.monotonic() + seconds

    def hold() -> None:
        with table.lock:
            held.set()
            wait_for(lambda: time.monotonic() > until_s)

    threading.Thread(target=hold).start()
    assert held.wait(10.0)


def test_a_node_posts_itself_a_letter_with_each_heartbeat(node: Node, client: redis.Redis) -> None:
    """By which it notices that its mailbox is dead."""
    others = client.pubsub(ignore_subscribe_messages=True)
    others.subscribe(keys.mailbox("n1"))
    life = WebNode(client, node.arena, Timers())
    life.beat()
    wait_for(lambda: (others.get_message(timeout=0.1) or {}).get("data") == HEARTBEAT, "the letter")
    others.close()


def test_who_is_asked_for_twice_by_the_lobby_needs_no_mailbox(node: Node, match: Match) -> None:
    """Its connection may be dead, without anybody's having said so."""
    node.arena.look_for(match.id, node.ada)
    assert node.bot.told == []
    node.arena.look_for(match.id, node.ada)
    assert [told["match"]["version"] for told in node.bot.told] == [0]


@pytest.mark.parametrize("number", [1, 20], ids=["it goes on", "it is over"])
@pytest.mark.parametrize("how", ["its letter is read", "the match is looked after", "its seat is found empty"])
def test_who_has_not_been_told_the_beginning_is_told_it_before_the_turn(
    node: Node, begun: Callable[..., Match], how: str, number: int
) -> None:
    """The letter that told it was lost: a match starts with a state that no turn has made."""
    bot = Bot()
    bob = node.comes("bob", "2", bot)
    match = begun("numberwang", ada="n2/1.1", bob=bob.place, now_s=time.time())
    away = Conductor(node.registry, node.store, "n2")
    if how == "its seat is found empty":
        match = away.conduct(match, Orphaned("bob", bob.place, "node-dead")).match
    answer = away.conduct(match, Turned("ada", {"n": number}, 0.1))
    if how == "its letter is read":
        update = next(update for update in answer.updates if update.bot == "bob")
        node.arena.post().take(Mail.of(bob.place, update, encode_match(answer.match)).encode())
    else:
        node.arena.look_after(match.id, bob)
    assert [told["match"]["version"] for told in bot.told] == [0, 1]
    first, second = bot.told
    assert (first["state"], "turn" in first) == (match.state, False)
    assert first["match"] == {**first["match"], "turnTimeoutMs": 3000, "remainingMs": 3000, "strikes": 0}
    assert (second["turn"]["n"], second["state"]["complete"]) == (number, number == 20)


def test_who_moves_with_all_others_is_not_told_the_beginning_first(node: Node, begun: Callable[..., Match]) -> None:
    """It was asked then, and would answer twice."""
    bot = Bot()
    bob = node.comes("bob", "2", bot, game="battlecube")
    match = begun("battlecube", ada="n2/1.1", bob=bob.place, now_s=time.time())
    tasks = [{"task": "NOOP"}] * match.state["numOfTasksPerTick"]
    Conductor(node.registry, node.store, "n2").conduct(match, Turned("ada", {"tasks": tasks}, 0.1))
    node.arena.look_after(match.id, bob)
    assert [told["match"]["version"] for told in bot.told] == [1]


def test_who_is_given_its_seat_back_is_told_how_the_match_stands_alone(node: Node, match: Match) -> None:
    """It has been told the beginning before."""
    node.read_letter(match)
    node.arena.turned(node.ada, {"n": 1}, time.monotonic())
    other_plays(node, match)
    node.arena.left(node.ada, False, "broken")
    bot = Bot()
    back = node.comes("ada", "2", bot)
    assert node.arena.join(back, match.id)
    assert [told["match"]["version"] for told in bot.told] == [2]
