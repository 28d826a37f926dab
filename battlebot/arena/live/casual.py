"""Matches outside contests: begun of bots that have been taken out of a queue."""

from __future__ import annotations

import secrets
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass

import structlog

from battlebot.arena.live.conduct import asked_of
from battlebot.arena.live.making import begin, new_match
from battlebot.arena.live.store import MatchStore
from battlebot.arena.places import is_stateless, traits_of
from battlebot.config import Settings
from battlebot.referee.match import Series
from battlebot.rules.contract import Game
from battlebot.runtime import sharedtime

log = structlog.get_logger()


@dataclass(frozen=True, slots=True)
class CasualMatches:
    """`addresses(bots)` returns bot -> address, for those that are stateless.

    `ask_bots(match_id)` has them asked; it does not raise.
    """

    settings: Settings
    store: MatchStore
    addresses: Callable[[Sequence[str]], Mapping[str, str]]
    ask_bots: Callable[[str], None]
    now_s: Callable[[], float] = sharedtime.now_s

    def begin(self, game: Game, waiting: Sequence[tuple[str, str]], queue: str, holder: str) -> None:
        """Begins a match of these `(bot, place)`, in random order, of which the ticket `holder` took the others.

        Does not if that took longer than tickets are held, if a name already plays, or a stateless bot in as many
        matches as it may: then those who still wait are put back by their nodes. Raises Unavailable.
        """
        seats = secrets.SystemRandom().sample(waiting, len(waiting))
        series = series_of(seats, self.store.next_number)
        addresses = self.addresses([bot for bot, place in seats if is_stateless(place)])
        match = new_match(game, seats, self.settings, self.now_s(), series=series, addresses=addresses)
        most = self.most(addresses.values(), self.store.addresses.kept(addresses.values()))
        if not begin(self.store, game, match, queue, holder, most=most):
            log.warning("match.not_begun", match=match.id, game=game.name)
            return
        log.info("match.begun", match=match.id, game=game.name, players=[bot for bot, _ in seats])
        if asked_of(game, match):
            self.ask_bots(match.id)

    def most(self, addresses: Collection[str], kept: Collection[str]) -> dict[str, int]:
        """Returns for each address in how many rated matches bots may be asked there, with one outside contests.

        At `kept` ones, which are asked for running contests, in half as many as otherwise: whoever holds a rival in
        slow matches must not keep it from those that count.
        """
        most = self.settings.bot_matches
        return {address: most // 2 if address in kept else most for address in addresses}


def series_of(seats: Sequence[tuple[str, str]], next_number: Callable[[], int]) -> Series | None:
    """Returns the series that a match of these `(bot, place)` begins; None if none of them names a number of boards.

    It is of one board if a bot's session does not outlast a match. A stateless bot has no session, and never leaves.
    """
    traits = {bot: traits_of(place) for bot, place in seats}
    boards = max(one.boards for one in traits.values())
    if not boards:
        return None
    return Series(
        id=secrets.token_hex(8),
        board=1,
        boards=boards if all(traits[bot].stays or is_stateless(place) for bot, place in seats) else 1,
        number=next_number(),
        by_name=tuple(bot for bot, one in traits.items() if one.boards),
        passwordless=tuple(bot for bot, one in traits.items() if one.passwordless),
    )
