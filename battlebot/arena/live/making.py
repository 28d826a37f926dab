"""New matches: their ids, seeds, limits and first states. Storing them is the store's work."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import structlog

from battlebot.arena.live.calls import Beginning, Publication, encode_match
from battlebot.arena.live.ids import new_match_id, new_seed
from battlebot.arena.live.mail import Mail
from battlebot.arena.live.store import MatchStore
from battlebot.arena.places import STATELESS_PLACE, is_stateless, node_of, ticket_of
from battlebot.config import Settings
from battlebot.redisio import keys
from battlebot.referee.match import Limits, Match, Seat, Series
from battlebot.referee.step import start
from battlebot.referee.telling import update_for
from battlebot.rules.contract import Game

log = structlog.get_logger()


def new_match(
    game: Game,
    seats: Sequence[tuple[str, str]],
    settings: Settings,
    now_s: float,
    *,
    contest: str | None = None,
    options: Mapping[str, Any] | None = None,
    match_id: str | None = None,
    series: Series | None = None,
    addresses: Mapping[str, str] | None = None,
    rated: bool = True,
) -> Match:
    """Returns a match before its first turn. `seats`: pairs of bot and place, the first mover first.

    `rated`: whether it counts for its bots' ratings. `addresses`: bot -> where it is asked, for bots whose place
    `is_stateless`. If the game's code fails, the match is over: see `started`.
    Raises BadMessage for options that the game does not have.
    """
    limits = _limits_of(game, settings)
    match = Match(
        id=match_id or new_match_id(now_s),
        game=game.name,
        contest=contest,
        seats=tuple(
            Seat(bot, place, limits.turn_timeout_s, address=(addresses or {})[bot] if is_stateless(place) else None)
            for bot, place in seats
        ),
        state={},
        limits=limits,
        options=game.options_with_defaults(options or {}),
        seed=new_seed(),
        started_s=now_s,
        series=series,
        rated=rated,
    )
    return started(game, match, now_s)


def _limits_of(game: Game, settings: Settings) -> Limits:
    """Returns the limits of a new match: a turn's time has the game's leeway added, of which bots are not told."""
    timeout_ms = (settings.turn_timeout_ms or game.turn_timeout_ms) + game.leeway_ms
    return Limits(
        turn_timeout_s=timeout_ms / 1000,
        max_strikes=settings.max_strikes,
        node_grace_s=settings.node_grace_s,
        max_turns=settings.max_turns,
        leeway_s=game.leeway_ms / 1000,
        max_record_bytes=settings.max_record_bytes,
    )


def started(game: Game, match: Match, now_s: float) -> Match:
    """Returns the match with its first state; if the game's code fails, it is over, by the server's fault.

    Even then it must be begun: its bots are told, and it is archived.
    """
    answer = start(game, match, now_s)
    if answer.failure is not None:
        about = {"match": match.id, "game": match.game, "contest": match.contest}
        log.error("match.failed", **about, exc_info=answer.failure)
    return answer.match


def begin(
    store: MatchStore,
    game: Game,
    match: Match,
    queue: str,
    holder: str = "",
    most: Mapping[str, int] | None = None,
) -> bool:
    """Begins the match and tells its bots, on any node; returns False if one of them no longer waits, or plays already.

    `holder` is the ticket that took the others out of the queue, if one did. Also returns False if an address is asked
    in as many matches as it may be (`most`, as in `Beginning`). Raises Unavailable.
    """
    return store.begin(beginning(game, match, most), queue, holder)


def beginning(game: Game, match: Match, most: Mapping[str, int] | None = None) -> Beginning:
    """Returns what the store needs to begin the match: its bots' tickets, and the messages to bots and viewers.

    `most` as in `Beginning`. Who is asked is told last (duel-arena: both are told that the game starts, then the first
    is asked).
    """
    document = encode_match(match)
    tickets, publications = [], list[Publication]()
    updates = [(seat, update_for(game, match, seat)) for seat in match.seats]
    for seat, update in sorted(updates, key=lambda told: told[1].asks):
        assert seat.place is not None
        if seat.address is not None and seat.place == STATELESS_PLACE:
            continue
        tickets.append(ticket_of(seat.place, seat.bot))
        if seat.address is None:
            mail = Mail.of(seat.place, update, document)
            publications.append((keys.mailbox(node_of(seat.place)), mail.encode()))
    if match.contest is not None:
        publications.append((keys.contest_events(match.game, match.contest), b"begun"))
    publications.append((keys.game_events(match.game), b"begun"))
    return Beginning(match, tickets, publications, most or {})
