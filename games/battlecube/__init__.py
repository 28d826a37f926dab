"""Battle-cubed: bots move and place bombs in a cube, all at once, tick by tick; who survives longest wins.

Rules: docs/games/battlecube.md. A turn is `{"tasks": [...]}`, one for each tick of a sequence:
`{"task": "MOVE", "direction": "+X"}`, `{"task": "PLACE_BOMB", "x", "y", "z"}` (or `BOMB`), `{"task": "NOOP"}`.
"""

from __future__ import annotations

from typing import Any

from games.battlecube.tasks import AXES, as_place, is_place, problem_of
from games.battlecube.ticks import cell_of, next_tick, placed, resettled, scattered, sequence

State = dict[str, Any]
Turn = dict[str, Any]

GAME = {
    "name": "battlecube",
    "title": "Battle-cubed",
    "players": (1, 64),
    "simultaneous": True,
    "turnTimeoutMs": 5000,
    "options": {
        "maxNumOfTicks": {
            "default": 200,
            "low": 1,
            "high": 10_000,
            "doc": "the number of ticks after which it is a tie",
        },
        "edgeLength": {"default": 8, "low": 1, "high": 64, "doc": "the length of the cube's edges, in cells"},
        "numOfTasksPerTick": {"default": 1, "low": 1, "high": 20, "doc": "how many ticks the bots plan in advance"},
        "speed": {"default": 0, "low": 0, "high": 10_000, "doc": "milliseconds between two ticks, for viewers"},
        "playerStartPositions": {
            "default": None,
            "doc": 'where the players start, a list of {"name", "x", "y", "z"}; at random if not given',
        },
    },
    "exampleTurn": {"tasks": [{"task": "NOOP"}]},
}


def objection(players: list[str], options: dict[str, Any]) -> str | None:
    """Returns why these players cannot start under these options; None if they can."""
    edge, positions = options["edgeLength"], options["playerStartPositions"]
    if edge**3 < len(players):
        return "Too many players for the selected game area size"
    if positions is None:
        return None
    if not isinstance(positions, list) or not all(_is_position(row, edge) for row in positions):
        return f'playerStartPositions must be a list of {{"name", "x", "y", "z"}} with coordinates of 0 to {edge - 1}'
    if sorted(row["name"] for row in positions) != sorted(players):
        return "There are no player start positions for all players in the game"
    if len({cell_of(row) for row in positions}) < len(positions):
        return "No two players can start in the same cell"
    return None


def initial_state(players: list[str], seed: int, options: dict[str, Any]) -> State:
    """All players in their cells, no bombs, all bots asked. Raises ValueError with the sentence of `objection`."""
    problem = objection(players, options)
    if problem:
        raise ValueError(problem)
    setup = {key: options[key] for key in ("maxNumOfTicks", "edgeLength", "numOfTasksPerTick", "speed")}
    given = {row["name"]: cell_of(_plain(row)) for row in options["playerStartPositions"] or ()}
    cells = [given[name] for name in players] if given else scattered(len(players), setup["edgeLength"], seed, 0)
    state = {
        "players": players,
        "nextPlayer": None,
        "waitingFor": list(players),
        "complete": False,
        **setup,
        "currentTick": 0,
        "positions": [placed(name, cell) for name, cell in zip(players, cells, strict=True)],
        "items": [],
        "lost": [],
        "answers": {},
        "seed": seed,
        "placements": 1,
        "nextSetup": None,
        "pauseMs": 0,
        "events": [],
    }
    state["events"] = [next_tick(state)]
    return state


def validate(state: State, turn: Turn) -> bool:
    """`tasks` must be as many as a sequence has ticks, each well formed; the bot must not have answered yet."""
    if state["complete"] or turn.get("player") not in state["waitingFor"]:
        return False
    return problem_of(turn.get("tasks"), state["numOfTasksPerTick"]) is None


def explain(state: State, turn: Turn) -> str:
    """Returns what is wrong with the tasks."""
    return problem_of(turn.get("tasks"), state["numOfTasksPerTick"]) or "This bot is not asked now."


def reducer(state: State, turn: Turn) -> State:
    """Keeps the bot's tasks; the last answer of a sequence runs its ticks."""
    tasks = [_plain(task) for task in turn["tasks"]]
    return _answered(state, turn["player"], {"tasks": tasks})


def forfeit(state: State, player: str, cause: Any) -> State:
    """The bot gave no valid answer: it loses on the first tick of the sequence, for that cause (JSON)."""
    return _answered(state, player, {"cause": cause})


def configure(state: State, options: dict[str, Any], asked: bool) -> State:
    """Changes size, speed or number of tasks from the next sequence on.

    In a grid of another size players are placed anew, and bombs are removed; else all stay where they are. As long as
    its bots are not `asked`, the next sequence is the one about to begin; its first tick is told once more.
    Raises ValueError if those still in play do not fit.
    """
    setup = {key: options[key] for key in ("edgeLength", "numOfTasksPerTick", "speed") if key in options}
    setup = {**(state["nextSetup"] or {}), **setup}
    edge: int = (state | setup)["edgeLength"]
    if edge**3 < len(state["positions"]):
        raise ValueError("Too many players for the selected game area size")
    changed = {**state, "nextSetup": setup}
    return changed if asked else resettled(changed)


def question(state: State, player: str, about: dict[str, Any]) -> dict[str, Any]:
    """Returns what a bot behind HTTP is asked, in the original's format."""
    info = {key: state[key] for key in ("edgeLength", "currentTick", "numOfTasksPerTick")}
    return {
        "currentPlayer": {"name": player, "url": about["address"]},
        "gameInfo": {**info, "numOfBotsInPlay": len(state["positions"])},
        "players": state["positions"],
        "items": state["items"],
    }


def turn_from(answer: Any) -> Turn:
    """Returns the turn for such a bot's answer, an array of tasks."""
    return {"tasks": answer}


def pause_ms(state: State) -> int:
    """`speed` for each tick of the sequence that has just run; 0 before the first."""
    pause: int = state["pauseMs"]
    return pause


def view(state: State, player: str | None) -> State:
    """Hides the seed, and the tasks that others have planned."""
    own = {name: answer for name, answer in state["answers"].items() if name == player}
    return {key: value for key, value in state.items() if key != "seed"} | {"answers": own}


def render(state: State) -> str:
    """The tick, and the positions of players and bombs; then who has lost."""
    lines = [f"tick {state['currentTick']} of {state['maxNumOfTicks']}, edge {state['edgeLength']}"]
    lines += [f"{row['name']} at {row['x']},{row['y']},{row['z']}" for row in state["positions"]]
    lines += [f"bomb at {row['x']},{row['y']},{row['z']}" for row in state["items"]]
    lines += [f"{row['name']} lost on tick {row['score']}: {row['cause']}" for row in state["lost"]]
    return "\n".join(lines)


def _answered(state: State, player: str, answer: dict[str, Any]) -> State:
    waiting = [name for name in state["waitingFor"] if name != player]
    after = {**state, "waitingFor": waiting, "answers": {**state["answers"], player: answer}}
    return after if waiting else sequence(after)


def _is_position(row: Any, edge: int) -> bool:
    if not isinstance(row, dict) or row.keys() != {"name", *AXES} or not isinstance(row["name"], str):
        return False
    return all(is_place(row[axis]) and row[axis] < edge for axis in AXES)


def _plain(row: dict[str, Any]) -> dict[str, Any]:
    """Returns a task or a start position with coordinates such as `1.0` as integers."""
    return {key: as_place(value) if key in AXES else value for key, value in row.items()}
