"""A contest of greedy crossword bots to its last meeting: one process of the sample per bot, all at one web node."""

from __future__ import annotations

import subprocess
import sys
import tempfile
import time
from contextlib import ExitStack
from pathlib import Path

from battlebot.storage import Storage
from bench.house import House
from bench.machine import cpu_s
from bench.runner import ROOT, Bench, Row

ECHO_CONNECTIONS = 8
GAME = "crossword"
CONTEST = "cup"
SAMPLE = "battlebot.client.samples.crossword.greedy"


def run(bench: Bench) -> Row:
    """games/s of `--size` (8) bots from their start to the last end; five meetings per pair, with `--quick` one."""
    size, meetings = bench.size(full=8, quick=4), 1 if bench.quick else 5
    wanted = size * (size - 1) // 2 * meetings
    with bench.house() as house, tempfile.TemporaryDirectory() as folder:
        storage = Storage(house.server.settings)
        storage.ensure_indexes()
        storage.contests.open(GAME, CONTEST, meetings)
        before_s, began_s = cpu_s(house.parts["web"]), time.monotonic()
        with ExitStack() as bots:
            for number in range(size):
                bots.callback(_stop, _start(house, Path(folder), number, meetings * (size - 1)))
            limit_s = bench.seconds(full=900, quick=180)
            games = _until_played(storage, wanted, limit_s)
        seconds, used_s = time.monotonic() - began_s, cpu_s(house.parts["web"]) - before_s
        played = list(storage.games.each_of_contest(GAME, CONTEST, void=True, turns=True))
        storage.close()
    wrong = [f"{match['_id']}: {match['reason']}" for match in played if match["reason"] != "complete"]
    if games < wanted:
        wrong.append(f"{games} of {wanted} matches in {limit_s:g} s")
    turns = sum(len(match["turns"]) for match in played)
    return {
        "value": round(games / seconds, 3),
        "unit": "games/s",
        "games": games,
        "turns_per_s": round(turns / seconds, 1),
        "points": round(sum(sum(match["scores"]) for match in played) / max(1, 2 * games), 1),
        "thinking_ms": round(sum(sum(match["match"]["clocks"]) for match in played) / max(1, turns), 1),
        "server_ms": round(sum(sum(match["match"]["serverMs"]) for match in played) / max(1, turns), 2),
        "cpu_us": {"web": round(used_s * 1e6 / max(1, games), 1)},
        "wrong": len(wrong),
        "examples": wrong[:5],
    }


def _start(house: House, folder: Path, number: int, matches: int) -> subprocess.Popen[bytes]:
    name = f"greedy{number}"
    options = ["--host", house.url, "--name", name, "--contest", CONTEST, "--auth", str(folder / f"{name}.json")]
    command = [sys.executable, "-m", SAMPLE, *options, "--matches", str(matches)]
    return subprocess.Popen(command, cwd=ROOT, stdout=subprocess.DEVNULL)


def _stop(process: subprocess.Popen[bytes]) -> None:
    process.terminate()
    process.wait(30)


def _until_played(storage: Storage, wanted: int, limit_s: float) -> int:
    until_s = time.monotonic() + limit_s
    while (played := sum(1 for _ in storage.games.each_of_contest(GAME, CONTEST))) < wanted:
        if time.monotonic() > until_s:
            break
        time.sleep(0.5)
    return played
