"""The ways in which a match ends, and what the racks that are left count."""

from __future__ import annotations

from typing import Any

from games.crossword.board import points
from games.crossword.events import added, event

State = dict[str, Any]


def after_last_play(state: State, last: int) -> State:
    """Nothing follows the last play, that of player `last`: it has gone out, or it was a sixth scoreless turn."""
    return after_scoreless(state) if state["racks"][last] else after_going_out(state, last)


def after_going_out(state: State, out: int) -> State:
    """The player `out` holds nothing more: it gets twice what the other holds, and the match is over."""
    rack = state["racks"][1 - out]
    told = event(state, "END_RACK_PTS", out, rack=rack, end_rack_points=2 * points(rack))
    return _over(added(state, told))


def after_scoreless(state: State) -> State:
    """Six scoreless turns in a row: each loses what it holds, and the match is over."""
    for player, rack in enumerate(state["racks"]):
        state = added(state, event(state, "END_RACK_PENALTY", player, rack=rack, lost_score=points(rack)))
    return _over(state)


def won_by(state: State, player: int) -> State:
    """The other player has lost by a challenge under the rule TRIPLE, whatever the scores are."""
    return {**_over(state), "victor": state["players"][player]}


def _over(state: State) -> State:
    first, second = state["scores"]
    victor = None if first == second else state["players"][0 if first > second else 1]
    return {
        **state,
        "complete": True,
        "victor": victor,
        "reason": "complete",
        "playState": "GAME_OVER",
        "lastPlay": None,
    }
