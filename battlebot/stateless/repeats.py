"""Published answers that may belong to an earlier question to the same bot in the same match, which is all that their
subject says: it is the event that tells. Pure; what a valid turn is, the game says.
"""

from __future__ import annotations

from collections.abc import Mapping
from enum import Enum
from typing import Any

Event = Mapping[str, Any]

# what a challenge led to, and whether the event names the one who was challenged
CHALLENGES = {"PHONY_TILES_RETURNED": True, "CHALLENGE_BONUS": True, "UNSUCCESSFUL_CHALLENGE_TURN_LOSS": False}
TURNS = ("TILE_PLACEMENT_MOVE", "EXCHANGE", "PASS")


class Mark(Enum):
    """What a published event is to the question that is open.

    UNSURE could be its answer as well as an earlier one's; DOUBTFUL as well as the last one's, which is the likelier.
    """

    ANSWER = "answer"
    REPEAT = "repeat"
    UNSURE = "unsure"
    DOUBTFUL = "doubtful"


def mark_of(event: Event, state: Mapping[str, Any], own: int, valid: bool) -> Mark:
    """What the event is to player `own` (0 or 1), who is sent `state`; `valid`: it would be a valid turn now.

    A repeat names a rack that is not held now, or is one of the bot's own turns and not valid. One that is valid and
    the same as an own turn can only be told by what comes after it.
    """
    rack = sorted(event.get("rack", ""))
    if rack and rack != sorted(state["racks"][own]):
        return Mark.REPEAT
    turns = [turn for told in state["events"] if (turn := _turn_of(told, own)) is not None]
    # a bot that says which rack it moves from means no turn that was made from another
    alike = [_same(event, turn) and (not rack or rack == sorted(turn.get("rack") or rack)) for turn in turns]
    if not valid:
        return Mark.REPEAT if any(alike) else Mark.ANSWER
    if not any(alike):
        return Mark.ANSWER
    return Mark.DOUBTFUL if alike[-1] else Mark.UNSURE


def _turn_of(told: Event, own: int) -> Event | None:
    """The turn of player `own` that led to an event of the history; None for what it has not sent."""
    kind, player = told["type"], told["player_index"]
    if kind in TURNS:
        return told if player == own else None
    if kind not in CHALLENGES:
        return None
    of_other = CHALLENGES[kind]
    if (player == own) == of_other:
        return None
    return {"type": "CHALLENGE", "rack": "" if of_other else told.get("rack", "")}


def _same(event: Event, turn: Event) -> bool:
    if event.get("type") != turn["type"]:
        return False
    if turn["type"] == "TILE_PLACEMENT_MOVE":
        where = str(event.get("position", "")).upper()
        return (where, event.get("played_tiles")) == (turn["position"], turn["played_tiles"])
    if turn["type"] == "EXCHANGE":
        return sorted(event.get("exchanged", "")) == sorted(turn["exchanged"])
    return True
