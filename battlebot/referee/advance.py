"""The steps that move a match on: a valid turn, a forfeit, changed options. Each is one entry of the match's record.

An entry is `{"turn", "thinkingMs", "serverMs"}`, with `forfeit` true for a forfeit and `reconfigured` true for changed
options.
"""

from __future__ import annotations

from typing import Any

import msgspec
from msgspec.structs import replace

from battlebot.referee import ending
from battlebot.referee.events import Reconfigured, Turned
from battlebot.referee.match import Fault, Limits, Match, Reason, Seat, Verdict
from battlebot.referee.telling import told_all
from battlebot.rules.contract import Game, State
from battlebot.wire.updates import Update

MARKS = ("forfeit", "reconfigured")


class Step(msgspec.Struct, frozen=True):
    """What `step` returns: the new match, the updates in the order of sending, and the entry to append to the record.

    `match` is the same object as before if nothing has to be committed. `reply`: the updates answer the bot and must be
    sent although it has seen that revision. `then` is the beginning of the next board of a series, if one follows.
    `failure` is the exception that ended the match, for the operator's log only.
    """

    match: Match
    updates: tuple[Update, ...] = ()
    recorded: dict[str, Any] | None = None
    reply: bool = False
    then: Step | None = None
    failure: BaseException | None = None


class KeptTurn(msgspec.Struct, frozen=True):
    """A bot's turn as its seat keeps it: its version, its JSON, and the bytes of all the bot's turns up to this one."""

    version: int
    text: str
    recorded_bytes: int


def applied(
    game: Game, match: Match, seat: Seat, offered: dict[str, Any], kept: KeptTurn, event: Turned, now_s: float
) -> Step:
    """Applies a valid turn. `offered` is the turn with the server's keys, `kept` what its seat keeps of it."""
    received_s = now_s if event.received_s is None else event.received_s
    recorded = {"turn": offered, **times(match, seat, event.thinking_s, received_s)}
    answered = replace(
        seat,
        answered=(kept.version, kept.text),
        answered_ms=offered["time"],
        recorded_bytes=kept.recorded_bytes,
        asked_s=None,
        since_s=None,
    )
    # a copy: a game that changes its turn must not change the record
    state = game.reducer(match.state, {**offered})
    match = _advanced(game, match, answered, state, now_s, received_s)
    echo = {**offered, "valid": True}
    return Step(match, told_all(game, match, echo, seat.bot if game.simultaneous else None), recorded)


def version_of(turn: dict[str, Any], match: Match, at: int | None) -> int:
    """Returns the version that a turn names; else `at`, the version at which it arrived; else (None) the match's.

    A `version` that is not an integer is a field of the bot's own and is ignored.
    """
    version = turn.get("version")
    if isinstance(version, int) and not isinstance(version, bool):
        return version
    return match.version if at is None else at


def forfeited(game: Game, match: Match, seat: Seat, cause: Any, thinking_s: float, now_s: float) -> Step:
    """Puts a seat out; the match goes on without it. `cause` is JSON: a sentence, or an error as its door puts it."""
    turn = {"player": seat.bot, "time": int(now_s * 1000), "forfeit": cause}
    recorded = {"turn": turn, "forfeit": True, **times(match, seat, thinking_s, now_s)}
    state = game.forfeit(match.state, seat.bot, cause)
    left_s = max(0.0, seat.remaining_s - thinking_s)
    out = replace(seat, remaining_s=left_s, asked_s=None, since_s=None, back_by_s=None)
    match = _advanced(game, match, out, state, now_s, now_s)
    return Step(match, told_all(game, match, {**turn, "valid": True}), recorded)


def reconfigured(game: Game, match: Match, event: Reconfigured, now_s: float) -> Step:
    """Changes the options of a match; returns it unchanged if the game refuses them.

    A change in the pause before the bots are asked gives them a new question: answers to the one before do not count.
    """
    asked, options = not _is_pause(game, match, now_s), event.options
    turn = {"player": None, "time": int(now_s * 1000), "options": options, "asked": asked}
    try:
        state = game.configure(match.state, options, asked)
    except ValueError:
        return Step(match)
    game.check(state, [seat.bot for seat in match.seats])
    version, seats = match.version + 1, match.seats
    if not asked:
        awaited = game.awaited(state)
        seats = tuple(replace(seat, question=version) if seat.bot in awaited else seat for seat in seats)
    match = replace(match, state=state, seats=seats, version=version)
    recorded = {"turn": turn, "reconfigured": True, "thinkingMs": 0.0, "serverMs": 0.0}
    return Step(match, told_all(game, match), recorded)


