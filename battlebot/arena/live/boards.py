"""The next board of a series: the same bots at the same places, with the other moving first. Stores nothing."""

from __future__ import annotations

from msgspec.structs import replace

from battlebot.arena.live.ids import new_match_id, new_seed
from battlebot.arena.live.making import started
from battlebot.referee.match import Match, Seat
from battlebot.rules.contract import Game


def next_board(game: Game, match: Match, number: int, now_s: float) -> Match:
    """Returns the match that follows `match`, which must be over and `goes_on`.

    It is over, too, if the game's code fails: see `started`. An empty seat stays empty and keeps its deadline: a bot
    that lost a board by staying away also loses the next.
    """
    assert match.series is not None
    seats = tuple(_moved(seat, match.limits.turn_timeout_s) for seat in reversed(match.seats))
    after = Match(
        id=new_match_id(now_s),
        game=match.game,
        contest=match.contest,
        seats=seats,
        state={},
        limits=match.limits,
        options=match.options,
        seed=new_seed(),
        started_s=now_s,
        series=replace(match.series, board=match.series.board + 1, number=number),
    )
    return started(game, after, now_s)


def _moved(seat: Seat, limit_s: float) -> Seat:
    if seat.place is not None:
        return Seat(seat.bot, seat.place, limit_s, address=seat.address)
    # `left_s` is kept: if both are away, the bot that left first loses this board as well
    return Seat(
        seat.bot,
        None,
        limit_s,
        back_by_s=seat.back_by_s,
        emptied_by=seat.emptied_by,
        left_s=seat.left_s,
        left_place=seat.left_place,
        resumed_s=seat.resumed_s,
        how=seat.how,
        stopped=seat.stopped,
    )
