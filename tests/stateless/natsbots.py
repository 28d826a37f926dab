"""A real nats-server, and bots behind it that speak the original's messages: written from the .proto alone, no SDK."""

from __future__ import annotations

import asyncio
import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import nats
from cluster import free_port, wait_for
from google.protobuf.json_format import ParseDict
from nats.aio.client import Client
from standstill import standing_still

from battlebot.wire.macondo import macondo_pb2

PASS = {"type": "PASS"}
# what a bot answers to a history: an event, an error (str), bytes sent unchanged, or None for silence
Plan = Callable[[Any], Any]


class Nats:
    """A nats-server that can be paused; `url` is its address."""

    def __init__(self, process: subprocess.Popen[bytes], url: str) -> None:
        self._process, self.url = process, url

    @contextmanager
    def paused(self) -> Iterator[None]:
        """Pauses the server within the `with` block; its sockets stay open."""
        with standing_still(self._process.pid):
            yield

    def reload(self) -> None:
        """Tells the server to read its configuration again."""
        self._process.send_signal(signal.SIGHUP)


@contextmanager
def nats_server(port: int | None = None, *options: str, **environment: str) -> Iterator[str]:
    """Runs a nats-server within the `with` block; yields its url."""
    with pausable_nats(port, *options, **environment) as server:
        yield server.url


@contextmanager
def pausable_nats(port: int | None = None, *options: str, **environment: str) -> Iterator[Nats]:
    """Runs a nats-server within the `with` block."""
    port = port or free_port()
    program = Path(sys.executable).parent / "nats-server"
    process = subprocess.Popen(
        [str(program), "--addr", "127.0.0.1", "--port", str(port), *options],
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        env={**os.environ, **environment},
    )
    try:
        yield Nats(process, f"nats://127.0.0.1:{port}")
    finally:
        process.kill()
        process.wait(10)


class NatsBot:
    """One bot at a subject. `plan` answers each history; `asked` are all histories received.

    `publishes`: it answers by requests to `bot.publish_event.<uid>`, as if it had no reply subject, and
    repeats them until they are acknowledged; `unacknowledged` counts the pending answers.
    `times`: how often it sends each answer at least.
    `replies`: it answers at the reply subject before it publishes anything.
    """

    def __init__(
        self,
        url: str,
        subject: str,
        publishes: bool = False,
        times: int = 1,
        replies: bool | None = None,
        inbox: str = "_INBOX",
    ) -> None:
        self.subject, self.publishes, self.times = subject, publishes, times
        self.replies = not publishes if replies is None else replies
        self.plan: Plan = lambda history: PASS
        self.asked: list[Any] = []
        self.replied_to: list[str] = []
        self.acknowledged = 0
        self.unacknowledged = 0
        self._url, self._inbox = url, inbox
        self._closed = False
        self._loop = asyncio.new_event_loop()
        self._ready = threading.Event()
        threading.Thread(target=self._loop.run_until_complete, args=(self._run(),), daemon=True).start()
        assert self._ready.wait(20), "the bot cannot connect"

    @property
    def address(self) -> str:
        """The address to register it with."""
        return f"nats://{self.subject}"

    def close(self) -> None:
        """Leaves its subject. Idempotent."""
        if self._closed:
            return
        self._closed = True
        asyncio.run_coroutine_threadsafe(self._client.close(), self._loop).result(10)
        self._loop.call_soon_threadsafe(self._ended.set)

    async def _run(self) -> None:
        self._ended = asyncio.Event()
        self._client = await nats.connect(
            self._url, max_reconnect_attempts=-1, reconnect_time_wait=0.1, inbox_prefix=self._inbox
        )
        await self._client.subscribe(self.subject, "bot_queue", cb=self._asked)
        await arrival(self._client)
        self._ready.set()
        await self._ended.wait()

    async def _asked(self, message: Any) -> None:
        asyncio.get_running_loop().create_task(self._answer(message))

    async def _answer(self, message: Any) -> None:
        request = macondo_pb2.BotRequest.FromString(message.data)
        history = request.game_history
        self.asked.append(history)
        self.replied_to.append(message.reply)
        said = await asyncio.to_thread(self.plan, history)
        if said is None:
            return
        data = said if isinstance(said, bytes) else response(said, history.uid)
        if self.replies:
            await message.respond(data)
        for _ in range(self.times if self.publishes else 0):
            await self._publish(history.uid, data)

    def publish(self, uid: str, said: Any) -> None:
        """Sends an unrequested answer; returns when it is acknowledged."""
        asyncio.run_coroutine_threadsafe(self._publish(uid, response(said, uid)), self._loop).result(30)

    def shout(self, subject: str, data: bytes, times: int) -> None:
        """Publishes that so often, to whoever listens; returns when NATS has it."""

        async def all_of_it() -> None:
            for _ in range(times):
                await self._client.publish(subject, data)
            await arrival(self._client)

        asyncio.run_coroutine_threadsafe(all_of_it(), self._loop).result(30)

    async def _publish(self, uid: str, data: bytes) -> None:
        self.unacknowledged += 1
        while True:
            try:
                await self._client.request(f"bot.publish_event.{uid}", data, timeout=1)
            except Exception:
                await asyncio.sleep(0.1)
            else:
                self.acknowledged += 1
                self.unacknowledged -= 1
                return


async def arrival(client: Client) -> None:
    """Returns when NATS has taken all that `client` has sent: the ping of a first flush overtakes it."""
    await client.flush(30)
    await client.flush(30)


def response(said: Any, uid: str = "") -> bytes:
    """Returns a BotResponse: an event, or an error in words."""
    answer = macondo_pb2.BotResponse(game_id=uid)
    if isinstance(said, str):
        answer.error = said
    else:
        ParseDict(said, answer.move)
    return bytes(answer.SerializeToString())


class Script:
    """A plan that passes unless `next` holds something else to do."""

    def __init__(self) -> None:
        self.next: list[Any] = []

    def __call__(self, history: Any) -> Any:
        said = self.next.pop(0) if self.next else PASS
        return said(history) if callable(said) else said


def wait_until_listening(url: str) -> None:
    """Returns once a NATS server is there."""

    async def connect() -> bool:
        try:
            client = await nats.connect(url, allow_reconnect=False, connect_timeout=1)
        except Exception:
            return False
        await client.close()
        return True

    wait_for(lambda: asyncio.run(connect()) or time.sleep(0.1), f"a NATS server at {url}")


FLOOD = """
import socket, sys
host, port, subject = sys.argv[1:]
nats = socket.create_connection((host, int(port)))
nats.sendall(b'CONNECT {"verbose": false}\\r\\n')
messages = (b"PUB %s 1000000\\r\\n" % subject.encode() + bytes(1_000_000) + b"\\r\\n") * 8
for _ in range(4):
    nats.sendall(messages)
print("ready", flush=True)
while True:
    nats.sendall(messages)
"""


@contextmanager
def flood(url: str, subject: str) -> Iterator[None]:
    """For the `with` block, three programs publish megabytes to the subject, as fast as NATS takes them."""
    host, _, port = url.removeprefix("nats://").partition(":")
    command = [sys.executable, "-c", FLOOD, host, port, subject]
    flooding = [subprocess.Popen(command, stdout=subprocess.PIPE) for _ in range(3)]
    try:
        for process in flooding:
            assert process.stdout is not None
            assert process.stdout.readline() == b"ready\n"
        yield
    finally:
        for process in flooding:
            with process:
                process.kill()
