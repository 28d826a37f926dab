"""`battlebot bots` over NATS: the sample answers a request by the original's messages, by reply and by publishing."""

from __future__ import annotations

import asyncio
import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import nats
import pytest
from cluster import free_port

sys.path.insert(0, str(Path(__file__).parents[1] / "stateless"))
from natsbots import nats_server, pausable_nats, wait_until_listening

from battlebot.wire.macondo.history import from_response, request_of
from games import crossword

COMMAND = [sys.executable, "-m", "battlebot", "bots"]


@pytest.fixture(scope="module")
def url() -> Iterator[str]:
    """A NATS server."""
    with nats_server() as made:
        wait_until_listening(made)
        yield made


def request() -> bytes:
    """The first question of a match."""
    state = crossword.initial_state(["a", "b"], 7, {"challengeRule": "DOUBLE", "lexicon": "enable1"})
    return request_of(crossword.view(state, "a"), "m1", 10_000)


async def ask(url: str, subject: str, published: bool) -> bytes:
    """Asks until somebody listens; the answer."""
    client = await nats.connect(url)
    answers: asyncio.Queue[bytes] = asyncio.Queue()

    async def answered(message: nats.aio.msg.Msg) -> None:
        await message.respond(b"")
        await answers.put(message.data)

    await client.subscribe("bot.publish_event.m1", cb=answered)
    try:
        async with asyncio.timeout(60):
            while True:
                try:
                    if not published:
                        return (await client.request(subject, request(), timeout=10)).data
                    await client.publish(subject, request())
                    return await asyncio.wait_for(answers.get(), 1)
                except (TimeoutError, nats.errors.Error):
                    await asyncio.sleep(0.1)
    finally:
        await client.close()


@pytest.mark.parametrize("name", ["crossword-greedy", "crossword-challenger"])
@pytest.mark.parametrize("published", [False, True])
def test_a_sample_answers_over_nats(url: str, name: str, published: bool) -> None:
    """With a turn, until it is told to stop: then it ends without a word more."""
    subject = f"test.{name}.{published}"
    bot = subprocess.Popen([*COMMAND, name, "--nats", url, "--subject", subject], stderr=subprocess.PIPE, text=True)
    try:
        event = from_response(asyncio.run(ask(url, subject, published)))
        assert event["type"] in ("TILE_PLACEMENT_MOVE", "EXCHANGE")
        bot.send_signal(signal.SIGTERM)
        _, errors = bot.communicate(timeout=30)
        where = f'listening at {url}; to play, register it with {{"url": "nats://{subject}"}}\n'
        assert (bot.returncode, errors) == (0, where)
    finally:
        bot.kill()


def test_nats_that_is_not_there_yet_is_waited_for() -> None:
    """It is said once, without a password; a signal ends the waiting."""
    command = [*COMMAND, "crossword-greedy", "--nats", "nats://me:secret@127.0.0.1:9"]
    with subprocess.Popen(command, stderr=subprocess.PIPE, text=True) as bot:
        assert bot.stderr is not None
        assert bot.stderr.readline() == (
            "no connection to nats://127.0.0.1:9 yet (Connection refused); it is waited for\n"
        )
        bot.send_signal(signal.SIGTERM)
        assert bot.wait(30) == 0


def test_a_bot_is_there_before_its_server_and_after_it() -> None:
    """It says when its server comes, goes and is back, and nothing else."""
    port = free_port()
    command = [*COMMAND, "crossword-greedy", "--nats", f"nats://127.0.0.1:{port}", "--subject", "x"]
    with subprocess.Popen(command, stderr=subprocess.PIPE, text=True) as bot:
        assert bot.stderr is not None
        assert "it is waited for" in bot.stderr.readline()
        with nats_server(port):
            assert bot.stderr.readline().startswith(f"listening at nats://127.0.0.1:{port};")
        assert bot.stderr.readline() == f"nats://127.0.0.1:{port} is gone; it is waited for\n"
        with nats_server(port) as url:
            assert bot.stderr.readline() == f"nats://127.0.0.1:{port} is back\n"
            assert from_response(asyncio.run(ask(url, "x", False)))
            bot.send_signal(signal.SIGTERM)
            assert bot.wait(30) == 0
        assert bot.stderr.read() == ""


def refusal(*arguments: str, **environment: str) -> str:
    """The one line with which the command ends, with status 2."""
    command = [*COMMAND, "crossword-greedy", *arguments]
    done = subprocess.run(command, capture_output=True, text=True, timeout=60, env={**os.environ, **environment})
    assert (done.returncode, done.stdout) == (2, "")
    (line,) = done.stderr.splitlines()
    return line


@pytest.mark.parametrize(
    "arguments",
    [
        ["--nats", "nats://me:secret@127.0.0.1:x"],
        ["--nats", "nats://me:sec/ret@127.0.0.1"],
        ["--nats", "http://me:secret@127.0.0.1"],
        ["--nats", "nats://"],
        ["--nats", "--subject", "mine.*"],
        ["--nats", "--subject", "mine.>"],
        ["--nats", "--subject", "mi ne"],
        ["--nats", "--subject", ""],
        ["--nats", "--subject", "bot.publish_event.x"],
        ["--nats", "--queue", "two words"],
    ],
)
def test_what_nobody_can_be_asked_at_is_said_in_a_line(arguments: list[str]) -> None:
    """Before a connection is tried, and without the password."""
    line = refusal(*arguments)
    assert line.startswith("battlebot: ")
    assert "sec" not in line


