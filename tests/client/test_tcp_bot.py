"""`run_tcp` against a server that says what a test has it say: what the protocol leaves to be guessed."""

from __future__ import annotations

import json
import socket
import threading
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from battlebot.client import Bot, Refused, Result, Unreachable, run_tcp, tcp
from battlebot.client.backoff import Backoff
from battlebot.client.bot import State, Turn

LIMIT_S = 20.0
Script = Callable[["Line"], None]


class Line:
    """The server's side of one connection."""

    def __init__(self, sock: socket.socket) -> None:
        sock.settimeout(LIMIT_S)
        self._sock, self._file = sock, sock.makefile("rb")

    def hear(self) -> dict[str, Any]:
        """The client's next message."""
        return dict(json.loads(self._file.read(int.from_bytes(self._file.read(4)))))

    def say(self, *messages: Any) -> None:
        """Messages, in one piece; bytes are a payload as it is."""
        payloads = [message if isinstance(message, bytes) else json.dumps(message).encode() for message in messages]
        self._sock.sendall(b"".join(len(payload).to_bytes(4) + payload for payload in payloads))

    def welcome(self) -> None:
        """Steps 1 to 5."""
        assert self.hear() == {"username": "me"}
        self.say({"status": "ok"}, {"event": "player_is_free"})
        assert self.hear() == {"event": "find_opponent"}
        self.say({"event": "starting_game", "against": "you"})

    def ask(self, number: int, moves: int) -> dict[str, Any]:
        """Asks for a move on a board of nine spaces, so many of which are taken; the answer."""
        self.say({"event": "get_move", "id": f"{number}-{moves}", "board": board(number, moves)})
        answer = self.hear()
        assert (answer["event"], answer["id"]) == ("make_move", f"{number}-{moves}")
        return answer


@pytest.fixture
def serve() -> Iterator[Callable[..., str]]:
    """`serve(script, ...)`: a server that follows a script a connection, one after the other; its address."""
    listener = socket.create_server(("127.0.0.1", 0))
    problems: list[BaseException] = []

    def follow(scripts: tuple[Script, ...]) -> None:
        for script in scripts:
            sock, _ = listener.accept()
            try:
                script(Line(sock))
            except BaseException as error:
                problems.append(error)
            sock.close()

    def start(*scripts: Script) -> str:
        threading.Thread(target=follow, args=(scripts,), daemon=True).start()
        return f"127.0.0.1:{listener.getsockname()[1]}"

    yield start
    listener.close()
    assert problems == []


class FirstFree(Bot):
    """Takes the first free space."""

    def choose(self, state: State) -> Turn:
        """Row by row."""
        rows = state["board"]
        return next({"x": x, "y": y} for y, row in enumerate(rows) for x, mark in enumerate(row) if not mark)


