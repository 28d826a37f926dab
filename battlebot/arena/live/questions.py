"""What a stateless bot is asked in a match, and the referee's event for its answer. No I/O."""

from __future__ import annotations

from typing import Any

from battlebot.referee.events import Event, Failed, GaveUp, Turned
from battlebot.referee.match import Match, Seat
from battlebot.referee.telling import told
from battlebot.rules.contract import RAISED, SERVERS_KEYS, Game
from battlebot.storable import problem_of_storing
from battlebot.wire.jsontext import encode

DROPPED = SERVERS_KEYS | {"version"}  # from a turn: the question says which version it answers


def content_of(game: Game, match: Match, seat: Seat) -> Any:
    """Returns the question as JSON: as the game puts it, or else the bot's update, with its name as `bot_id`.

    Raises what the game's code raises, also its `view`: no bot must answer without having seen the board.
    """
    about = {
        "address": seat.address,
        "match": match.id,
        "version": match.version,
        "remainingMs": max(0, round((seat.remaining_s - match.limits.leeway_s) * 1000)),
    }
    asked = game.question(game.view(match.state, seat.bot), seat.bot, about)
    return {**told(game, match, seat).message, "bot_id": seat.bot} if asked is None else asked


def turned(game: Game, match: Match, seat: Seat, value: Any, thinking_s: float) -> Event:
    """Returns the event of an answer (JSON): Turned, or GaveUp if the turn is not valid, as the bot has no strikes.

    Failed, if the game's code fails.
    """
    try:
        turn = game.turn_from(value)
        if turn is None:
            return _invalid(seat, "The answer must be a JSON object.", thinking_s)
        turn = {key: value for key, value in turn.items() if key not in DROPPED}
        offered = {**turn, "player": seat.bot}
        if not game.validate(match.state, offered):
            return _invalid(seat, game.explain(match.state, offered), thinking_s)
        # only now: what a bot puts into an invalid turn must not be taken for the game's doing
        encode(turn)
        if problem := problem_of_storing(turn):
            raise ValueError(f"the turn made of an answer {problem}")
    except RAISED as error:
        return failed(error)
    return Turned(seat.bot, turn, thinking_s, question=seat.question, unforgiving=True)


def is_turn(game: Game, match: Match, seat: Seat, value: Any) -> bool:
    """Returns whether an answer (JSON) would be a valid turn, or one at which the game's code fails."""
    return not isinstance(turned(game, match, seat, value, 0.0), GaveUp)


def failed(error: BaseException) -> Failed:
    """Returns the event of an exception that the game's code raised at a question or an answer."""
    return Failed("the game's own code failed", error)


def gave_up(seat: Seat, sentence: str, late: bool, thinking_s: float) -> Event:
    """Returns the event of a question without an answer: none in time (`late`), or none that could be used."""
    return GaveUp(seat.bot, seat.question, "timeout" if late else "invalid", sentence, sentence, thinking_s)


def _invalid(seat: Seat, sentence: str, thinking_s: float) -> Event:
    cause = {"error": "VALIDATION_ERROR", "details": sentence}
    return GaveUp(seat.bot, seat.question, "invalid", sentence, cause, thinking_s, "invalid-turn")
