"""The SDK's bots at the TCP door: `run_tcp`, `battlebot play-tcp`, and the same bot at the WebSocket door."""

from __future__ import annotations

import subprocess
import sys
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from cluster import Cluster, Tcp, Web, free_port
from original_tcp_client import OriginalTcpClient
from peer import new_name
from tcp_peer import TcpPeer

from battlebot.client import Bot, Credentials, LoginFailed, Refused, Result, load_or_register, run, run_tcp
from battlebot.client.bot import State, Turn
from battlebot.client.errors import BadAddress, BadTurn, Unreachable
from battlebot.client.samples.random_player import RandomPlayer
from battlebot.client.samples.threats import Threats
from battlebot.client.tcp_connection import parse_tcp_address

ROOT = Path(__file__).parent.parent.parent
SETTINGS = {"turn_timeout_ms": 20_000}
TCP_SETTINGS = SETTINGS


class Column(Bot):
    """Takes one column of its own from the top; keeps what it was told."""

    def __init__(self) -> None:
        self.begun: list[State] = []
        self.ended: list[State] = []

    def choose(self, state: State) -> Turn:
        """The first free space of the column 0, 2, ..., by its seat."""
        column = 2 * state["players"].index(self.bot_id)
        return {"x": column, "y": next(y for y in range(15) if not state["board"][y][column])}

    def started(self, state: State) -> None:
        """Kept."""
        self.begun.append(state)

    def finished(self, state: State) -> None:
        """Kept."""
        self.ended.append(state)


def host(tcp: Tcp) -> str:
    """The node's address as an author types it."""
    return "{}:{}".format(*tcp.address)


class Playing(threading.Thread):
    """`run_tcp` in a thread; `results` once it is through, or what it raised."""

    def __init__(self, *arguments: Any, **options: Any) -> None:
        super().__init__(daemon=True)
        self.call = lambda: run_tcp(*arguments, **options)
        self.results: list[Result] = []
        self.error: Exception | None = None
        self.start()

    def run(self) -> None:
        try:
            self.results = self.call()
        except Exception as error:
            self.error = error

    def result(self) -> list[Result]:
        """Waits for it."""
        self.join(60)
        assert not self.is_alive()
        if self.error is not None:
            raise self.error
        return self.results


def test_two_bots_play_their_boards_and_leave(tcp: Tcp) -> None:
    """As many as were asked for, and the pairing's last; both say the same of each."""
    bots = Column(), Column()
    names = new_name("one"), new_name("two")
    runs = [Playing(bot, host(tcp), name, boards=3) for bot, name in zip(bots, names, strict=True)]
    one, two = (run.result() for run in runs)
    assert [(result.match, result.victor) for result in one] == [(result.match, result.victor) for result in two]
    assert [result.victor for result in one] == [bots[0].begun[n]["players"][0] for n in range(4)]
    assert {result.reason for result in [*one, *two]} == {"win", "lose"}
    for bot in bots:
        assert [state["players"] for state in bot.begun] == [state["players"] for state in bot.ended]
        assert bot.begun[0]["players"] == bot.begun[1]["players"][::-1]
        assert all(state["complete"] and len(state["moves"]) == 9 for state in bot.ended)


def test_a_bot_plays_against_an_original_client(tcp: Tcp) -> None:
    """Which would have died of anything that it does not know."""
    running = Playing(Threats, host(tcp), new_name("ours"), boards=2)
    theirs = OriginalTcpClient(tcp.address, new_name("theirs"), first_free)
    theirs.log_in()
    boards = theirs.play_pairing()
    assert [result.reason for result in running.result()] == ["win", "win"]
    assert [board.end for board in boards] == ["lose", "lose"]
    theirs.leave()


def first_free(board: dict[str, Any]) -> tuple[int, int]:
    """The first free space, row by row."""
    return next((x, y) for y in range(15) for x in range(15) if [x, y] not in board["_moves"])


def test_the_samples_play_over_the_websocket_and_tcp_against_each_other(tcp: Tcp, workers: Web, tmp_path: Path) -> None:
    """One bot's class, two doors."""
    name = new_name("tcp")
    running = Playing(Threats, host(tcp), name, boards=2)
    credentials = load_or_register(tmp_path / "auth.json", workers.url, "gomoku", new_name("ws"))
    results = run(RandomPlayer, workers.url, "gomoku", credentials=credentials, matches=1)
    assert [result.victor for result in results] == [name]
    # the bot has left: the second board is another's
    credentials = load_or_register(tmp_path / "other.json", workers.url, "gomoku", new_name("ws"))
    run(RandomPlayer, workers.url, "gomoku", credentials=credentials, matches=1)
    assert [result.victor for result in running.result()] == [name, name]


def test_a_bot_comes_back_when_its_node_is_back(servers: Cluster, join: Callable[..., TcpPeer]) -> None:
    """It takes its seat again and plays on."""
    port = free_port()
    first = servers.tcp(tcp_port=port, **TCP_SETTINGS)
    running = Playing(Column, host(first), new_name("ours"), boards=2)
    other = join(node=servers.tcp(**TCP_SETTINGS)).find()
    other.event("starting_game")
    first.child.stop()
    again = servers.tcp(tcp_port=port, **TCP_SETTINGS)
    assert again.address == first.address
    ends = []
    while (message := other.read())["event"] != "player_is_free":
        if message["event"] == "get_move":
            taken = message["board"]["_moves"]
            free = [(14, y) for y in range(15) if [14, y] not in taken]
            other.move(message, *free[0])
        elif message["event"] in ("win", "lose"):
            ends.append(message["board"]["_id"])
    assert [result.match for result in running.result()] == [str(number) for number in ends]


