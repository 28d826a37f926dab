"""Replays a recorded match with its own game's rules and nothing else."""

from __future__ import annotations

import importlib
from typing import Any

Document = dict[str, Any]

ADDED = ("complete", "victor", "reason")  # by the verdict to the state


def states_of(record: Document) -> list[Document]:
    """Returns the state before the first turn and after each turn; stops at a recorded turn that is not valid."""
    rules = importlib.import_module(f"games.{record['game']}")
    about = record["match"]
    states = [rules.initial_state(list(record["players"]), about["seed"], about["options"])]
    for turn in record["turns"]:
        if not rules.validate(states[-1], turn):
            break
        states.append(rules.reducer(states[-1], turn))
    return states


def replay_problems(record: Document, states: list[Document]) -> list[str]:
    """Returns what is wrong with a record in itself; `states` are those of `states_of`."""
    problems = []
    turns, last = record["turns"], states[-1]
    if len(states) != len(turns) + 1:
        return [f"turn {len(states) - 1} of the record is not valid: {turns[len(states) - 1]}"]
    if record["match"]["version"] != len(turns):
        problems.append(f"the record has {len(turns)} turns at version {record['match']['version']}")
    board = {key: value for key, value in last.items() if key not in (*ADDED, "nextPlayer")}
    differing = [key for key, value in board.items() if record.get(key) != value]
    if differing:
        problems.append(f"replayed, the final state differs in {differing}")
    if record["reason"] == "complete" and (last["complete"], last.get("victor")) != (True, record["victor"]):
        problems.append(f"replayed, it ends with victor {last.get('victor')}, recorded is {record['victor']}")
    if record["reason"] != "complete" and last["complete"]:
        problems.append(f"the game was over, yet the match ended by {record['reason']}")
    return problems
