"""A random play of a game, turn by turn, for the tests in this folder."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from random import Random
from typing import Any

import pytest
from turns import legal_turn

from battlebot.rules.contract import Game, State, Turn

# numberwang may never end
MAX_TURNS = 400

Step = tuple[State, Turn | None]


@pytest.fixture(scope="session")
def random_play() -> Callable[..., Iterator[Step]]:
    """Returns a player of random games: it yields each state with the legal turn made in it, None for the last.

    Three play, if the game allows it.
    """

    def play(game: Game, seed: int, players: list[str] | None = None, **options: Any) -> Iterator[Step]:
        random = Random(seed)
        players = players or [f"bot {n}" for n in range(max(game.min_players, min(3, game.max_players)))]
        state = game.initial_state(players, seed, options)
        for _ in range(MAX_TURNS):
            awaited = game.awaited(state)
            if not awaited:
                break
            turn = legal_turn(game, state, random.choice(awaited), random)
            yield state, turn
            state = game.reducer(state, turn)
        yield state, None

    return play
