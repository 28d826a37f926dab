"""`battlebot doctor`: examines a running installation; prints a table or JSON. The checks are in `battlebot.doctor`."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import click

from battlebot.cli.loading import load
from battlebot.doctor.finding import Finding, State, exit_status

MARKS = {State.OK: "green", State.WARNING: "yellow", State.WRONG: "red", State.AWAY: "red"}


@click.command("doctor")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object: ok, and the findings.")
@click.option("--data", type=click.Path(path_type=Path), help="Data folder of a running server, if no URLs are set.")
def doctor(as_json: bool, data: Path | None) -> int:
    """Examine a running installation. Changes nothing.

    Checks versions, clocks, settings, indexes, nodes, workers and beat, waiting tasks, stuck matches, the archive, the
    ratings and disk space, at REDIS_URL and MONGODB_URI, or of the server that runs on the data folder. Exit status:
    0, nothing is wrong; 1, something is; 2, something does not answer.
    """
    from battlebot.cli.database import running_stores
    from battlebot.doctor.examination import examine

    settings = running_stores(load(data=data))

    def workers() -> list[str]:
        from app import answering_workers

        return answering_workers(settings)

    findings = list(examine(settings, workers))
    status = exit_status(findings)
    if as_json:
        rows = [finding.as_dict() for finding in findings]
        click.echo(json.dumps({"ok": status == 0, "findings": rows}, indent=2, ensure_ascii=False))
    else:
        _print(findings)
    return status


def _print(findings: list[Finding]) -> None:
    if not sys.stdout.isatty():
        click.echo("\n".join(f"{row.state.value}\t{row.part}\t{row.sentence}" for row in findings))
        return
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    shown = Table("", "part", "finding", title="Battlebot's health")
    for row in findings:
        # names of servers or bots must not be read as markup
        shown.add_row(Text(row.state.value, style=MARKS[row.state]), row.part, Text(row.sentence))
    Console().print(shown)
