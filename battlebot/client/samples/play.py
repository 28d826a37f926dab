"""The command line shared by all sample bots: registers the bot if there is no auth file yet, then plays."""

from __future__ import annotations

import argparse
import logging
import signal
import sys
from collections.abc import Callable, Iterable
from pathlib import Path

from battlebot.client import Bot, ClientError, Credentials, load_or_register, run
from battlebot.client.samples.turns import GAMES


def arguments(name: str, games: Iterable[str] = GAMES, game: str = "noughtsandcrosses") -> argparse.ArgumentParser:
    """A parser with the options that all samples share; a sample adds its own. `name`: its module, in this package."""
    parser = argparse.ArgumentParser(prog=f"python -m battlebot.client.samples.{name}")
    parser.add_argument("--host", default="localhost:3000", help="localhost:3000, or a URL (default: %(default)s)")
    parser.add_argument("--game", default=game, choices=sorted(games))
    parser.add_argument("--contest", help="play in this contest")
    own_name = name.split(".")[-1]
    parser.set_defaults(own_name=own_name)
    parser.add_argument(
        "--name", help=f"the bot's name, unique on the server (default: the auth file's, or {own_name})"
    )
    parser.add_argument("--owner", help="whose bot it is")
    parser.add_argument("--auth", help="the auth file, made when absent (default: NAME.auth.json)")
    parser.add_argument("--matches", type=int, help="stop after so many")
    parser.add_argument("--idle-timeout", type=float, metavar="SECONDS", help="stop after so long without a match")
    parser.add_argument("--verbose", action="store_true", help="log each match")
    return parser


def main(make: Callable[[argparse.Namespace], Bot] | type[Bot], parser: argparse.ArgumentParser | None = None) -> None:
    """Run the bot that `make` returns, by the command line's options; on an error, print one line and exit with 1."""
    parser = parser or arguments(Path(sys.argv[0]).stem)
    options = parser.parse_args()
    logging.basicConfig(level=logging.INFO if options.verbose else logging.WARNING, format="%(message)s")
    signal.signal(signal.SIGTERM, signal.default_int_handler)  # `kill` closes the connection properly, like Ctrl-C
    bot = make() if isinstance(make, type) else make(options)
    auth = Path(options.auth or f"{options.name or options.own_name}.auth.json")
    try:
        name = options.name or (Credentials.load(auth).bot_id if auth.exists() else options.own_name)
        credentials = load_or_register(auth, options.host, options.game, name, options.owner)
        results = run(
            bot,
            options.host,
            options.game,
            options.contest,
            credentials=credentials,
            matches=options.matches,
            idle_timeout_s=options.idle_timeout,
        )
    except (ClientError, OSError) as error:
        sys.exit(f"{parser.prog}: {error}")
    except KeyboardInterrupt:
        return
    wins = sum(result.victor == bot.bot_id for result in results)
    print(f"{bot.bot_id}: {len(results)} matches, {wins} won")
