"""Plays valid turns at random, each with equal probability."""

from __future__ import annotations

import random

from battlebot.client import Bot
from battlebot.client.bot import State, Turn
from battlebot.client.samples.play import main
from battlebot.client.samples.turns import possible_turns


class RandomPlayer(Bot):
    """Plays connectfour, gomoku, noughtsandcrosses and numberwang."""

    def choose(self, state: State) -> Turn:
        """A random valid turn."""
        return random.choice(possible_turns(self.game, state, self.bot_id))


if __name__ == "__main__":
    main(RandomPlayer)
