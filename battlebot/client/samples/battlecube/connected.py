"""A sample bot over WebSocket: `python -m battlebot.client.samples.battlecube.connected --bot survivor --name mine`."""

from __future__ import annotations

from argparse import Namespace

from battlebot.client import Bot
from battlebot.client.bot import State, Turn
from battlebot.client.samples.battlecube.http_bot import BOTS
from battlebot.client.samples.battlecube.question import Decide, question_of
from battlebot.client.samples.play import arguments, main


class CubeBot(Bot):
    """Plays the tasks that the same bot would answer over HTTP."""

    def __init__(self, decide: Decide) -> None:
        self._decide = decide

    def choose(self, state: State) -> Turn:
        """The turn with the bot's tasks."""
        return {"tasks": self._decide(question_of(state, self.bot_id))}


def _make(options: Namespace) -> Bot:
    return CubeBot(BOTS[options.bot])


if __name__ == "__main__":
    parser = arguments("battlecube.connected", ["battlecube"], "battlecube")
    parser.add_argument("--bot", choices=sorted(BOTS), default="survivor", help="which (default: %(default)s)")
    main(_make, parser)
