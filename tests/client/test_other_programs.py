"""Programs that are no server of ours, or broke, as seen on the wire: what they answer is given byte for byte."""

from __future__ import annotations

import socket
import threading
from collections.abc import Callable, Iterator
from contextlib import suppress

import pytest

from battlebot.client import Bot, Credentials, Unreachable, register, run


@pytest.fixture
def answering() -> Iterator[Callable[[bytes], str]]:
    """Yields a function that has a program answer one request with these bytes; returns its address."""
    listeners = []

    def listen(answer: bytes) -> str:
        listener = socket.create_server(("127.0.0.1", 0))
        listeners.append(listener)
        threading.Thread(target=_answer_once, args=(listener, answer), daemon=True).start()
        return f"127.0.0.1:{listener.getsockname()[1]}"

    yield listen
    for listener in listeners:
        listener.close()


def _answer_once(listener: socket.socket, answer: bytes) -> None:
    with suppress(OSError):
        line, _ = listener.accept()
        with line:
            line.recv(65_536)
            line.sendall(answer)
            line.shutdown(socket.SHUT_WR)
            line.recv(1)


def test_a_refusal_that_is_cut_off_is_no_servers_of_ours(answering: Callable[[bytes], str]) -> None:
    """As a proxy's that dies over its page."""
    address = answering(b"HTTP/1.1 502 Bad Gateway\r\nContent-Length: 500\r\n\r\n<html>")
    with pytest.raises(Unreachable, match="502"):
        register(address, "numberwang", "Me")


def test_an_answer_without_a_status_is_no_servers_of_ours(
    answering: Callable[[bytes], str], bot: Bot, credentials: Credentials
) -> None:
    """It begins with an empty line, as the greetings of some programs do."""
    with pytest.raises(Unreachable, match="without a status"):
        run(bot, answering(b"\r\nWelcome.\r\n"), "numberwang", credentials=credentials, idle_timeout_s=5.0)
