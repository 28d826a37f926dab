"""What happens in a tick: tasks, collisions, the end. `sequence` works on a copy of the state that it is given."""

from __future__ import annotations

from collections import Counter
from random import Random
from typing import Any

from games.battlecube.tasks import AXES, BOMBS, STEPS

State = dict[str, Any]
Cell = tuple[int, int, int]

# as many as fill a cube with an edge of 16; each state lists all bombs for each of its ticks, so more would be huge
MOST_BOMBS = 4096

OUT_OF_BOUNDS = "Player moved out of bounds"
CRASHED = "Player crashed to other player"
ON_A_BOMB = "Player stepped on a BOMB"


def sequence(before: State) -> State:
    """Runs the ticks of a sequence; then asks for the next, unless the match is over."""
    state = {**before, "answers": {}, "events": [], "items": list(before["items"]), "lost": list(before["lost"])}
    state["positions"] = [dict(row) for row in before["positions"]]
    # a speed changed meanwhile counts from the next sequence on
    answers, state["pauseMs"] = before["answers"], before["speed"] * before["numOfTasksPerTick"]
    for number in range(state["numOfTasksPerTick"]):
        if number:
            state["events"].append(next_tick(state))
        _tick(state, answers, number)
        if state["complete"]:
            return state
    state["waitingFor"] = [row["name"] for row in state["positions"]]
    if state["nextSetup"] is not None:
        after = resettled(state)
        return {**after, "events": state["events"] + after["events"]}
    state["events"].append(next_tick(state))
    return state


def _tick(state: State, answers: dict[str, Any], number: int) -> None:
    """Runs one tick: bots without an answer lose, tasks are done in the order of players, then collisions are found."""
    silent = [row for row in state["positions"] if "tasks" not in answers[row["name"]]]
    _lose(state, [(row, answers[row["name"]]["cause"]) for row in silent])
    bombs = {cell_of(item) for item in state["items"]}
    for row in list(state["positions"]):
        _do(state, row, answers[row["name"]]["tasks"][number], bombs)
    # a bot that lost by its answer still occupies its cell during this tick
    crowd = Counter(cell_of(row) for row in [*state["positions"], *silent])
    hit = [row for row in state["positions"] if crowd[cell_of(row)] > 1 or cell_of(row) in bombs]
    _lose(state, [(row, ON_A_BOMB if cell_of(row) in bombs else CRASHED) for row in hit])
    state["items"] = [item for item in state["items"] if cell_of(item) not in crowd]
    over = len(state["positions"]) <= 1 or state["currentTick"] >= state["maxNumOfTicks"] - 1
    state["currentTick"] += 1
    if over:
        _finish(state)


def _do(state: State, row: dict[str, Any], task: dict[str, Any], bombs: set[Cell]) -> None:
    """Does one bot's task; `bombs` are the cells of all bombs, and gets new ones. A bomb too many has no effect."""
    if task["task"] == "MOVE":
        for axis, step in zip(AXES, STEPS[task["direction"]], strict=True):
            row[axis] += step
        state["events"].append(["PLAYER_MOVE_ATTEMPT", {"direction": task["direction"], **row}])
        if not _inside(cell_of(row), state["edgeLength"]):
            _lose(state, [(row, OUT_OF_BOUNDS)])
    elif task["task"] in BOMBS:
        bomb = {axis: task[axis] for axis in AXES}
        state["events"].append(["PLAYER_PLACED_BOMB", {"name": row["name"], **bomb}])
        cell = cell_of(bomb)
        if _inside(cell, state["edgeLength"]) and cell not in bombs and len(bombs) < MOST_BOMBS:
            bombs.add(cell)
            state["items"].append({"type": "BOMB", **bomb})
    else:
        state["events"].append(["PLAYER_DID_NOTHING", dict(row)])


def _lose(state: State, losers: list[tuple[dict[str, Any], Any]]) -> None:
    names = {row["name"] for row, _ in losers}
    state["positions"] = [row for row in state["positions"] if row["name"] not in names]
    for row, cause in losers:
        state["lost"].append({"name": row["name"], "score": state["currentTick"], "cause": cause})
        state["events"].append(["PLAYER_LOST", {"name": row["name"], "cause": cause}])


def _finish(state: State) -> None:
    """Ends the match. `scores` are in the order of losing, survivors last; `places` are ranks, the best first."""
    left = [row["name"] for row in state["positions"]]
    scores = [{"name": row["name"], "score": row["score"]} for row in state["lost"]]
    scores += [{"name": name, "score": state["currentTick"]} for name in left]
    reached = sorted({row["score"] for row in scores}, reverse=True)
    state |= {
        "complete": True,
        "victor": left[0] if len(left) == 1 else None,
        "reason": "complete",
        "scores": scores,
        "places": [[row["name"] for row in scores if row["score"] == score] for score in reached],
    }


def resettled(before: State) -> State:
    """Returns the state under its next setup, before its next tick.

    If the grid's size changes, players are placed anew and bombs are removed (as the original).
    """
    state = {**before, **before["nextSetup"], "nextSetup": None}
    if state["edgeLength"] != before["edgeLength"]:
        names = [row["name"] for row in state["positions"]]
        cells = scattered(len(names), state["edgeLength"], state["seed"], state["placements"])
        state["placements"] += 1
        state["positions"] = [placed(name, cell) for name, cell in zip(names, cells, strict=True)]
        state["items"] = []
    state["events"] = [next_tick(state)]
    return state


def scattered(count: int, edge: int, seed: int, placement: int) -> list[Cell]:
    """Returns different random cells; the n-th placement of a match depends only on its seed and n."""
    chosen = Random(f"{seed}/{placement}").sample(range(edge**3), count)  # noqa: S311 - it must repeat itself
    return [(number // edge**2, number // edge % edge, number % edge) for number in chosen]


def next_tick(state: State) -> list[Any]:
    """Returns the event that shows all positions before a tick; whoever sends it adds the match's id."""
    info = {key: state[key] for key in ("edgeLength", "numOfTasksPerTick", "currentTick")}
    info["numOfBotsInPlay"] = len(state["positions"])
    rows = {"players": [dict(row) for row in state["positions"]], "items": list(state["items"])}
    return ["NEXT_TICK", {"gameInfo": info, **rows}]


def cell_of(row: dict[str, Any]) -> Cell:
    """Returns the cell of a player's or a bomb's row."""
    return row["x"], row["y"], row["z"]


def placed(name: str, cell: Cell) -> dict[str, Any]:
    """Returns a player's row for `positions`."""
    return {"name": name, **dict(zip(AXES, cell, strict=True))}


def _inside(cell: Cell, edge: int) -> bool:
    return all(0 <= place < edge for place in cell)
