"""How contests are shown: sentences, tables on a terminal, tab-separated columns elsewhere. No requests."""

from __future__ import annotations

import json
import sys
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import click

from battlebot.cli.rest import plain

if TYPE_CHECKING:
    from rich.table import Table

OVER = ("finished", "cancelled")
STANDING = ("rank", "bot_id", "score", "played", "wins", "draws", "losses")
LISTED = ("name", "title", "state", "format", "meetings", "startsAt", "endsAt")
TEXTS = frozenset({"bot_id", "name", "title", "state", "format", "startsAt", "endsAt"})
# by `together`, which is null if the server lacks the contest's format
MEETINGS = {True: " of all", False: " a pair", None: ""}

Row = Mapping[str, Any]


def summary(contest: Row) -> str:
    """A contest in one line."""
    said = [f"{contest['name']}: {contest['state']}", str(contest["format"])]
    if contest["state"] == "scheduled":
        said.append(f"starts {contest['startsAt']}" if contest.get("startsAt") else "starts when you say so")
    if contest["state"] not in OVER and contest.get("endsAt"):
        said.append(f"ends {contest['endsAt']} at the latest")
    said.append(_count(contest["meetings"], "meeting") + MEETINGS[contest.get("together", False)])
    entrants = contest.get("entrants", "open")
    said.append("open to all" if entrants == "open" else _count(len(entrants), "entrant"))
    if contest.get("withdrawn"):
        said.append(f"{len(contest['withdrawn'])} withdrawn")
    return plain(", ".join(said))


def print_contests(game: str, contests: Sequence[Row]) -> None:
    """Prints a list of contests."""
    _print(f"Contests of {game}", LISTED, contests)


def print_contest(contest: Row, standings: Sequence[Row]) -> None:
    """Prints a contest's fields and its ranking."""
    for field, value in contest.items():
        if field != "bots" and value not in (None, [], {}):
            text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
            click.echo(f"{plain(field) + ':':15} {plain(text)}")
    click.echo()
    print_standings(standings)


def print_standings(rows: Sequence[Row]) -> None:
    """Prints a ranking."""
    _print("", standing_columns(rows), rows)


def standing_columns(rows: Sequence[Row]) -> tuple[str, ...]:
    """The columns of a ranking, with `scored` if its rows have it."""
    return (*STANDING, "scored") if any("scored" in row for row in rows) else STANDING


def table(title: str, columns: Sequence[str], rows: Sequence[Row]) -> Table:
    """The rows as a table for a terminal."""
    from rich.table import Table
    from rich.text import Text

    shown = Table(title=Text(plain(title)) if title else None)
    for column in columns:
        shown.add_column("bot" if column == "bot_id" else column, justify="left" if column in TEXTS else "right")
    for row in rows:
        # names given by others must not be read as markup
        shown.add_row(*(Text(_cell(row.get(column))) for column in columns))
    return shown


def _print(title: str, columns: Sequence[str], rows: Sequence[Row]) -> None:
    if sys.stdout.isatty():
        from rich.console import Console

        Console().print(table(title, columns, rows))
        return
    for line in (columns, *([_cell(row.get(column)) for column in columns] for row in rows)):
        click.echo("\t".join(line))


def _cell(value: Any) -> str:
    if isinstance(value, float):
        return f"{value:g}"
    return "" if value is None else plain(value)


def _count(number: int, noun: str) -> str:
    return f"{number} {noun}" + ("" if number == 1 else "s")
