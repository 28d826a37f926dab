"""An organiser's changes when several are made at once: none is lost, none is half done, nothing ends too early."""

from __future__ import annotations

import contextlib
import threading
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
import redis
from conductors import Conductor
from records import GAMES, reserve
from structlog.testing import capture_logs

from battlebot.arena.live.heartbeats import Heartbeats
from battlebot.arena.live.mail import over
from battlebot.arena.live.store import MatchStore
from battlebot.contests.contest import Contest
from battlebot.contests.service.organiser import Organiser
from battlebot.errors import AlreadyVoid, Refused, TooLate, WrongState
from battlebot.redisio.bus import Bus
from battlebot.rules.registry import Registry
from battlebot.storage import Storage

GAME = "numberwang"
BOTS = [f"bot{index}" for index in range(24)]


@pytest.fixture
def organiser(client: redis.Redis, storage: Storage) -> Organiser:
    """An organiser's service; the bots are registered."""
    for bot in BOTS:
        storage.bots.register(GAME, bot, "owner", b"sealed", bot)
    registry, store = GAMES, MatchStore(client)
    ignored: Callable[..., None] = lambda *_: None  # noqa: E731
    return Organiser(storage, Conductor(registry, store), Bus(client), ignored, ignored)


@pytest.mark.parametrize("error", [KeyError, SystemExit])
@pytest.mark.parametrize("function", ["objection", "check_options"])
def test_a_contest_is_refused_whose_game_fails_to_say_whether_it_may_start(
    client: redis.Redis, storage: Storage, function: str, error: type[BaseException]
) -> None:
    """In a sentence that names the error's class; the traceback is in the log. No game ends the process by it."""

    def raising(*_: Any) -> str | None:
        raise error("a key")

    game, store = GAMES[GAME], MatchStore(client)
    games = Registry({GAME: replace(game, rules=replace(game.rules, **{function: raising}))})
    ignored: Callable[..., None] = lambda *_: None  # noqa: E731
    broken = Organiser(storage, Conductor(games, store), Bus(client), ignored, ignored)
    with capture_logs() as logs, pytest.raises(Refused, match=rf"its code fails \({error.__name__}\)\.$") as caught:
        create(broken, [])
    assert caught.value.details["field"] == "options"
    assert [(line["event"], line["game"], line["function"]) for line in logs] == [("game.failed", GAME, function)]


@pytest.mark.parametrize("function", ["objection", "check_options"])
def test_a_contest_is_refused_whose_game_objects_by_what_is_no_text(
    client: redis.Redis, storage: Storage, function: str
) -> None:
    """As if its code had failed, at a check after the one at the start."""
    game, store = GAMES[GAME], MatchStore(client)
    games = Registry({GAME: replace(game, rules=replace(game.rules, **{function: lambda *_: {"no": "sentence"}}))})
    ignored: Callable[..., None] = lambda *_: None  # noqa: E731
    broken = Organiser(storage, Conductor(games, store), Bus(client), ignored, ignored)
    with capture_logs() as logs, pytest.raises(Refused, match=r"its code fails \(TypeError\)\.$"):
        create(broken, [])
    assert [(line["event"], line["game"], line["function"]) for line in logs] == [("game.failed", GAME, function)]


def create(organiser: Organiser, bots: list[str], **fields: Any) -> Contest:
    """The contest `cup`."""
    return organiser.create(GAME, {"name": "cup", "meetings": 3, "entrants": bots, **fields}, "ann")


def played(storage: Storage, match: str, first: str, second: str, n: int, number: int) -> None:
    """A meeting of that number and round that the first has won."""
    reserve(storage, GAME, "cup", [{"match": match, "bots": [first, second], "n": n, "round": number}])
    about = {"seq": n, "void": False, "clocks": []}
    game = {"game": GAME, "contest": "cup", "players": [first, second], "victor": first, "turns": [], "match": about}
    assert storage.archive.store([{"_id": match, **game}]) == [match]