def test_a_registered_name_needs_its_auth_file(tcp: Tcp, web: Web, tmp_path: Path) -> None:
    """With it, it gets in; nobody else does."""
    auth = web.register(new_name(), "gomoku")
    with pytest.raises(LoginFailed, match="auth file"):
        run_tcp(Column, host(tcp), auth["bot_id"])
    with pytest.raises(LoginFailed):
        run_tcp(Column, host(tcp), auth["bot_id"], pass_hash="0" * 64)
    assert run_tcp(Column, host(tcp), auth["bot_id"], pass_hash=auth["pass_hash"], idle_timeout_s=0.2) == []


def test_what_cannot_be_played_is_said(tcp: Tcp) -> None:
    """Each by an error of its own."""
    with pytest.raises(Refused, match="username"):
        run_tcp(Column, host(tcp), "")
    with pytest.raises(BadAddress):
        run_tcp(Column, "localhost:port", "me")
    with pytest.raises(Unreachable):
        run_tcp(Column, "no.such.host.invalid:1", "me")


@pytest.mark.parametrize("turn", [None, [1, 2], {"x": object(), "y": 1}])
def test_a_bot_that_returns_no_turn_is_told(tcp: Tcp, join: Callable[..., TcpPeer], turn: Any) -> None:
    """By BadTurn, which is the author's to mend."""
    bot = Column()
    bot.choose = lambda state: turn  # type: ignore[method-assign]
    running = Playing(bot, host(tcp), new_name("ours"))
    peer = join().find()
    peer.event("starting_game")
    peer.sock.settimeout(20)
    if not peer.silent(0.3):
        peer.move(peer.event("get_move"), 3, 3)
    with pytest.raises(BadTurn):
        running.result()


@pytest.mark.parametrize(
    ("text", "address"),
    [
        ("localhost", ("localhost", 5232)),
        ("localhost:99", ("localhost", 99)),
        ("[::1]", ("::1", 5232)),
        ("[::1]:99", ("::1", 99)),
    ],
)
def test_addresses(text: str, address: tuple[str, int]) -> None:
    """With the usual port where none is named."""
    assert parse_tcp_address(text) == address


@pytest.mark.parametrize(
    "text", ["", ":1", "::1", "[::1", "[::1:99", "a:0", "a:65536", "a:x", "http://a:1", "a:1/b", "a:١", "a..b:1"]
)
def test_what_is_no_address(text: str) -> None:
    """Named in the error."""
    with pytest.raises(BadAddress):
        parse_tcp_address(text)


def command(*options: str) -> list[str]:
    """The command line."""
    return [sys.executable, "-m", "battlebot", "play-tcp", *options]


def test_the_command_plays(tcp: Tcp, tmp_path: Path) -> None:
    """Two of them, one with a class of an author's, in the folder where it lies."""
    (tmp_path / "mine.py").write_text(
        "from battlebot.client.samples.first_free import FirstFree\nclass Mine(FirstFree): pass\n"
    )
    names = new_name("one"), new_name("two")
    options = ["--host", host(tcp), "--boards", "2"]
    processes = [
        subprocess.Popen(
            command(*options, "--name", name, "--bot", bot), stdout=subprocess.PIPE, text=True, cwd=tmp_path
        )
        for name, bot in zip(names, ("threats", "mine:Mine"), strict=True)
    ]
    said = [process.communicate(timeout=60)[0] for process in processes]
    assert said == [f"{names[0]}: 2 boards, 2 won\n", f"{names[1]}: 2 boards, 0 won\n"]
    assert [process.returncode for process in processes] == [0, 0]


def test_the_command_takes_no_auth_file_of_another_game(tmp_path: Path) -> None:
    """The bot of that name in gomoku would be another's."""
    auth = tmp_path / "auth.json"
    Credentials("connectfour", "me", "0" * 64).save(auth)
    done = subprocess.run(command("--auth", str(auth)), capture_output=True, text=True, timeout=30, cwd=ROOT)
    line = f"battlebot: The auth file {auth} is for connectfour, not for gomoku.\n"
    assert (done.returncode, done.stdout, done.stderr) == (2, "", line)


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (["--bot", "nothing"], "is none of random, threats"),
        (["--bot", ".threats:Threats"], "no MODULE:CLASS"),
        (["--bot", "no.module:Here"], "cannot be loaded"),
        (["--bot", "json:JSONDecoder"], "no subclass"),
        (["--bot", "battlebot.client:Bot"], "has no method choose"),
        (["--host", "a:b"], "is not an address"),
    ],
)
def test_the_command_says_what_is_wrong(options: list[str], said: str) -> None:
    """On one line, status 2."""
    done = subprocess.run(command(*options), capture_output=True, text=True, timeout=30, cwd=ROOT)
    assert done.returncode == 2
    assert said in done.stderr
    assert "Traceback" not in done.stderr
