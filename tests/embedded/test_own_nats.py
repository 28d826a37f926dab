"""The embedded nats-server: there with the server, so that a bot can listen before it is registered."""

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

from battlebot.config import Settings
from battlebot.embedded.nats import nats_program, with_nats
from battlebot.embedded.server import Server, running
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


def registered(server: Server, address: str) -> tuple[int, str | None]:
    """The status of registering a bot at that address, and the code of its test if it failed."""
    body = json.dumps({"bot_id": "nats-bot", "url": address}).encode()
    request = urllib.request.Request(f"{server.url}/bots/crossword", body, {"Content-Type": "application/json"})
    try:
        with urllib.request.urlopen(request, timeout=30) as answer:
            return answer.status, None
    except urllib.error.HTTPError as refused:
        return refused.code, json.load(refused)["test"]["code"]


def test_a_bot_that_listens_before_it_is_registered_plays(make_settings: Make, free_port: Callable[[], int]) -> None:
    """As a program does that ends where no NATS is; whatever becomes of NATS meanwhile, it is there again."""
    settings = replace(make_settings(), nats_port=free_port())
    with running(settings, logs_in_files=True) as server:
        bot = NatsBot(server.settings.nats_url, "test.embedded")
        assert registered(server, bot.address) == (201, None)
        server.child("nats").kill()
        eventually(lambda: listens(settings.nats_port))
        bot.close()
    assert not listens(settings.nats_port)


def test_a_bot_that_does_not_listen_is_told_so(make_settings: Make, free_port: Callable[[], int]) -> None:
    """It is refused for that, and not because there is no NATS."""
    settings = replace(make_settings(), nats_port=free_port())
    with running(settings, logs_in_files=True) as server:
        assert registered(server, "nats://nobody.there") == (400, "nobody")


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


@pytest.mark.parametrize(("part", "changes"), [("web node", {"port": 23456}), ("TCP door", {"tcp_port": 23456})])
def test_a_port_of_another_part_is_an_error_where_it_was_chosen(part: str, changes: dict[str, int]) -> None:
    """Each would keep the other from its port: before either is started. Without a choice there is no NATS."""
    with pytest.raises(EmbeddedError, match=rf"^The {part} is to listen on 23456\. .*BATTLEBOT_NATS_PORT"):
        with_nats(Settings(nats_port=23456, **changes))
    usual = Settings(**dict.fromkeys(changes, Settings.nats_port))
    assert with_nats(usual) == replace(usual, nats_port=0)


def test_another_server_on_the_port_ends_nothing(make_settings: Make, free_port: Callable[[], int]) -> None:
    """Ours is started as soon as the port is free."""
    settings = replace(make_settings(), nats_port=free_port())
    with running(settings, wsgi_module="standin", logs_in_files=True) as server:
        server.supervisor.stop_one("nats")
        with socket.create_server(("127.0.0.1", settings.nats_port)):
            server.supervisor.start(nats_program(server.settings, True))
            eventually(lambda: not server.child("nats").alive)
            assert not server.supervisor.wait(1.0)
        eventually(lambda: server.child("nats").alive and listens(settings.nats_port))


def test_a_message_has_the_size_of_a_few_answers(make_settings: Make, free_port: Callable[[], int]) -> None:
    """So that floods of them fill no connection; whatever answers may be."""
    for answer_bytes, payload in ((65_536, 131_072), (1_000_000, 2_000_000)):
        settings = replace(make_settings(), nats_port=free_port(), bot_answer_bytes=answer_bytes)
        with running(settings, wsgi_module="standin", logs_in_files=True):
            eventually(lambda settings=settings: listens(settings.nats_port))
            with socket.create_connection(("127.0.0.1", settings.nats_port)) as connection:
                told = connection.makefile("rb").readline()
        assert json.loads(told.removeprefix(b"INFO "))["max_payload"] == payload