def test_a_host_that_is_unknown_is_not_waited_for() -> None:
    """It is misspelt, most likely."""
    assert "no-such-host.invalid:4222 is not known" in refusal("--nats", "nats://no-such-host.invalid")


@pytest.fixture(scope="module")
def guarded(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """Where a NATS server that knows its users listens, without credentials."""
    may_not = 'permissions: {subscribe: {deny: "theirs"}}'
    users = f'{{user: "me", password: "p@ss/word"}}, {{user: "other", password: "secret", {may_not}}}'
    config = tmp_path_factory.mktemp("nats") / "nats.conf"
    config.write_text(f"authorization {{ users: [{users}] }}\n")
    with nats_server(None, "-c", str(config)) as made:
        place = made.removeprefix("nats://")
        wait_until_listening(f"nats://other:secret@{place}")
        yield place


@pytest.mark.parametrize(
    ("who", "what"),
    [
        ("me:wrong", "does not accept this user and password"),
        ("token", "does not accept this token"),
        ("", "does not accept a bot without user and password"),
    ],
)
def test_a_bot_that_nats_does_not_let_in_ends(guarded: str, who: str, what: str) -> None:
    """With what is wrong; another attempt would hear the same."""
    line = refusal("--nats", f"nats://{who}@{guarded}" if who else f"nats://{guarded}")
    assert line == f"battlebot: nats://{guarded} {what}. (login-failed)"


def test_a_bot_that_may_not_listen_ends(guarded: str) -> None:
    """It would wait for questions that never come."""
    line = refusal("--nats", f"nats://other:secret@{guarded}", "--subject", "theirs")
    assert line == f"battlebot: nats://{guarded} does not let this user listen to theirs."


def test_a_password_is_not_sent_in_plain_text_where_tls_is_asked_for(guarded: str) -> None:
    """The one that would be accepted."""
    line = refusal("--nats", f"tls://me:p%40ss%2Fword@{guarded}")
    assert line == f"battlebot: tls://{guarded} has no TLS: for plain text write nats://."


def test_user_and_password_are_percent_decoded(guarded: str) -> None:
    """As in the server's NATS_URL."""
    command = [*COMMAND, "crossword-greedy", "--nats", f"nats://me:p%40ss%2Fword@{guarded}"]
    with subprocess.Popen(command, stderr=subprocess.PIPE, text=True) as bot:
        assert bot.stderr is not None
        assert bot.stderr.readline().startswith(f"listening at nats://{guarded};")
        bot.send_signal(signal.SIGINT)
        assert bot.wait(30) == 0


@contextmanager
def running(*arguments: str) -> Iterator[subprocess.Popen[str]]:
    """A bot, which is killed in the end."""
    with subprocess.Popen([*COMMAND, "crossword-greedy", *arguments], stderr=subprocess.PIPE, text=True) as bot:
        try:
            yield bot
        finally:
            bot.kill()


def hear(bot: subprocess.Popen[str], words: str) -> list[str]:
    """The lines that a bot says until one has these words, which comes last."""
    assert bot.stderr is not None
    lines = []
    for line in bot.stderr:
        lines.append(line.rstrip("\n"))
        if words in line:
            return lines
    raise AssertionError(f"{words!r} is not in {lines}")


def test_a_bot_whose_password_is_changed_ends(tmp_path: Path) -> None:
    """NATS ends the connection then, and the library does not restore it."""
    config = tmp_path / "nats.conf"
    config.write_text('authorization {user: "me", password: "old"}\n')
    with pausable_nats(None, "-c", str(config)) as server:
        place = server.url.removeprefix("nats://")
        with running("--nats", f"nats://me:old@{place}") as bot:
            hear(bot, "listening at")
            config.write_text('authorization {user: "me", password: "new"}\n')
            server.reload()
            line = f"battlebot: nats://{place} does not accept this user and password. (login-failed)"
            assert hear(bot, "battlebot: ")[-1] == line
            assert bot.wait(30) == 2


def test_a_nats_that_is_full_is_waited_for(tmp_path: Path) -> None:
    """It says so itself, or just hangs up; when there is room the bot listens."""
    config = tmp_path / "nats.conf"
    config.write_text("max_connections: 1\n")
    with nats_server(None, "-c", str(config)) as url, running("--nats", url, "--subject", "first") as first:
        hear(first, "listening at")
        with running("--nats", url, "--subject", "second") as second:
            assert url in hear(second, "")[0]
            first.kill()
            hear(second, f"listening at {url}")


def test_over_websocket_the_samples_own_options_are_told() -> None:
    """As they are without this command."""
    done = subprocess.run([*COMMAND, "crossword-greedy", "--", "--help"], capture_output=True, text=True, timeout=60)
    assert done.returncode == 0
    assert "--contest" in done.stdout
