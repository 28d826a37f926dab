"""`python -m chaos.soak`: contests at half load for a long time; memory and open files must stay level.

Prints a JSON report; exit status 1 if something grows, a part died, or a promise was broken.
"""

from __future__ import annotations

import json
import sys
import tempfile
import threading
import time
from collections import defaultdict
from contextlib import suppress
from pathlib import Path
from typing import Any

import click
import structlog

from bench.machine import GONE, PROC, cpu_s, family
from chaos.checker import tally
from chaos.faults import PARTS
from chaos.flatness import Sample, trend
from chaos.play import Plan, log_problems, log_tally, play
from chaos.town import Town, town

EVERY_S = 5.0
WARM_UP = 0.4  # share of the whole time
SHARE = 0.05  # share of the mean; less growth is no trend
LEAST = {"pss_kb": 4096.0, "files": 8.0, "threads": 4.0}
# its cache grows with the data, up to the 256 MB that the embedded mongod is given, besides what it needs itself
BOUNDS_KB = {"mongod": 600_000.0}


class Sampler:
    """Measures every part, each with all its processes, in a thread of its own until `stop`."""

    def __init__(self, town: Town) -> None:
        self.samples: dict[str, dict[str, list[Sample]]] = defaultdict(lambda: defaultdict(list))
        self._town = town
        self._began_s = time.monotonic()
        self._stopped = threading.Event()
        self._thread = threading.Thread(target=self._run, name="sampler", daemon=True)
        self._thread.start()

    def stop(self) -> None:
        """Stops measuring."""
        self._stopped.set()
        self._thread.join()

    def _run(self) -> None:
        while not self._stopped.wait(EVERY_S):
            at_s = time.monotonic() - self._began_s
            for part in PARTS:
                for what, value in measured(family(self._town.supervisor.child(part).pid)).items():
                    self.samples[part][what].append((at_s, value))


def measured(pids: list[int]) -> dict[str, float]:
    """Returns the proportional memory (KB), open files, and threads of the processes together."""
    pss_kb = files = threads = 0
    for pid in pids:
        with suppress(*GONE):
            rollup = (PROC / str(pid) / "smaps_rollup").read_text()
            pss_kb += next(int(line.split()[1]) for line in rollup.splitlines() if line.startswith("Pss:"))
            files += len(list((PROC / str(pid) / "fd").iterdir()))
            threads += len(list((PROC / str(pid) / "task").iterdir()))
    return {"pss_kb": pss_kb, "files": files, "threads": threads}


@click.command()
@click.option("--minutes", type=float, default=30.0, show_default=True, help="Minutes to play.")
@click.option("--bots", type=click.IntRange(min=2), default=24, show_default=True, help="Number of bots.")
@click.option("--meetings", type=click.IntRange(1, 5), default=5, show_default=True, help="Meetings per pair.")
@click.option("--think", type=float, default=0.1, show_default=True, help="Longest time a bot thinks, in seconds.")
@click.option(
    "--keep",
    type=click.Path(path_type=Path),
    help="Folder to keep logs, diaries and data in. Default: they are removed.",
)
def main(minutes: float, bots: int, meetings: int, think: float, keep: Path | None) -> None:
    """Play contests one after another and check whether any process grows."""
    # stdout is for the report
    structlog.configure(logger_factory=structlog.PrintLoggerFactory(sys.stderr))
    with tempfile.TemporaryDirectory(prefix="soak-") as made:
        result = run(keep or Path(made), minutes, Plan("", 1, bots, meetings, think, limit_s=600.0))
    print(json.dumps(result, indent=2))
    sys.exit(bool(result["problems"]))


def run(folder: Path, minutes: float, plan: Plan) -> dict[str, Any]:
    """Plays contests until the time is over; returns the report."""
    rows: list[dict[str, Any]] = []
    found: list[str] = []
    with town(folder / "data") as made:
        pids = {part: made.supervisor.child(part).pid for part in PARTS}
        sampler, began_s, before_s = Sampler(made), time.monotonic(), cpu_of(pids)
        while time.monotonic() - began_s < minutes * 60:
            own = Plan(f"cup{len(rows) + 1}", plan.seed, plan.bots, plan.meetings, plan.think_s, plan.limit_s)
            evidence, wrong = play(made, own, lambda: False, folder / own.name)
            rows.append({"contest": own.name, **tally(evidence)})
            found += wrong
            print(json.dumps(rows[-1]), file=sys.stderr, flush=True)
        sampler.stop()
        seconds = time.monotonic() - began_s
        now_s = cpu_of(pids)
        found += [f"{part} died" for part, pid in pids.items() if made.supervisor.child(part).pid != pid]
        trends, grown = judged(sampler.samples, WARM_UP * seconds)
        return {
            "seconds": round(seconds),
            "turns_per_s": round(sum(row["turns"] for row in rows) / seconds, 1),
            "cpu": {part: round((now_s[part] - before_s[part]) / seconds, 3) for part in PARTS},
            "parts": trends,
            "contests": rows,
            "log": log_tally(made),
            "problems": [*found, *grown, *log_problems(made)],
        }


def cpu_of(pids: dict[str, int]) -> dict[str, float]:
    """Returns the seconds of CPU that each part has used so far."""
    return {part: cpu_s(family(pid)) for part, pid in pids.items()}


def judged(samples: dict[str, dict[str, list[Sample]]], warm_up_s: float) -> tuple[dict[str, Any], list[str]]:
    """Returns each part's trends, rounded, and a sentence for each quantity that is not flat or is out of bounds."""
    trends: dict[str, Any] = {}
    found = []
    for part, quantities in samples.items():
        trends[part] = {}
        for what, values in quantities.items():
            line = trend(values, warm_up_s)
            trends[part][what] = {"mean": round(line.mean, 1), "growth": round(line.growth, 1)}
            bound = BOUNDS_KB.get(part) if what == "pss_kb" else None
            if bound is not None:
                most = max(value for _, value in values)
                found += [f"{part}: {most:g} KB are more than {bound:g}"] if most > bound else []
            elif not line.is_flat(SHARE, LEAST[what]):
                found.append(f"{part}: {what} grew by {line.growth:.0f} to {line.mean:.0f} in {line.seconds:.0f} s")
    return trends, found


if __name__ == "__main__":
    main()
