"""The referee: `step(game, match, event, now_s)` answers an event with a new match and what the bots are told.

Pure: no I/O, no clock, no randomness. The table `ANSWERS` maps events to functions; a match with a verdict does not
change any more. Rules are those of docs/bots.md.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from msgspec.structs import replace

from battlebot.referee import ending
from battlebot.referee.advance import KeptTurn, Step, applied, forfeited, reconfigured, version_of
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
    TimedOut,
    Turned,
    Voided,
)
from battlebot.referee.match import Fault, Match, Reason, Seat, Verdict
from battlebot.referee.seating import charged, joined, left, orphaned, outage, with_seat
from battlebot.referee.telling import told, update_for
from battlebot.rules.contract import RAISED, SERVERS_KEYS, Game
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
        return replace(_ended(game, ending.bare(replace(match, series=series)), verdict), failure=error)


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
        answer = _ended(game, next_match, ending.failure(error, event))
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


def _turned(game: Game, match: Match, event: Turned, now_s: float) -> Step:
    seat = match.seat_of(event.bot)
    if seat is None:
        return Step(match)
    if event.version not in (None, match.version):
        return Step(match)
    on_turn = event.bot in game.awaited(match.state)
    if event.question is not None and not (on_turn and event.question == seat.question):
        return Step(match)
    turn = event.turn or {}
    if not SERVERS_KEYS.isdisjoint(turn):
        turn = {key: value for key, value in turn.items() if key not in SERVERS_KEYS}
    text = encode(turn)
    kept = KeptTurn(version_of(turn, match, event.at), text, seat.recorded_bytes + len(text.encode()))
    repeated = _repeated(game, match, seat, turn, kept, on_turn, now_s)
    if repeated is not None:
        return repeated
    if on_turn and event.thinking_s > seat.remaining_s:
        return _out(game, match, seat, ending.timeout(match, seat, event.thinking_s), now_s)
    offered = {**turn, "player": event.bot, "time": int(now_s * 1000)}
    problem = _problem(game, match, event, offered) or _too_much(match, kept)
    if problem is not None:
        seat = charged(seat, event.thinking_s, now_s) if on_turn else seat
        return _strike(game, match, seat, event, offered, problem, now_s)
    return applied(game, match, seat, offered, kept, event, now_s)


def _problem(game: Game, match: Match, event: Turned, offered: dict[str, Any]) -> tuple[str, str] | None:
    """Returns why the turn is invalid, as a code and a sentence, or None if it is valid."""
    if event.turn is None:
        return "bad-message", event.refusal or "A turn must be one JSON object."
    version = offered.get("version")
    if isinstance(version, int) and not isinstance(version, bool) and version > match.version:
        return "bad-version", f"The match is at version {match.version}."
    if not game.validate(match.state, offered):
        return "invalid-turn", game.explain(match.state, offered)
    return None


def _too_much(match: Match, kept: KeptTurn) -> tuple[str, str] | None:
    """Like `_problem`: whether the record would hold more of this bot's turns than it may."""
    most = match.limits.max_record_bytes
    if kept.recorded_bytes <= most:
        return None
    return "too-much", f"A match keeps {most} bytes of a bot's turns; with this one they would be more."


def _repeated(
    game: Game, match: Match, seat: Seat, turn: dict[str, Any], kept: KeptTurn, on_turn: bool, now_s: float
) -> Step | None:
    """Returns the reply to a turn for an earlier question or another match: acknowledged again, or stale. Else None.

    In a simultaneous game others' turns do not change a bot's question, and a second answer to it comes too late. In a
    game that goes on without who is out, so does whatever comes from a bot that is not asked: others' matches must not
    end by it.
    """
    version = kept.version
    if "match" in turn and _is_for_another(turn, match):
        echo = {**turn, "player": seat.bot, "time": int(now_s * 1000), "valid": False}
        sentence = f"This turn is for match {turn['match']}; this is match {match.id}."
        return Step(match, (told(game, match, seat, echo, "stale", sentence),))
    too_late = not on_turn and (game.goes_on_without or (game.simultaneous and version <= match.version))
    if not (too_late or 0 <= version < (seat.question if on_turn else match.version)):
        return None
    echo = {**turn, "player": seat.bot, "time": int(now_s * 1000)}
    if seat.answered == (version, kept.text):
        return Step(match, (told(game, match, seat, {**echo, "time": seat.answered_ms, "valid": True}),))
    echo["valid"] = False
    sentence = f"This turn is for version {version}; the match is at {match.version}."
    if too_late:
        sentence = "This bot has given its turn, or is out: it is not asked now."
    return Step(match, (told(game, match, seat, echo, "stale", sentence),))


