"""The ways in which a match ends, and the points for tiles left on racks."""

from __future__ import annotations

from typing import Any

from games.crossword.board import points
from games.crossword.events import added, event

State = dict[str, Any]


def after_last_play(state: State, last: int) -> State:
    """Ends the match after the last play, by player `last`, who went out or made the sixth scoreless turn."""
    return after_scoreless(state) if state["racks"][last] else after_going_out(state, last)


def after_going_out(state: State, out: int) -> State:
    """Ends the match: the player `out` has no tiles left and gets twice the points of the other's rack."""
    rack = state["racks"][1 - out]
    told = event(state, "END_RACK_PTS", out, rack=rack, end_rack_points=2 * points(rack))
    return _over(added(state, told))


def after_scoreless(state: State) -> State:
    """Ends the match after six scoreless turns in a row: each player loses the points of its rack."""
    for player, rack in enumerate(state["racks"]):
        state = added(state, event(state, "END_RACK_PENALTY", player, rack=rack, lost_score=points(rack)))
    return _over(state)


def won_by(state: State, player: int) -> State:
    """Ends the match: the other player lost a challenge under the rule TRIPLE, whatever the scores are."""
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
