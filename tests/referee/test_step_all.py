"""Events that came at one moment: one new revision, and each seat is told once."""

from __future__ import annotations

import json
from collections.abc import Sequence

import pytest
from matches import NUMBERWANG, START_S, a_match, a_simultaneous_game

from battlebot.referee.events import Event, Joined, Left, Outage, Turned
from battlebot.referee.step import step, step_all

LEAVES = Left("a", "a/1", clean=True)
NO_BOT_OF_THIS_MATCH = Joined("c", "c/1")


@pytest.mark.parametrize(
    "events",
    [
        [LEAVES],
        [LEAVES, LEAVES],
        [NO_BOT_OF_THIS_MATCH, LEAVES],
        [NO_BOT_OF_THIS_MATCH, LEAVES, NO_BOT_OF_THIS_MATCH],
    ],
)
def test_what_has_no_effect_changes_nothing_of_the_others(events: Sequence[Event]) -> None:
    """Before or after one that has."""
    match = a_match()
    assert step_all(NUMBERWANG, match, events, START_S) == (step(NUMBERWANG, match, LEAVES, START_S), [])


def test_what_happens_together_is_one_revision() -> None:
    """Each of those who come back is told once, with that revision, though one comes twice."""
    match = a_match()
    events = [Outage(START_S, START_S + 9.0), *(Joined(*seat) for seat in (("a", "a/2"), ("b", "b/2"), ("a", "a/3")))]
    answer, recorded = step_all(NUMBERWANG, match, events, START_S + 9.0)
    assert [seat.place for seat in answer.match.seats] == ["a/3", "b/2"]
    assert answer.match.revision == match.revision + 1
    assert sorted((update.bot, update.revision) for update in answer.updates) == [("a", 1), ("b", 1)]
    assert recorded == []


def test_turns_that_come_together_are_recorded_in_their_order() -> None:
    """Nobody is told a state between them."""
    game = a_simultaneous_game()
    match = a_match(game)
    turns = [Turned(bot, {"n": n}, 0.1) for bot, n in (("b", 4), ("a", 5))]
    answer, recorded = step_all(game, match, turns, START_S)
    assert [entry["turn"]["player"] for entry in recorded] == ["b", "a"]
    assert (answer.match.version, answer.match.revision) == (2, 1)
    told = {update.bot: json.loads(update.text)["state"]["victor"] for update in answer.updates}
    assert (len(answer.updates), told) == (2, {"a": "a", "b": "a"})


def test_who_is_late_is_answered_though_nothing_is_committed() -> None:
    """All of them, each in reply to its own turn."""
    begun = a_match()
    match = step(NUMBERWANG, begun, Turned("a", {"n": 1}, 0.1), START_S).match
    late = [Turned(bot, {"n": 2, "version": 0}, 0.1) for bot in ("a", "b")]
    answer, recorded = step_all(NUMBERWANG, match, late, START_S)
    assert answer.match is match
    assert answer.reply
    assert [(update.bot, update.code) for update in answer.updates] == [("a", "stale"), ("b", "stale")]
    assert recorded == []
