"""What becomes of a contest by whatever is done to it: decisions alone, without any store."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from cup import cup

from battlebot.contests.contest import STATES, Contest
from battlebot.contests.service.changes import changed, entered, moved, on_time, taken_back, withdrawn
from battlebot.errors import Refused, WrongState
from battlebot.storage.contests import Change
from battlebot.storage.voids import VoidCause

NOW = datetime(2026, 11, 21, 12, tzinfo=UTC)
BEFORE, LONG_BEFORE, LATER = NOW - timedelta(hours=1), NOW - timedelta(hours=2), NOW + timedelta(hours=1)


def contest(state: str = "scheduled", **fields: Any) -> Contest:
    """A contest with a list of a, b and c unless said otherwise."""
    return cup(**{"entrants": ["a", "b", "c"], "state": state, **fields})


def actions(change: Change | None) -> list[str]:
    """What is written down."""
    return [] if change is None else [note.action for note in change.notes]


# the state, the start, the end; what the clock does, the state after that
MOMENTS = [
    ("scheduled", None, None, [], None),
    ("scheduled", LATER, None, [], None),
    ("scheduled", BEFORE, None, ["start"], "running"),
    ("scheduled", BEFORE, LATER, ["start"], "running"),
    ("scheduled", LONG_BEFORE, BEFORE, ["start", "finish"], "finished"),
    ("scheduled", None, BEFORE, ["cancel"], "cancelled"),
    ("running", BEFORE, LATER, [], None),
    ("running", LONG_BEFORE, BEFORE, ["finish"], "finished"),
    ("running", None, BEFORE, ["finish"], "finished"),
    ("paused", LONG_BEFORE, BEFORE, ["finish"], "finished"),
    ("finished", LONG_BEFORE, BEFORE, [], None),
    ("cancelled", LONG_BEFORE, BEFORE, [], None),
]


@pytest.mark.parametrize(("state", "starts", "ends", "does", "after"), MOMENTS)
def test_what_the_clock_does(
    state: str, starts: datetime | None, ends: datetime | None, does: list[str], after: str | None
) -> None:
    """By what the document says now; one that was slept through from start to end is started and finished."""
    change = on_time(contest(state, starts_at=starts, ends_at=ends), NOW)
    assert actions(change) == does
    assert (None if change is None else change.contest.state) == after
    if does == ["start", "finish"]:
        assert change is not None
        assert (change.contest.started_at, change.contest.ended_at) == (NOW, NOW)


def test_a_contest_that_goes_on_again_has_not_ended() -> None:
    """Nor has it been running all the time."""
    ended = contest("finished", ended_at=BEFORE, started_at=LONG_BEFORE, runs_since=LONG_BEFORE, ends_at=LATER)
    change = taken_back(ended, "m", VoidCause("ann", "a cable"), NOW)
    assert actions(change) == ["void", "reopen"]
    assert change.contest == replace(ended, state="running", ended_at=None, runs_since=NOW)


@pytest.mark.parametrize(
    "fields", [{"state": "finished", "ends_at": BEFORE}, {"state": "cancelled"}, {"state": "running"}]
)
def test_a_match_is_taken_back_without_the_contest_going_on(fields: dict[str, Any]) -> None:
    """Its end has passed, or it was called off, or it runs anyway."""
    now = contest(**fields)
    change = taken_back(now, "m", VoidCause("ann", "a cable"), NOW)
    assert (actions(change), change.contest) == (["void"], now)


def test_a_resumed_contest_runs_anew() -> None:
    """So that nobody was absent during the pause."""
    assert moved(contest("paused", runs_since=BEFORE), "resume", "ann", NOW).contest.runs_since == NOW
    assert moved(contest("running", runs_since=BEFORE), "pause", "ann", NOW).contest.runs_since == BEFORE


def test_what_is_cancelled_is_stopped_and_what_is_finished_is_not() -> None:
    """All that is played, and of a withdrawn bot what it plays."""
    stop = moved(contest("running"), "cancel", "ann", NOW).stop
    assert stop is not None
    assert (stop.bot, stop.why.by) == (None, "ann")
    assert moved(contest("running"), "finish", "ann", NOW).stop is None
    out = withdrawn(contest("running", withdrawn=["a"]), "b", [], "ann")
    assert out is not None
    assert out.stop is not None
    assert (out.stop.bot, out.contest.withdrawn) == ("b", ["a", "b"])


# the state, the entrants, who was withdrawn, who enters; the withdrawn and the entrants after it, or None: refused
ENTRIES = [
    ("scheduled", ["a"], [], "b", ([], ["a", "b"])),
    ("scheduled", ["a"], [], "ab", ([], ["a", "b"])),
    ("scheduled", ["a", "b"], ["a"], "ac", ([], ["a", "b", "c"])),
    ("running", ["a", "b"], ["a"], "a", ([], None)),
    ("running", ["a", "b"], ["a", "b"], "ab", ([], None)),
    ("running", ["a", "b"], ["a"], "ac", None),
    ("paused", ["a", "b"], [], "c", None),
    ("finished", ["a", "b"], ["a"], "a", None),
    ("finished", ["a", "b"], [], "a", None),
    ("cancelled", ["a", "b"], ["a"], "a", None),
    ("running", "open", ["a"], "a", ([], None)),
    ("running", "open", ["a", "x"], "ab", (["x"], None)),
    ("running", "open", ["a"], "ay", None),
    ("finished", "open", ["a"], "a", None),
]


@pytest.mark.parametrize(("state", "entrants", "gone", "bots", "expected"), ENTRIES)
def test_who_enters(state: str, entrants: Any, gone: list[str], bots: str, expected: Any) -> None:
    """All or nobody; a withdrawn bot of an open contest too. There a, b and x have come. No round is settled then."""
    now = contest(state, entrants=entrants, withdrawn=gone, settled=2)
    if expected is None:
        with pytest.raises(WrongState):
            entered(now, list(bots), ["a", "b", "x"], "ann")
        return
    change = entered(now, list(bots), ["a", "b", "x"], "ann")
    assert change is not None
    gone_after, listed_after = expected
    assert change.contest == replace(now, withdrawn=gone_after, entrants=listed_after or entrants, settled=0)
    assert actions(change) == ["enter"]
    came_in = [bot for bot in bots if bot in gone or (listed_after and bot not in entrants)]
    assert change.notes[0].details == {"bots": came_in}


def test_who_is_in_enters_once() -> None:
    """Nothing changes, and nothing is written down; so it is with who has left."""
    assert entered(contest("running"), ["a", "b"], [], "ann") is None
    assert entered(contest("running", entrants="open"), ["a"], ["a"], "ann") is None
    assert withdrawn(contest("running", withdrawn=["a"]), "a", [], "ann") is None


def test_who_is_listed_again_is_in_again() -> None:
    """And it is written down; what else is changed leaves the withdrawn where they are."""
    now = contest("scheduled", withdrawn=["a"])
    change = changed(now, {"entrants": ["a", "b"]}, "ann")
    assert change.contest == replace(now, entrants=["a", "b"], withdrawn=[])
    assert change.notes[0].details == {"entrants": ["a", "b"], "withdrawn": []}
    assert changed(now, {"title": "x"}, "ann").contest == replace(now, title="x")


# what is changed, and the states in which it may be
CHANGES = [
    ({"title": "x"}, "scheduled running paused"),
    ({"endsAt": LATER, "absentAfterS": 7, "absentCounts": "void"}, "scheduled running paused"),
    ({"format": "swiss"}, "scheduled"),
    ({"config": {"rounds": 2}}, "scheduled"),
    ({"meetings": 3}, "scheduled"),
    ({"entrants": ["a"]}, "scheduled"),
    ({"options": {"x": 1}}, "scheduled"),
    ({"turnTimeoutMs": 9}, "scheduled"),
    ({"points": {"win": 2, "draw": 1, "loss": 0}}, "scheduled"),
    ({"startsAt": LATER, "title": "x"}, "scheduled"),
]


@pytest.mark.parametrize(
    ("fields", "states"), CHANGES, ids=lambda value: " ".join(value) if isinstance(value, dict) else ""
)
def test_what_has_begun_is_played_as_it_began(fields: dict[str, Any], states: str) -> None:
    """Its rules stay; what is over stays as a whole."""
    for state in STATES:
        now = contest(state)
        if state in states.split():
            assert changed(now, fields, "ann").contest == now.with_fields(fields)
        else:
            with pytest.raises(WrongState, match=state) as refused:
                changed(now, fields, "ann")
            assert ("before the start" in str(refused.value)) is (states == "scheduled")


def test_a_stranger_cannot_be_withdrawn() -> None:
    """Nor anybody from a contest that is over."""
    with pytest.raises(Refused):
        withdrawn(contest("running"), "x", ["x"], "ann")
    with pytest.raises(WrongState):
        withdrawn(contest("finished"), "a", [], "ann")
