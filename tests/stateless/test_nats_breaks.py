"""Connections to a real nats-server that break in every way: no bot is charged, no question waits, and it is mended."""

from __future__ import annotations

import asyncio
import socket
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import pytest
from cluster import free_port, wait_for
from nats.aio.msg import Msg
from nats.errors import ProtocolError
from natsbots import PASS, NatsBot, nats_server, response, wait_until_listening
from slow_line import stop_listening

from battlebot.stateless.nats.client import NatsClient, Parser
from battlebot.stateless.nats.intake import Intake
from battlebot.stateless.nats.line import NatsLine, NoLine, NotPassedOn, Silence

LIMIT_S = 300.0  # of questions that must not wait for it


class Way:
    """The way to a nats-server. `greetings`: what further connections are told, one each, before they are cut."""

    def __init__(self, url: str) -> None:
        self._host, _, self._port = url.removeprefix("nats://").partition(":")
        self._door = socket.create_server(("127.0.0.1", 0))
        self.url = f"nats://127.0.0.1:{self._door.getsockname()[1]}"
        self.greetings: list[bytes] = []
        self._ends: list[tuple[socket.socket, socket.socket]] = []
        # is set while what is sent goes on
        self.open = threading.Event()
        self.open.set()
        threading.Thread(target=self._run, daemon=True).start()

    def say(self, data: bytes) -> None:
        """Tells the latest connection that."""
        self._ends[-1][0].sendall(data)

    def cut(self) -> None:
        """Ends all connections."""
        while self._ends:
            for end in self._ends.pop():
                with suppress(OSError):
                    end.shutdown(socket.SHUT_RDWR)

    def close(self) -> None:
        """Ends all of it."""
        self.open.set()
        stop_listening(self._door)
        self.cut()

    def _run(self) -> None:
        with suppress(OSError):
            while True:
                near, _ = self._door.accept()
                if self.greetings:
                    with near:
                        near.sendall(self.greetings.pop(0))
                        near.shutdown(socket.SHUT_WR)
                        near.recv(2**16)
                    continue
                far = socket.create_connection((self._host, int(self._port)))
                self._ends.append((near, far))
                for ends in ((near, far), (far, near)):
                    threading.Thread(target=self._pass_on, args=ends, daemon=True).start()

    def _pass_on(self, source: socket.socket, target: socket.socket) -> None:
        with suppress(OSError):
            while data := source.recv(2**16):
                self.open.wait()
                target.sendall(data)
        for end in (source, target):
            with suppress(OSError):
                end.shutdown(socket.SHUT_RDWR)


@pytest.fixture
def way(nats_url: str) -> Iterator[Way]:
    """To the nats-server of the other tests."""
    made = Way(nats_url)
    yield made
    made.close()


@pytest.fixture
def bot(nats_url: str) -> Iterator[NatsBot]:
    """A bot that answers with a pass, by reply."""
    made = NatsBot(nats_url, "broken.bot")
    yield made
    made.close()


@contextmanager
def line_over(url: str) -> Iterator[NatsLine]:
    """Within it there is a line."""
    line = NatsLine(url)
    yield line
    line.close()


def answered(line: NatsLine, limit_s: float = 5.0) -> bool:
    """Whether the bot's answer comes."""
    try:
        return bool(line.ask("broken.bot", "own", b"", limit_s))
    except (NoLine, Silence):
        return False


def tasks(line: NatsLine) -> int:
    """How many the line's loop has."""
    assert line._loop is not None

    async def count() -> int:
        return len(asyncio.all_tasks())

    return asyncio.run_coroutine_threadsafe(count(), line._loop).result(20)


class Asking(threading.Thread):
    """A question that is under way; `sentence`: what came of it."""

    def __init__(self, line: NatsLine, request: bytes = b"") -> None:
        super().__init__(daemon=True)
        self._line, self._request, self.sentence = line, request, ""
        self.start()

    def run(self) -> None:
        """Asks."""
        try:
            self._line.ask("broken.bot", "own", self._request, LIMIT_S)
            self.sentence = "answered"
        except (NoLine, Silence) as error:
            self.sentence = str(error)


GREETINGS = [
    b"",
    b"INFO",
    b"INFO []\r\n",
    b"INFO null\r\n",
    b"INFO {}\r\n-ERR\r\n",
    b"INFO {}\r\nPO",
    b"INFO " + b"x" * 100_000,
    b'INFO {"connect_urls": ["[::1"]}\r\n',
    b'INFO {"connect_urls": ["127.0.0.1:notaport"]}\r\n',
    b"HTTP/1.1 503 Service Unavailable\r\n\r\n",
]


@pytest.mark.parametrize("greeting", GREETINGS, ids=lambda greeting: repr(greeting[:40]))
def test_whatever_stands_there_instead_of_nats_it_is_tried_again(greeting: bytes, way: Way, bot: NatsBot) -> None:
    """As a proxy whose server is being restarted; nothing is left behind of the attempt."""
    with line_over(way.url) as line:
        assert answered(line)
        wait_for(lambda: not line._open, "the end of the question")
        before = tasks(line)
        way.greetings.append(greeting)
        way.cut()
        wait_for(lambda: answered(line), "an answer over a new connection")
        assert way.greetings == []
        wait_for(lambda: tasks(line) <= before, "the end of what belonged to the old connections")


MALFORMED = [
    b"INFO\r\n",
    b"INFO {x}\r\n",
    b"INFO []\r\n",
    b"INFO null\r\n",
    b'INFO {"connect_urls": 1}\r\n',
    b'INFO {"connect_urls": ["[::1"]}\r\n',
    b"MSG a.b\r\n\r\n",
    b"MSG a.b x 2\r\nhi\r\n",
    b"MSG a.b 1 -1\r\n\r\n",
    b"MSG a.b 1 r r2 2\r\nhi\r\n",
    b"HMSG a.b 1 50 2\r\nhi\r\n",
    b"HELLO\r\n",
    b"\r\n",
]


