"""Racks and the bag. All randomness comes from the match's seed and the number of its events."""

from __future__ import annotations

from random import Random
from typing import Any

from games.crossword.board import RACK

State = dict[str, Any]


def with_rack(state: State, player: int, rack: str) -> State:
    """Returns the state with another rack for a player (0 or 1)."""
    racks = list(state["racks"])
    racks[player] = rack
    return {**state, "racks": racks}


def drawn(state: State, player: int) -> State:
    """Fills the player's rack up to seven tiles from the front of the bag, as far as it lasts."""
    rack, bag = state["racks"][player], state["bag"]
    missing = RACK - len(rack)
    after = with_rack(state, player, rack + bag[:missing])
    return {**after, "bag": bag[missing:], "bagCount": len(bag[missing:])}


def put_back(state: State, tiles: str) -> State:
    """Puts those tiles back into the bag and shuffles it."""
    bag = list(state["bag"] + tiles)
    Random(f"{state['seed']}/{len(state['events'])}").shuffle(bag)  # noqa: S311 - it must repeat itself
    return {**state, "bag": "".join(bag), "bagCount": len(bag)}
