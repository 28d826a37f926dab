"""Plays at random after a delay: `--delay 0.05 0.2` gives the shortest and the longest, in seconds."""

from __future__ import annotations

import random
import time

from battlebot.client.bot import State, Turn
from battlebot.client.samples.play import arguments, main
from battlebot.client.samples.random_player import RandomPlayer


class Slow(RandomPlayer):
    """Plays connectfour, gomoku, noughtsandcrosses and numberwang."""

    def __init__(self, shortest_s: float = 0.05, longest_s: float = 0.2) -> None:
        self.shortest_s, self.longest_s = shortest_s, longest_s

    def choose(self, state: State) -> Turn:
        """A random valid turn, after the delay."""
        time.sleep(random.uniform(self.shortest_s, self.longest_s))
        return super().choose(state)


if __name__ == "__main__":
    parser = arguments("slow")
    parser.add_argument("--delay", nargs=2, type=float, default=(0.05, 0.2), metavar=("SHORTEST", "LONGEST"))
    main(lambda options: Slow(*options.delay), parser)
