"""Legal turns for random play: variations of a game's `exampleTurn`, unless `GENERATORS` has something better."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from random import Random
from typing import Any

from battlebot.rules.contract import Game, State, Turn
from games.battlecube.tasks import AXES, STEPS

TRIES = 2000


def _crossword(state: State, player: str, random: Random) -> Iterator[Turn]:
    """Yields plays of random tiles of the rack at random positions, mostly no words; challenges, exchanges, passes."""
    rack, board = state["racks"][state["players"].index(player)], state["board"]
    kind = random.random()
    if kind < 0.2:
        yield {"type": "CHALLENGE"}
    if kind > 0.9 and rack:
        yield {"type": "EXCHANGE", "exchanged": "".join(random.sample(rack, random.randint(1, len(rack))))}
    for _ in range(TRIES if rack and kind < 0.95 else 0):
        down, count = random.random() < 0.5, random.randint(1, min(4, len(rack)))
        row, column = random.randrange(15), random.randrange(15)
        tiles, played = random.sample(rack, count), ""
        line = board[row][column:] if not down else "".join(one[column] for one in board)[row:]
        for square in line:
            if square == "." and not tiles:
                break
            tile = tiles.pop().replace("?", random.choice("aeinrst")) if square == "." else "."
            played += tile
        position = f"{'ABCDEFGHIJKLMNO'[column]}{row + 1}" if down else f"{row + 1}{'ABCDEFGHIJKLMNO'[column]}"
        yield {"type": "TILE_PLACEMENT_MOVE", "position": position, "played_tiles": played}
    yield {"type": "PASS"}


def _battlecube(state: State, player: str, random: Random) -> Iterator[Turn]:
    """Yields moves mostly, some bombs, and now and then nothing."""

    def task() -> dict[str, Any]:
        kind = random.random()
        if kind < 0.7:
            return {"task": "MOVE", "direction": random.choice(list(STEPS))}
        bomb = {axis: random.randrange(state["edgeLength"]) for axis in AXES}
        return {"task": "PLACE_BOMB", **bomb} if kind < 0.9 else {"task": "NOOP"}

    yield {"tasks": [task() for _ in range(state["numOfTasksPerTick"])]}


# game -> candidates for the bot on turn, without "player"; they need not all be legal
GENERATORS: dict[str, Callable[[State, str, Random], Iterator[Turn]]] = {
    "numberwang": lambda state, player, random: iter(
        [{"n": random.choice([0, 1, -1, random.randint(-9, 9), random.uniform(-5, 5)])}]
    ),
    "crossword": _crossword,
    "battlecube": _battlecube,
}


def legal_turn(game: Game, state: State, player: str, random: Random) -> Turn:
    """Returns a turn that `player` may make now, with "player" set. Fails the test if none is found."""
    generator = GENERATORS.get(game.name)
    for candidate in generator(state, player, random) if generator else _variations(game, state, random):
        turn = {**candidate, "player": player}
        if game.validate(state, turn):
            return turn
    raise AssertionError(
        f"No legal turn of {game.name} was found for {player!r} in this state: {game.render(state)}\n"
        "Give the game an exampleTurn, or tests/games/turns.py a line in GENERATORS; "
        "or the game has a state that is not complete and in which nobody can move."
    )


def _variations(game: Game, state: State, random: Random) -> Iterator[Turn]:
    """Yields the example turn with other numbers (below the state's longest list) and other texts of the state.

    Often the example itself is the first; but it may always be legal, and a play of nothing else would show little.
    """
    if game.example_turn is None:
        return
    if random.random() < 0.5:
        yield dict(game.example_turn)
    texts, longest = _texts_and_longest(state)
    for _ in range(TRIES):
        yield _varied(dict(game.example_turn), sorted(texts), longest, random)
    yield dict(game.example_turn)


def _varied(value: Any, texts: list[str], longest: int, random: Random) -> Any:
    if isinstance(value, dict):
        return {key: _varied(item, texts, longest, random) for key, item in value.items()}
    if isinstance(value, list):
        return [_varied(item, texts, longest, random) for item in value]
    if isinstance(value, bool):
        return random.random() < 0.5
    if isinstance(value, int):
        return random.choice([random.randrange(longest), random.randint(value - 3, value + 3)])
    return random.choice([value, *texts]) if isinstance(value, str) else value


def _texts_and_longest(value: Any) -> tuple[set[str], int]:
    if isinstance(value, str):
        return {value}, 1
    if not isinstance(value, dict | list):
        return set(), 1
    items = [*value.keys(), *value.values()] if isinstance(value, dict) else value
    inner = [_texts_and_longest(item) for item in items]
    length = len(value) if isinstance(value, list) else 1
    return set().union(*(texts for texts, _ in inner)), max([1, length, *(size for _, size in inner)])