def board(number: int, moves: int) -> dict[str, Any]:
    """A board of nine spaces."""
    return {"_id": number, "_size": 3, "_win_length": 3, "_moves": [[n % 3, n // 3] for n in range(moves)]}


def test_a_board_of_which_no_end_was_told_was_a_draw_or_missed(serve: Callable[..., str]) -> None:
    """A draw where it must be full by now, be the last move the bot's own or its opponent's."""

    def script(line: Line) -> None:
        line.welcome()
        assert line.ask(1, 8) == {"event": "make_move", "id": "1-8", "x": 2, "y": 2}
        line.ask(2, 7)
        line.ask(3, 2)
        line.ask(4, 0)
        line.say({"event": "win", "board": board(4, 5)}, {"event": "player_is_free"})

    results = run_tcp(FirstFree, serve(script), "me", boards=4)
    assert results == [
        Result("1", None, "draw"),
        Result("2", None, "draw"),
        Result("3", None, "missed"),
        Result("4", "me", "win"),
    ]


def test_a_bot_that_was_cut_off_comes_back_to_its_board(serve: Callable[..., str]) -> None:
    """It is not told again against whom it plays."""

    def first(line: Line) -> None:
        line.welcome()
        line.ask(1, 0)

    def second(line: Line) -> None:
        assert line.hear() == {"username": "me"}
        line.say({"status": "ok"})
        line.ask(1, 2)
        line.say({"event": "lose", "board": board(1, 6)}, {"event": "player_is_free"})

    assert run_tcp(FirstFree, serve(first, second), "me", boards=1) == [Result("1", "you", "lose")]


def test_a_bot_comes_back_soon_while_a_pairing_waits_for_it(
    serve: Callable[..., str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """A board is lost after some seconds, and a node that goes down waits for its bots a little longer."""
    waits = []

    class Noted(Backoff):
        def next_s(self, at_least_s: float = 0.0, in_match: bool = False) -> float:
            waits.append(in_match)
            return super().next_s(at_least_s, in_match)

    monkeypatch.setattr(tcp, "Backoff", Noted)

    def before(line: Line) -> None:
        assert line.hear() == {"username": "me"}

    def during(line: Line) -> None:
        line.welcome()
        line.ask(1, 0)

    def between(line: Line) -> None:
        assert line.hear() == {"username": "me"}
        line.say({"status": "ok"}, {"event": "lose", "board": board(1, 6)})

    def after(line: Line) -> None:
        assert line.hear() == {"username": "me"}
        line.say({"status": "ok"}, {"event": "player_is_free"})

    run_tcp(FirstFree, serve(before, during, between, after), "me", boards=1)
    assert waits == [False, True, True]


@pytest.mark.parametrize(
    ("said", "error"),
    [
        ({"event": "error", "code": "name-taken", "error": "It is."}, Refused),
        ({"hello": "you"}, Refused),
        (b"no JSON", Unreachable),
        (b"[]", Unreachable),
    ],
)
def test_a_server_that_is_none_or_refuses_is_told(serve: Callable[..., str], said: Any, error: type[Exception]) -> None:
    """At once: coming again would be of no use."""

    def script(line: Line) -> None:
        line.hear()
        line.say(said)

    with pytest.raises(error):
        run_tcp(FirstFree, serve(script), "me")


def test_a_passing_error_is_tried_again(serve: Callable[..., str]) -> None:
    """Another connection may do better."""

    def first(line: Line) -> None:
        line.hear()
        line.say({"event": "error", "code": "too-many-connections", "error": "Too many."})

    def second(line: Line) -> None:
        line.welcome()
        line.ask(1, 0)
        line.say({"event": "win", "board": board(1, 5)}, {"event": "player_is_free"})

    assert run_tcp(FirstFree, serve(first, second), "me", boards=1) == [Result("1", "me", "win")]


def test_a_host_that_is_not_found_for_a_while_is_looked_up_again(
    serve: Callable[..., str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """If the name server says so itself, and if the host was found before."""
    look_up, errors = socket.getaddrinfo, [socket.EAI_AGAIN, None, socket.EAI_NONAME, None]

    def sometimes(*args: Any, **kwargs: Any) -> Any:
        if error := errors.pop(0):
            raise socket.gaierror(error, "not now")
        return look_up(*args, **kwargs)

    def second(line: Line) -> None:
        line.welcome()
        line.ask(1, 0)
        line.say({"event": "win", "board": board(1, 5)}, {"event": "player_is_free"})

    host = serve(lambda line: line.hear(), second)
    monkeypatch.setattr(socket, "getaddrinfo", sometimes)
    assert run_tcp(FirstFree, host, "me", boards=1) == [Result("1", "me", "win")]
    assert not errors


@pytest.mark.parametrize("idle_timeout_s", [1e300, float("nan")])
def test_a_time_that_no_socket_can_wait_is_for_ever(serve: Callable[..., str], idle_timeout_s: float) -> None:
    """As for `run`."""

    def script(line: Line) -> None:
        line.welcome()
        line.ask(1, 0)
        line.say({"event": "win", "board": board(1, 5)}, {"event": "player_is_free"})

    assert len(run_tcp(FirstFree, serve(script), "me", boards=1, idle_timeout_s=idle_timeout_s)) == 1
