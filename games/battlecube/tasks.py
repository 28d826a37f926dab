"""What a bot may do in a tick, and what is wrong with a list of tasks."""

from __future__ import annotations

from typing import Any

STEPS = {
    "+X": (1, 0, 0),
    "-X": (-1, 0, 0),
    "+Y": (0, 1, 0),
    "-Y": (0, -1, 0),
    "+Z": (0, 0, 1),
    "-Z": (0, 0, -1),
}
BOMBS = ("PLACE_BOMB", "BOMB")
AXES = ("x", "y", "z")
TOO_LARGE = 2**63  # from here on integers do not fit into 64 bits: they arrive as floats, and stay such


def problem_of(tasks: Any, count: int) -> str | None:
    """Returns what is wrong with a bot's tasks, as a sentence; None if nothing is."""
    if not isinstance(tasks, list) or len(tasks) != count:
        return f'"tasks" must be an array of exactly {count} {"task" if count == 1 else "tasks"}.'
    for number, task in enumerate(tasks):
        problem = _problem_of_task(task)
        if problem:
            return f"Task {number}: {problem}"
    return None


def _problem_of_task(task: Any) -> str | None:
    kind = task.get("task") if isinstance(task, dict) else None
    if kind == "NOOP":
        keys = {"task"}
    elif kind == "MOVE":
        keys = {"task", "direction"}
        if not isinstance(task.get("direction"), str) or task["direction"] not in STEPS:
            return f'"direction" must be one of {", ".join(STEPS)}.'
    elif kind in BOMBS:
        keys = {"task", *AXES}
        if not all(is_place(task.get(axis)) for axis in AXES):
            return '"x", "y" and "z" must be integers of at least 0.'
    else:
        return 'it must be an object whose "task" is MOVE, PLACE_BOMB, BOMB or NOOP.'
    return None if task.keys() == keys else f"it must have no other keys than {', '.join(sorted(keys))}."


def is_place(value: Any) -> bool:
    """Returns whether a value is a coordinate: an integer of at least 0, which may be written as `1.0`."""
    return (type(value) is int or (type(value) is float and value.is_integer())) and value >= 0


def as_place(value: float) -> float:
    """Returns a coordinate as an int, unless it is far outside of any grid."""
    return int(value) if value < TOO_LARGE else value
