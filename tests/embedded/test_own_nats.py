"""The embedded nats-server: there as soon as a bot needs it, and not before; then with every start of the server."""

from __future__ import annotations

import json
import socket
import sys
import urllib.error
import urllib.request
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest
from processes import eventually

from battlebot.config import Settings, nats_wanted
from battlebot.embedded.nats import with_nats
from battlebot.embedded.server import running
from battlebot.errors import EmbeddedError

sys.path.insert(0, str(Path(__file__).parents[1] / "stateless"))
from natsbots import NatsBot

Make = Callable[..., Settings]


def listens(port: int) -> bool:
    """Whether somebody does, there."""
    try:
        socket.create_connection(("127.0.0.1", port), 1.0).close()
    except OSError:
        return False
    return True


def test_a_bot_that_is_registered_brings_the_server_along(make_settings: Make, free_port: Callable[[], int]) -> None:
    """It waits for it; the test request finds it there. With the next start it is there at once."""
    settings = replace(make_settings(), nats_port=free_port())
    with running(settings, logs_in_files=True) as server:
        assert not listens(settings.nats_port)
        nats_wanted(server.settings).touch()  # as the first question does
        eventually(lambda: listens(settings.nats_port))
        bot = NatsBot(server.settings.nats_url, "test.embedded")
        body = json.dumps({"bot_id": "nats-bot", "url": bot.address}).encode()
        request = urllib.request.Request(f"{server.url}/bots/crossword", body, {"Content-Type": "application/json"})
        with urllib.request.urlopen(request, timeout=30) as answer:
            assert answer.status == 201
        server.child("nats").kill()
        eventually(lambda: listens(settings.nats_port))
        bot.close()
    assert not listens(settings.nats_port)
    with running(settings, logs_in_files=True):
        eventually(lambda: listens(settings.nats_port))


def test_the_first_question_demands_it(make_settings: Make, free_port: Callable[[], int]) -> None:
    """A bot at a subject that nobody listens to is refused for that, and not because there is no NATS."""
    settings = replace(make_settings(), nats_port=free_port())
    with running(settings, logs_in_files=True) as server:
        body = json.dumps({"bot_id": "nats-bot", "url": "nats://nobody.there"}).encode()
        request = urllib.request.Request(f"{server.url}/bots/crossword", body, {"Content-Type": "application/json"})
        with pytest.raises(urllib.error.HTTPError) as refused:
            urllib.request.urlopen(request, timeout=30)
        answer = json.load(refused.value)
        assert (refused.value.code, answer["test"]["code"]) == (400, "nobody")


def test_the_operators_nats_is_left_alone(free_port: Callable[[], int]) -> None:
    """There is no embedded one beside it, and none where the port is 0."""
    own = Settings(nats_url="nats://nats.example:4222", nats_port=free_port())
    assert with_nats(own) == own
    assert with_nats(Settings(nats_port=0)).nats_url == ""


def test_a_port_that_is_taken_is_an_error_where_it_was_chosen(free_port: Callable[[], int]) -> None:
    """With the variable's name."""
    port = free_port()
    with socket.create_server(("127.0.0.1", port)), pytest.raises(EmbeddedError, match="BATTLEBOT_NATS_PORT"):
        with_nats(Settings(nats_port=port))


def test_another_server_on_the_port_ends_nothing(make_settings: Make, free_port: Callable[[], int]) -> None:
    """Ours is started as soon as the port is free."""
    settings = replace(make_settings(), nats_port=free_port())
    with running(settings, wsgi_module="standin", logs_in_files=True) as server:
        with socket.create_server(("127.0.0.1", settings.nats_port)):
            nats_wanted(server.settings).touch()
            assert not server.supervisor.wait(2.0)
            with pytest.raises(KeyError):
                server.child("nats")
        eventually(lambda: listens(settings.nats_port))
        assert server.child("nats").alive
