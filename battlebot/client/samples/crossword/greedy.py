"""Plays for the highest score plus the value of the tiles kept; challenges every word that is not in the list."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from itertools import combinations
from typing import Any

from battlebot.client import Bot
from battlebot.client.bot import State, Turn
from battlebot.client.samples.crossword.generator import Play, all_plays, plays_by_line
from battlebot.client.samples.crossword.leaves import without as left
from battlebot.client.samples.crossword.leaves import worth
from battlebot.client.samples.crossword.position import Event, Position, position_of
from battlebot.client.samples.crossword.tables import BLANK, RACK, points
from battlebot.client.samples.crossword.wordgraph import WordGraph, graph_of
from battlebot.client.samples.play import arguments, main
from battlebot.wire.macondo.history import history_of

BUDGET_S = 0.2  # for plays with blanks; two blanks could take seconds
EXCHANGE_COSTS = 12.0  # about what a play would have scored


def decide(history: Mapping[str, Any]) -> Event:
    """The event that answers a history: the whole bot."""
    position = position_of(history)
    graph = graph_of(position.lexicon)
    if not position.void and any(word not in graph for word in position.open_words):
        return {"type": "CHALLENGE"}
    if position.final:
        return {"type": "PASS"}
    return best_event(graph, position)


def best_event(graph: WordGraph, position: Position) -> Event:
    """A play, or an exchange if that promises more, or a pass if there is nothing else."""
    play = best_play(graph, position)
    if position.bag >= RACK:
        kept = best_leave(position.rack)
        if play is None or worth(kept) - EXCHANGE_COSTS > value(play, position):
            return {"type": "EXCHANGE", "exchanged": left(position.rack, kept)}
    if play is None:
        return {"type": "PASS"}
    return {"type": "TILE_PLACEMENT_MOVE", "position": play.position, "played_tiles": play.tiles}


def best_play(graph: WordGraph, position: Position) -> Play | None:
    """The play of the highest value, or None. Ties are broken deterministically."""
    until_s = time.monotonic() + BUDGET_S
    plays = all_plays(graph, position.board, position.rack.replace(BLANK, ""))
    if BLANK in position.rack:
        for more in plays_by_line(graph, position.board, position.rack, thrifty=True):
            plays += more
            if time.monotonic() > until_s:
                break
    return max(plays, key=lambda play: (value(play, position), play), default=None)


def value(play: Play, position: Position) -> float:
    """The score plus the value of the tiles kept; with an empty bag tiles kept cost points and going out earns some."""
    kept = left(position.rack, play.used)
    if position.bag:
        return play.score + worth(kept)
    return play.score + (10 if not kept else -2 * points(kept))


def best_leave(rack: str) -> str:
    """The tiles of a rack to keep when exchanging the others."""
    leaves = ("".join(kept) for count in range(RACK) for kept in combinations(sorted(rack), count))
    return max(leaves, key=lambda kept: (worth(kept), len(kept)))


def decider() -> Callable[[Mapping[str, Any]], Event]:
    """The decision function, for a stateless bot."""
    return decide


class Greedy(Bot):
    """Plays crossword."""

    def choose(self, state: State) -> Turn:
        """Decide on the history made from the state."""
        return decide(history_of(state, self.match.id))


if __name__ == "__main__":
    parser = arguments("crossword.greedy", games=["crossword"])
    parser.set_defaults(game="crossword")
    main(Greedy, parser)
