"""Plays the first valid turn: the first free space, the leftmost open column, the smallest number."""

from __future__ import annotations

from battlebot.client import Bot
from battlebot.client.bot import State, Turn
from battlebot.client.samples.play import main
from battlebot.client.samples.turns import possible_turns


class FirstFree(Bot):
    """Plays connectfour, gomoku, noughtsandcrosses and numberwang."""

    def choose(self, state: State) -> Turn:
        """The first valid turn."""
        return possible_turns(self.game, state, self.bot_id)[0]


if __name__ == "__main__":
    main(FirstFree)
