"""`battlebot export`: writes a stored match to a file in a format of its game. The formats are in `wire`."""

from __future__ import annotations

from pathlib import Path

import click

from battlebot.cli.loading import load, of_data
from battlebot.errors import UnknownMatch


@click.command("export")
@click.argument("match")
@click.option(
    "--format", "name", required=True, help="For crossword: gcg, json or pb (a GameHistory in JSON or protobuf)."
)
@click.option("--output", type=click.Path(path_type=Path), help="Output file. Default: stdout.")
@of_data
def export(match: str, name: str, output: Path | None, data: Path | None) -> None:
    """Export a finished match to a file. The formats are those used in its game's world.

    Reads the database, not the API: MONGODB_URI, or the mongod of the data folder. A server may run meanwhile.
    """
    from battlebot.cli.contest_files import destination
    from battlebot.cli.database import open_storage
    from battlebot.wire.matchfiles import file_format_of

    with open_storage(load(data=data)) as storage:
        record = storage.games.find(match)
    if record is None:
        raise UnknownMatch(f"There is no finished match {match[:64]!r}.")
    made = file_format_of(record["game"], name).write(record)
    with destination(output) as stream:
        stream.write(made)
