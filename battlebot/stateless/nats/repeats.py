"""Tells from its event whether a published answer belongs to the open question or to an earlier one.

The subject only identifies the bot and the match. Pure; the game says what a valid turn is.
"""

from __future__ import annotations

from collections.abc import Mapping
from enum import Enum
from typing import Any

Event = Mapping[str, Any]

# outcomes of a challenge, and whether the event names the player who was challenged
CHALLENGES = {"PHONY_TILES_RETURNED": True, "CHALLENGE_BONUS": True, "UNSUCCESSFUL_CHALLENGE_TURN_LOSS": False}
TURNS = ("TILE_PLACEMENT_MOVE", "EXCHANGE", "PASS")


class EventMark(Enum):
    """How a published event relates to the open question.

    UNSURE: answers this question or an older one. DOUBTFUL: probably repeats the previous answer.
    """

    ANSWER = "answer"
    REPEAT = "repeat"
    UNSURE = "unsure"
    DOUBTFUL = "doubtful"


def mark_of(event: Event, state: Mapping[str, Any], own: int, valid: bool) -> EventMark:
    """Classifies an event of player `own` (0 or 1), who was sent `state`; `valid`: it would be a valid turn now.

    A repeat names a rack that the player no longer holds, or equals one of its earlier turns and is not valid. If it
    equals one and is valid, only later messages can tell.
    """
    rack = sorted(event.get("rack", ""))
    if rack and rack != sorted(state["racks"][own]):
        return EventMark.REPEAT
    turns = [turn for told in state["events"] if (turn := _turn_of(told, own)) is not None]
    # a bot that names its rack does not mean a turn that was made from another
    alike = [_same(event, turn) and (not rack or rack == sorted(turn.get("rack") or rack)) for turn in turns]
    if not valid:
        return EventMark.REPEAT if any(alike) else EventMark.ANSWER
    if not any(alike):
        return EventMark.ANSWER
    return EventMark.DOUBTFUL if alike[-1] else EventMark.UNSURE


def _turn_of(told: Event, own: int) -> Event | None:
    """The turn of player `own` that led to an event of the history; None if it sent none for it."""
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
