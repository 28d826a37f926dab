"""What a stateless bot is asked in a match, and what its reply is to the referee. Asks nobody."""

from __future__ import annotations

from typing import Any

from battlebot.referee.events import Event, GaveUp, Turned
from battlebot.referee.match import Match, Seat
from battlebot.referee.step import seen_by, update_for
from battlebot.rules.contract import SERVERS_KEYS, Game

DROPPED = SERVERS_KEYS | {"version"}  # of a turn: its question is known


def content_of(game: Game, match: Match, seat: Seat) -> Any:
    """The question as the game says it; where it says nothing, a bot's update, with its name as `bot_id`. JSON."""
    about = {
        "address": seat.address,
        "match": match.id,
        "version": match.version,
        "remainingMs": round((seat.remaining_s - match.limits.leeway_s) * 1000),
    }
    asked = game.question(seen_by(game, match, seat.bot), seat.bot, about)
    return {**update_for(game, match, seat).message, "bot_id": seat.bot} if asked is None else asked


def turned(game: Game, match: Match, seat: Seat, value: Any, thinking_s: float) -> Event:
    """The event of an answer (JSON): a turn, or that the bot gave up where it is not valid, as it has no strikes."""
    turn = game.turn_from(value)
    if turn is None:
        return _invalid(seat, "The answer must be a JSON object.", thinking_s)
    turn = {key: value for key, value in turn.items() if key not in DROPPED}
    offered = {**turn, "player": seat.bot}
    if not game.validate(match.state, offered):
        return _invalid(seat, game.explain(match.state, offered), thinking_s)
    return Turned(seat.bot, turn, thinking_s, question=seat.question, unforgiving=True)


def is_turn(game: Game, match: Match, seat: Seat, value: Any) -> bool:
    """Whether an answer (JSON) would be a valid turn."""
    return isinstance(turned(game, match, seat, value, 0.0), Turned)


def gave_up(seat: Seat, sentence: str, late: bool, thinking_s: float) -> Event:
    """The event of no answer."""
    return GaveUp(seat.bot, seat.question, "timeout" if late else "invalid", sentence, sentence, thinking_s)


def _invalid(seat: Seat, sentence: str, thinking_s: float) -> Event:
    cause = {"error": "VALIDATION_ERROR", "details": sentence}
    return GaveUp(seat.bot, seat.question, "invalid", sentence, cause, thinking_s, "invalid-turn")
