"""Matches that are taken back while they are played, after their end, while others look: once, and none counts."""

from __future__ import annotations

import threading
from collections.abc import Callable
from contextlib import AbstractContextManager, ExitStack, nullcontext
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
import redis
from cluster import wait_for
from hall import GAME, Hall
from pymongo.errors import OperationFailure
from pymongo.read_concern import ReadConcern
from pymongo.write_concern import WriteConcern

from battlebot.arena.live.aside import set_aside
from battlebot.arena.live.finished import Finished
from battlebot.config import Settings
from battlebot.contests.contest import Contest
from battlebot.contests.formats.knockout import Knockout
from battlebot.contests.formats.situation import Met, Situation
from battlebot.contests.service import organiser, pairer
from battlebot.embedded.folder import DataFolder
from battlebot.embedded.mongod import mongod_program, mongod_uri, wait_for_primary
from battlebot.embedded.process import Child
from battlebot.errors import AlreadyVoid, TooLate, Unavailable
from battlebot.redisio import keys
from battlebot.referee.match import Match, Reason
from battlebot.rules.registry import Registry
from battlebot.storage import Storage
from battlebot.storage.contests import Change
from battlebot.storage.voids import VoidCause


def begun(hall: Hall, bots: str = "ab", **fields: Any) -> Match:
    """A contest of two, and their match."""
    hall.begin(bots, **fields)
    hall.wait(bots)
    (match,) = hall.pair()
    return match


def check_taken_back(hall: Hall, match: Match) -> None:
    """It is stored as void with its reason, moved nothing, is written down once, and cannot be taken back again."""
    hall.archive()
    stored = hall.storage.games.find(match.id)
    assert stored is not None
    assert stored["match"]["void"] is True
    assert (stored["match"]["voided"]["by"], stored["match"]["voided"]["reason"]) == ("ann", "a cable")
    assert (hall.played(), hall.meetings()) == ({}, [])
    assert hall.audit().count("void") == 1
    with pytest.raises(AlreadyVoid):
        hall.void(match.id)
    assert hall.audit().count("void") == 1


def before_the_end(hall: Hall, match: Match) -> None:
    """It is being played."""
    hall.void(match.id)
    assert hall.live() == []
    assert hall.store.load(match.id).verdict.reason is Reason.VOID  # type: ignore[union-attr]


def at_the_end(hall: Hall, match: Match) -> None:
    """It ends after the organiser has seen it being played."""
    real, ended = hall.store.load, []

    def load(match_id: str) -> Match:
        found = real(match_id)
        if not ended:
            ended.append(hall.end(found))
        return found

    hall.store.load = load  # type: ignore[method-assign]
    hall.void(match.id)
    hall.store.load = real  # type: ignore[method-assign]
    assert ended
    assert real(match.id).verdict.reason is Reason.COMPLETE  # type: ignore[union-attr]


def after_the_end(hall: Hall, match: Match) -> None:
    """It has ended, and is not archived yet."""
    hall.end(match)
    hall.void(match.id)


def after_the_archive(hall: Hall, match: Match) -> None:
    """It has counted."""
    hall.end(match)
    hall.archive()
    hall.void(match.id)
    assert hall.asked == [GAME]


@pytest.mark.parametrize("when", [before_the_end, at_the_end, after_the_end, after_the_archive])
def test_whenever_a_match_is_taken_back_it_is_once_and_for_all(hall: Hall, when: Callable[[Hall, Match], None]) -> None:
    """Each moment of a match; then its meeting is played again, with the same first mover, and counts."""
    match = begun(hall)
    when(hall, match)
    check_taken_back(hall, match)
    hall.play("ba")
    assert hall.meetings() == [("played", match.seats[0].bot + match.seats[1].bot)]
    assert hall.played() == {"a": 1, "b": 1}


@pytest.mark.parametrize("when", [before_the_end, at_the_end, after_the_end, after_the_archive])
def test_a_finished_contest_goes_on_whenever_its_match_is_taken_back(
    hall: Hall, when: Callable[[Hall, Match], None]
) -> None:
    """It has not ended then, until it has again."""
    match = begun(hall)
    assert hall.do("finish").ended_at is not None
    when(hall, match)
    assert (hall.contest().state, hall.contest().ended_at) == ("running", None)
    assert hall.audit() == ["create", "start", "finish", "void", "reopen"]
    hall.archive()
    hall.play("ab")
    hall.look()
    assert hall.contest().state == "finished"
    assert hall.contest().ended_at is not None