def _is_for_another(turn: dict[str, Any], match: Match) -> bool:
    """Returns whether a turn names another match, ended meanwhile; without a version the key is the bot's own."""
    version = turn.get("version")
    return isinstance(turn["match"], str) and type(version) is int and turn["match"] != match.id


def _strike(
    game: Game,
    match: Match,
    seat: Seat,
    event: Turned,
    offered: dict[str, Any],
    problem: tuple[str, str],
    now_s: float,
) -> Step:
    struck = replace(seat, strikes=seat.strikes + 1)
    match = with_seat(match, struck)
    own = told(game, match, struck, {**offered, "valid": False}, *problem)
    if struck.strikes < match.limits.max_strikes and not event.unforgiving:
        return Step(match, (own,))
    over = _out(game, match, struck, ending.strikes(match, struck, problem), now_s)
    return replace(over, updates=(replace(own, asks=False), *over.updates))


def _timed_out(game: Game, match: Match, event: TimedOut, now_s: float) -> Step:
    seat = match.seat_of(event.bot)
    if seat is None or event.version != seat.question or event.bot not in game.awaited(match.state):
        return Step(match)
    if seat.place is None or event.thinking_s < seat.remaining_s:
        return Step(match)
    return _out(game, match, seat, ending.timeout(match, seat, event.thinking_s, event.unread), now_s)


def _gave_up(game: Game, match: Match, event: GaveUp, now_s: float) -> Step:
    seat = match.seat_of(event.bot)
    if seat is None or event.version != seat.question or event.bot not in game.awaited(match.state):
        return Step(match)
    answer = _out(game, match, seat, ending.gave_up(match, seat, event), now_s, event.cause)
    if answer.match.verdict is None or game.goes_on_without:
        return answer
    # its opponents have seen no turn by which it lost
    sentence = f"{seat.bot} was asked, and gave no answer that counts: the match is over, and it has lost."
    told = (
        update if update.bot == seat.bot else replace(update, code="opponent-failed", error=sentence)
        for update in answer.updates
    )
    return replace(answer, updates=tuple(told))


def _out(game: Game, match: Match, seat: Seat, verdict: Verdict, now_s: float, cause: Any = None) -> Step:
    """Applies the verdict by which a seat lost: the match ends, or goes on without it if the game has a `forfeit`.

    In a game that goes on, only a seat that is awaited can lose: the others have no deadline, and get no strikes.
    """
    thinking_s = verdict.evidence.get("thinkingMs", 0) / 1000
    if not game.goes_on_without:
        return _ended(game, with_seat(match, charged(seat, thinking_s, now_s)), verdict)
    if verdict.reason is Reason.DISCONNECT:
        # an absent bot used up all that it had left
        thinking_s = seat.remaining_s
    return forfeited(game, match, seat, cause or ending.cause(verdict), thinking_s, now_s)


def _reconfigured(game: Game, match: Match, event: Reconfigured, now_s: float) -> Step:
    return reconfigured(game, match, event.options, now_s)


def _overdue(game: Game, match: Match, event: Overdue, now_s: float) -> Step:
    if match.due_s is not None and now_s < match.due_s:
        return Step(match)
    late = [seat for seat in match.seats if seat.back_by_s is not None and seat.back_by_s <= now_s]
    if late:
        verdict = ending.absence(match, late, now_s, event.elsewhere)
        # if the match goes on, the next look finds the next late seat
        return _ended(game, match, verdict) if verdict.void else _out(game, match, late[0], verdict, now_s)
    if match.nudges >= MAX_NUDGES:
        return _ended(game, match, ending.server_fault({"nudges": match.nudges}))
    return Step(replace(match, nudges=match.nudges + 1))


def _failed(game: Game, match: Match, event: Failed, now_s: float) -> Step:
    if event.cause is not None:
        # ends the match like an error in the reducer
        raise event.cause
    return _ended(game, match, ending.server_fault({"error": event.sentence}))


def _voided(game: Game, match: Match, event: Voided, now_s: float) -> Step:
    return _ended(game, match, Verdict(None, Reason.VOID, Fault.NONE, {"sentence": event.sentence}))


ANSWERS: Mapping[type, Callable[[Game, Match, Any, float], Step]] = {
    Turned: _turned,
    TimedOut: _timed_out,
    GaveUp: _gave_up,
    Reconfigured: _reconfigured,
    Joined: joined,
    Left: left,
    Orphaned: orphaned,
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


def _ended(game: Game, match: Match, verdict: Verdict) -> Step:
    match = ending.with_verdict(match, verdict)
    return Step(match, tuple(update_for(game, match, seat) for seat in match.seats))


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
    return replace(_ended(game, before, verdict), failure=answer.failure or ValueError(sentence))


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
