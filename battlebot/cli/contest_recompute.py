"""`battlebot contest recompute`: checks the standings against the stored matches. `storage` does the counting."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from battlebot.cli.database import open_storage
from battlebot.cli.output import plain
from battlebot.errors import UnknownContest

if TYPE_CHECKING:
    from battlebot.config import Settings

BY = "command line"  # in the audit: who corrected the standings


def recompute_standings(settings: Settings, game: str, name: str, mend: bool) -> int:
    """Prints each difference and, with `mend`, corrects the standings. Returns how many there were.

    Raises UnknownContest, and what `open_storage` raises.
    """
    with open_storage(settings) as storage:
        if storage.contests.find(game, name) is None:
            raise UnknownContest(f"There is no contest {name!r} of {game}.")
        rows = storage.ledger.recount(game, name, BY if mend else None)
    for row in rows:
        click.echo(_line(row))
    if not rows:
        click.echo(f"{plain(name)}: the standings are what the stored matches make.")
    else:
        rest = "mended" if mend else "left as they are; --mend puts them right"
        click.echo(f"{plain(name)}: {len(rows)} {'row differs' if len(rows) == 1 else 'rows differ'}, {rest}.")
    return len(rows)


def _line(row: dict[str, Any]) -> str:
    against = f" against {plain(row['opponent'])}" if "opponent" in row else ""
    return f"  {plain(row['bot_id'])}{against}: kept {_counts(row['kept'])}; counted {_counts(row['counted'])}"


def _counts(counts: dict[str, int]) -> str:
    return ", ".join(f"{count} {name}" for name, count in counts.items()) or "nothing"
