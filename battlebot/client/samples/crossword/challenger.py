"""Plays like the greedy bot, but sometimes plays phonies (non-words) and sometimes challenges without cause."""

from __future__ import annotations

import argparse
import random
from collections.abc import Callable, Mapping
from typing import Any

from battlebot.client import Bot
from battlebot.client.bot import State, Turn
from battlebot.client.samples.crossword import greedy
from battlebot.client.samples.crossword.position import Event, position_of
from battlebot.client.samples.crossword.tables import EMPTY
from battlebot.client.samples.crossword.wordgraph import graph_of
from battlebot.client.samples.play import arguments, main
from battlebot.wire.macondo.history import history_of

TRIES = 20


class Challenger(Bot):
    """Plays crossword. `phonies` and `challenges` are the chances of a phony and of a challenge without cause."""

    def __init__(self, phonies: float = 0.3, challenges: float = 0.2, seed: int | None = None) -> None:
        self.phonies, self.challenges = phonies, challenges
        self.random = random.Random(seed)

    def choose(self, state: State) -> Turn:
        """Decide on the history made from the state."""
        return self.decide(history_of(state, self.match.id))

    def decide(self, history: Mapping[str, Any]) -> Event:
        """The event that answers a history."""
        position = position_of(history)
        event = greedy.decide(history)
        if position.void:
            return event
        if position.open_words and self.random.random() < self.challenges:
            return {"type": "CHALLENGE"}
        if event["type"] != "TILE_PLACEMENT_MOVE" or self.random.random() >= self.phonies:
            return event
        return {**event, "played_tiles": self._phony(event["played_tiles"], graph_of(position.lexicon))}

    def _phony(self, tiles: str, graph: Any) -> str:
        """The same tiles on the same squares in an order that is no word; unchanged if none is found in TRIES."""
        laid = [tile for tile in tiles if tile != EMPTY]
        for _ in range(TRIES):
            self.random.shuffle(laid)
            rest = iter(laid)
            mixed = "".join(EMPTY if tile == EMPTY else next(rest) for tile in tiles)
            # a play through tiles on the board is hardly ever a word
            if EMPTY in mixed or mixed.upper() not in graph:
                return mixed
        return tiles


def decider() -> Callable[[Mapping[str, Any]], Event]:
    """The decision function of a new Challenger, for a stateless bot."""
    return Challenger().decide


def _bot(options: argparse.Namespace) -> Challenger:
    return Challenger(options.phonies, options.challenges, options.seed)


if __name__ == "__main__":
    parser = arguments("crossword.challenger", games=["crossword"])
    parser.set_defaults(game="crossword")
    parser.add_argument("--phonies", type=float, default=0.3, help="chance of a play that is no word")
    parser.add_argument("--challenges", type=float, default=0.2, help="chance of a challenge without a cause")
    parser.add_argument("--seed", type=int, help="the same chances again")
    main(_bot, parser)
