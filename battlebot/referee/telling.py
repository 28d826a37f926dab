"""What a seat is told: the state as it may see it, in an update. Nothing is decided here."""

from __future__ import annotations

from typing import Any

from battlebot.referee.match import Match, Seat, Series
from battlebot.rules.contract import Game
from battlebot.wire.updates import Update

END = ("complete", "victor", "reason")  # the keys of the state that tell how a match ended


def update_for(game: Game, match: Match, seat: Seat) -> Update:
    """The current state as this seat may see it."""
    return _update(game, match, seat, seen_by(game, match, seat.bot))


def told(
    game: Game,
    match: Match,
    seat: Seat,
    turn: dict[str, Any] | None = None,
    code: str | None = None,
    error: str | None = None,
) -> Update:
    """As `update_for`, with a turn, and while the match goes on an error of the game's `view` is raised.

    Nobody plays blind.
    """
    over = match.verdict is not None
    state = seen_by(game, match, seat.bot) if over else game.view(match.state, seat.bot)
    if turn is not None and not over:
        turn = game.view_turn(turn, seat.bot)
    return _update(game, match, seat, state, turn, code, error)


def _update(
    game: Game,
    match: Match,
    seat: Seat,
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
        asks=verdict is None and seat.bot in game.awaited(match.state),
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
    )


def _about(series: Series) -> dict[str, Any]:
    return {"id": series.id, "board": series.board, "boards": series.boards, "number": series.number}


def seen_by(game: Game, match: Match, bot: str | None) -> dict[str, Any]:
    """The state as a bot, or a viewer (None), may see it. If the game's `view` fails, only what is no secret.

    The end is always in it, whatever the game's `view` leaves out: original clients index `victor`.
    """
    try:
        seen = game.view(match.state, bot)
        return seen if match.verdict is None else {**seen, **_only(match.state, END)}
    except Exception:
        return _only(match.state, ("players", "nextPlayer", "waitingFor", *END))


def _only(state: dict[str, Any], keys: tuple[str, ...]) -> dict[str, Any]:
    return {key: state[key] for key in keys if key in state}
