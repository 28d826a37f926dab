"""Battles: unrated matches of stateless bots whose names and addresses come with the request."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import structlog

from battlebot.arena.live.conduct import Conductor
from battlebot.arena.live.following import Follower, Origin, StoredMatches, origin_of
from battlebot.arena.live.making import begin, new_match
from battlebot.arena.places import STATELESS_PLACE
from battlebot.config import Settings
from battlebot.errors import BadAddress, BadMessage, UnknownMatch
from battlebot.redisio import keys
from battlebot.redisio.bus import Bus
from battlebot.referee.events import Reconfigured
from battlebot.referee.match import Match
from battlebot.rules.contract import RAISED_OUTSIDE
from battlebot.runtime import sharedtime
from battlebot.stateless.asking import Askers

log = structlog.get_logger()


@dataclass
class Battles:
    """Their matches are those of the `conductor`, which has their bots asked."""

    settings: Settings
    conductor: Conductor
    bus: Bus
    askers: Askers
    archive: StoredMatches

    def begin(self, game_name: str, players: Sequence[tuple[str, str]], options: Mapping[str, Any]) -> Match:
        """Begins a match of these (name, address) players, in this order; returns it as it began.

        Raises UnknownGame, BadMessage with a sentence if options and players do not fit, BadAddress, Unavailable.
        """
        self.check(game_name, players, options)
        game = self.conductor.registry[game_name]
        seats = [(name, STATELESS_PLACE) for name, _ in players]
        now_s = sharedtime.now_s()
        made = new_match(game, seats, self.settings, now_s, options=options, addresses=dict(players), rated=False)
        begin(self.conductor.store, game, made, keys.queue_name(game.name, None))
        log.info("match.begun", match=made.id, game=game.name, players=[name for name, _ in players])
        self.conductor.ask_bots(made.id)
        return made

    def check(self, game_name: str, players: Sequence[tuple[str, str]], options: Mapping[str, Any]) -> None:
        """Raises what `begin` would if it refuses the match; begins nothing."""
        game = self.conductor.registry[game_name]
        names = [name for name, _ in players]
        values = game.options_with_defaults(options)
        try:
            problem = game.objection(names, values)
        except RAISED_OUTSIDE as error:
            log.exception("game.failed", game=game.name, function="objection")
            problem = f"The game cannot say whether these players may start: its code fails ({type(error).__name__})"
        if problem is not None:
            raise BadMessage(problem)
        for name, address in players:
            try:
                self.askers.check(address)
            except BadAddress as error:
                error.details["player"] = name
                raise

    def find(self, game_name: str, match_id: str) -> Origin:
        """Returns a match of this game that is live or has just ended. Raises UnknownMatch, Unavailable."""
        match = origin_of(self.conductor.store, match_id)
        if match.game != game_name:
            raise UnknownMatch(f"There is no live match {match_id[:64]} of {game_name}.")
        return match

    def reconfigure(self, match_id: str, options: Mapping[str, Any]) -> bool:
        """Changes the options of a running match; returns False if they cannot be changed.

        Raises UnknownMatch, Unavailable, BadMessage for an option that the game does not have or that has a wrong type.
        """
        match = self.conductor.store.load(match_id)
        self.conductor.registry[match.game].options_with_defaults(options)
        return self.conductor.conduct(match, Reconfigured(dict(options))).match.version > match.version

    def follow(
        self, match: Match | Origin, is_wanted: Callable[[], bool] = lambda: True
    ) -> Iterator[tuple[dict[str, Any], int]]:
        """Yields each state of a match from its beginning, as viewers may see it, and its version; ends with the match.

        Waits for further states, and for Redis, while `is_wanted()`, which is called before each look. Raises
        UnknownMatch if the match is lost.
        """
        follower = Follower(self.conductor.registry[match.game], self.conductor.store, self.bus, self.archive)
        return follower.states(match, is_wanted)
