"""The referee: `step(game, match, event, now_s)` answers an event with a new match and what the bots are told.

Pure: no I/O, no clock, no randomness. The table `ANSWERS` maps events to functions; a match with a verdict does not
change any more. Rules are those of docs/bots.md.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from msgspec.structs import replace

from battlebot.referee import ending
from battlebot.referee.advance import Step, reconfigured
from battlebot.referee.events import (
    Event,
    Failed,
    GaveUp,
    Joined,
    Left,
    Orphaned,
    Outage,
    Overdue,
    Reconfigured,
    Stranded,
    TimedOut,
    Turned,
    Voided,
)
from battlebot.referee.match import Fault, Match, Reason, Verdict
from battlebot.referee.outcome import ended, lost
from battlebot.referee.seating import joined, left, orphaned, outage, stranded
from battlebot.referee.telling import update_for
from battlebot.referee.turning import gave_up, timed_out, turned
from battlebot.rules.contract import RAISED, Game
from battlebot.storable import problem_of_size, problem_of_storing
from battlebot.wire.jsontext import encode

NUDGE_AFTER_S = 5.0  # from the end of the longest clock until a match without events is looked at
MAX_NUDGES = 6  # looks without effect, after which the server gives the match up


def start(game: Game, match: Match, now_s: float) -> Step:
    """Gives a new match its first state, `due_s` and clocks. Call it before the match is first stored.

    Raises nothing: an error in the game's code ends the match, and its series, as in `step`. Its state is then the
    smallest that an update needs.
    """
    bots = [seat.bot for seat in match.seats]
    try:
        state = game.initial_state(bots, match.seed, match.options)
        problem = problem_of_size(encode(state).encode())
        if problem is not None:
            raise ValueError(f"the game's state {problem}")
        game.check(state, bots)
        return Step(with_first_due(game, replace(match, state=state), now_s))
    except RAISED as error:
        series = match.series and replace(match.series, boards=match.series.board)
        verdict = ending.server_fault({"error": type(error).__name__, "event": ending.BEGINNING})
        return replace(ended(game, ending.bare(replace(match, series=series)), verdict), failure=error)


def step(game: Game, match: Match, event: Event, now_s: float) -> Step:
    """Answers one event at the time `now_s` (epoch seconds).

    Raises nothing: an exception, from the game's own code or from ours, ends the match as a draw by the server's fault,
    and is the answer's `failure`.
    """
    if match.verdict is not None:
        return _after_the_end(game, match, event)
    next_match = replace(match, revision=match.revision + 1)
    try:
        answer = ANSWERS[type(event)](game, next_match, event, now_s)
        if answer.match is next_match:
            # there will be no commit: the updates carry the match's present revision
            updates = tuple(replace(update, revision=match.revision) for update in answer.updates)
            return Step(match, updates, reply=True)
        answer = replace(answer, match=replace(answer.match, due_s=_due(game, answer.match, now_s)))
    except RAISED as error:
        answer = ended(game, next_match, ending.failure(error, event))
        answer = replace(answer, match=replace(answer.match, due_s=None), failure=error)
    return answer if answer.match.verdict is None else _storable(game, next_match, answer)


def step_all(game: Game, match: Match, events: Sequence[Event], now_s: float) -> tuple[Step, list[dict[str, Any]]]:
    """Answers events that came at one moment, as if they were one: one new revision, and one update for each seat.

    Also returns the turns to record. Raises nothing, like `step`.
    """
    answer = step(game, match, events[0], now_s)
    turns = [] if answer.recorded is None else [answer.recorded]
    for event in events[1:]:
        before = answer.match
        if before is not match:
            before = replace(before, revision=match.revision)
        after = step(game, before, event, now_s)
        if after.match is before and before is not match:
            continue
        told = {update.bot: update for update in (*answer.updates, *after.updates)}
        answer = replace(after, updates=tuple(told.values()))
        turns += [] if after.recorded is None else [after.recorded]
    return answer, turns


def with_first_due(game: Game, match: Match, now_s: float) -> Match:
    """Returns the match with its first `due_s` and clocks set."""
    awaited = game.awaited(match.state)
    seats = tuple(replace(seat, asked_s=now_s, since_s=now_s) if seat.bot in awaited else seat for seat in match.seats)
    return replace(match, seats=seats, due_s=_due(game, match, now_s))


def _overdue(game: Game, match: Match, event: Overdue, now_s: float) -> Step:
    if match.due_s is not None and now_s < match.due_s:
        return Step(match)
    late = [seat for seat in match.seats if seat.back_by_s is not None and seat.back_by_s <= now_s]
    if late:
        verdict = ending.absence(match, late, now_s, event.elsewhere)
        # if the match goes on, the next look finds the next late seat
        return ended(game, match, verdict) if verdict.void else lost(game, match, late[0], verdict, now_s)
    if match.nudges >= MAX_NUDGES:
        return ended(game, match, ending.server_fault({"nudges": match.nudges}))
    return Step(replace(match, nudges=match.nudges + 1))


def _failed(game: Game, match: Match, event: Failed, now_s: float) -> Step:
    if event.cause is not None:
        # ends the match like an error in the reducer
        raise event.cause
    return ended(game, match, ending.server_fault({"error": event.sentence}))


def _voided(game: Game, match: Match, event: Voided, now_s: float) -> Step:
    return ended(game, match, Verdict(None, Reason.VOID, Fault.NONE, {"sentence": event.sentence}))


ANSWERS: Mapping[type, Callable[[Game, Match, Any, float], Step]] = {
    Turned: turned,
    TimedOut: timed_out,
    GaveUp: gave_up,
    Reconfigured: reconfigured,
    Joined: joined,
    Left: left,
    Orphaned: orphaned,
    Stranded: stranded,
    Outage: outage,
    Overdue: _overdue,
    Failed: _failed,
    Voided: _voided,
}


def _after_the_end(game: Game, match: Match, event: Event) -> Step:
    # a bot that comes back or sends a turn after the end is told how the match ended
    if isinstance(event, Joined | Turned):
        seat = match.seat_of(event.bot)
        if seat is not None:
            return Step(match, (update_for(game, match, seat),))
    return Step(match)


def _storable(game: Game, before: Match, answer: Step) -> Step:
    """Returns the answer that ends a match, unless its state cannot be stored: then that is how it ended.

    Only the last state is stored; to look at each would cost every turn.
    """
    problem, verdict = problem_of_storing(answer.match.state), answer.match.verdict
    if problem is None or verdict is None:
        return answer
    sentence = f"the game's state {problem}"
    if not verdict.void:
        verdict = ending.server_fault({"error": sentence})
    before = replace(before, state=ending.storable(before.state), due_s=None)
    return replace(ended(game, before, verdict), failure=answer.failure or ValueError(sentence))


def _due(game: Game, match: Match, now_s: float) -> float | None:
    if match.verdict is not None:
        return None
    awaited, longest_s = game.awaited(match.state), 0.0
    back_by_s: float | None = None
    for seat in match.seats:
        if seat.back_by_s is not None and (back_by_s is None or seat.back_by_s < back_by_s):
            back_by_s = seat.back_by_s
        if seat.remaining_s > longest_s and seat.bot in awaited:
            longest_s = seat.remaining_s
    if back_by_s is not None:
        return back_by_s
    return now_s + game.pause_ms(match.state) / 1000 + longest_s + NUDGE_AFTER_S
