"""What comes of a verdict: the match is over, or goes on without the seat that lost."""

from __future__ import annotations

from typing import Any

from battlebot.referee import ending
from battlebot.referee.advance import Step, forfeited
from battlebot.referee.match import Match, Reason, Seat, Verdict
from battlebot.referee.seating import charged, with_seat
from battlebot.referee.telling import update_for
from battlebot.rules.contract import Game


def ended(game: Game, match: Match, verdict: Verdict) -> Step:
    """Ends the match, and tells all seats."""
    match = ending.with_verdict(match, verdict)
    return Step(match, tuple(update_for(game, match, seat) for seat in match.seats))


def lost(game: Game, match: Match, seat: Seat, verdict: Verdict, now_s: float, cause: Any = None) -> Step:
    """Applies the verdict by which a seat lost: the match ends, or goes on without it if the game has a `forfeit`.

    In a game that goes on, only a seat that is awaited can lose: the others have no deadline, and get no strikes.
    """
    thinking_s = verdict.evidence.get("thinkingMs", 0) / 1000
    if not game.goes_on_without:
        return ended(game, with_seat(match, charged(seat, thinking_s, now_s)), verdict)
    if verdict.reason is Reason.DISCONNECT:
        # an absent bot used up all that it had left
        thinking_s = seat.remaining_s
    return forfeited(game, match, seat, cause or ending.cause(verdict), thinking_s, now_s)
