"""Pairing over real stores: reserved before begun, capped whatever races, never stuck on a bot that left."""

from __future__ import annotations

import threading
from collections import Counter
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from typing import Any

import pytest
import redis
from conductors import Conductor
from cup import cup
from hall import GAME, Hall
from records import GAMES, reserve

from battlebot.arena.live.archiving import game_document
from battlebot.arena.live.finished import Finished
from battlebot.arena.live.queue import BY_A_TASK, Queues, Ticket
from battlebot.arena.live.store import MatchStore
from battlebot.config import Settings
from battlebot.contests.formats import format_named
from battlebot.contests.formats.round_robin import Schedule
from battlebot.contests.formats.situation import Situation
from battlebot.contests.service.entrance import Entrance
from battlebot.contests.service.pairer import Pairer
from battlebot.errors import BadMessage, ContestClosed, TooMany, UnknownGame
from battlebot.matchmaking.missing import Missing
from battlebot.redisio.bus import Bus
from battlebot.redisio.connection import connect
from battlebot.referee.events import Failed, Turned
from battlebot.rules.registry import Registry
from battlebot.storage import Storage
from battlebot.storage.contests import Change
from battlebot.storage.voids import VoidCause

FORM = format_named("round-robin")

BOTS = [f"bot{index}" for index in range(6)]
QUEUE = "numberwang/cup"


def anybody(address: str) -> bool:
    """Opens as many contests as it likes."""
    return True


@pytest.fixture(autouse=True)
def looks_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """An entrance looks again at a contest while the login waits; in the background it may outlast the stores."""
    monkeypatch.setattr("battlebot.contests.service.entrance.in_background", lambda look, *where: look(*where))


@pytest.fixture
def pairer(settings: Settings, storage: Storage, client: redis.Redis) -> Pairer:
    """A worker's pairer; the contest `cup` of numberwang runs, two meetings a pair."""
    storage.contests.open("numberwang", "cup", 2)
    store, queues, missing = MatchStore(client), Queues(client), Missing(client)
    return Pairer(GAMES, settings, storage, store, queues, missing, lambda match_id: None, lambda bots: ())


def wait_in_cup(pairer: Pairer, bots: list[str], round_number: int = 0) -> None:
    """The bots wait, in this order."""
    for index, bot in enumerate(bots):
        pairer.queues.wait(QUEUE, Ticket(f"n/{bot}.{round_number}", bot, 100.0 + index), BY_A_TASK)


def play_all(pairer: Pairer, storage: Storage, event: Callable[[str], object]) -> None:
    """Ends every live match and archives it."""
    conductor = Conductor(pairer.registry, pairer.store)
    for match_id in pairer.store.live_ids():
        match = pairer.store.load(match_id)
        conductor.conduct(match, event(match.state["nextPlayer"]))  # type: ignore[arg-type]
    ended = Finished(pairer.store.client).read(Finished(pairer.store.client).ids(1000))
    storage.archive.store([game_document(row) for row in ended])
    Finished(pairer.store.client).retire([row.match.id for row in ended])


def win(bot: str) -> Turned:
    """A turn that ends a match of numberwang."""
    return Turned(bot, {"n": 10}, 0.1)


def test_waiting_bots_meet_until_every_pair_has_met_so_often(pairer: Pairer, storage: Storage) -> None:
    """Six bots, two meetings a pair: 30 matches, then no more, however long they wait."""
    for round_number in range(40):
        wait_in_cup(pairer, BOTS, round_number)
        pairer.pair("numberwang", "cup")
        play_all(pairer, storage, win)
    pairs = Counter(tuple(sorted(game["players"])) for game in storage.games.of_contest("numberwang", "cup"))
    assert len(pairs) == 15
    assert set(pairs.values()) == {2}
    firsts = Counter(game["players"][0] for game in storage.games.of_contest("numberwang", "cup"))
    assert set(firsts.values()) == {5}


def test_four_pairers_at_once_never_let_a_pair_meet_once_too_often(
    pairer: Pairer, settings: Settings, storage: Storage
) -> None:
    """No lock is taken here: the unique index alone keeps the cap, and no bot sits in two matches by one ticket."""
    pairers = [
        replace(pairer, storage=Storage(settings), store=MatchStore(connect(settings.redis_url))) for _ in range(4)
    ]
    together = threading.Barrier(4)
    for round_number in range(15):
        wait_in_cup(pairer, BOTS, round_number)

        def race(one: Pairer) -> int:
            together.wait()
            return one.pair("numberwang", "cup")

        with ThreadPoolExecutor(4) as pool:
            begun = sum(pool.map(race, pairers))
        matches = pairer.store.load_many(pairer.store.live_ids())
        assert begun == len(matches)
        seated = [seat.bot for match in matches.values() for seat in match.seats]
        assert max(Counter(seated).values(), default=0) <= 1 + round_number
        play_all(pairer, storage, win)
    for one in pairers:
        one.storage.close()
    pairs = Counter(tuple(sorted(game["players"])) for game in storage.games.of_contest("numberwang", "cup"))
    assert max(pairs.values()) <= 2
    assert pairer.storage.meetings.open_since(0) == []


