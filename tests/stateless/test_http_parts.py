"""Bots whose libraries let the system put together what they write in parts: answers' heads and bodies, TLS's own."""

from __future__ import annotations

import socket
import ssl
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest
from test_bots_tls import LOCAL, certificate

from battlebot.stateless.asking import Question
from battlebot.stateless.http.bots import HttpBots
from battlebot.stateless.http.guard import Guard

pytestmark = pytest.mark.usefixtures("kept_long")

HEAD, BODY = b"HTTP/1.1 200 OK\r\nContent-Length: 8\r\n\r\n", b'{"n": 3}'
QUESTIONS = 160


@pytest.fixture
def address() -> Iterator[str]:
    """Yields the address of a bot that takes one connection."""
    with socket.create_server(("127.0.0.1", 0)) as listener:
        yield from _served(listener, 1, f"http://127.0.0.1:{listener.getsockname()[1]}/")


@pytest.fixture
def tls_address(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[str]:
    """Yields the address of a bot behind TLS that takes a connection for each question."""
    file = certificate(tmp_path)
    monkeypatch.setenv("SSL_CERT_FILE", str(file))
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(file)
    with context.wrap_socket(socket.create_server(("127.0.0.1", 0)), server_side=True) as listener:
        yield from _served(listener, QUESTIONS, f"https://{LOCAL}:{listener.getsockname()[1]}/")


def _served(listener: socket.socket, connections: int, address: str) -> Iterator[str]:
    thread = threading.Thread(target=_serve, args=(listener, connections), daemon=True)
    thread.start()
    yield address
    thread.join(10)


def _serve(listener: socket.socket, connections: int) -> None:
    for _ in range(connections):
        connection, _ = listener.accept()
        with connection:
            # a question comes with one read: it is short
            while connection.recv(65_536):
                connection.sendall(HEAD)
                connection.sendall(BODY)


def charged_s(address: str, by: HttpBots) -> float:
    """Returns what the bot is charged for all questions together."""
    question = Question(address, "numberwang", "match", "bot", {}, 10.0)
    replies = [by.ask(question) for _ in range(QUESTIONS)]
    assert [reply.value for reply in replies] == [{"n": 3}] * QUESTIONS
    return sum(reply.thinking_s for reply in replies)


def test_a_bot_is_not_charged_for_an_acknowledgement_that_the_server_delays(address: str) -> None:
    """The bot's system waits for it with the body: 44 ms for each answer, 7 s here."""
    assert charged_s(address, HttpBots(Guard(loopback=True), 65_536, 16)) < 5.0


def test_nor_is_it_for_that_of_a_session_ticket(tls_address: str) -> None:
    """TLS 1.3 brings some before the first answer over a connection, which waits for it: as long, each time."""
    assert charged_s(tls_address, HttpBots(Guard(loopback=True), 65_536, 16, keeps=False)) < 5.0
