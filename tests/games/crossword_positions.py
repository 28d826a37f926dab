"""Positions of the crossword game for its tests: racks, bag and rule as a test needs them; turns in short notation."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from games import crossword
from games.crossword.board import ALL_TILES, without

State = dict[str, Any]

PLAYERS = ["Ada", "Ben"]


def a_state(racks: tuple[str, str], bag: str | None = None, rule: str = "DOUBLE", **changes: Any) -> State:
    """Returns a match before its first turn with these racks; the bag holds the other tiles, in alphabetical order."""
    rest = ALL_TILES
    for rack in racks:
        left = without(rest, rack)
        assert left is not None, "there are not so many of a tile"
        rest = left
    bag = rest if bag is None else bag
    state = crossword.initial_state(PLAYERS, 1, {"challengeRule": rule, "lexicon": "enable1"})
    return {**state, "racks": list(racks), "bag": bag, "bagCount": len(bag), **changes}


def turn_of(text: str) -> dict[str, Any]:
    """Returns the turn for `8D HELLO`, `- QV` (an exchange), `pass` or `challenge`."""
    if text in ("pass", "challenge"):
        return {"type": text.upper()}
    place, tiles = text.split()
    if place == "-":
        return {"type": "EXCHANGE", "exchanged": tiles}
    return {"type": "TILE_PLACEMENT_MOVE", "position": place, "played_tiles": tiles}


def played(state: State, *turns: str) -> State:
    """Returns the state after the turns, each by the player on turn; an invalid one fails the test."""
    for text in turns:
        turn = {**turn_of(text), "player": state["nextPlayer"]}
        assert crossword.validate(state, turn), f"{text}: {crossword.explain(state, turn)}"
        state = crossword.reducer(state, turn)
    return state


def refusal(state: State, text: str) -> str:
    """Returns why a turn of the player on turn is not valid."""
    turn = {**turn_of(text), "player": state["nextPlayer"]}
    assert not crossword.validate(state, turn)
    return crossword.explain(state, turn)


def told(events: Iterable[dict[str, Any]]) -> list[tuple[str, str, int]]:
    """Returns the events in short: type, player, the score after it."""
    return [(event["type"], PLAYERS[event["player_index"]], event["cumulative"]) for event in events]
