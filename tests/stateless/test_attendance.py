"""Stateless bots in the queues of a real Valkey: whoever waits there meets one."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import nullcontext
from dataclasses import replace
from typing import Any
from unittest.mock import Mock

import pytest
from clocks import Clock
from cluster import free_port, wait_for
from cup import cup
from httpbots import Bots
from records import GAMES

from battlebot.arena.live.casual import CasualMatches
from battlebot.arena.live.heartbeats import Heartbeats
from battlebot.arena.live.queue import BY_A_TASK, Queues, Taken, Ticket
from battlebot.arena.live.store import MatchStore
from battlebot.arena.places import STATELESS
from battlebot.config import Settings
from battlebot.errors import NotTested, Unavailable
from battlebot.redisio import keys
from battlebot.redisio.connection import connect
from battlebot.stateless.asking import Askers
from battlebot.stateless.attendance import Attendance
from battlebot.stateless.health import FIRST_PAUSE_S, Health
from battlebot.stateless.kinds import make_askers
from battlebot.stateless.nats.bots import NatsBots
from battlebot.stateless.nats.line import NatsLine
from battlebot.stateless.nats.uids import Uids
from battlebot.stateless.registering import StatelessBots
from battlebot.stateless.retests import Retests
from battlebot.stateless.trial import Trial
from battlebot.storage import Storage

GAME = "noughtsandcrosses"


@pytest.fixture
def attendance(settings: Settings) -> Iterator[Attendance]:
    """Of one bot, `url-bot`."""
    client, storage = connect(settings.redis_url), Storage(settings)
    storage.ensure_indexes()
    storage.bots.register(GAME, "url-bot", "owner", b"", "url-bot", url="http://127.0.0.1:9/", available=True)
    nobody: Any = None
    store = MatchStore(client)
    yield Attendance(
        registry=GAMES,
        settings=settings,
        storage=storage,
        store=store,
        queues=Queues(client),
        heartbeats=Heartbeats(client),
        retests=Retests(storage.bots, Health(client), nobody),
        casual=CasualMatches(settings, store, storage.bots.addresses, lambda match_id: None),
        ask_pairing=lambda game, contest: None,
    )
    storage.close()
    client.close()


def owners_of(attendance: Attendance) -> StatelessBots:
    """What its owner asks."""
    nobody: Any = None
    return StatelessBots(attendance.storage, nobody, nobody, attendance.retests.health, attendance.queues, nullcontext)


def a_cup(attendance: Attendance) -> str:
    """The name of the queue of a contest that runs, of `url-bot` alone."""
    attendance.storage.contests.create(cup(game=GAME, format="round-robin", entrants=["url-bot"]))
    return keys.queue_name(GAME, "cup")


def test_who_waits_at_a_node_that_was_late_meets_it_once_the_node_beats_again(attendance: Attendance) -> None:
    """A ticket of the bot's put beside that of the other would stand there for ever: neither looks again."""
    client: Any = attendance.store.client
    attendance.queues.wait(GAME, Ticket("late/1.1", "ada", 1000.0), BY_A_TASK)
    client.zadd(keys.NODES, {"late": 1_000_000, "other": 1_009_000})
    attendance.look()
    assert attendance.store.live_ids() == []
    client.delete(keys.NODES)
    attendance.look()
    (match_id,) = attendance.store.live_ids()
    assert {seat.bot for seat in attendance.store.load(match_id).seats} == {"ada", "url-bot"}


def test_who_waits_comes_before_who_is_there_at_any_time(attendance: Attendance) -> None:
    """However much later it has come."""
    attendance.look()
    attendance.queues.wait(GAME, Ticket("node/1.1", "ada", time.time()), BY_A_TASK)
    assert [ticket.bot for ticket in attendance.queues.tickets(GAME)] == ["ada", "url-bot"]


def test_a_bot_that_an_older_version_left_without_available_is_in_nobodys_way(attendance: Attendance) -> None:
    """It failed after it had given the bot its url: that bot is asked there, and so are all others."""
    attendance.storage.bots.register(GAME, "moved", "owner", b"", "moved")
    attendance.storage.bots.change("moved", {"url": "http://127.0.0.1:10/"})
    attendance.look()
    assert {ticket.bot for ticket in attendance.queues.tickets(GAME)} == {"url-bot", "moved"}
    shown = owners_of(attendance).show(GAME, "moved")
    assert (shown["available"], shown["state"]) == (True, "ready")


