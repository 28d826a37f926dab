"""Published answers that may belong to an earlier question of their match: its id is all that their subject says, so
it is the event that tells. Pure; what a valid turn is, the game says.
"""

from __future__ import annotations

from collections.abc import Mapping
from enum import Enum
from typing import Any

Event = Mapping[str, Any]

# whose challenge an event tells of: that of the player it names, or of the other one
CHALLENGES = {"PHONY_TILES_RETURNED": 1, "CHALLENGE_BONUS": 1, "UNSUCCESSFUL_CHALLENGE_TURN_LOSS": 0}
TURNS = ("TILE_PLACEMENT_MOVE", "EXCHANGE", "PASS")


class Mark(Enum):
    """What a published event is to the question that is open: UNSURE could be its answer as well as the last one's."""

    ANSWER = "answer"
    REPEAT = "repeat"
    UNSURE = "unsure"


def mark_of(event: Event, state: Mapping[str, Any], own: int, valid: bool) -> Mark:
    """What the event is to player `own` (0 or 1), who is sent `state`; `valid`: it would be a valid turn now.

    A repeat has the rack of an earlier turn; or it is an earlier turn, of either player as two bots may share a
    program, and not valid. One that is valid and the same as a last turn can only be told by what comes after it.
    """
    rack, held = sorted(event.get("rack", "")), sorted(state["racks"][own])
    turns = [turn for told in state["events"] if (turn := _turn_of(told)) is not None]
    if rack and rack != held and any(rack == sorted(turn.get("rack", "")) for turn in turns):
        return Mark.REPEAT
    # a bot that says which rack it moves from means no turn that was made from another
    alike = [_same(event, turn) and _from_rack(rack, turn, own) for turn in turns]
    if not valid:
        return Mark.REPEAT if any(alike) else Mark.ANSWER
    last = {turn["player_index"]: same for turn, same in zip(turns, alike, strict=True)}
    return Mark.UNSURE if any(last.values()) else Mark.ANSWER


def _turn_of(told: Event) -> Event | None:
    """The turn that led to an event of the history; None for what nobody has sent."""
    kind, player = told["type"], told["player_index"]
    if kind in TURNS:
        return told
    if kind not in CHALLENGES:
        return None
    other = CHALLENGES[kind]
    rack = "" if other else told.get("rack", "")
    return {"type": "CHALLENGE", "player_index": 1 - player if other else player, "rack": rack}


def _same(event: Event, turn: Event) -> bool:
    if event.get("type") != turn["type"]:
        return False
    if turn["type"] == "TILE_PLACEMENT_MOVE":
        where = str(event.get("position", "")).upper()
        return (where, event.get("played_tiles")) == (turn["position"], turn["played_tiles"])
    if turn["type"] == "EXCHANGE":
        given = event.get("exchanged", "")
        # of the other player's tiles the history tells how many they were
        return sorted(given) == sorted(turn.get("exchanged", given)) and len(given) == turn["num_tiles_from_rack"]
    return True


def _from_rack(rack: list[str], turn: Event, own: int) -> bool:
    """Whether the turn can have been made from the rack that the event names, if it names one."""
    if not rack:
        return True
    if turn["player_index"] != own:
        return False
    return rack == sorted(turn.get("rack") or rack)
