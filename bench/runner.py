"""Runs scenarios, each run between two measurements of the echo, and returns the median of the runs."""

from __future__ import annotations

import importlib
import json
import pkgutil
import platform
import shutil
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from statistics import mean
from types import ModuleType
from typing import Any

from bench import scenarios
from bench.house import House, echo_server, house
from bench.machine import two_cores

Row = dict[str, Any]

ROOT = Path(__file__).parent.parent
ECHO_S = 3.0
ECHO_MESSAGE = '{"n":0}'  # a turn of numberwang
SLACK_S = 180.0  # how long to wait for the profiler at the end of a job


class LoadFailed(Exception):
    """The load generator ended with an error, which is on stderr."""


@dataclass(frozen=True)
class Bench:
    """What a scenario uses: its duration and size, a house, and the load generator."""

    quick: bool = False
    seconds_asked: float | None = None
    size_asked: int | None = None
    keep: bool = False
    profile: Path | None = None
    journal: str | None = None

    def seconds(self, full: float, quick: float) -> float:
        """The length of the measured window in seconds."""
        return self.seconds_asked or (quick if self.quick else full)

    def size(self, full: int, quick: int) -> int:
        """The number of matches, bots or connections."""
        return self.size_asked or (quick if self.quick else full)

    @contextmanager
    def house(self, **changes: Any) -> Iterator[House]:
        """A whole Battlebot on fresh stores. Warnings and errors from its logs go to stderr at the end."""
        with house(self.journal, **changes) as made:
            yield made
            for line in made.complaints()[:20]:
                print(line[:1000], file=sys.stderr)

    def load(self, house: House, job: str, **arguments: Any) -> Row:
        """Run a job of the load generator against the house, with the profiler if requested; return its result.

        Raises LoadFailed.
        """
        return _load(job, house.ws, house.parts, self.profile, **arguments)


def scenario_names() -> list[str]:
    """The names of the scenarios, sorted."""
    return sorted(module.name for module in pkgutil.iter_modules(scenarios.__path__))


def run(name: str, bench: Bench, repeat: int) -> Row:
    """A scenario's row: its median run by ratio (or value), with the values and ratios of all runs.

    Raises LoadFailed.
    """
    scenario = importlib.import_module(f"{scenarios.__name__}.{name}")
    rows = [_run_once(name, scenario, bench) for _ in range(repeat)]
    ordered = sorted(rows, key=lambda row: row["ratio"] or row["value"])
    median = ordered[len(ordered) // 2]
    return {
        **median,
        "values": [row["value"] for row in rows],
        "ratios": [row["ratio"] for row in rows],
        "wrong": sum(row["wrong"] for row in rows),
        "examples": [example for row in rows for example in row["examples"]],
    }


def costs(got: Row, count: int) -> Row:
    """The parts' share of a core within the window, and their CPU time in microseconds for each of `count` units."""
    return {
        "core_share": {part: round(used_s / got["seconds"], 3) for part, used_s in got["cpu_s"].items()},
        "cpu_us": {part: round(used_s * 1e6 / max(1, count), 1) for part, used_s in got["cpu_s"].items()},
    }


def _run_once(name: str, scenario: ModuleType, bench: Bench) -> Row:
    connections, seconds = scenario.ECHO_CONNECTIONS, ECHO_S / 3 if bench.quick else ECHO_S
    with echo_server() as (url, pids):
        echoes = [_echo(url, pids, seconds, connections)]
        row = scenario.run(bench)
        echoes.append(_echo(url, pids, seconds, connections))
    echo = {
        "per_s": round(mean(echo["turns"] / echo["seconds"] for echo in echoes)),
        "ms": round(mean(echo["turn_ms"]["p50"] for echo in echoes), 3),
        "per_s_each": [round(echo["turns"] / echo["seconds"]) for echo in echoes],
        "cpu_us": round(mean(echo["cpu_s"]["echo"] * 1e6 / max(1, echo["turns"]) for echo in echoes), 1),
    }
    return {"scenario": name, **row, **_ratios(row, echo), "echo": echo, "python": platform.python_version()}


def _ratios(row: Row, echo: Row) -> Row:
    """`ratio`: a rate divided by the echo's rate, or a time divided by its round trip.

    `cpu_ratio`: the CPU time of an echoed message divided by that of one unit in the part that does the work (`works`,
    else the web node). For a rate, it is the ratio that both would reach with a whole core each. Other load on the
    machine hardly changes it.
    """
    unit, ratio = row["unit"], None
    if unit == "ms":
        ratio = round(row["value"] / echo["ms"], 3)
    elif unit.endswith("/s"):
        ratio = round(row["value"] / echo["per_s"], 4)
    cost_us = 0.0 if ratio is None else row["cpu_us"][row.get("works", "web")]
    return {"ratio": ratio, "cpu_ratio": round(echo["cpu_us"] / cost_us, 5) if cost_us else None}


def _echo(url: str, pids: list[int], seconds: float, connections: int) -> Row:
    arguments = {"seconds": seconds, "connections": connections, "message": ECHO_MESSAGE}
    return _load("echo", url, {"echo": pids}, None, **arguments)


def _load(job: str, url: str, parts: dict[str, list[int]], profile: Path | None, **arguments: Any) -> Row:
    cores = two_cores()
    order = {"job": job, "core": cores[1] if cores else None, "url": url, "watch": parts, **arguments}
    profiler = None
    with subprocess.Popen(
        [sys.executable, "-m", "bench.load"], stdin=subprocess.PIPE, stdout=subprocess.PIPE, cwd=ROOT
    ) as process:
        assert process.stdin is not None
        assert process.stdout is not None
        try:
            process.stdin.write(json.dumps(order).encode())
            process.stdin.close()
            for line in process.stdout:
                message = json.loads(line)
                if "result" in message:
                    return dict(message["result"])
                if profile is not None:
                    profiler = _profiler(parts["web"], profile, arguments["seconds"])
        finally:
            if profiler is not None:
                profiler.wait(SLACK_S)
            process.kill()
    raise LoadFailed(f"The load generator failed in {job}.")


def _profiler(web: list[int], target: Path, seconds: float) -> subprocess.Popen[bytes]:
    """py-spy on the web node's worker: a flame graph for a target *.svg, else stacks with their counts."""
    form = "flamegraph" if target.suffix == ".svg" else "raw"
    found = shutil.which("py-spy", path=Path(sys.executable).parent) or "py-spy"
    command = [found, "record", "--pid", str(web[-1]), "--duration", str(max(1, round(seconds))), "--rate", "200"]
    return subprocess.Popen([*command, "--format", form, "--output", str(target)], stdout=sys.stderr)
