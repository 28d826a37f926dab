"""`battlebot play-tcp`: plays gomoku at a TCP door with a bot of the SDK. It uses only what any author can use."""

from __future__ import annotations

import importlib
import logging
import signal
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import click

from battlebot.errors import BattlebotError

if TYPE_CHECKING:
    from battlebot.client import Bot

BOTS = {
    "random": "battlebot.client.samples.random_player:RandomPlayer",
    "threats": "battlebot.client.samples.threats:Threats",
}


@click.command("play-tcp")
@click.option("--host", default="localhost:5232", show_default=True, help="Address of the TCP door.")
@click.option("--name", help="The player's name; with --auth, the registered one. Default: that one, else the bot's.")
@click.option("--bot", "which", default="threats", show_default=True, help="random, threats, or your own MODULE:CLASS.")
@click.option("--auth", type=click.Path(path_type=Path), help="Auth file of a registered bot.")
@click.option("--boards", type=click.IntRange(min=1), help="Stop after this many boards, when the pairing is over.")
@click.option("--idle-timeout", type=float, metavar="SECONDS", help="Stop after this time without a board.")
@click.option("--verbose", is_flag=True, help="Log each board.")
def play_tcp(
    host: str,
    name: str | None,
    which: str,
    auth: Path | None,
    boards: int | None,
    idle_timeout: float | None,
    verbose: bool,
) -> int:
    """Play gomoku at a TCP door until Ctrl-C. Pairing after pairing, at this server or an original arena."""
    from battlebot.client import ClientError, Credentials, run_tcp
    from battlebot.client.tcp import GAME

    logging.basicConfig(level=logging.INFO if verbose else logging.WARNING, format="%(message)s")
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    bot = _bot(which)
    try:
        credentials = None if auth is None else Credentials.load(auth)
        if credentials:
            credentials.check(GAME, path=auth)
        own = credentials.bot_id if credentials else which.rpartition(":")[2].lower()
        results = run_tcp(
            bot,
            host,
            name or own,
            boards=boards,
            pass_hash=credentials.pass_hash if credentials else None,
            idle_timeout_s=idle_timeout,
        )
    except ClientError as error:
        raise BattlebotError(str(error)) from error
    wins = sum(result.reason == "win" for result in results)
    click.echo(f"{bot.bot_id}: {len(results)} boards, {wins} won")
    return 0


def _bot(which: str) -> Bot:
    """An instance of the sample of that name or of an author's class. Raises click.BadParameter for anything else."""
    from battlebot.client import Bot
    from battlebot.client.bot import as_bot

    module, _, name = BOTS.get(which, which).partition(":")
    if not (all(module.split(".")) and name):
        raise click.BadParameter(f"{which!r} is none of {', '.join(BOTS)}, and no MODULE:CLASS.", param_hint="--bot")
    # an author's module lies in the working directory
    sys.path.insert(0, str(Path.cwd()))
    try:
        made = getattr(importlib.import_module(module), name)
    except (ImportError, AttributeError) as error:
        raise click.BadParameter(f"{which!r} cannot be loaded: {error}.", param_hint="--bot") from None
    if not (isinstance(made, type) and issubclass(made, Bot)):
        raise click.BadParameter(f"{which!r} is no subclass of battlebot.client.Bot.", param_hint="--bot")
    try:
        return as_bot(made)
    except TypeError as error:
        raise click.BadParameter(f"{which!r} cannot play: {error}", param_hint="--bot") from None
