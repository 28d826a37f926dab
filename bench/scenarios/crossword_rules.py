"""The rules of crossword alone: the time to validate a turn and to look up a word; the sample's move generator."""

from __future__ import annotations

import subprocess
import sys
import time
from random import Random
from statistics import median
from typing import Any

from battlebot.client.samples.crossword import greedy
from battlebot.client.samples.crossword.generator import all_plays
from battlebot.client.samples.crossword.wordgraph import graph_of
from battlebot.rules.contract import Game
from battlebot.rules.registry import discover
from battlebot.wire.macondo.history import history_of
from bench.runner import ROOT, Bench, Row

ECHO_CONNECTIONS = 1
GAME = "crossword"
ROUNDS = 20  # per turn; the fastest counts, because the others include noise of the machine

# run in a separate process, to measure the memory of a freshly loaded list
MEMORY = """
import os
from bench.machine import rss_kb
from games.crossword import lexicon
before = rss_kb([os.getpid()])
words = lexicon.load("enable1")
assert all(word in words for word in lexicon.words("enable1"))
print(rss_kb([os.getpid()]) - before)
"""


def run(bench: Bench) -> Row:
    """Median microseconds to validate a play, from greedy matches under VOID (which looks the words up)."""
    game = discover()[GAME]
    steps, move_s = [], []
    for seed in range(bench.size(full=10, quick=2)):
        for state, turn, took_s in _match(game, seed):
            steps.append((state, turn))
            move_s.append(took_s)
    wrong = [f"{turn} was refused" for state, turn in steps if not game.validate(state, turn)]
    plays = [(state, turn) for state, turn in steps if turn["type"] == "TILE_PLACEMENT_MOVE"]
    memory = subprocess.run([sys.executable, "-c", MEMORY], capture_output=True, text=True, check=True, cwd=ROOT)
    return {
        "value": round(median(_quickest_us(game.validate, *step) for step in plays), 1),
        "unit": "us",
        "turns": len(plays),
        "reducer_us": round(median(_quickest_us(game.reducer, *step) for step in plays), 1),
        "lookup_us": _lookup_us(),
        "lexicon_kb": int(memory.stdout),
        "greedy_ms": {"p50": round(median(move_s) * 1000, 1), "max": round(max(move_s) * 1000, 1)},
        "plays_per_s": _plays_per_s([state for state, _ in plays]),
        "wrong": len(wrong),
        "examples": wrong[:5],
    }


def _match(game: Game, seed: int) -> Any:
    state = game.initial_state(["a", "b"], seed, {"challengeRule": "VOID"})
    while not state["complete"]:
        player = state["nextPlayer"]
        history = history_of(game.view(state, player))
        began_s = time.perf_counter()
        turn = {**greedy.decide(history), "player": player}
        yield state, turn, time.perf_counter() - began_s
        state = game.reducer(state, turn)


def _quickest_us(function: Any, *arguments: Any) -> float:
    best_s = float("inf")
    for _ in range(ROUNDS):
        began_s = time.perf_counter()
        function(*arguments)
        best_s = min(best_s, time.perf_counter() - began_s)
    return best_s * 1e6


def _lookup_us() -> float:
    """Microseconds to look up a word, for present and mostly absent words in equal parts."""
    from games.crossword import lexicon

    graph = lexicon.load("enable1")
    words = list(lexicon.words("enable1"))
    Random(1).shuffle(words)
    asked = [*words[:50_000], *(word[::-1] for word in words[:50_000])]
    began_s = time.perf_counter()
    for word in asked:
        word in graph  # noqa: B015
    return round((time.perf_counter() - began_s) / len(asked) * 1e6, 3)


def _plays_per_s(states: list[dict[str, Any]]) -> int:
    """Plays that the generator finds per second, on the matches' boards with the racks of the players on turn."""
    graph, found, began_s = graph_of("enable1"), 0, time.perf_counter()
    for state in states:
        rack = state["racks"][state["players"].index(state["nextPlayer"])]
        found += len(all_plays(graph, state["board"], rack))
    return round(found / (time.perf_counter() - began_s))