def test_a_reservation_whose_bot_left_is_released(pairer: Pairer, storage: Storage, client: redis.Redis) -> None:
    """Between reserving and beginning the bot goes: nobody has met, the other waits on."""
    wait_in_cup(pairer, ["a", "b"])
    real = storage.ledger.reserve

    def reserve_and_lose_b(*arguments: object) -> set[str] | None:
        reserved = real(*arguments)  # type: ignore[arg-type]
        pairer.queues.leave(QUEUE, Ticket("n/b.0", "b", 0.0))
        return reserved

    storage.ledger.reserve = reserve_and_lose_b  # type: ignore[method-assign, assignment]
    assert pairer.pair("numberwang", "cup") == 0
    storage.ledger.reserve = real  # type: ignore[method-assign]
    assert storage.meetings.among("numberwang", "cup", ["a", "b"]) == []
    wait_in_cup(pairer, ["c"])
    assert pairer.pair("numberwang", "cup") == 1


def test_a_void_match_is_played_again_and_counts_for_nobody(pairer: Pairer, storage: Storage) -> None:
    """Ended by the server's fault: the meeting's number is free again, the standings have not moved."""
    wait_in_cup(pairer, ["a", "b"])
    assert pairer.pair("numberwang", "cup") == 1
    play_all(pairer, storage, lambda _: Failed("the disk is full"))
    assert storage.standings.of_contest("numberwang", "cup") == []
    assert list(storage.games.of_contest("numberwang", "cup")) == []
    (void,) = storage.games.of_contest("numberwang", "cup", void=True)
    assert (void["victor"], void["reason"], void["match"]["fault"]) == (None, "error", "server")
    for round_number in (1, 2, 3):
        wait_in_cup(pairer, ["a", "b"], round_number)
        pairer.pair("numberwang", "cup")
        play_all(pairer, storage, win)
    assert len(list(storage.games.of_contest("numberwang", "cup"))) == 2


def test_a_contest_that_does_not_run_pairs_nobody(pairer: Pairer, storage: Storage) -> None:
    """Nor does one that nobody opened."""
    storage.database["contests"].update_one({"name": "cup"}, {"$set": {"state": "finished"}})
    wait_in_cup(pairer, ["a", "b"])
    assert pairer.pair("numberwang", "cup") == 0
    pairer.queues.wait("numberwang/other", Ticket("n/x.1", "x", 1.0), BY_A_TASK)
    pairer.queues.wait("numberwang/other", Ticket("n/y.1", "y", 1.0), BY_A_TASK)
    assert pairer.pair("numberwang", "other") == 0


def test_a_login_opens_a_contest_unless_the_operator_says_no(
    with_settings: Callable[..., Settings], storage: Storage, client: redis.Redis
) -> None:
    """As in the original; switched off, an unknown contest refuses the login, a known one does not."""
    Entrance(storage, Bus(client), with_settings(), anybody).enter("numberwang", "new", "a", "1.2.3.4")
    opened = storage.contests.find("numberwang", "new")
    assert opened is not None
    assert (opened.state, opened.format, opened.meetings) == ("running", "open", 5)
    strict = Entrance(storage, Bus(client), with_settings(contests_by_login=False), anybody)
    strict.enter("numberwang", "new", "b", "1.2.3.4")
    with pytest.raises(ContestClosed):
        strict.enter("numberwang", "other", "b", "1.2.3.4")
    assert {row["bot_id"] for row in storage.standings.of_contest("numberwang", "new")} == {"a", "b"}


def test_who_is_entered_after_a_contest_was_seen_comes_in_at_its_first_login(
    with_settings: Callable[..., Settings], storage: Storage, client: redis.Redis
) -> None:
    """An original client that is refused does not come back; who is on no list is refused as before."""
    storage.contests.create(cup(state="scheduled", format="round-robin", entrants=["a"], meetings=1))
    door = Entrance(storage, Bus(client), with_settings(), anybody)
    door.enter("numberwang", "cup", "a", "1.2.3.4")
    storage.database["contests"].update_one({"name": "cup"}, {"$push": {"entrants": "b"}})
    door.enter("numberwang", "cup", "b", "1.2.3.4")
    assert {row["bot_id"] for row in storage.standings.of_contest("numberwang", "cup")} == {"a", "b"}
    with pytest.raises(ContestClosed):
        door.enter("numberwang", "cup", "c", "1.2.3.4")


