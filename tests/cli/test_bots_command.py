"""`battlebot bots` over NATS: the sample answers a request by the original's messages, by reply and by publishing."""

from __future__ import annotations

import asyncio
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import nats
import pytest
from cluster import free_port

sys.path.insert(0, str(Path(__file__).parents[1] / "stateless"))
from natsbots import nats_server, wait_until_listening

from battlebot.wire.macondo.history import from_response, history_of, to_request
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
    return to_request(history_of(crossword.view(state, "a"), "m1"), 10_000)


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
        assert bot.stderr.readline() == "nobody answers at nats://127.0.0.1:9 yet; it is waited for\n"
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


def test_an_address_that_is_none_is_said_in_a_line() -> None:
    """Status 2."""
    command = [*COMMAND, "crossword-greedy", "--nats", "nats://127.0.0.1:x"]
    done = subprocess.run(command, capture_output=True, text=True, timeout=60, check=False)
    assert done.returncode == 2
    assert len(done.stderr.splitlines()) == 1


def test_over_websocket_the_samples_own_options_are_told() -> None:
    """As they are without this command."""
    done = subprocess.run([*COMMAND, "crossword-greedy", "--", "--help"], capture_output=True, text=True, timeout=60)
    assert done.returncode == 0
    assert "--contest" in done.stdout