@pytest.mark.parametrize("data", MALFORMED, ids=repr)
def test_what_is_malformed_is_an_error_of_the_protocol(data: bytes, nats_url: str) -> None:
    """And no other: after that nats-py would read nothing any more."""

    async def read() -> None:
        client = NatsClient(65_536, [], lambda sentence: None)
        await client.open(nats_url)
        try:
            await Parser(client).parse(data)
        finally:
            client.drop()

    with pytest.raises(ProtocolError):
        asyncio.run(read())


ENDS = [
    b"",
    b"HELLO\r\n",
    b"INFO []\r\n",
    b"-ERR\r\n",
    b"-ERR 'Stale Connection'\r\n",
    b"-ERR 'Maximum Payload Violation'\r\n",
    b"-ERR 'User Authentication Expired'\r\n",
]


@pytest.mark.parametrize("data", ENDS, ids=repr)
def test_a_question_ends_with_its_connection(data: bytes, way: Way, bot: NatsBot) -> None:
    """It is not the bot's fault, and does not wait for the end of the bot's time; the next one is answered."""
    asked = threading.Event()
    bot.plan = lambda history: asked.set()
    with line_over(way.url) as line:
        asking = Asking(line)
        assert asked.wait(20)
        if data:
            way.say(data)
        else:
            way.cut()
        asking.join(60)
        assert asking.sentence == "The connection to NATS broke while the bot was asked."
        bot.plan = lambda history: PASS
        wait_for(lambda: answered(line), "an answer over a new connection")


def test_what_had_come_before_the_connection_ended_counts(nats_url: str) -> None:
    """It is read, though the connection that it came over is closed."""

    async def read() -> list[bytes]:
        found: list[bytes] = []

        async def take(message: Msg) -> None:
            found.append(message.data)

        client = NatsClient(65_536, [], lambda sentence: None)
        await client.open(nats_url)
        intake = Intake(take)
        await intake.open(client, "mine")
        for data in (b"a", b"b", b"c"):
            await client._process_msg(1, b"mine", b"", data, b"")
        client.drop()
        async with asyncio.timeout(20):
            await intake.empty()
            await intake.full(20)
        return found

    assert asyncio.run(read()) == [b"a", b"b", b"c"]


def test_a_way_that_takes_nothing_any_more_is_given_up(way: Way, bot: NatsBot, monkeypatch: pytest.MonkeyPatch) -> None:
    """Though more is unsent than the network takes; over a new connection there are answers again."""
    monkeypatch.setattr("battlebot.stateless.nats.link.PING_S", 0.5)
    with line_over(way.url) as line:
        assert answered(line)
        first = line._link.client
        assert first is not None
        way.open.clear()
        asking = [Asking(line, bytes(500_000)) for _ in range(40)]
        wait_for(lambda: first.is_closed, "the end of the connection that is silent")
        way.cut()
        way.open.set()
        for one in asking:
            one.join(60)
            assert one.sentence not in ("", "answered")
        wait_for(lambda: answered(line), "an answer over a new connection")


def test_questions_do_not_wait_for_one_another_where_nats_is_away() -> None:
    """All of them wait for the same attempts."""
    with line_over(f"nats://127.0.0.1:{free_port()}") as line:
        began_s = time.monotonic()
        asking = [Asking(line) for _ in range(10)]
        for one in asking:
            one.join(60)
            assert one.sentence == "NATS does not answer (ConnectionRefusedError)."
        # alone each waits for five seconds
        assert time.monotonic() - began_s < 20


def test_nats_that_does_not_pass_a_question_on_is_no_bots_fault(tmp_path: Path) -> None:
    """It is told in NATS's words, and at once; questions that are passed on are answered beside it."""
    rules = tmp_path / "nats.conf"
    rules.write_text(
        'authorization { users = [ {user: battlebot, password: s, permissions: {publish: ["mine.>", "_INBOX.>"]}},'
        " {user: bot, password: b} ] }"
    )
    port = free_port()
    with nats_server(port, "-c", str(rules)):
        wait_until_listening(f"nats://bot:b@127.0.0.1:{port}")
        bot = NatsBot(f"nats://bot:b@127.0.0.1:{port}", "mine.bot")
        asked, answers = threading.Event(), threading.Event()
        bot.plan = lambda history: bool(asked.set()) or (answers.wait(60) and response(PASS))
        with line_over(f"nats://battlebot:s@127.0.0.1:{port}") as line:
            found: list[bytes] = []
            beside = threading.Thread(target=lambda: found.append(line.ask("mine.bot", "m1", b"", LIMIT_S)[0]))
            beside.start()
            assert asked.wait(20)
            refused = Asking(line)
            refused.join(60)
            assert refused.sentence == (
                'NATS does not pass the question on (Permissions Violation for Publish to "broken.bot").'
            )
            with pytest.raises(NotPassedOn):
                line.ask("broken.bot", "m1", b"", LIMIT_S)
            answers.set()
            beside.join(60)
            assert found == [response(PASS)]
        bot.close()


def test_a_question_that_is_larger_than_nats_allows_does_not_wait_for_nats(tmp_path: Path) -> None:
    """It would wait for ever: NATS is there, and will never take it."""
    rules = tmp_path / "nats.conf"
    rules.write_text("max_payload: 1000")
    with nats_server(None, "-c", str(rules)) as url:
        wait_until_listening(url)
        with line_over(url) as line, pytest.raises(NotPassedOn, match=r"1001 bytes; max_payload is 1000"):
            line.ask("broken.bot", "m1", bytes(1001), LIMIT_S)
