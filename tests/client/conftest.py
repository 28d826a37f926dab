"""A scripted server, a bot that records what it is told, and `play`, which runs the one against the other."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from scripted_server import PASS_HASH, Line, ScriptedServer

from battlebot.client import Bot, Credentials, Result, run

sys.path.insert(0, str(Path(__file__).parent.parent))  # original_client.py, which other folders' tests use as well


class Recorder(Bot):
    """Answers with 1, 2, 3, ...; `told` lists the hooks that were called."""

    def __init__(self) -> None:
        self.told: list[tuple[Any, ...]] = []
        self.turns = 0

    def choose(self, state: dict[str, Any]) -> dict[str, Any]:
        """The next number."""
        self.turns += 1
        return {"n": self.turns}

    def started(self, state: dict[str, Any]) -> None:
        """Noted."""
        self.told.append(("started", self.match.id))

    def updated(self, state: dict[str, Any], turn: dict[str, Any] | None) -> None:
        """Noted, with whether the turn was valid."""
        self.told.append(("updated", turn and turn["valid"]))

    def finished(self, state: dict[str, Any]) -> None:
        """Noted, with the victor."""
        self.told.append(("finished", state["victor"]))

    def notice(self, code: str, text: str) -> None:
        """Noted."""
        self.told.append(("notice", code, text))


@pytest.fixture
def credentials() -> Credentials:
    """What the scripted server accepts."""
    return Credentials("numberwang", "Me", PASS_HASH, "localhost")


@pytest.fixture
def bot() -> Recorder:
    """A bot that records."""
    return Recorder()


@pytest.fixture
def serve() -> Iterator[Callable[..., ScriptedServer]]:
    """Starts a scripted server; after the test, what failed in a script fails the test."""
    servers: list[ScriptedServer] = []

    def start(*scripts: Callable[[Line], None], **options: Any) -> ScriptedServer:
        servers.append(ScriptedServer(*scripts, **options))
        return servers[-1]

    yield start
    for server in servers:
        server.close()


@pytest.fixture
def play(serve: Callable[..., ScriptedServer], bot: Recorder, credentials: Credentials) -> Callable[..., list[Result]]:
    """Runs the bot against a server with these scripts; the results."""

    def play_scripts(*scripts: Callable[[Line], None], **options: Any) -> list[Result]:
        server = serve(*scripts)
        options = {"bot": bot, "credentials": credentials, "game": "numberwang", **options}
        return run(host=server.host, **options)

    return play_scripts
