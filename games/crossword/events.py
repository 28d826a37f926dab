"""The events of a match: dicts with the field names of Macondo's GameEvent. Zero and empty fields are left out."""

from __future__ import annotations

from typing import Any

State = dict[str, Any]
Event = dict[str, Any]

GAINS = ("score", "bonus", "end_rack_points")


def event(state: State, kind: str, player: int, **fields: Any) -> Event:
    """Returns an event of that type for a player (0 or 1), with the player's score after it as `cumulative`."""
    gain = sum(fields.get(name, 0) for name in GAINS) - fields.get("lost_score", 0)
    told = {name: value for name, value in fields.items() if value or name in ("score", "row", "column")}
    return {"type": kind, "player_index": player, "cumulative": state["scores"][player] + gain, **told}


def added(state: State, told: Event) -> State:
    """Returns the state with the event appended and its score applied."""
    scores = list(state["scores"])
    scores[told["player_index"]] = told["cumulative"]
    return {**state, "events": [*state["events"], told], "scores": scores}