def test_of_entries_at_the_same_time_none_is_lost(organiser: Organiser, storage: Storage) -> None:
    """Eight organisers enter two bots each while others change the title and withdraw one: all is as they said."""
    create(organiser, BOTS[:2], format="round-robin")
    together = threading.Barrier(10, timeout=30)

    def enter(index: int) -> None:
        together.wait()
        organiser.enter(GAME, "cup", BOTS[2 * index + 2 : 2 * index + 4], f"organiser {index}")

    def retitle() -> None:
        together.wait()
        organiser.change(GAME, "cup", {"title": "The Cup"}, "bob")

    def withdraw() -> None:
        together.wait()
        organiser.withdraw(GAME, "cup", BOTS[0], "cid")

    with ThreadPoolExecutor(10) as pool:
        begun = [*(pool.submit(enter, index) for index in range(8)), pool.submit(retitle), pool.submit(withdraw)]
        for one in begun:
            one.result()
    contest = organiser.contest(GAME, "cup")
    assert sorted(contest.entrants) == sorted(BOTS[:18])
    assert (contest.title, contest.withdrawn) == ("The Cup", [BOTS[0]])
    actions = sorted(row["action"] for row in storage.audit.of_contest(GAME, "cup"))
    assert actions == ["change", "create", *["enter"] * 8, "withdraw"]


