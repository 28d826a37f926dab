"""`battlebot renew`: gives a bot whose pass_hash was lost, or became known to others, another one."""

from __future__ import annotations

import sys
from pathlib import Path

import click

from battlebot.cli.loading import load, of_data


@click.command("renew")
@click.argument("bot")
@of_data
def renew(bot: str, data: Path | None) -> None:
    """Give a bot another pass_hash and print it. It is shown only once.

    The old one ends within seconds, and whoever logged in with it, after the running match. Works on the database:
    MONGODB_URI, or the mongod of the data folder. A server may run meanwhile.
    """
    from battlebot.arena.names.directory import renewed
    from battlebot.cli.database import open_storage
    from battlebot.embedded.folder import kept_key
    from battlebot.storage.vault import Vault
    from battlebot.wire.login import new_secret

    settings, pass_hash = load(data=data), new_secret()
    # the storage first: it says so if nothing has been kept in the folder
    with open_storage(settings) as storage:
        vault = Vault(settings.secret_key or kept_key(settings.data.expanduser()))
        renewed(storage.bots, vault, bot, pass_hash)
    click.echo(pass_hash)
    if sys.stdout.isatty():
        click.echo("Give it to the bot's owner only: it belongs into the bot's auth file.", err=True)