def asked_from_s(game: Game, match: Match) -> float:
    """Returns when (epoch) the stateless bots may be asked, or 0 if the game wants no pause."""
    pause_s = game.pause_ms(match.state) / 1000
    if not pause_s:
        return 0.0
    awaited = game.awaited(match.state)
    due_s = (seat.asked_s or 0.0 for seat in match.seats if seat.address is not None and seat.bot in awaited)
    return max(due_s, default=0.0) + pause_s


def _is_pause(game: Game, match: Match, now_s: float) -> bool:
    """Returns whether no awaited bot can have seen its question yet.

    Connected bots see it at once; a stateless bot may have seen it if it was asked at an earlier version.
    """
    if now_s >= asked_from_s(game, match):
        return False
    awaited = game.awaited(match.state)
    seats = [seat for seat in match.seats if seat.bot in awaited]
    return all(seat.address is not None and seat.question == match.version for seat in seats)


def _advanced(game: Game, match: Match, mover: Seat, state: State, now_s: float, due_s: float) -> Match:
    """Returns the match in its next state. Newly asked seats get a full clock; their turn is due since `due_s`."""
    game.check(state, [seat.bot for seat in match.seats])
    before, after = game.awaited(match.state), game.awaited(state)
    version = match.version + 1
    seats = []
    for other in match.seats:
        seat = mover if other.bot == mover.bot else other
        if seat.bot in after and (seat is mover or seat.bot not in before):
            seat = _asked(seat, match.limits, version, now_s, due_s)
        elif seat.back_by_s is not None and game.goes_on_without and seat.bot not in after:
            # it may have been asked when it left
            seat = replace(seat, back_by_s=None)
        seats.append(seat)
    match = replace(match, state=state, seats=tuple(seats), version=version, nudges=0, wary=False)
    if state["complete"]:
        return ending.complete(game, match)
    # where all move at once, a round counts as one turn
    if version >= match.limits.max_turns * (len(seats) if game.simultaneous else 1):
        return ending.with_verdict(match, Verdict(None, Reason.LENGTH, Fault.NONE, {"turns": version}))
    return match


def _asked(seat: Seat, limits: Limits, version: int, now_s: float, due_s: float) -> Seat:
    limit_s = limits.turn_timeout_s
    # an empty seat has no deadline if the game goes on without it: it gets one with the question
    if seat.place is None and seat.back_by_s is None:
        grace_s = limits.node_grace_s if seat.emptied_by is Fault.SERVER else 0.0
        seat = replace(seat, back_by_s=now_s + max(limit_s, grace_s), resumed_s=now_s)
    return replace(seat, remaining_s=limit_s, asked_s=now_s, since_s=due_s, question=version)


def times(match: Match, seat: Seat, thinking_s: float, received_s: float) -> dict[str, float]:
    """Returns the times that the record keeps for a turn, in ms: those charged to its bot, and those the server took.

    Their sum is the time from the arrival of what made the turn due to the arrival of the turn itself.
    """
    charged_s = match.limits.turn_timeout_s - seat.remaining_s + thinking_s
    passed_s = 0.0 if seat.since_s is None else received_s - seat.since_s
    return {"thinkingMs": _ms(charged_s), "serverMs": _ms(max(0.0, passed_s - charged_s))}


def _ms(seconds: float) -> float:
    """Returns milliseconds with three decimals. `round` to decimals goes through text and takes five times as long."""
    return round(seconds * 1_000_000) / 1000


def entered(game: Game, state: State, turn: dict[str, Any], mark: str | None) -> State:
    """Returns the state after an entry of a record. `mark` is one of `MARKS`, or None for a bot's turn."""
    if mark == "forfeit":
        return game.forfeit(state, turn["player"], turn["forfeit"])
    if mark == "reconfigured":
        return game.configure(state, turn["options"], turn.get("asked", True))
    return game.reducer(state, turn)
