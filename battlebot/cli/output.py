"""What commands print of what others have named: rows as a table on a terminal, tab-separated columns elsewhere."""

from __future__ import annotations

import sys
from collections.abc import Container, Iterable, Sequence
from typing import TYPE_CHECKING

import click

if TYPE_CHECKING:
    from rich.table import Table

Rows = Iterable[Sequence[str]]


def plain(text: object) -> str:
    """The text with unprintable characters replaced, so that names cannot control the terminal."""
    return "".join(char if char.isprintable() else "\ufffd" for char in str(text))


def print_rows(columns: Sequence[str], rows: Rows, texts: Container[str], title: str = "") -> None:
    """Prints rows of cells; columns that are not named in `texts` are numbers."""
    if sys.stdout.isatty():
        from rich.console import Console

        Console().print(table(columns, rows, texts, title))
        return
    for row in (columns, *rows):
        click.echo("\t".join(map(plain, row)))


def table(columns: Sequence[str], rows: Rows, texts: Container[str], title: str = "") -> Table:
    """Rows of cells as a table for a terminal. Names given by others are shown as they are: none is read as markup."""
    from rich.table import Table
    from rich.text import Text

    shown = Table(title=Text(plain(title)) if title else None)
    for column in columns:
        shown.add_column("bot" if column == "bot_id" else column, justify="left" if column in texts else "right")
    for row in rows:
        shown.add_row(*(Text(plain(cell)) for cell in row))
    return shown
