"""`python -m bench`: runs scenarios, prints one JSON line per scenario to stdout and a table to stderr."""

from __future__ import annotations

import json
import logging
import sys
from pathlib import Path

import click
import structlog

from bench.recorded import lost, record
from bench.report import show
from bench.runner import Bench, Row, run, scenario_names


@click.command()
@click.argument("names", nargs=-1, type=click.Choice(scenario_names()), metavar="[SCENARIO]...")
@click.option("--quick", is_flag=True, help="Shorter and smaller; rougher.")
@click.option("--seconds", type=click.FloatRange(min=0.5), help="The measured time of each scenario.")
@click.option("--size", type=click.IntRange(min=1), help="How many matches, bots or connections, by scenario.")
@click.option("--repeat", type=click.IntRange(min=1), default=1, help="Runs of each; the median counts.")
@click.option("--keep", is_flag=True, help='contest, crowd: with protocol 2 and "session": "keep".')
@click.option(
    "--journal",
    type=click.Choice(["everysec", "always"]),
    help="How often Valkey has its journal on the disk; else as the embedded server has it: always.",
)
@click.option("--profile", type=click.Path(path_type=Path), help="py-spy of the web node: *.svg or stacks with counts.")
@click.option("--check", is_flag=True, help="Exit status 1 also if a ratio by CPU is below half of the recorded one.")
@click.option("--record", "keep_record", is_flag=True, help="Record the ratios by CPU in bench/recorded.json.")
def main(
    names: tuple[str, ...],
    quick: bool,
    seconds: float | None,
    size: int | None,
    repeat: int,
    keep: bool,
    journal: str | None,
    profile: Path | None,
    check: bool,
    keep_record: bool,
) -> None:
    """Measures Battlebot. Without names: all scenarios. Exit status 1 if anything that bots were told was wrong."""
    # stdout is for results
    structlog.configure(
        wrapper_class=structlog.make_filtering_bound_logger(logging.WARNING),
        logger_factory=structlog.PrintLoggerFactory(sys.stderr),
    )
    bench = Bench(quick, seconds, size, keep, profile, journal)
    rows: list[Row] = []
    for name in names or scenario_names():
        rows.append(run(name, bench, repeat))
        print(json.dumps(rows[-1]), flush=True)
    show(rows)
    fallen = lost(rows) if check else []
    for sentence in fallen:
        print(sentence, file=sys.stderr)
    if keep_record:
        record(rows)
    sys.exit(bool(fallen) or any(row["wrong"] for row in rows))


if __name__ == "__main__":
    main()
