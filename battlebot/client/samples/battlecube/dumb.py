"""Moves, bombs and waits at random, like the original's example bots; it may leave the cube."""

from __future__ import annotations

import random
from typing import Any

from battlebot.client.samples.battlecube.question import NOOP, STEPS, Question, Tasks, bomb, move


def decide(question: Question) -> Tasks:
    """Random tasks, as many as are asked for."""
    return [_task(question["gameInfo"]["edgeLength"]) for _ in range(question["gameInfo"]["numOfTasksPerTick"])]


def _task(edge: int) -> dict[str, Any]:
    kind = random.choice(("MOVE", "PLACE_BOMB", "NOOP"))
    if kind == "MOVE":
        return move(random.choice(list(STEPS)))
    if kind == "PLACE_BOMB":
        return bomb((random.randrange(edge), random.randrange(edge), random.randrange(edge)))
    return NOOP
