"""Plays as the greedy bot does, but now and then what is no word, and challenges now and then what may be one."""

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
    """For crossword. `phonies` and `challenges` are the chances of a play that is no word, and of a wild challenge."""

    def __init__(self, phonies: float = 0.3, challenges: float = 0.2, seed: int | None = None) -> None:
        self.phonies, self.challenges = phonies, challenges
        self.random = random.Random(seed)

    def choose(self, state: State) -> Turn:
        """What it decides on the history that the state tells."""
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
        """The same tiles on the same squares in another order, if there is one that is no word."""
        laid = [tile for tile in tiles if tile != EMPTY]
        for _ in range(TRIES):
            self.random.shuffle(laid)
            rest = iter(laid)
            mixed = "".join(EMPTY if tile == EMPTY else next(rest) for tile in tiles)
            # where it runs through tiles it is hardly ever a word
            if EMPTY in mixed or mixed.upper() not in graph:
                return mixed
        return tiles


def decider() -> Callable[[Mapping[str, Any]], Event]:
    """The deciding function of a challenger, for a stateless bot."""
    return Challenger().decide


def _bot(options: argparse.Namespace) -> Challenger:
    return Challenger(options.phonies, options.challenges, options.seed)


if __name__ == "__main__":
    parser = arguments("challenger", games=["crossword"])
    parser.set_defaults(game="crossword")
    parser.add_argument("--phonies", type=float, default=0.3, help="chance of a play that is no word")
    parser.add_argument("--challenges", type=float, default=0.2, help="chance of a challenge without a cause")
    parser.add_argument("--seed", type=int, help="the same chances again")
    main(_bot, parser)
