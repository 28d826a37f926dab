"""Plays the highest score, with an eye to the tiles that it keeps; challenges every word that is not in the list."""

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

BUDGET_S = 0.2  # for what blanks can do; two of them could take seconds
EXCHANGE_COSTS = 12.0  # what the turn would have scored, or nearly


def decide(history: Mapping[str, Any]) -> Event:
    """The event that answers a history: all that the bot is."""
    position = position_of(history)
    graph = graph_of(position.lexicon)
    if not position.void and any(word not in graph for word in position.open_words):
        return {"type": "CHALLENGE"}
    if position.final:
        return {"type": "PASS"}
    return best_event(graph, position)


def best_event(graph: WordGraph, position: Position) -> Event:
    """A play, or an exchange where that promises more, or a pass where there is nothing else."""
    play = best_play(graph, position)
    if position.bag >= RACK:
        kept = best_leave(position.rack)
        if play is None or worth(kept) - EXCHANGE_COSTS > value(play, position):
            return {"type": "EXCHANGE", "exchanged": left(position.rack, kept)}
    if play is None:
        return {"type": "PASS"}
    return {"type": "TILE_PLACEMENT_MOVE", "position": play.position, "played_tiles": play.tiles}


def best_play(graph: WordGraph, position: Position) -> Play | None:
    """The play of the highest value; None if there is none. Of equal ones always the same."""
    until_s = time.monotonic() + BUDGET_S
    plays = all_plays(graph, position.board, position.rack.replace(BLANK, ""))
    if BLANK in position.rack:
        for more in plays_by_line(graph, position.board, position.rack, thrifty=True):
            plays += more
            if time.monotonic() > until_s:
                break
    return max(plays, key=lambda play: (value(play, position), play), default=None)


def value(play: Play, position: Position) -> float:
    """Its score and what is kept; with an empty bag what is kept is lost, and what ends the match is worth it."""
    kept = left(position.rack, play.used)
    if position.bag:
        return play.score + worth(kept)
    return play.score + (10 if not kept else -2 * points(kept))


def best_leave(rack: str) -> str:
    """The tiles of a rack that are best kept when others are exchanged."""
    leaves = ("".join(kept) for count in range(RACK) for kept in combinations(sorted(rack), count))
    return max(leaves, key=lambda kept: (worth(kept), len(kept)))


def decider() -> Callable[[Mapping[str, Any]], Event]:
    """The deciding function, for a stateless bot."""
    return decide


class Greedy(Bot):
    """For crossword."""

    def choose(self, state: State) -> Turn:
        """What it decides on the history that the state tells."""
        return decide(history_of(state, self.match.id))


if __name__ == "__main__":
    parser = arguments("greedy", games=["crossword"])
    parser.set_defaults(game="crossword")
    main(Greedy, parser)
