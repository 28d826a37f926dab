"""Bots whose libraries write an answer's head and its body by themselves, and let the system put them together."""

from __future__ import annotations

import socket
import threading
from collections.abc import Iterator

import pytest

from battlebot.stateless.asking import Question
from battlebot.stateless.http.bots import HttpBots
from battlebot.stateless.http.guard import Guard

pytestmark = pytest.mark.usefixtures("kept_long")

HEAD, BODY = b"HTTP/1.1 200 OK\r\nContent-Length: 8\r\n\r\n", b'{"n": 3}'


@pytest.fixture
def address() -> Iterator[str]:
    """Yields the address of a bot that takes one connection."""
    with socket.create_server(("127.0.0.1", 0)) as listener:
        thread = threading.Thread(target=_serve, args=(listener,), daemon=True)
        thread.start()
        yield f"http://127.0.0.1:{listener.getsockname()[1]}/"
    thread.join(10)


def _serve(listener: socket.socket) -> None:
    connection, _ = listener.accept()
    with connection:
        # a question comes with one read: it is short
        while connection.recv(65_536):
            connection.sendall(HEAD)
            connection.sendall(BODY)


def test_a_bot_is_not_charged_for_an_acknowledgement_that_the_server_delays(address: str) -> None:
    """The bot's system waits for it with the body: 44 ms for each answer, 7 s here."""
    by, question = HttpBots(Guard(loopback=True), 65_536, 16), Question(address, "numberwang", "match", "bot", {}, 10.0)
    replies = [by.ask(question) for _ in range(160)]
    assert [reply.value for reply in replies] == [{"n": 3}] * 160
    assert sum(reply.thinking_s for reply in replies) < 5.0
