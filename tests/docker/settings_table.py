"""The table of settings in docs/operations.md, generated from Settings. Run as a script, it writes the table there."""

from __future__ import annotations

from dataclasses import Field, fields
from pathlib import Path
from typing import Any

from battlebot.config import Settings

PAGE = Path(__file__).parents[2] / "docs" / "operations.md"
HEAD = "| variable | default | bounds | meaning |\n|---|---|---|---|\n"


def table() -> str:
    """Returns the table in Markdown, one row per setting, in the order of the code."""
    return HEAD + "".join(_row(row) for row in fields(Settings))


def with_table(page: str) -> str:
    """Returns the page with its table replaced by the code's. Raises ValueError if the page has none."""
    begin = page.index(HEAD)
    end = page.index("\n\n", begin) + 1
    return page[:begin] + table() + page[end:]


def _row(row: Field[Any]) -> str:
    low, high = row.metadata["low"], row.metadata["high"]
    bounds = "" if low is None else f"{_number(low)} to {_number(high)}"
    cells = (f"`{row.metadata['env']}`", _default(row.default), bounds, row.metadata["doc"])
    return f"| {' | '.join(cells)} |\n".replace("|  |", "| |")


def _default(value: Any) -> str:
    if isinstance(value, bool):
        return "`true`" if value else "`false`"
    if isinstance(value, int | float):
        return f"`{_number(value)}`"
    return "" if value in (None, "") else f"`{value}`"


def _number(value: float) -> str:
    return f"{value:.12g}"


if __name__ == "__main__":
    PAGE.write_text(with_table(PAGE.read_text()))