def test_an_address_opens_so_many_contests_and_enters_any_that_exists(
    with_settings: Callable[..., Settings], storage: Storage, client: redis.Redis
) -> None:
    """Also one that another address, or an organiser, has opened: only what is opened is counted."""
    opened: list[str] = []

    def thrice(address: str) -> bool:
        opened.append(address)
        return opened.count(address) <= 3

    for turn in range(2):
        door = Entrance(storage, Bus(client), with_settings(), thrice)
        for name in ("one", "two", "three"):
            door.enter("numberwang", name, f"bot{turn}", "1.2.3.4")
    assert opened == ["1.2.3.4"] * 3
    with pytest.raises(TooMany):
        door.enter("numberwang", "four", "a", "1.2.3.4")
    assert storage.contests.find("numberwang", "four") is None
    door.enter("numberwang", "four", "b", "5.6.7.8")
    door.enter("numberwang", "four", "a", "1.2.3.4")
    with pytest.raises(TooMany):
        door.enter("numberwang", "five", "a", "1.2.3.4")


def test_bots_that_come_together_open_a_contest_once(
    with_settings: Callable[..., Settings], storage: Storage, client: redis.Redis
) -> None:
    """Forty of one address, which may open a single one."""
    opened: list[str] = []

    def once(address: str) -> bool:
        opened.append(address)
        return len(opened) == 1

    door, together = Entrance(storage, Bus(client), with_settings(), once), threading.Barrier(40)

    def come(number: int) -> None:
        together.wait(30)
        door.enter("numberwang", "new", f"bot{number}", "1.2.3.4")

    with ThreadPoolExecutor(40) as bots:
        for came in [bots.submit(come, number) for number in range(40)]:
            came.result(30)
    assert opened == ["1.2.3.4"]
    assert len(storage.standings.of_contest("numberwang", "new")) == 40


def test_a_pairer_that_read_the_record_too_early_reserves_nothing_twice(pairer: Pairer, storage: Storage) -> None:
    """Its picture of the meetings is from before all of them: the index refuses each number that is taken."""
    for round_number in range(2):
        wait_in_cup(pairer, ["a", "b"], round_number)
        assert pairer.pair("numberwang", "cup") == 1
        play_all(pairer, storage, win)
    real, between = storage.meetings.among, storage.meetings.between
    storage.meetings.among = storage.meetings.between = lambda *_: []  # type: ignore[method-assign, assignment]
    for round_number in range(2, 6):
        wait_in_cup(pairer, ["a", "b"], round_number)
        assert pairer.pair("numberwang", "cup") == 0
    storage.meetings.among, storage.meetings.between = real, between  # type: ignore[method-assign]
    assert len(storage.meetings.among("numberwang", "cup", ["a", "b"])) == 2


def test_bots_that_have_all_met_are_not_looked_at_again_and_again(pairer: Pairer, storage: Storage) -> None:
    """As long as the same wait; one who comes, a match that is void, some seconds or a clock set back make it look."""
    for round_number in range(2):
        wait_in_cup(pairer, ["a", "b"], round_number)
        assert pairer.pair("numberwang", "cup") == 1
        play_all(pairer, storage, win)
    looks, real, now_s = [], storage.meetings.between, [1000.0]

    def between(*arguments: Any) -> Any:
        looks.append(arguments)
        return real(*arguments)

    storage.meetings.between = between  # type: ignore[method-assign]
    pairer.now_s = lambda: now_s[0]
    wait_in_cup(pairer, ["a", "b"], 2)
    assert [pairer.pair("numberwang", "cup") for _ in range(5)] == [0] * 5
    assert len(looks) == 1
    now_s[0] += 60
    assert [pairer.pair("numberwang", "cup") for _ in range(5)] == [0] * 5
    assert len(looks) == 2
    now_s[0] -= 3600
    assert [pairer.pair("numberwang", "cup") for _ in range(5)] == [0] * 5
    assert len(looks) == 3
    (one, _) = storage.games.of_contest("numberwang", "cup")
    assert storage.ledger.void(
        "numberwang", "cup", one["_id"], VoidCause("ann", "a cable"), lambda contest, *_: Change(contest, [])
    )
    assert pairer.pair("numberwang", "cup") == 1
    wait_in_cup(pairer, ["c", "d"], 3)
    assert pairer.pair("numberwang", "cup") == 1


