"""`battlebot bots`: runs a sample bot for crossword over WebSocket or NATS. It uses only what any author can use."""

from __future__ import annotations

import logging
import runpy
import signal
import sys

import click

from battlebot.errors import BattlebotError

# name -> its module, whose `decider()` returns the decision function
BOTS = {
    "crossword-greedy": "battlebot.client.samples.crossword.greedy",
    "crossword-challenger": "battlebot.client.samples.crossword.challenger",
}
NATS = "nats://127.0.0.1:4222"


@click.command("bots", context_settings={"ignore_unknown_options": True})
@click.argument("name", type=click.Choice(sorted(BOTS)))
@click.option(
    "--nats", is_flag=False, flag_value=NATS, metavar="[URL]", help=f"Connect over NATS; without a URL to {NATS}."
)
@click.option("--subject", default="bot.commands", show_default=True, help="NATS subject on which the bot is asked.")
@click.option(
    "--queue", default="bot_queue", show_default=True, help="NATS queue group; its bots share their questions."
)
@click.option("--verbose", is_flag=True, help="Log what it does.")
@click.argument("arguments", nargs=-1, type=click.UNPROCESSED)
def bots(
    name: str, nats: str | None, subject: str, queue: str, verbose: bool, arguments: tuple[str, ...]
) -> int | None:
    """Run a sample bot until Ctrl-C.

    By default it connects over WebSocket, with the sample's own ARGUMENTS (--host, --contest ...; to see them all:
    -- --help). With --nats it is a stateless bot, to be registered by {"url": "nats://SUBJECT"}.
    """
    if nats is None:
        sys.argv = [name, *arguments, *(["--verbose"] if verbose else [])]
        runpy.run_module(BOTS[name], run_name="__main__")
        return None
    if arguments:
        raise click.UsageError(f"With --nats there is no {arguments[0]}.")
    return _over_nats(name, nats, subject, queue, verbose)


def _over_nats(name: str, url: str, subject: str, queue: str, verbose: bool) -> int:
    from importlib import import_module

    from battlebot.client import ClientError
    from battlebot.client.nats import serve_nats

    logging.basicConfig(level=logging.WARNING, format="%(message)s")
    logging.getLogger("battlebot.client").setLevel(logging.DEBUG if verbose else logging.INFO)
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    try:
        serve_nats(import_module(BOTS[name]).decider(), url, subject, queue)
    except KeyboardInterrupt:
        return 0
    except ClientError as error:
        raise BattlebotError(str(error)) from error
    return 0
