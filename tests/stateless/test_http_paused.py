"""Bots behind HTTP, asked by a process that is late itself: that time is not charged to them, nor given to them."""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import sys
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from pathlib import Path
from typing import Any

import orjson
import pytest
from cluster import wait_for
from httpbots import Bots, http_bots

from battlebot.stateless.asking import Question, Reply
from battlebot.stateless.http.bots import HttpBots
from battlebot.stateless.http.guard import Guard

ASKER = Path(__file__).with_name("pausedasker.py")
LIMIT_S = 3.0
PAUSE_S = 4.0
THINKING_S = 0.3
NOOPS = [{"task": "NOOP"}]


def test_a_bot_keeps_its_time_while_the_asking_process_is_paused() -> None:
    """What it answers meanwhile, or in its time afterwards, counts; who is silent is late when its own time is over."""
    asked: list[str] = []
    paused, goes_on = threading.Event(), threading.Event()

    def plan(question: Any) -> None:
        phase = question["phase"]
        asked.append(phase)
        if phase == "during":
            assert paused.wait(60)
        elif phase == "after":
            assert goes_on.wait(60)
            time.sleep(THINKING_S)  # its own thinking
        elif phase == "never":
            bots.hanging.wait(60)

    with http_bots() as bots:
        bots.keep = plan
        arguments = [sys.executable, "-m", "gevent.monkey", str(ASKER), str(LIMIT_S), bots.url("good")]
        with subprocess.Popen(arguments, stdout=subprocess.PIPE) as asker:
            try:
                wait_for(lambda: len(asked) - asked.count("before") == 7, "all questions")
                asker.send_signal(signal.SIGSTOP)
                os.waitpid(asker.pid, os.WUNTRACED)
                paused.set()
                time.sleep(PAUSE_S)  # not to wait for something: the pause, longer than the bots' time
                asker.send_signal(signal.SIGCONT)
                goes_on.set()
                assert asker.stdout is not None
                found = {(way, phase): rest for way, phase, *rest in orjson.loads(asker.stdout.read())}
            finally:
                asker.kill()
    codes = {key: code for key, (code, _, _) in found.items()}
    assert codes == {key: "timeout" if key[1] == "never" else None for key in codes}
    assert len(codes) == 7
    for (way, phase), (code, thinking_s, wall_s) in found.items():
        assert wall_s >= PAUSE_S
        if code is not None:
            assert thinking_s >= LIMIT_S, (way, phase)
        elif way != "unnoticed":
            assert thinking_s < LIMIT_S, (way, phase)
        else:
            # not more than the limit, with which the referee would call it late
            assert thinking_s == LIMIT_S


class Unattended(Bots):
    """Has room for one connection, and takes it when `serve` is set: until then nobody else reaches it."""

    request_queue_size = 0

    def __init__(self) -> None:
        super().__init__()
        self.serve = threading.Event()

    def get_request(self) -> tuple[Any, Any]:
        assert self.serve.wait(60)
        return super().get_request()


class Late:
    """A process that was late all the time; `looked` is how often somebody looked at by how much."""

    def __init__(self) -> None:
        self.looked = 0

    def total_s(self) -> float:
        self.looked += 1
        return time.monotonic()


def crowd(bots: Unattended) -> list[socket.socket]:
    """So many connections to them that nobody else has one."""
    others: list[socket.socket] = []
    with suppress(TimeoutError):
        while True:
            others.append(socket.create_connection(bots.server_address, 0.5))
    return others


def asked_late(bots: Unattended, content: Any, limit_s: float) -> Reply:
    """The reply of a bot that is served when its time is over by the wall's clock, which was all the server's own."""
    late = Late()
    by = HttpBots(Guard(loopback=True), 65_536, 16, late.total_s)
    with ThreadPoolExecutor(1) as pool:
        reply = pool.submit(by.ask, Question(bots.url("good"), "battlecube", "match", "bot", content, limit_s))
        try:
            wait_for(lambda: late.looked > 20 or reply.done(), "several looks at the clock")
        finally:
            bots.serve.set()
        return reply.result()


def test_what_the_server_is_late_while_it_connects_is_not_the_bots_failure(monkeypatch: pytest.MonkeyPatch) -> None:
    """It tries again, as long as the bot has time by its own clock."""
    monkeypatch.setattr("battlebot.stateless.http.connections.CONNECT_S", 0.2)
    with http_bots(Unattended) as bots:
        others = crowd(bots)
        assert asked_late(bots, {}, 10.0).value == NOOPS
        for other in others:
            other.close()


def test_what_the_server_is_late_while_it_asks_is_left_to_the_bot() -> None:
    """The question is longer than what the network takes at once."""
    with http_bots(Unattended) as bots:
        reply = asked_late(bots, {"players": ["x" * 1000] * 20_000}, 0.2)
        assert reply.value == NOOPS
        assert reply.thinking_s < 0.1


def test_a_bot_that_does_not_read_its_question_has_its_time_and_no_more() -> None:
    """It is late, and is not asked on."""
    with http_bots(Unattended) as bots:
        by = HttpBots(Guard(loopback=True), 65_536, 16)
        content = {"players": ["x" * 1000] * 20_000}
        reply = by.ask(Question(bots.url("good"), "battlecube", "match", "bot", content, 0.5))
        bots.serve.set()
        assert reply.failure is not None
        assert (reply.failure.code, reply.failure.late) == ("timeout", True)
        assert reply.thinking_s >= 0.5


class Sluggish(Bots):
    """Takes its time before it takes a connection."""

    def get_request(self) -> tuple[Any, Any]:
        time.sleep(2 * THINKING_S)
        return super().get_request()


def test_a_bot_has_one_time_to_read_its_question_and_to_answer() -> None:
    """The question is longer than what the network takes at once; what its reading took is part of the bot's time."""
    with http_bots(Sluggish) as bots:
        by = HttpBots(Guard(loopback=True), 65_536, 16)
        content = {"players": ["x" * 1000] * 20_000}
        reply = by.ask(Question(bots.url("good"), "battlecube", "match", "bot", content, 10.0))
        assert reply.value == NOOPS
        assert reply.thinking_s >= THINKING_S