def test_a_match_taken_back_between_a_look_and_its_finish_is_played_again(hall: Hall) -> None:
    """The look found nothing left to play; the contest does not end by it, neither before nor after."""
    hall.begin("ab")
    (match,) = hall.play("ab")
    real = hall.pairer.situation

    def situation(*arguments: Any) -> Any:
        seen = real(*arguments)
        hall.void(match)
        return seen

    hall.pairer.situation = situation  # type: ignore[method-assign]
    hall.look()
    hall.pairer.situation = real  # type: ignore[method-assign]
    assert hall.contest().state == "running"
    hall.play("ab")
    hall.look()
    assert hall.contest().state == "finished"
    assert hall.audit() == ["create", "start", "void", "finish"]


def test_a_match_taken_back_just_after_the_finish_opens_the_contest_again(
    hall: Hall, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The contest ended after its organiser had seen it running."""
    hall.begin("ab")
    (match,) = hall.play("ab")
    real, looks = organiser._check_not_built_upon, list[int]()

    def finish_meanwhile(*arguments: Any) -> None:
        if not looks:
            looks.append(hall.look())
        real(*arguments)

    monkeypatch.setattr(organiser, "_check_not_built_upon", finish_meanwhile)
    hall.void(match)
    assert hall.contest().state == "running"
    assert hall.audit() == ["create", "start", "finish", "void", "reopen"]


def cancel(hall: Hall) -> None:
    """The contest is called off."""
    hall.do("cancel")


def withdraw(hall: Hall) -> None:
    """One of the two leaves."""
    hall.organiser.withdraw(GAME, "cup", "a", "ann")


@pytest.mark.parametrize("stop", [cancel, withdraw])
def test_what_ends_while_it_is_called_off_does_not_count(hall: Hall, stop: Callable[[Hall], None]) -> None:
    """It had ended, and was not archived: whatever comes after, it is void."""
    match = begun(hall)
    hall.end(match)
    stop(hall)
    hall.archive()
    assert hall.played() == {}
    stored = hall.storage.games.find(match.id)
    assert stored is not None
    assert (stored["match"]["void"], stored["match"]["voided"]["by"]) == (True, "ann")


def take_back(hall: Hall) -> None:
    """The match is taken back."""
    (match,) = hall.storage.meetings.open_ids(GAME, "cup")
    hall.void(match)


@pytest.mark.parametrize("stop", [cancel, withdraw, take_back])
def test_what_nobody_stopped_is_stopped_by_the_sweep(hall: Hall, stop: Callable[[Hall], None]) -> None:
    """Who cancelled died, or Redis was away, right after the change: it is made, and the match goes on for a while."""
    match = begun(hall)

    def away(match_id: str) -> Match:
        raise Unavailable("Redis does not answer now.")

    real = hall.store.load
    hall.store.load = away  # type: ignore[method-assign]
    stop(hall)
    hall.store.load = real  # type: ignore[method-assign]
    assert [one.id for one in hall.live()] == [match.id]
    hall.organiser.stop_void()
    assert hall.live() == []
    assert hall.storage.voids.playing() == []
    hall.archive()
    assert hall.played() == {}


def test_a_reserved_match_that_begins_after_a_cancel_is_stopped_by_the_sweep(hall: Hall) -> None:
    """It was reserved before; its worker is slow."""
    hall.begin("ab")
    hall.wait("ab")
    real = hall.store.begin_all

    def begin_late(*arguments: Any) -> list[bool]:
        hall.do("cancel")
        hall.organiser.stop_void()
        return real(*arguments)

    hall.store.begin_all = begin_late  # type: ignore[method-assign]
    assert len(hall.pair()) == 1
    hall.organiser.stop_void()
    assert hall.live() == []
    hall.archive()
    assert (hall.played(), hall.meetings(), hall.storage.voids.playing()) == ({}, [], [])


def test_a_match_that_never_begins_is_not_waited_for_for_ever(hall: Hall) -> None:
    """Its bot left after the reservation."""
    match = begun(hall)
    hall.client.flushall()
    hall.do("cancel")
    hall.organiser.stop_void()
    assert [row["_id"] for row in hall.storage.voids.playing()] == [match.id]
    hall.storage.database["voids"].update_one({}, {"$set": {"at": hall.contest().created_at.replace(year=2020)}})
    hall.organiser.stop_void()
    assert hall.storage.voids.playing() == []


def semifinals(hall: Hall) -> tuple[list[str], str]:
    """A knockout of four whose final could begin: its matches, and the two who wait for it."""
    hall.begin("abcd", format="knockout", meetings=1)
    matches = hall.play("abcd")
    ahead = [row["victor"] for row in hall.storage.meetings.of_contest(GAME, "cup")]
    hall.wait("".join(ahead))
    return matches, "".join(sorted(ahead))


def test_of_a_void_and_the_next_round_at_once_the_round_that_is_reserved_first_stands(
    hall: Hall, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It begins after the organiser has seen that it has not."""
    matches, ahead = semifinals(hall)
    real, begun = Knockout.built_upon, list[Match]()

    def built_upon(kind: Knockout, situation: Situation, met: Met) -> bool:
        found = real(kind, situation, met)
        if not begun:
            begun.extend(hall.pair())
        return found

    monkeypatch.setattr(Knockout, "built_upon", built_upon)
    with pytest.raises(TooLate):
        hall.void(matches[0])
    assert ["".join(sorted(seat.bot for seat in match.seats)) for match in begun] == [ahead]
    assert (len(hall.meetings()), hall.audit().count("void")) == (3, 0)


def test_a_round_that_most_of_mongodbs_members_have_not_heard_of_stands(
    settings: Settings, client: redis.Redis, tmp_path: Path
) -> None:
    """It is reserved on the primary, which does not answer before the others have it; until then nobody reads it."""
    with ExitStack() as stack:
        folder = DataFolder(tmp_path)
        stack.callback(folder.close)
        program = mongod_program(folder)
        command = [*program.command, "--setParameter", "enableTestCommands=1"]
        child = Child(replace(program, command=command))
        stack.callback(child.stop)
        wait_for_primary(child, folder)
        storage = Storage(replace(settings, mongodb_uri=mongod_uri(folder.sockets)))
        stack.callback(storage.close)
        storage.ensure_indexes()
        hall = Hall(settings, storage, client)
        matches, _ = semifinals(hall)
        kept = storage.database["meetings"].with_options(read_concern=ReadConcern("local"))
        begun = list[Match]()
        final = threading.Thread(target=lambda: begun.extend(hall.pair()))
        admin = storage.client.admin
        admin.command("configureFailPoint", "disableSnapshotting", mode="alwaysOn")
        final.start()
        wait_for(lambda: kept.count_documents({"state": "open"}), "the final to be reserved")
        assert len(hall.meetings()) == 2
        with pytest.raises(TooLate):
            hall.void(matches[0])
        admin.command("configureFailPoint", "disableSnapshotting", mode="off")
        # only a write makes the next snapshot
        storage.database["any"].with_options(write_concern=WriteConcern(1)).insert_one({})
        final.join()
        assert (len(begun), hall.audit().count("void")) == (1, 0)


def test_of_a_void_and_the_next_round_at_once_the_void_that_is_first_keeps_the_round_from_beginning(hall: Hall) -> None:
    """The pairing had seen who won; now it waits until that is played again."""
    matches, _ = semifinals(hall)
    real, voided = hall.storage.ledger.reserve, list[str]()

    def reserve(contest: Any, wanted: Any) -> set[str] | None:
        if not voided:
            voided.append(matches[0])
            hall.void(matches[0])
        return real(contest, wanted)

    hall.storage.ledger.reserve = reserve  # type: ignore[method-assign]
    assert hall.pair() == []
    hall.storage.ledger.reserve = real  # type: ignore[method-assign]
    assert voided
    assert (len(hall.meetings()), hall.audit().count("void")) == (1, 1)


def test_a_match_that_its_game_fails_to_begin_is_taken_back(hall: Hall) -> None:
    """No meeting stays reserved for it; it is stored, and the next one of the two has its number."""

    def no_beginning(players: list[str], seed: int, options: dict[str, Any]) -> dict[str, Any]:
        raise RuntimeError

    game = hall.pairer.registry[GAME]
    broken = replace(game, rules=replace(game.rules, initial_state=no_beginning))
    hall.pairer.registry = Registry({GAME: broken})
    hall.begin("ab", meetings=5)
    hall.wait("ab" * 5)
    assert hall.pair() == []
    ids = Finished(hall.client).ids(9)
    assert [row["_id"] for row in hall.storage.meetings.of_contest(GAME, "cup")] == ids
    hall.archive()
    assert hall.meetings() == []
    stored = [hall.storage.games.find(match_id) for match_id in ids]
    assert [(row["victor"], row["reason"], row["match"]["void"]) for row in stored if row] == [(None, "error", True)]
    hall.pairer.registry = Registry({GAME: game})
    ids = [match.id for match in hall.pair()]
    assert [(row["_id"], row["n"]) for row in hall.storage.meetings.of_contest(GAME, "cup")] == [(ids[0], 1)]


def test_a_game_that_never_returns_a_first_state_fails(hall: Hall) -> None:
    """The worker would do nothing else any more. The other pair has no match yet: it is paired next time."""
    game = hall.pairer.registry[GAME]
    called: list[set[str]] = []

    def once_for_ever(players: list[str], seed: int, options: dict[str, Any]) -> dict[str, Any]:
        called.append(set(players))
        while len(called) == 1:
            pass
        return game.rules.initial_state(players, seed, options)

    hall.pairer.registry = Registry({GAME: replace(game, rules=replace(game.rules, initial_state=once_for_ever))})
    hall.pairer.make_within_s = 0.1
    hall.begin("abcd", meetings=1)
    hall.wait("abcd")
    assert hall.pair() == []
    assert len(called) == len(Finished(hall.client).ids(9)) == 1
    hall.archive()
    assert [{seat.bot for seat in match.seats} for match in hall.pair()] == [set("abcd") - called[0]]


def test_no_match_fails_because_others_were_made_before(hall: Hall, monkeypatch: pytest.MonkeyPatch) -> None:
    """Each first state has the same limit; those for which no time is left are made at the next pairing."""
    game, clock_s, limits = hall.pairer.registry[GAME], [0.0], list[float]()

    def slow(players: list[str], seed: int, options: dict[str, Any]) -> dict[str, Any]:
        clock_s[0] += 2.0
        return game.rules.initial_state(players, seed, options)

    def time_limit(limit_s: float) -> AbstractContextManager[None]:
        limits.append(limit_s)
        return nullcontext()

    hall.pairer.registry = Registry({GAME: replace(game, rules=replace(game.rules, initial_state=slow))})
    monkeypatch.setattr(pairer, "time", SimpleNamespace(monotonic=lambda: clock_s[0]))
    monkeypatch.setattr(pairer, "time_limit", time_limit)
    hall.begin("abcdef", meetings=1)
    hall.wait("abcdef")
    assert len(hall.pair()) == 2
    assert clock_s == [4.0]
    assert set(limits) == {5.0}
    assert len(hall.pair()) == 3
    assert Finished(hall.client).ids(9) == []


def test_a_match_that_cannot_be_read_keeps_no_other_from_being_stopped(
    hall: Hall, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It is tried again until the sweep of matches sets it aside; its meeting is void at once."""
    monkeypatch.setattr("battlebot.contests.service.organiser.MAY_BEGIN_S", 0.0)
    hall.begin("abcd", meetings=2)
    hall.wait("abcd")
    broken, other = hall.pair()
    hall.client.hset(keys.match(broken.id), "doc", b'{"id": "m"}')
    hall.do("cancel")
    assert hall.meetings() == []
    hall.organiser.stop_void()
    assert hall.store.load(other.id).verdict is not None
    assert [row["_id"] for row in hall.storage.voids.playing()] == [broken.id]
    set_aside(hall.store, broken.id)
    hall.organiser.stop_void()
    assert hall.storage.voids.playing() == []


@pytest.mark.parametrize("taking_back", [True, False], ids=["void", "change"])
def test_pairing_does_not_come_between_an_organisers_look_and_the_decision(hall: Hall, taking_back: bool) -> None:
    """It is what tries again: under load an organiser would have to for seconds."""
    match = begun(hall)
    decided = []

    def decide(contest: Contest, *_: object) -> Change:
        decided.append(contest)
        with (
            pytest.raises(OperationFailure, match="conflict"),
            hall.storage.client.start_session() as session,
            session.start_transaction(),
        ):
            hall.storage.contests.hold(session, contest)
        return Change(replace(contest, title="The Cup"), [])

    if taking_back:
        hall.storage.ledger.void(*hall.contest().where, match.id, VoidCause("ann", "a cable"), decide)
    else:
        hall.storage.contests.change(*hall.contest().where, decide)
    assert len(decided) == 1
    assert hall.contest().title == "The Cup"
