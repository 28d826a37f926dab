"""What a seat is told: the state as it may see it, in an update. Decides nothing."""

from __future__ import annotations

from collections.abc import Collection
from typing import Any

from msgspec.structs import replace

from battlebot.referee.match import Match, Seat, Series
from battlebot.rules.contract import RAISED, Game
from battlebot.wire.updates import Update

END = ("complete", "victor", "reason")  # the keys of the state that say how a match ended


def update_for(game: Game, match: Match, seat: Seat) -> Update:
    """Returns an update with the current state as this seat may see it."""
    return _update(match, seat, game.awaited(match.state), seen_by(game, match, seat.bot))


def beginning_for(game: Game, match: Match, bot: str) -> Update | None:
    """Returns the update that a bot was due when the match began, or None if it was to move then.

    A bot that is told this late must not answer it: the match has gone on.
    """
    state = game.initial_state([seat.bot for seat in match.seats], match.seed, match.options)
    if bot in game.awaited(state):
        return None
    seats = tuple(Seat(seat.bot, seat.place, match.limits.turn_timeout_s) for seat in match.seats)
    begun = replace(match, state=state, seats=seats, version=0, revision=0, verdict=None)
    return next(update_for(game, begun, seat) for seat in seats if seat.bot == bot)


def told(
    game: Game,
    match: Match,
    seat: Seat,
    turn: dict[str, Any] | None = None,
    code: str | None = None,
    error: str | None = None,
) -> Update:
    """Like `update_for`, with the turn. While the match is running, errors from the game's `view` propagate.

    A bot must not play without seeing the board.
    """
    return _told(game, match, seat, game.awaited(match.state), turn, code, error)


def told_all(
    game: Game, match: Match, turn: dict[str, Any] | None = None, only: str | None = None
) -> tuple[Update, ...]:
    """Like `told`, for all seats but those of stateless bots. With `only`, the turn is shown to that bot alone."""
    awaited = game.awaited(match.state)
    updates = [
        _told(game, match, seat, awaited, turn if only is None or only == seat.bot else None)
        for seat in match.seats
        if seat.address is None
    ]
    return tuple(updates)


def _told(
    game: Game,
    match: Match,
    seat: Seat,
    awaited: Collection[str],
    turn: dict[str, Any] | None,
    code: str | None = None,
    error: str | None = None,
) -> Update:
    if match.verdict is not None:
        state = seen_by(game, match, seat.bot)
    else:
        state = game.view(match.state, seat.bot)
        if turn is not None:
            turn = game.view_turn(turn, seat.bot)
    return _update(match, seat, awaited, state, turn, code, error)


def _update(
    match: Match,
    seat: Seat,
    awaited: Collection[str],
    state: dict[str, Any],
    turn: dict[str, Any] | None = None,
    code: str | None = None,
    error: str | None = None,
) -> Update:
    verdict = match.verdict
    return Update(
        bot=seat.bot,
        match_id=match.id,
        version=match.version,
        revision=match.revision,
        state=state,
        turn=turn,
        asks=verdict is None and seat.bot in awaited,
        final=verdict is not None,
        remaining_s=seat.remaining_s,
        turn_timeout_s=match.limits.turn_timeout_s,
        strikes=seat.strikes,
        code=code,
        error=error,
        fault=None if verdict is None else verdict.fault.value,
        question=seat.question,
        leeway_s=match.limits.leeway_s,
        series=None if match.series is None else _about(match.series),
        place=seat.place,
    )


def _about(series: Series) -> dict[str, Any]:
    return {"id": series.id, "board": series.board, "boards": series.boards, "number": series.number}


def seen_by(game: Game, match: Match, bot: str | None) -> dict[str, Any]:
    """Returns the state as a bot, or a viewer (None), may see it; only what is never secret if the game's `view` fails.

    The end is always included, even if the game's `view` leaves it out: original clients index `victor`.
    """
    try:
        seen = game.view(match.state, bot)
        return seen if match.verdict is None else {**seen, **_only(match.state, END)}
    except RAISED:
        return _only(match.state, ("players", "nextPlayer", "waitingFor", *END))


def _only(state: dict[str, Any], keys: tuple[str, ...]) -> dict[str, Any]:
    return {key: state[key] for key in keys if key in state}
