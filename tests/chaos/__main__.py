"""`python -m chaos`: the long run. Prints a JSON report; exit status 1 if a promise was broken."""

from __future__ import annotations

import json
import secrets
import sys
import tempfile
import time
from dataclasses import replace
from pathlib import Path
from typing import Any

import click
import structlog
from cluster import free_port

from chaos.accounts import problems as board_problems
from chaos.accounts import tally as board_tally
from chaos.checker import tally
from chaos.duel import books_of, settle
from chaos.duelists import Duelist
from chaos.faults import WIDE_DECK, faults
from chaos.play import Plan, log_problems, log_tally, play
from chaos.town import town


@click.command()
@click.option("--seed", type=int, help="Repeat a run's faults and bots. Default: random.")
@click.option("--minutes", type=float, default=20.0, show_default=True, help="Minutes to play, at least.")
@click.option("--faults", "least", type=int, default=200, show_default=True, help="Number of faults, at least.")
@click.option("--bots", type=click.IntRange(min=2), default=11, show_default=True, help="Number of connected bots.")
@click.option("--http", type=click.IntRange(min=0), default=3, show_default=True, help="Number of bots with a URL.")
@click.option("--players", type=click.IntRange(min=0), default=4, show_default=True, help="Players of the TCP door.")
@click.option("--meetings", type=click.IntRange(1, 5), default=5, show_default=True, help="Meetings per pair.")
@click.option("--think", type=float, default=0.3, show_default=True, help="Longest time a bot thinks, in seconds.")
@click.option(
    "--keep",
    type=click.Path(path_type=Path),
    help="Folder to keep logs, diaries and data in. Default: they are removed.",
)
def main(
    seed: int | None,
    minutes: float,
    least: int,
    bots: int,
    http: int,
    players: int,
    meetings: int,
    think: float,
    keep: Path | None,
) -> None:
    """Play contests on real processes while these are killed, paused and restarted; then check every promise."""
    # stdout is for the report
    structlog.configure(logger_factory=structlog.PrintLoggerFactory(sys.stderr))
    seed = secrets.randbits(32) if seed is None else seed
    print(f"seed {seed}", file=sys.stderr, flush=True)
    with tempfile.TemporaryDirectory(prefix="chaos-") as made:
        folder = keep or Path(made)
        result = run(folder, minutes, least, Plan("", seed, bots, meetings, think, 240.0, http), players)
        if keep is not None:
            (folder / "report.json").write_text(json.dumps(result, indent=2))
    print(json.dumps(result, indent=2))
    sys.exit(bool(result["problems"]))


def run(folder: Path, minutes: float, least: int, plan: Plan, players: int) -> dict[str, Any]:
    """Plays one contest after another until both limits are passed; returns the report."""
    began_s, number, rows, sequence = time.monotonic(), 0, [], faults(plan.seed, WIDE_DECK)

    def enough() -> bool:
        return made.faults >= least and time.monotonic() - began_s >= minutes * 60

    def trouble() -> bool:
        if enough():
            return False
        fault = next(sequence)
        print(f"{time.monotonic() - began_s:7.1f} s  {fault}", file=sys.stderr, flush=True)
        made.befall(fault)
        return True

    with town(folder / "data", outlying=True, bot_loopback=True, tcp_port=free_port()) as made:
        address = ("127.0.0.1", made.settings.tcp_port)
        duelists = [Duelist(f"player{n:02}", [address], plan.seed + n) for n in range(players)]
        for duelist in duelists:
            duelist.start()
        while number == 0 or not enough():
            number += 1
            own = replace(plan, name=f"cup{number}", seed=plan.seed + number)
            evidence, found = play(made, own, trouble, folder / own.name)
            rows.append({"contest": own.name, **tally(evidence), "problems": found})
            print(json.dumps(rows[-1]), file=sys.stderr, flush=True)
        settled = settle(made.settings, duelists)
        books = books_of(made.settings, duelists)
        (folder / "diaries.json").write_text(json.dumps(books.diaries))
        found = [*settled, *board_problems(books, under_faults=True)]
        print(json.dumps(found), file=sys.stderr, flush=True)
        return {
            "seed": plan.seed,
            "seconds": round(time.monotonic() - began_s),
            "faults": made.faults,
            "hits": dict(sorted(made.hits.items())),
            "contests": rows,
            "boards": {**board_tally(books), "problems": found},
            "log": log_tally(made),
            "problems": [*(problem for row in rows for problem in row["problems"]), *found, *log_problems(made)],
        }


if __name__ == "__main__":
    main()
