"""Who sits in live matches. Redis alone knows; nothing is asked of MongoDB."""

from __future__ import annotations

import itertools
from collections.abc import Iterable
from contextlib import suppress
from typing import Any

import msgspec

from battlebot.arena.live.store import MatchStore
from battlebot.arena.places import node_of
from battlebot.redisio import keys
from battlebot.redisio.connection import redis_errors, texts

TOGETHER = 500  # matches read in one round trip: their documents, states and all, come through this process's memory


class Sitter(msgspec.Struct, frozen=True):
    """A bot of a match: where its updates go (None: its seat is empty), and, if it is stateless, where it is asked."""

    bot: str
    place: str | None
    address: str | None = None


class Seating(msgspec.Struct, frozen=True):
    """Who sits in a match, and what match that is: the part of its document that is read for that."""

    game: str
    contest: str | None
    seats: tuple[Sitter, ...]
    verdict: Any = None

    @property
    def is_over(self) -> bool:
        """Returns whether the match has ended, and only awaits its archiving."""
        return self.verdict is not None

    @property
    def queue(self) -> str:
        """Returns the name of the queue in which its bots have waited for it."""
        return keys.queue_name(self.game, self.contest)

    @property
    def places(self) -> list[tuple[str, str]]:
        """Returns (bot, place) for each seat that is not empty."""
        return [(seat.bot, seat.place) for seat in self.seats if seat.place is not None]

    @property
    def nodes(self) -> set[str]:
        """Returns the nodes at which its bots sit."""
        return {node_of(place) for _, place in self.places}


_DOCUMENT = msgspec.json.Decoder(Seating)


def seatings(store: MatchStore, match_ids: Iterable[str]) -> dict[str, Seating]:
    """Returns match -> who sits in it, for those that Redis holds and of which this can be read. Raises Unavailable."""
    found, rest = dict[str, Seating](), iter(match_ids)
    while some := list(itertools.islice(rest, TOGETHER)):
        for match_id, document in store.documents(some):
            with suppress(msgspec.DecodeError):
                found[match_id] = _DOCUMENT.decode(document)
    return found


def has_seat(store: MatchStore, bot: str, game: str, contest: str) -> bool:
    """Returns whether the bot has a seat in a live match of the contest. Raises Unavailable.

    Knows of the bot's empty seats and of its newest match, in which nobody may have noticed yet that it is gone.
    """
    with redis_errors():
        pipeline = store.client.pipeline(transaction=False)
        pipeline.smembers(keys.empty_seats(bot))
        pipeline.get(keys.newest(bot))
        answers: Any = pipeline.execute()
    empty, newest = answers
    found = seatings(store, {*texts(empty), *texts([newest] if newest else [])})
    return any(
        not one.is_over and (one.game, one.contest) == (game, contest) and any(seat.bot == bot for seat in one.seats)
        for one in found.values()
    )