def test_bots_that_hang_in_their_tests_keep_the_others_from_nothing(
    attendance: Attendance, settings: Settings, bots: Bots
) -> None:
    """Their tests go on while the others are looked after, each once, and what becomes of them is seen later."""
    url = bots.url("hanging")
    attendance.storage.bots.register("battlecube", "hangs", "owner", b"", "hangs", url=url, available=True)
    Health(attendance.store.client, lambda: time.time() - 2 * FIRST_PAUSE_S).pause(url)
    attendance.retests.trial = Trial(attendance.registry, settings, make_askers(replace(settings, bot_loopback=True)))
    attendance.look()
    assert [ticket.bot for ticket in attendance.queues.tickets(GAME)] == ["url-bot"]
    wait_for(lambda: bots.asked["hanging"] == 1, "the test")
    attendance.look()
    assert attendance.queues.tickets("battlecube") == []
    bots.hanging.set()
    wait_for(lambda: attendance.look() == 1, "the bot that has passed")
    assert [ticket.bot for ticket in attendance.queues.tickets("battlecube")] == ["hangs"]
    assert bots.asked["hanging"] == 1


@pytest.mark.parametrize(("available", "is_paused"), [(False, True), (True, False)])
def test_a_pause_ends_when_a_bot_is_switched_on_and_not_off(
    attendance: Attendance, available: bool, is_paused: bool
) -> None:
    """Other bots may have the same url."""
    url = "http://127.0.0.1:9/"
    attendance.retests.health.pause(url)
    owners_of(attendance).change(GAME, "url-bot", {"available": available})
    assert (attendance.retests.health.paused_until_s([url])[url] is not None) is is_paused


def test_who_is_switched_off_waits_no_more_when_its_owner_is_answered(attendance: Attendance) -> None:
    """In no queue: whoever comes then must not meet it. Nobody else's tickets go."""
    cup, other = keys.queue_name(GAME, "cup"), keys.queue_name("numberwang", "cup")
    for name in (GAME, cup, other):
        attendance.queues.wait(name, Ticket(f"{STATELESS}/1", "url-bot", 1000.0), BY_A_TASK)
        attendance.queues.wait(name, Ticket(f"{STATELESS}/2", "another", 1000.0), BY_A_TASK)
    attendance.queues.wait(cup, Ticket("node/1.1", "url-bot", 1000.0), BY_A_TASK)
    assert owners_of(attendance).change(GAME, "url-bot", {"available": False})["state"] == "off"

    def waiting(name: str) -> list[str]:
        return sorted(f"{ticket.place}/{ticket.bot}" for ticket in attendance.queues.tickets(name))

    assert waiting(GAME) == ["bots/2/another"]
    assert waiting(cup) == ["bots/2/another", "node/1.1/url-bot"]
    assert waiting(other) == ["bots/1/url-bot", "bots/2/another"]


