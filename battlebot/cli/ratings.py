"""`battlebot ratings`: shows ratings, rebuilds them from the stored matches, and checks them against these."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import AbstractContextManager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from battlebot.cli.loading import load, of_data
from battlebot.cli.output import print_rows
from battlebot.errors import UnknownGame

if TYPE_CHECKING:
    from battlebot.storage import Storage

COLUMNS = ("rank", "bot_id", "mu", "sigma", "low", "high", "ordinal", "matches")


@click.group("ratings")
def ratings_commands() -> None:
    """Show, check and rebuild bots' ratings. They are kept at MONGODB_URI; without it, in the embedded mongod."""


@ratings_commands.command()
@click.argument("game")
@click.option(
    "--limit", default=100, show_default=True, type=click.IntRange(1, 1_000_000), help="Largest number of bots to show."
)
@of_data
def show(game: str, limit: int, data: Path | None) -> None:
    """Show a game's ratings, best first. A table on a terminal, tab-separated columns elsewhere."""
    from battlebot.ratings.rating import table

    with _storage(data) as storage:
        _chosen(storage, game)
        rows = table(storage.ratings.page(game, limit), 0, 0)
    print_rows(COLUMNS, [[_text(row[name]) for name in COLUMNS] for row in rows], {"bot_id"}, f"Ratings of {game}")


@ratings_commands.command()
@click.argument("game", required=False)
@of_data
def rebuild(game: str | None, data: Path | None) -> None:
    """Rebuild ratings from the stored matches. Of one game, or of all; a server may run meanwhile."""
    from battlebot.ratings.service import Rater

    with _storage(data) as storage:
        storage.ensure_indexes()
        for name in _chosen(storage, game):
            applied = Rater(storage).rebuild(name)
            click.echo(f"{name}: {applied} matches applied.")


@ratings_commands.command()
@click.argument("game", required=False)
@of_data
def check(game: str | None, data: Path | None) -> int:
    """Compare ratings with the stored matches. Changes nothing.

    Exit status 1 if any differs, unless a worker is about to rebuild the game's, as after a match was voided.
    """
    from battlebot.ratings.service import Rater

    wrong = False
    with _storage(data) as storage:
        for name in _chosen(storage, game):
            found = Rater(storage).compare(name)
            due = ", and are due to be rebuilt by a worker" if found.is_due else ""
            click.echo(f"{name}: {f'{len(found.rows)} ratings differ{due}' if found.rows else 'as rebuilt'}.")
            for row in found.rows:
                click.echo(f"  {row['bot_id']}: kept {_brief(row['kept'])}, rebuilt {_brief(row['rebuilt'])}")
            wrong = wrong or (bool(found.rows) and not found.is_due)
    return 1 if wrong else 0


def _storage(data: Path | None) -> AbstractContextManager[Storage]:
    from battlebot.cli.database import open_storage

    return open_storage(load(data=data))


def _chosen(storage: Storage, game: str | None) -> Sequence[str]:
    """The given game, or all games that have matches. Raises UnknownGame, so that a mistyped name is noticed."""
    games = storage.ratings.games()
    if game is None:
        return games
    if game not in games:
        raise UnknownGame(f"No match of {game!r} is stored; there are matches of: {', '.join(games) or 'no game'}.")
    return [game]


def _text(value: Any) -> str:
    return f"{value:.3f}" if isinstance(value, float) else str(value)


def _brief(rating: dict[str, Any] | None) -> str:
    if rating is None:
        return "nothing"
    house = f"{rating['mu']:.9f} ± {rating['sigma']:.9f} of {rating['matches']} matches"
    return f"{house}, Elo {rating['elo']:.9f}, {rating['wins']} won, {rating['invalid']} invalid"
