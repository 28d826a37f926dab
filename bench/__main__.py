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
from bench.runner import Bench, LoadFailed, Row, run, scenario_names


@click.command()
@click.argument("names", nargs=-1, type=click.Choice(scenario_names()), metavar="[SCENARIO]...")
@click.option("--quick", is_flag=True, help="Shorter and smaller runs, less precise.")
@click.option("--seconds", type=click.FloatRange(min=0.5), help="Measured time of each scenario.")
@click.option(
    "--size", type=click.IntRange(min=1), help="Number of matches, bots or connections, depending on the scenario."
)
@click.option("--repeat", type=click.IntRange(min=1), default=1, help="Runs of each scenario; the median is reported.")
@click.option("--keep", is_flag=True, help='For contest and crowd: protocol 2 with "session": "keep".')
@click.option(
    "--journal",
    type=click.Choice(["everysec", "always"]),
    help="How often Valkey writes its journal to the disk. Default: always, as for the embedded server.",
)
@click.option(
    "--profile",
    type=click.Path(path_type=Path),
    help="Profile the web node with py-spy: a flame graph (*.svg), else stacks with counts.",
)
@click.option(
    "--check", is_flag=True, help="Also exit with status 1 if a ratio by CPU is below half of the recorded one."
)
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
    """Measure Battlebot in the given scenarios, or in all. Exit status 1 if a bot was told anything wrong."""
    # stdout is for results
    structlog.configure(
        wrapper_class=structlog.make_filtering_bound_logger(logging.WARNING),
        logger_factory=structlog.PrintLoggerFactory(sys.stderr),
    )
    bench = Bench(quick, seconds, size, keep, profile, journal)
    rows: list[Row] = []
    for name in names or scenario_names():
        try:
            rows.append(run(name, bench, repeat))
        except LoadFailed as error:
            raise click.ClickException(f"{error} It needs what requirements-dev.txt lists.") from error
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
