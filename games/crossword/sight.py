"""What a player may see: its own rack, no bag. Once the match is over everybody sees everything."""

from __future__ import annotations

from typing import Any

State = dict[str, Any]

HIDDEN = ("seed", "bag")
SECRETS = ("rack", "exchanged")


def seen_by(state: State, player: str | None) -> State:
    """Returns the state as a player or viewer (None) may see it; `rackCounts` says how many tiles each player holds."""
    counts = [len(rack) for rack in state["racks"]]
    if state["complete"]:
        return {**state, "rackCounts": counts}
    own = state["players"].index(player) if player in state["players"] else None
    return {
        **{key: value for key, value in state.items() if key not in HIDDEN},
        "racks": [rack if number == own else "" for number, rack in enumerate(state["racks"])],
        "rackCounts": counts,
        "events": [told if told["player_index"] == own else without_secrets(told) for told in state["events"]],
    }


def without_secrets(told: dict[str, Any]) -> dict[str, Any]:
    """Returns an event or a turn without the tiles that only its player knows."""
    return {name: value for name, value in told.items() if name not in SECRETS}
