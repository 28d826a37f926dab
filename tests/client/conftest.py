"""A scripted server, a bot that records what it is told, and `play`, which runs the bot against the server."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from scripted_server import PASS_HASH, Line, ScriptedServer

from battlebot.client import Bot, Credentials, Result, run

sys.path.insert(0, str(Path(__file__).parent.parent))  # for original_client.py, which other folders' tests use too


class Recorder(Bot):
    """Answers with 1, 2, 3, ...; `told` lists the hooks that were called."""

    def __init__(self) -> None:
        self.told: list[tuple[Any, ...]] = []
        self.turns = 0

    def choose(self, state: dict[str, Any]) -> dict[str, Any]:
        """Returns the next number."""
        self.turns += 1
        return {"n": self.turns}

    def started(self, state: dict[str, Any]) -> None:
        """Records the call."""
        self.told.append(("started", self.match.id))

    def updated(self, state: dict[str, Any], turn: dict[str, Any] | None) -> None:
        """Records the call, and whether the turn was valid."""
        self.told.append(("updated", turn and turn["valid"]))

    def finished(self, state: dict[str, Any]) -> None:
        """Records the call and the victor."""
        self.told.append(("finished", state["victor"]))

    def notice(self, code: str, text: str) -> None:
        """Records the call."""
        self.told.append(("notice", code, text))


@pytest.fixture
def credentials() -> Credentials:
    """Returns what the scripted server accepts."""
    return Credentials("numberwang", "Me", PASS_HASH, "localhost")


@pytest.fixture
def bot() -> Recorder:
    """Returns a bot that records."""
    return Recorder()


@pytest.fixture
def serve() -> Iterator[Callable[..., ScriptedServer]]:
    """Starts a scripted server; after the test, fails it if a script failed."""
    servers: list[ScriptedServer] = []

    def start(*scripts: Callable[[Line], None], **options: Any) -> ScriptedServer:
        servers.append(ScriptedServer(*scripts, **options))
        return servers[-1]

    yield start
    for server in servers:
        server.close()


@pytest.fixture
def play(serve: Callable[..., ScriptedServer], bot: Recorder, credentials: Credentials) -> Callable[..., list[Result]]:
    """Runs the bot against a server with these scripts; returns the results."""

    def play_scripts(*scripts: Callable[[Line], None], **options: Any) -> list[Result]:
        server = serve(*scripts)
        options = {"bot": bot, "credentials": credentials, "game": "numberwang", **options}
        return run(host=server.host, **options)

    return play_scripts
