"""Plays at random and sometimes breaks the rules: about one turn in six is invalid, one in two right after such a turn.

Three invalid turns lose a match, so this bot loses some of them by strikes.
"""

from __future__ import annotations

import random

from battlebot.client.bot import State, Turn
from battlebot.client.samples.play import main
from battlebot.client.samples.random_player import RandomPlayer


class Illegal(RandomPlayer):
    """Plays connectfour, gomoku, noughtsandcrosses and numberwang."""

    chance = 1 / 6
    chance_again = 1 / 2

    def __init__(self) -> None:
        self.invalid = False

    def choose(self, state: State) -> Turn:
        """A random valid turn, or one that no game accepts."""
        self.invalid = random.random() < (self.chance_again if self.invalid else self.chance)
        return {"oops": True} if self.invalid else super().choose(state)


if __name__ == "__main__":
    main(Illegal)
