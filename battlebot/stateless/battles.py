"""Battles: matches of stateless bots that whoever asks for them names, with their addresses. None of them is rated."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

import structlog

from battlebot.arena import keys
from battlebot.arena.bus import Bus
from battlebot.arena.conduct import Conductor
from battlebot.arena.following import Follower
from battlebot.arena.making import STATELESS_PLACE, begin, new_match
from battlebot.config import Settings
from battlebot.errors import BadAddress, BadMessage
from battlebot.referee.events import Reconfigured
from battlebot.referee.match import Match
from battlebot.rules.contract import Game

log = structlog.get_logger()


class Addresses(Protocol):
    """What knows which addresses can be asked."""

    def check(self, address: str) -> None:
        """Raises BadAddress."""


@dataclass
class Battles:
    """`ask_bots(match_id)` has a match's stateless bots asked; it does not raise. `archived`: as a Follower has it."""

    registry: Mapping[str, Game]
    settings: Settings
    conductor: Conductor
    bus: Bus
    addresses: Addresses
    ask_bots: Callable[[str], None]
    archived: Callable[[str], Mapping[str, Any] | None]
    now_s: Callable[[], float] = time.time

    def begin(self, game_name: str, players: Sequence[tuple[str, str]], options: Mapping[str, Any]) -> Match:
        """Begins a match of these (name, address), in this order. Answers it at its beginning.

        Raises UnknownGame, BadMessage with a sentence for options and players that do not go together, BadAddress.
        """
        game = self.registry[game_name]
        names = [name for name, _ in players]
        problem = game.objection(names, game.options_with_defaults(options))
        if problem is not None:
            raise BadMessage(problem)
        for name, address in players:
            try:
                self.addresses.check(address)
            except BadAddress as error:
                error.details["player"] = name
                raise
        seats = [(name, STATELESS_PLACE) for name in names]
        made = new_match(
            game, seats, self.settings, self.now_s(), options=options, addresses=dict(players), rated=False
        )
        begin(self.conductor.store, game, made, keys.queue_name(game.name, None))
        log.info("match.begun", match=made.id, game=game.name, players=names)
        self.ask_bots(made.id)
        return made

    def find(self, match_id: str) -> Match:
        """A match that is being played, or was a moment ago. Raises UnknownMatch, Unavailable."""
        return self.conductor.store.load(match_id)

    def reconfigure(self, match_id: str, options: Mapping[str, Any]) -> bool:
        """Changes the options of a match that goes on; False where they cannot be.

        Raises UnknownMatch, Unavailable, BadMessage for an option that the game does not have, or of another kind.
        """
        match = self.conductor.store.load(match_id)
        self.registry[match.game].options_with_defaults(options)
        return self.conductor.conduct(match, Reconfigured(dict(options))).match.version > match.version

    def follow(
        self, match: Match, is_wanted: Callable[[], bool] = lambda: True
    ) -> Iterator[tuple[dict[str, Any], int]]:
        """Every state of a match from its beginning, as a viewer may see it, and its version; ends with the match.

        Waits for what has not happened yet, and for Redis, as long as it is wanted. Raises UnknownMatch if it is lost.
        """
        follower = Follower(self.registry[match.game], self.conductor.store, self.bus, self.archived)
        return follower.states(match, is_wanted)