def test_half_of_an_entrants_places_are_kept_for_its_contest(attendance: Attendance) -> None:
    """Matches outside contests take no more, though it waits in the contest; without a contest they may take all."""
    client: Any = attendance.store.client
    most = attendance.settings.bot_matches
    client.sadd(keys.asked_at("http://127.0.0.1:9/"), *range(most // 2))
    attendance.look()
    assert [ticket.bot for ticket in attendance.queues.tickets(GAME)] == ["url-bot"]
    cup = a_cup(attendance)
    attendance.look()
    assert attendance.queues.tickets(GAME) == []
    assert [ticket.bot for ticket in attendance.queues.tickets(cup)] == ["url-bot"]
    client.srem(keys.asked_at("http://127.0.0.1:9/"), 0)
    attendance.look()
    assert [ticket.bot for ticket in attendance.queues.tickets(GAME)] == ["url-bot"]
    client.sadd(keys.asked_at("http://127.0.0.1:9/"), *range(most))
    attendance.look()
    assert attendance.queues.tickets(cup) == attendance.queues.tickets(GAME) == []


def test_who_is_not_to_be_asked_waits_nowhere(attendance: Attendance) -> None:
    """Switched off from its registration on; withdrawn from the contest. The others are to be paired."""
    bots, contests, asked = attendance.storage.bots, attendance.storage.contests, list[tuple[str, str]]()
    attendance.ask_pairing = lambda *where: asked.append(where)
    for name, available in (("off", False), ("withdrawn", True), ("second", True)):
        bots.register(GAME, name, "owner", b"", name, url=f"http://127.0.0.1:9/{name}", available=available)
    listed = ["url-bot", "off", "withdrawn", "second"]
    contests.create(cup(game=GAME, format="round-robin", entrants=listed, withdrawn=("withdrawn",)))
    attendance.look()
    assert {ticket.bot for ticket in attendance.queues.tickets(GAME)} == {"url-bot", "withdrawn", "second"}
    waiting = attendance.queues.tickets(keys.queue_name(GAME, "cup"))
    assert ({ticket.bot for ticket in waiting}, set(asked)) == ({"url-bot", "second"}, {(GAME, "cup")})


def test_matches_outside_contests_take_none_of_the_kept_places_by_many_tickets(attendance: Attendance) -> None:
    """Two bots at the address of an entrant wait, and there is one place; after the contest there are more."""
    client: Any = attendance.store.client
    url, most = "http://127.0.0.1:9/", attendance.settings.bot_matches
    attendance.storage.bots.register(GAME, "url-too", "owner", b"", "url-too", url=url, available=True)
    cup = a_cup(attendance)
    client.sadd(keys.asked_at(url), *range(most // 2 - 1))
    attendance.look()
    assert {ticket.bot for ticket in attendance.queues.tickets(GAME)} == {"url-bot", "url-too"}

    def begins(newcomer: Ticket) -> bool:
        found = attendance.queues.wait(GAME, newcomer, 1)
        assert isinstance(found, Taken)
        seats = [(one.bot, one.place) for one in (newcomer, *found.others)]
        before = len(attendance.store.live_ids())
        attendance.casual.begin(attendance.registry[GAME], seats, GAME, newcomer.text)
        return len(attendance.store.live_ids()) > before

    assert begins(Ticket("node/1.1", "ada", 1000.0))
    bob = Ticket("node/2.1", "bob", 1000.0)
    assert not begins(bob)
    assert attendance.queues.wait_again(GAME, [bob]) == [(None, False, True)], "it waits on"
    attendance.look()
    assert len(attendance.store.live_ids()) == 1
    assert [ticket.bot for ticket in attendance.queues.tickets(cup)] == ["url-bot"]
    attendance.storage.database["contests"].update_one({"name": "cup"}, {"$set": {"state": "finished"}})
    attendance.look()
    assert len(attendance.store.live_ids()) == 2


def test_no_contest_is_always_the_first_to_be_attended(attendance: Attendance) -> None:
    """The first gets the next place at an address."""
    for name in ("cup", "bowl"):
        attendance.storage.contests.create(cup(game=GAME, name=name, format="round-robin", entrants=["url-bot"]))
    assert {attendance._contests()[0].name for _ in range(64)} == {"cup", "bowl"}


@pytest.mark.parametrize("who_waits", [(), ("ada",)])
def test_who_is_switched_off_during_a_look_does_not_wait_for_a_moment(
    attendance: Attendance, monkeypatch: pytest.MonkeyPatch, who_waits: tuple[str, ...]
) -> None:
    """It was available when the look began; no match with whoever waits begins either. Switched on, it waits again."""
    wait, waiting = attendance.queues.wait, dict[str, list[str]]()
    for bot in who_waits:
        wait(GAME, Ticket("node/1.1", bot, 1000.0), BY_A_TASK)
    cup = a_cup(attendance)
    owners = owners_of(attendance)

    def after_the_owner(name: str, *arguments: Any, **how: bool) -> Any:
        owners.change(GAME, "url-bot", {"available": False})
        found = wait(name, *arguments, **how)
        waiting[name] = [ticket.bot for ticket in attendance.queues.tickets(name)]
        return found

    with monkeypatch.context() as patch:
        patch.setattr(attendance.queues, "wait", after_the_owner)
        attendance.look()
    assert waiting == {GAME: [*who_waits], cup: []}
    assert attendance.store.live_ids() == []
    owners.change(GAME, "url-bot", {"available": True})
    attendance.look()
    assert [ticket.bot for ticket in attendance.queues.tickets(cup)] == ["url-bot"]
    assert len(attendance.store.live_ids()) == len(who_waits)


def test_requests_at_the_same_moment_leave_the_queues_as_the_bot_is(
    attendance: Attendance, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Though the one that is stored first tells them last."""
    owners, stored, told = owners_of(attendance), threading.Event(), threading.Event()
    switch_on = Queues.switch_on

    def late(queues: Queues, bot: str) -> None:
        stored.set()
        assert told.wait(20)
        switch_on(queues, bot)

    monkeypatch.setattr(Queues, "switch_on", late)
    with ThreadPoolExecutor() as other:
        first = other.submit(owners.change, GAME, "url-bot", {"available": True})
        assert stored.wait(20)
        owners.change(GAME, "url-bot", {"available": False})
        told.set()
        assert first.result()["state"] == "off"
    assert attendance.queues._client.pttl(keys.switched_off("url-bot")) > 0


def test_who_is_switched_off_may_connect(attendance: Attendance) -> None:
    """By another program, which waits where it came."""
    owners_of(attendance).change(GAME, "url-bot", {"available": False})
    attendance.queues.wait(GAME, Ticket("node/1.1", "url-bot", 1000.0), BY_A_TASK)
    attendance.look()
    assert [ticket.text for ticket in attendance.queues.tickets(GAME)] == ["node/1.1/url-bot"]


def test_nobody_waits_in_a_contest_that_does_not_run(attendance: Attendance) -> None:
    """Who is connected is its node's to look after."""
    over = keys.queue_name(GAME, "over")
    attendance.queues.wait(over, Ticket(f"{STATELESS}/1", "url-bot", 1000.0), BY_A_TASK)
    attendance.queues.wait(over, Ticket("node/1.1", "ada", 1000.0), BY_A_TASK)
    attendance.look()
    assert [ticket.bot for ticket in attendance.queues.tickets(over)] == ["ada"]


def test_a_paused_bot_that_the_server_could_not_test_is_as_it_was(attendance: Attendance, settings: Settings) -> None:
    """NATS is away: the bot is neither tested nor paused again, and is tested when there is something to ask it by."""
    url = "nats://bots.away"
    attendance.storage.bots.register("crossword", "away", "owner", b"", "away", url=url, available=True)
    Health(attendance.store.client, lambda: time.time() - 2 * FIRST_PAUSE_S).pause(url)
    before = attendance.retests.health.paused_until_s([url])
    line = NatsLine(f"nats://127.0.0.1:{free_port()}")
    attendance.retests.trial = Trial(
        attendance.registry, settings, Askers(NatsBots(line, Uids("0123456789abcdef"), 65_536))
    )
    with pytest.raises(NotTested) as raised:
        attendance.retests.trial.of("crossword", "away", url)
    assert raised.value.as_dict()["cause"] == "nats-away"
    attendance.retests._tested.add(url)
    attendance.retests._test({"_id": "away", "game": "crossword", "url": url})
    line.close()
    assert attendance.retests.health.paused_until_s([url]) == before
    assert "lastTest" not in (attendance.storage.bots.find("away") or {})
    assert attendance.retests._tested == set()


def test_a_pause_has_its_time_and_then_a_test(attendance: Attendance, monkeypatch: pytest.MonkeyPatch) -> None:
    """Of a bot that may be asked; one that fails pauses it for longer, one that it passes has it wait for others."""
    url, clock, tested = "http://127.0.0.1:9/", Clock(round(time.time())), list[float]()

    def test(game: str, bot: str, address: str) -> dict[str, Any]:
        tested.append(clock.now_s)
        return {"ok": len(tested) == 2}

    def waiting() -> list[str]:
        attendance.look()
        return [ticket.bot for ticket in attendance.queues.tickets(GAME)]

    monkeypatch.setattr("battlebot.stateless.retests.in_background", lambda work, *arguments: work(*arguments))
    attendance.retests.trial = Mock(of=test)
    attendance.now_s = attendance.retests.now_s = clock
    attendance.retests.health = Health(attendance.store.client, clock)
    assert waiting() == ["url-bot"]
    began_s = clock.now_s
    attendance.retests.health.pause(url)
    clock.now_s += FIRST_PAUSE_S - 1
    assert (waiting(), tested) == ([], [])
    clock.now_s += 1
    attendance.storage.bots.change("url-bot", {"available": False})
    assert (waiting(), tested) == ([], [])
    attendance.storage.bots.change("url-bot", {"available": True})
    assert (waiting(), tested) == ([], [began_s + FIRST_PAUSE_S])
    clock.now_s += 2 * FIRST_PAUSE_S - 1
    assert (waiting(), len(tested)) == ([], 1)
    clock.now_s += 1
    assert (waiting(), len(tested)) == ([], 2)
    assert waiting() == ["url-bot"]
    assert (attendance.storage.bots.find("url-bot") or {})["lastTest"] == {"ok": True}


def test_a_paused_bot_of_a_game_that_was_removed_is_left_alone(
    attendance: Attendance, settings: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    """There is nothing to test it with, until the game is put back."""
    attendance.storage.bots.register(
        "removed", "bereft", "owner", b"", "bereft", url="http://127.0.0.1:9/b", available=True
    )
    Health(attendance.store.client, lambda: time.time() - 2 * FIRST_PAUSE_S).pause("http://127.0.0.1:9/b")
    attendance.retests.trial = Trial(attendance.registry, settings, make_askers(settings))
    monkeypatch.setattr("battlebot.stateless.retests.in_background", lambda work, *arguments: work(*arguments))
    assert attendance.look() == 1


def test_who_asks_when_attendance_was_taken_learns_of_the_last_that_was_done(
    attendance: Attendance,
) -> None:
    """A look that MongoDB does not answer shows nothing of the bots."""
    began_s = time.time()
    attendance.look()
    taken_s = attendance.heartbeats.shown(STATELESS, time.time()).open_s
    assert taken_s is not None
    assert began_s - 0.01 <= taken_s <= time.time()
    attendance.storage.close()
    attendance.storage = Storage(
        replace(attendance.settings, mongodb_uri="mongodb://127.0.0.1:9/?serverSelectionTimeoutMS=200")
    )
    with pytest.raises(Unavailable):
        attendance.look()
    assert attendance.heartbeats.shown(STATELESS, time.time()).open_s == taken_s