def test_a_round_robin_reads_only_what_is_not_over_and_pairs_the_same(pairer: Pairer, storage: Storage) -> None:
    """Of 46 bots: rounds that are over are not read again, until a match of theirs is void."""
    bots = [f"bot{index:02}" for index in range(46)]
    schedule = Schedule(bots, 5)
    robin = cup(name="robin", format="round-robin", entrants=bots)
    storage.contests.create(robin)
    over = [schedule.meeting(place) for place in range(60 * 23)]
    wanted = [
        {"match": f"m{number}", "bots": [one.first, one.second], "n": one.n, "round": one.round}
        for number, one in enumerate(over)
    ]
    reserve(storage, "numberwang", "robin", wanted)
    storage.database["meetings"].update_many({"contest": "robin"}, {"$set": {"state": "played"}})

    def look() -> Situation:
        return pairer.situation(storage.contests.find(*robin.where) or robin, [])

    first, second = look(), look()
    assert (len(first.met), first.settled) == (60 * 23, 0)
    assert (len(second.met), second.settled) == (0, 60)
    assert FORM.due(first) == FORM.due(second)
    assert {one.round for one in FORM.due(second)[:23]} == {61}
    storage.database["games"].insert_one(
        {"_id": "m0", "game": "numberwang", "contest": "robin", "players": wanted[0]["bots"], "victor": None}
        | {"match": {"void": False, "seq": 1}}
    )
    assert storage.ledger.void(
        "numberwang", "robin", "m0", VoidCause("ann", "a cable"), lambda contest, *_: Change(contest, [])
    )
    assert FORM.due(look())[0] == schedule.meeting(0)


@pytest.mark.parametrize("form", ["open", "round-robin"])
def test_who_waits_but_is_not_on_the_list_is_not_paired(form: str, hall: Hall) -> None:
    """It came while anybody might, before the organiser named the entrants; it stands in no ranking, either."""
    for bot in "abc":
        hall.storage.bots.register(GAME, bot, "owner", b"sealed", bot)
    hall.organiser.create(GAME, {"name": "cup", "meetings": 1}, "ann")
    hall.storage.standings.enter([(GAME, "cup", bot) for bot in "abc"])
    hall.wait("cab")
    hall.organiser.change(GAME, "cup", {"format": form, "entrants": ["a", "b"]}, "ann")
    hall.do("start")
    [match] = hall.pair()
    assert {seat.bot for seat in match.seats} == {"a", "b"}
    rows, progress = hall.lookout().standing(hall.contest())
    assert [row["bot_id"] for row in rows] == ["a", "b"]
    assert progress["planned"] == 1


def cancel(hall: Hall) -> None:
    """The contest is called off."""
    hall.do("cancel")


def pause(hall: Hall) -> None:
    """It is paused."""
    hall.do("pause")


def finish(hall: Hall) -> None:
    """It is ended."""
    hall.do("finish")


def withdraw(hall: Hall) -> None:
    """One of the two leaves."""
    hall.organiser.withdraw("numberwang", "cup", "a", "ann")


@pytest.mark.parametrize("change", [cancel, pause, finish, withdraw])
def test_nothing_is_reserved_in_a_contest_that_changed_since_it_was_read(
    hall: Hall, change: Callable[[Hall], None]
) -> None:
    """The pairer has read it as running, with both bots in it; then an organiser is quicker."""
    hall.begin("ab")
    hall.wait("ab")
    real = hall.storage.ledger.reserve

    def reserve_late(*arguments: object) -> set[str] | None:
        hall.storage.ledger.reserve = real  # type: ignore[method-assign]
        change(hall)
        return real(*arguments)  # type: ignore[arg-type]

    hall.storage.ledger.reserve = reserve_late  # type: ignore[method-assign, assignment]
    assert hall.pair() == []
    assert hall.meetings() == []


def test_a_contest_that_changed_in_some_other_way_is_looked_at_again_and_paired(hall: Hall) -> None:
    """It got another title meanwhile."""
    hall.begin("ab")
    hall.wait("ab")
    real = hall.storage.ledger.reserve

    def reserve_late(*arguments: object) -> set[str] | None:
        hall.storage.ledger.reserve = real  # type: ignore[method-assign]
        hall.organiser.change("numberwang", "cup", {"title": "The Cup"}, "ann")
        return real(*arguments)  # type: ignore[arg-type]

    hall.storage.ledger.reserve = reserve_late  # type: ignore[method-assign, assignment]
    assert len(hall.pair()) == 1


