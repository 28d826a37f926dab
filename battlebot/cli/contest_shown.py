"""How contests are shown: sentences, tables on a terminal, tab-separated columns elsewhere. No requests."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import click

from battlebot.cli.output import plain, print_rows, table

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
    print_rows(LISTED, _cells(LISTED, contests), TEXTS, f"Contests of {game}")


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
    columns = standing_columns(rows)
    print_rows(columns, _cells(columns, rows), TEXTS)


def standing_columns(rows: Sequence[Row]) -> tuple[str, ...]:
    """The columns of a ranking, with `scored` if its rows have it."""
    return (*STANDING, "scored") if any("scored" in row for row in rows) else STANDING


def ranking(title: str, rows: Sequence[Row]) -> Table:
    """A ranking as a table for a terminal."""
    columns = standing_columns(rows)
    return table(columns, _cells(columns, rows), TEXTS, title)


def _cells(columns: Sequence[str], rows: Sequence[Row]) -> list[list[str]]:
    return [[_cell(row.get(column)) for column in columns] for row in rows]


def _cell(value: Any) -> str:
    if isinstance(value, float):
        return f"{value:g}"
    return "" if value is None else str(value)


def _count(number: int, noun: str) -> str:
    return f"{number} {noun}" + ("" if number == 1 else "s")