def test_a_contest_is_made_and_changed_though_nobody_can_be_told(
    organiser: Organiser, storage: Storage, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Redis is away: what MongoDB has is done, and to say otherwise would have the organiser make it again."""
    away = redis.Redis(unix_socket_path="/nowhere/valkey.sock")
    monkeypatch.setattr(organiser.bus, "_client", away)
    assert create(organiser, BOTS[:2]).state == "scheduled"
    organiser.change(GAME, "cup", {"title": "The Cup"}, "bob")
    assert organiser.contest(GAME, "cup").title == "The Cup"
    assert [row["action"] for row in storage.audit.of_contest(GAME, "cup")] == ["change", "create"]


def test_who_enters_must_be_able_to_begin_with_the_others(organiser: Organiser, storage: Storage) -> None:
    """As those who are listed at once: all of a battle meet in one cube, which has one cell here."""
    for bot in ("cube1", "cube2"):
        storage.bots.register("battlecube", bot, "owner", b"sealed", bot)
    fields = {"name": "cup", "format": "champion", "meetings": 1, "entrants": ["cube1"], "options": {"edgeLength": 1}}
    organiser.create("battlecube", fields, "ann")
    with pytest.raises(Refused) as refused:
        organiser.enter("battlecube", "cup", ["cube2"], "ann")
    assert refused.value.details["field"] == "entrants"
    assert organiser.contest("battlecube", "cup").entrants == ["cube1"]


def test_a_list_of_entrants_does_not_outgrow_its_document(
    organiser: Organiser, storage: Storage, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Each addition is small; MongoDB would refuse the last one, by an error that is no answer."""
    monkeypatch.setattr("battlebot.contests.service.requirements.MOST_ENTRANTS", 3)
    create(organiser, BOTS[:2])
    organiser.enter(GAME, "cup", [BOTS[2]], "ann")
    with pytest.raises(Refused) as refused:
        organiser.enter(GAME, "cup", [BOTS[3]], "ann")
    assert refused.value.details["field"] == "entrants"
    assert organiser.contest(GAME, "cup").entrants == BOTS[:3]


@pytest.mark.parametrize("form", ["round-robin", "open"])
def test_options_that_are_made_for_two_bots_are_refused_where_others_meet_as_well(
    form: str, organiser: Organiser, storage: Storage
) -> None:
    """Their matches could not begin: each would be the server's fault, and the contest would never end."""
    game = "battlecube"
    for bot in "abc":
        storage.bots.register(game, bot, "owner", b"sealed", bot)
    positions = [{"name": bot, "x": at, "y": 0, "z": 0} for at, bot in enumerate("ab")]
    fields = {"name": "cup", "format": form, "meetings": 1, "options": {"playerStartPositions": positions}}
    for bots in (["a", "b", "c"], ["c", "a", "b"], "open"):
        with pytest.raises(Refused) as refused:
            organiser.create(game, {**fields, "entrants": bots}, "ann")
        assert refused.value.details["field"] in ("options", "entrants")
    organiser.create(game, {**fields, "entrants": ["a", "b"]}, "ann")
    with pytest.raises(Refused, match="start positions"):
        organiser.enter(game, "cup", ["c"], "ann")


@pytest.mark.parametrize(("end", "how"), [("finish", "for-now"), ("cancel", "for-good")])
def test_nodes_are_told_of_a_contests_end_and_of_nothing_else(
    organiser: Organiser, client: redis.Redis, monkeypatch: pytest.MonkeyPatch, end: str, how: str
) -> None:
    """They tell the bots that wait in it."""
    told = []
    monkeypatch.setattr(MatchStore, "post", lambda self, *letter: told.append(letter))
    Heartbeats(client).send("node", time.time(), first=True)
    create(organiser, BOTS[:2], format="round-robin")
    for action in ("start", "pause", "resume"):
        organiser.transition(action, GAME, "cup", "ann")
    organiser.change(GAME, "cup", {"title": "The Cup"}, "ann")
    organiser.withdraw(GAME, "cup", BOTS[0], "ann")
    assert told == []
    organiser.transition(end, GAME, "cup", "ann")
    assert told == [("node", over(GAME, "cup", how))]


def test_who_enters_again_and_who_enters_late_enter_together_or_not_at_all(organiser: Organiser) -> None:
    """After the start the one may and the other may not, so that nothing happens."""
    create(organiser, BOTS[:3], format="round-robin")
    organiser.transition("start", GAME, "cup", "ann")
    organiser.withdraw(GAME, "cup", BOTS[0], "ann")
    with pytest.raises(WrongState):
        organiser.enter(GAME, "cup", [BOTS[0], BOTS[5]], "ann")
    assert organiser.contest(GAME, "cup").withdrawn == [BOTS[0]]
    assert organiser.enter(GAME, "cup", [BOTS[0], BOTS[1]], "ann").withdrawn == []


def test_what_was_checked_together_is_changed_together(organiser: Organiser) -> None:
    """One opens the contest for all, the other makes it a round-robin, which needs a list: one of them is refused."""
    for round_number in range(8):
        name = f"cup{round_number}"
        organiser.create(GAME, {"name": name, "meetings": 1, "entrants": BOTS[:2]}, "ann")
        together = threading.Barrier(2)

        def change(changes: dict[str, Any], name: str = name, together: threading.Barrier = together) -> bool:
            together.wait()
            try:
                organiser.change(GAME, name, changes, "ann")
            except Refused:
                return False
            return True

        with ThreadPoolExecutor(2) as pool:
            done = list(pool.map(change, [{"entrants": "open"}, {"format": "round-robin"}]))
        assert done.count(True) == 1
        contest = organiser.contest(GAME, name)
        assert (contest.entrants == "open") == (contest.format == "open")


def test_of_two_clocks_one_starts_a_contest_and_writes_it_down(organiser: Organiser, storage: Storage) -> None:
    """The change and its entry in the audit are one."""
    contest = create(organiser, BOTS[:2], format="round-robin")
    storage.database["contests"].update_one({"name": "cup"}, {"$set": {"startsAt": contest.created_at}})
    with ThreadPoolExecutor(6) as pool:
        list(pool.map(lambda _: organiser.tick(), range(6)))
    entries = storage.audit.of_contest(GAME, "cup")
    assert [(row["by"], row["action"]) for row in entries] == [("clock", "start"), ("ann", "create")]


def test_a_contest_from_which_a_match_was_taken_back_does_not_finish_by_an_old_look(
    organiser: Organiser, storage: Storage
) -> None:
    """Who read the contest before the match was void must look again."""
    create(organiser, BOTS[:2], format="round-robin", meetings=1)
    organiser.transition("start", GAME, "cup", "ann")
    played(storage, "m1", BOTS[0], BOTS[1], 1, 1)
    before = organiser.contest(GAME, "cup")
    organiser.void(GAME, "cup", "m1", "a cable", "ann")
    organiser.finish_by_itself(before)
    assert organiser.contest(GAME, "cup").state == "running"
    organiser.finish_by_itself(organiser.contest(GAME, "cup"))
    assert organiser.contest(GAME, "cup").state == "finished"


def test_a_knockouts_match_is_taken_back_before_the_next_round_only(organiser: Organiser, storage: Storage) -> None:
    """Then it would not be played again, so it stands; those of the other pairs, and of the next round, may be."""
    create(organiser, BOTS[:4], format="knockout", meetings=1)
    organiser.transition("start", GAME, "cup", "ann")
    played(storage, "first", BOTS[0], BOTS[3], 1, 1)
    played(storage, "second", BOTS[1], BOTS[2], 1, 1)
    organiser.void(GAME, "cup", "second", "a cable", "ann")
    played(storage, "again", BOTS[1], BOTS[2], 1, 1)
    played(storage, "final", BOTS[0], BOTS[1], 1, 2)
    before = storage.standings.of_contest(GAME, "cup")
    for match in ("first", "again"):
        with pytest.raises(TooLate) as refused:
            organiser.void(GAME, "cup", match, "a cable", "ann")
        assert (refused.value.code, refused.value.http_status) == ("too-late", 409)
        assert refused.value.details == {"match": match, "round": 1}
    assert storage.standings.of_contest(GAME, "cup") == before
    with pytest.raises(AlreadyVoid):
        organiser.void(GAME, "cup", "second", "once more", "ann")
    organiser.void(GAME, "cup", "final", "a cable", "ann")
    organiser.void(GAME, "cup", "again", "a cable", "ann")
    assert [row["action"] for row in storage.audit.of_contest(GAME, "cup")].count("void") == 3


def test_rounds_that_were_over_are_looked_at_again_when_a_bot_is_back(organiser: Organiser, storage: Storage) -> None:
    """Its own were left out of the count; and whoever counted before it came back does not say so afterwards."""
    create(organiser, BOTS[:4], format="round-robin")
    organiser.transition("start", GAME, "cup", "ann")
    organiser.withdraw(GAME, "cup", BOTS[0], "ann")
    before = organiser.contest(GAME, "cup")
    storage.contests.settle(before, 7)
    storage.contests.settle(before, 5)
    assert organiser.contest(GAME, "cup").settled == 7
    organiser.enter(GAME, "cup", [BOTS[0]], "ann")
    storage.contests.settle(before, 8)
    assert organiser.contest(GAME, "cup").settled == 0


def test_of_two_changes_that_do_not_go_together_the_second_is_refused(organiser: Organiser, storage: Storage) -> None:
    """It was checked upon what the first then changed: an even number of meetings, and a knockout."""
    create(organiser, BOTS[:4], format="round-robin")
    real, asked = storage.bots.known, []

    def known_and_changed(*arguments: Any) -> Any:
        if not asked:
            asked.append(True)
            organiser.change(GAME, "cup", {"meetings": 4}, "bob")
        return real(*arguments)

    storage.bots.known = known_and_changed  # type: ignore[method-assign]
    with pytest.raises(Refused) as refused:
        organiser.change(GAME, "cup", {"format": "knockout"}, "ann")
    storage.bots.known = real  # type: ignore[method-assign]
    assert refused.value.details["field"] == "meetings"
    contest = organiser.contest(GAME, "cup")
    assert (contest.format, contest.meetings) == ("round-robin", 4)
    assert [row["by"] for row in storage.audit.of_contest(GAME, "cup")] == ["bob", "ann"]


def test_an_end_that_is_put_off_while_the_clock_looks_is_kept(organiser: Organiser, storage: Storage) -> None:
    """The clock has read that the contest is due; then its end is moved."""
    contest = create(organiser, BOTS[:2], format="round-robin")
    organiser.transition("start", GAME, "cup", "ann")
    storage.database["contests"].update_one({"name": "cup"}, {"$set": {"endsAt": contest.created_at}})
    real = storage.contests.due

    def due_and_put_off(now: Any) -> Any:
        found = real(now)
        organiser.change(GAME, "cup", {"endsAt": now.replace(year=now.year + 1)}, "ann")
        return found

    storage.contests.due = due_and_put_off  # type: ignore[method-assign]
    organiser.tick()
    assert organiser.contest(GAME, "cup").state == "running"
    assert [row["action"] for row in storage.audit.of_contest(GAME, "cup")] == ["change", "start", "create"]


def test_a_contest_that_the_clock_stumbles_over_keeps_no_other_from_its_time(
    organiser: Organiser, storage: Storage
) -> None:
    """The first of three cannot be changed, whatever the reason."""
    for name in ("bad", "good", "better"):
        made = organiser.create(GAME, {"name": name, "meetings": 1}, "ann")
        storage.database["contests"].update_one({"name": name}, {"$set": {"startsAt": made.created_at}})
    real = storage.contests.change

    def stumble(game: str, name: str, decide: Any) -> Any:
        if name == "bad":
            raise KeyError(name)
        return real(game, name, decide)

    storage.contests.change = stumble  # type: ignore[method-assign]
    organiser.tick()
    assert [organiser.contest(GAME, name).state for name in ("good", "better")] == ["running", "running"]


def test_of_twenty_withdrawals_at_once_one_is_written_down(organiser: Organiser, storage: Storage) -> None:
    """All of them succeed: the bot is out."""
    create(organiser, BOTS[:4], format="round-robin")
    with ThreadPoolExecutor(20) as pool:
        found = list(pool.map(lambda _: organiser.withdraw(GAME, "cup", BOTS[0], "ann"), range(20)))
    assert [contest.withdrawn for contest in found] == [[BOTS[0]]] * 20
    assert [row["action"] for row in storage.audit.of_contest(GAME, "cup")] == ["withdraw", "create"]


def test_the_audit_has_the_order_of_the_changes(organiser: Organiser, storage: Storage) -> None:
    """Of twenty at once, each of which only one state allows; also where clocks differ."""
    create(organiser, BOTS[:2], format="round-robin")
    organiser.transition("start", GAME, "cup", "ann")

    def move(index: int) -> None:
        with contextlib.suppress(WrongState):
            organiser.transition(("pause", "resume")[index % 2], GAME, "cup", f"organiser {index}")

    with ThreadPoolExecutor(20) as pool:
        list(pool.map(move, range(20)))
    actions = [row["action"] for row in storage.audit.of_contest(GAME, "cup")][::-1]
    assert actions[:2] == ["create", "start"]
    assert set(actions[2::2]) <= {"pause"}
    assert set(actions[3::2]) <= {"resume"}
    late = datetime.now(UTC) + timedelta(hours=1)
    storage.database["audit"].update_one({"action": "start"}, {"$set": {"at": late}})
    assert [row["action"] for row in storage.audit.of_contest(GAME, "cup")][::-1] == actions


def test_the_audit_says_how_often_bots_may_meet(organiser: Organiser, storage: Storage) -> None:
    """As the contest itself: never more often than the cap, and of one whose bots all meet together, all battles."""
    create(organiser, BOTS[:2], format="round-robin", meetings=3)
    (row,) = storage.audit.of_contest(GAME, "cup")
    assert row["details"] == {"format": "round-robin", "meetings": 3}
    storage.bots.register("battlecube", "cube", "owner", b"sealed", "cube")
    champion = {"name": "cubes", "format": "champion", "config": {"battles": 3}, "meetings": 5, "entrants": ["cube"]}
    organiser.create("battlecube", champion, "ann")
    (row,) = storage.audit.of_contest("battlecube", "cubes")
    assert row["details"] == {"format": "champion", "meetings": 3}


def test_who_starts_a_contest_early_may_end_it_early(organiser: Organiser) -> None:
    """Before the moment for which its start had been planned."""
    now = datetime.now(UTC)
    create(organiser, BOTS[:2], format="round-robin", startsAt=now + timedelta(days=7))
    with pytest.raises(Refused):
        organiser.change(GAME, "cup", {"endsAt": now + timedelta(days=1)}, "ann")
    organiser.transition("start", GAME, "cup", "ann")
    ends = organiser.change(GAME, "cup", {"endsAt": now + timedelta(days=1)}, "ann").ends_at
    assert ends is not None
    assert abs(ends - now - timedelta(days=1)) < timedelta(seconds=1)


def test_a_withdrawn_bot_of_an_open_contest_comes_back(organiser: Organiser, storage: Storage) -> None:
    """One that has never come needs nobody to enter it."""
    organiser.create(GAME, {"name": "cup", "meetings": 3}, "ann")
    organiser.transition("start", GAME, "cup", "ann")
    storage.standings.enter([(GAME, "cup", BOTS[0])])
    organiser.withdraw(GAME, "cup", BOTS[0], "ann")
    assert organiser.enter(GAME, "cup", [BOTS[0]], "ann").withdrawn == []
    with pytest.raises(WrongState):
        organiser.enter(GAME, "cup", [BOTS[1]], "ann")
