"""How a seat is taken and left: its place, the deadline of an empty seat, and what is charged to the clock."""

from __future__ import annotations

from msgspec.structs import replace

from battlebot.referee.advance import Step
from battlebot.referee.events import NODE_DEAD, Joined, Left, Orphaned, Outage, Stranded
from battlebot.referee.match import Fault, Limits, Match, Seat
from battlebot.referee.telling import told
from battlebot.rules.contract import Game


def charged(seat: Seat, thinking_s: float, now_s: float) -> Seat:
    """Returns the seat with `thinking_s` less on its clock: a message that is no answer must not restart the clock."""
    return replace(seat, remaining_s=max(0.0, seat.remaining_s - thinking_s), asked_s=now_s)


def joined(game: Game, match: Match, event: Joined, now_s: float) -> Step:
    """Gives the bot's seat a new place, and charges its clock unless that is stopped."""
    seat = match.seat_of(event.bot)
    if seat is None or (event.if_empty and seat.place is not None):
        return Step(match)
    back = replace(
        seat,
        place=event.place,
        back_by_s=None,
        emptied_by=Fault.NONE,
        left_s=None,
        left_place=None,
        resumed_s=0.0,
        how=None,
        stopped=False,
        address=None,
    )
    if event.bot in game.awaited(match.state):
        if seat.stopped:
            back = replace(back, asked_s=now_s)
        elif event.thinking_s is not None:
            back = charged(back, event.thinking_s, now_s)
        elif seat.asked_s is not None:
            # the clock went on meanwhile; otherwise a second connection would gain a bot a second clock
            until_s = max(seat.asked_s, now_s if event.until_s is None else min(now_s, event.until_s))
            back = charged(back, until_s - seat.asked_s, until_s)
    match = with_seat(match, back)
    if seat.address is not None and match.series is not None:
        # the series was made for a bot that never leaves; its connection may end with this board
        match = replace(match, series=replace(match.series, boards=match.series.board))
    return Step(match, (told(game, match, back),))


def left(game: Game, match: Match, event: Left, now_s: float) -> Step:
    """Empties the seat of a connection that the bot closed or the network broke."""
    seat = match.seat_of(event.bot)
    if seat is None or seat.place != event.place:
        return Step(match)
    on_turn = event.bot in game.awaited(match.state)
    if on_turn:
        seat = charged(seat, event.thinking_s, now_s)
    fault = Fault.BOT if event.clean else Fault.NETWORK
    in_s = seat.remaining_s if on_turn else match.limits.turn_timeout_s
    seat = _emptied(game, match, seat, fault, event.how, in_s, now_s)
    return Step(with_seat(match, seat if event.at_s is None else replace(seat, left_s=event.at_s)))


def orphaned(game: Game, match: Match, event: Orphaned, now_s: float) -> Step:
    """Empties the seat of a connection that the server ended; its clock stops."""
    seat = match.seat_of(event.bot)
    if seat is None or seat.place != event.place:
        return Step(match)
    seat = _emptied(game, match, seat, Fault.SERVER, event.how, match.limits.node_grace_s, now_s)
    match = with_seat(match, replace(seat, stopped=True))
    return Step(replace(match, wary=True) if event.how == NODE_DEAD else match)


def stranded(game: Game, match: Match, event: Stranded, now_s: float) -> Step:
    """Treats a seat that the network emptied as if the server had: once, with a whole grace from now; its clock stops.

    A bot that closed its connection by itself is not spared.
    """
    seat = match.seat_of(event.bot)
    if seat is None or seat.place is not None or seat.emptied_by is not Fault.NETWORK:
        return Step(match)
    back_by_s = None if seat.back_by_s is None else max(seat.back_by_s, now_s + match.limits.node_grace_s)
    return Step(with_seat(match, replace(seat, emptied_by=Fault.SERVER, back_by_s=back_by_s, stopped=True)))


def outage(game: Game, match: Match, event: Outage, now_s: float) -> Step:
    """Allows for a time in which bots could not come back, in the empty seats of those that were not missed before it.

    Their deadlines move by the part of it that they do not allow for yet, or to a whole grace after it if that is
    later: bots do not learn at once that the server is back. Their clocks, charged up to it, stand still until they are
    back; while it lasts, they run on: who comes back before its end was not kept out. Whose doing the empty seat is
    does not change: who stays away loses as before.
    """
    seats = tuple(
        _spared(seat, event, match.limits) if event.bots is None or seat.bot in event.bots else seat
        for seat in match.seats
    )
    return Step(match if seats == match.seats else replace(match, seats=seats))


def _spared(seat: Seat, event: Outage, limits: Limits) -> Seat:
    since_s = max(event.since_s, seat.resumed_s)
    if seat.back_by_s is None or seat.left_s is None or seat.back_by_s <= since_s or seat.left_s >= event.until_s:
        return seat
    resumed_s = max(since_s, event.until_s)
    back_by_s = max(seat.back_by_s + resumed_s - since_s, event.until_s + limits.node_grace_s)
    seat = replace(seat, back_by_s=back_by_s, resumed_s=resumed_s)
    if event.lasts or seat.stopped:
        return seat
    if seat.asked_s is not None:
        seat = charged(seat, max(0.0, event.since_s - seat.asked_s), max(seat.asked_s, event.since_s))
    return replace(seat, stopped=True)


def _emptied(game: Game, match: Match, seat: Seat, fault: Fault, how: str | None, in_s: float, now_s: float) -> Seat:
    """Returns the seat without its bot, which may be back within `in_s` seconds.

    A game that goes on without it waits for it only once it is asked: until then there is no deadline.
    """
    waited_for = not game.goes_on_without or seat.bot in game.awaited(match.state)
    return replace(
        seat,
        place=None,
        back_by_s=now_s + in_s if waited_for else None,
        emptied_by=fault,
        left_s=now_s,
        left_place=seat.place,
        resumed_s=now_s,
        how=how,
    )


def with_seat(match: Match, seat: Seat) -> Match:
    """Returns the match with its seat of the same bot replaced by this one."""
    return replace(match, seats=tuple(seat if other.bot == seat.bot else other for other in match.seats))