@pytest.mark.parametrize("change", [pause, finish])
def test_what_was_reserved_before_a_pause_or_an_end_has_begun_before_it(
    hall: Hall, change: Callable[[Hall], None]
) -> None:
    """It is played to its end, and counts."""
    hall.begin("ab")
    hall.wait("ab")
    real = hall.store.begin_all

    def begin_late(*arguments: Any) -> list[bool]:
        change(hall)
        return real(*arguments)

    hall.store.begin_all = begin_late  # type: ignore[method-assign]
    (match,) = hall.pair()
    entry = next(hall.storage.audit.of_contest("numberwang", "cup"))
    assert match.started_s <= entry["at"].timestamp() + 0.001  # MongoDB keeps milliseconds
    hall.end(match)
    hall.archive()
    assert hall.played() == {"a": 1, "b": 1}


def test_the_only_meeting_of_a_pair_is_played_again_with_the_same_first_mover(hall: Hall) -> None:
    """In an open contest, though others have met since; whether an organiser, the server or a lost Redis took it."""
    hall.begin("abc", format="open", entrants="open", meetings=5)
    (match,) = hall.play("ab")
    first = hall.storage.games.find(match)["players"][0]  # type: ignore[index]
    other = "b" if first == "a" else "a"
    # by now the other one has moved first less often
    while hall.storage.games.find(hall.play(f"{first}c")[0])["players"][0] != first:  # type: ignore[index]
        pass
    hall.void(match)
    hall.wait(first + other)
    (again,) = hall.pair()
    assert [seat.bot for seat in again.seats] == [first, other]
    hall.conductor.conduct(again, Failed("the disk is full"))
    hall.archive()
    hall.wait(other + first)
    (again,) = hall.pair()
    assert [seat.bot for seat in again.seats] == [first, other]
    hall.client.flushall()
    hall.storage.meetings.lost([again.id])
    hall.wait(first + other)
    (again,) = hall.pair()
    assert [seat.bot for seat in again.seats] == [first, other]


@pytest.mark.parametrize("state", ["finished", "cancelled"])
def test_a_login_changes_nothing_in_the_ranking_of_a_contest_that_is_over(
    hall: Hall, with_settings: Callable[..., Settings], state: str
) -> None:
    """Whether the node knows that it is, or has known it as running; opened again it lets them in at once."""
    hall.begin("ab", format="open", entrants="open")
    doors = [Entrance(hall.storage, Bus(hall.client), with_settings(), anybody) for _ in range(2)]
    assert not doors[0].enter("numberwang", "cup", "a", "1.2.3.4")
    hall.do("finish" if state == "finished" else "cancel")
    for door in doors:
        how = door.enter("numberwang", "cup", "b", "1.2.3.4")
        assert how == door.over("numberwang", "cup") == ("for-now" if state == "finished" else "for-good")

    def names() -> set[str]:
        return {row["bot_id"] for row in hall.storage.standings.of_contest("numberwang", "cup")}

    assert names() == {"a"}
    hall.storage.database["contests"].update_one({}, {"$set": {"state": "running"}})
    doors.append(Entrance(hall.storage, Bus(hall.client), with_settings(), anybody))
    for door, bot in zip(doors, "bcd", strict=True):
        assert not door.enter("numberwang", "cup", bot, "1.2.3.4")
    assert names() == {"a", "b", "c", "d"}


def test_nothing_is_reserved_while_the_game_is_not_there(hall: Hall) -> None:
    """A worker of another version may lack it: what it reserved and could not begin would be taken back as void."""
    hall.begin("ab")
    hall.wait("ab")
    hall.pairer.registry = Registry({})
    with pytest.raises(UnknownGame):
        hall.pair()
    assert hall.meetings() == []
    hall.pairer.registry = GAMES
    assert len(hall.pair()) == 1


def test_nothing_is_reserved_if_the_game_does_not_know_an_option_any_more(hall: Hall) -> None:
    """As where it was changed while the contest runs. Who asks why a bot does not play is told."""
    hall.begin("ab")
    hall.wait("ab")
    changed = hall.contest().with_fields({"options": {"size": 3}})
    hall.storage.contests.change("numberwang", "cup", lambda contest: Change(changed, []))
    with pytest.raises(BadMessage, match="has no options"):
        hall.pair()
    assert hall.meetings() == []
    told = hall.lookout().why(hall.contest(), "a")
    assert told["code"] == "no-match-begins"
    assert told["sentence"].endswith("begin: numberwang has no option 'size'; it has no options.")
