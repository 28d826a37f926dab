"""Bots behind HTTP whose name has several addresses, not all of which can be reached."""

from __future__ import annotations

import errno
import socket
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, contextmanager
from typing import Any

import pytest
from cluster import LIMIT_S, wait_for
from httpbots import Bots, leads_to

from battlebot.stateless.asking import Question, Reply
from battlebot.stateless.http.bots import HttpBots
from battlebot.stateless.http.guard import MOST_ADDRESSES, Guard

NAME = "bots.example"
DROPPING, REFUSING, GOOD = "127.0.0.2", "127.0.0.3", "127.0.0.1"
NOOPS = [{"task": "NOOP"}]


@contextmanager
def dropping(port: int) -> Iterator[None]:
    """At DROPPING, new connections to the port are neither taken nor refused: as many wait there as may."""
    with ExitStack() as stack:
        listening = stack.enter_context(socket.socket())
        listening.bind((DROPPING, port))
        listening.listen(0)
        for _ in range(8):
            waiting = stack.enter_context(socket.socket())
            waiting.setblocking(False)
            waiting.connect_ex((DROPPING, port))
        yield


def asked(bots: Bots, by: HttpBots) -> Reply:
    """The reply of a good bot at NAME."""
    question = {"gameInfo": {"numOfTasksPerTick": 1}}
    return by.ask(Question(bots.url("good", NAME), "battlecube", "match", "bot", question, 10.0))


def test_a_name_whose_first_address_drops_packets_is_reached_at_its_second(
    bots: Bots, monkeypatch: pytest.MonkeyPatch
) -> None:
    """In the time that there is for all of them together."""
    leads_to(monkeypatch, NAME, [DROPPING, GOOD])
    with dropping(bots.server_port):
        assert asked(bots, HttpBots(Guard(loopback=True), 65_536, 16)).value == NOOPS


def test_an_address_that_drops_packets_is_tried_again_only_after_the_others(
    bots: Bots, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Though there is time left for it: this process says that all of the time was its own lateness."""
    monkeypatch.setattr("battlebot.stateless.http.connections.CONNECT_S", 0.2)
    leads_to(monkeypatch, NAME, [DROPPING, REFUSING, GOOD])
    by = HttpBots(Guard(loopback=True), 65_536, 16, time.monotonic)
    with ThreadPoolExecutor(1) as pool, dropping(bots.server_port):
        reply = pool.submit(asked, bots, by)
        wait_for(reply.done, "the answer")
    assert reply.result().value == NOOPS


def test_an_address_that_drops_packets_has_the_time_that_the_others_leave(
    bots: Bots, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The other refuses at once; what the owner is told is that no address was reached in all of the time."""
    monkeypatch.setattr("battlebot.stateless.http.connections.CONNECT_S", 2.0)
    leads_to(monkeypatch, NAME, [DROPPING, REFUSING])
    with dropping(bots.server_port):
        failure = asked(bots, HttpBots(Guard(loopback=True), 65_536, 16)).failure
    assert failure is not None
    assert failure.sentence == f"No connection to {NAME}:{bots.server_port} within 2 s."


def cannot_connect(monkeypatch: pytest.MonkeyPatch, which: Callable[[socket.socket], bool]) -> None:
    """These sockets have no address of this machine to connect from."""
    real = socket.socket.connect

    def connect(self: socket.socket, address: Any) -> None:
        if which(self):
            raise OSError(errno.EADDRNOTAVAIL, "Cannot assign requested address")
        real(self, address)

    monkeypatch.setattr(socket.socket, "connect", connect)


@pytest.mark.parametrize("addresses", [["2606:4700::1111"], [REFUSING, "2606:4700::1111"]])
def test_an_address_in_a_network_that_the_server_has_no_part_in_is_the_bots_failure(
    bots: Bots, monkeypatch: pytest.MonkeyPatch, addresses: list[str]
) -> None:
    """As where IPv6 is switched off, in a container: else a bot could have its name lead there to spoil its matches."""
    leads_to(monkeypatch, NAME, addresses)
    cannot_connect(monkeypatch, lambda one: one.family == socket.AF_INET6)
    failure = asked(bots, HttpBots(Guard(loopback=True), 65_536, 16)).failure
    assert failure is not None
    assert (failure.code, failure.ours) == ("unreachable", False)


def test_a_server_that_has_no_port_left_has_failed_itself(bots: Bots, monkeypatch: pytest.MonkeyPatch) -> None:
    """The system's error is the same; packets of UDP have ports of their own."""
    leads_to(monkeypatch, NAME, [GOOD])
    cannot_connect(monkeypatch, lambda one: one.type == socket.SOCK_STREAM)
    failure = asked(bots, HttpBots(Guard(loopback=True), 65_536, 16)).failure
    assert failure is not None
    assert (failure.code, failure.ours) == ("server", True)


def test_of_a_name_with_thousands_of_addresses_only_the_first_are_tried(
    bots: Bots, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Where the server has no IPv6, each fails at once: until all have, nobody else in the process would go on."""
    rows = [(socket.AF_INET6, socket.SOCK_STREAM, 6, "", (f"2606:2800::{n:x}", 80, 0, 0)) for n in range(1, 3000)]
    monkeypatch.setattr(socket, "getaddrinfo", lambda *_, **__: rows)
    tried: list[socket.socket] = []
    cannot_connect(monkeypatch, lambda one: tried.append(one) is None)
    failure = asked(bots, HttpBots(Guard(), 65_536, 16)).failure
    assert failure is not None
    assert sum(one.type == socket.SOCK_STREAM for one in tried) == MOST_ADDRESSES


def test_a_rated_match_does_not_wait_for_the_names_of_unrated_ones(bots: Bots, monkeypatch: pytest.MonkeyPatch) -> None:
    """Anybody may begin those, with thousands of names whose server takes its time: they are looked up in turn."""
    monkeypatch.setattr("battlebot.stateless.http.connections.UNRATED_LOOKUPS", 1)
    begun, answered, at_once, real = threading.Event(), threading.Event(), list[int](), socket.getaddrinfo
    under_way: set[str] = set()

    def resolve(host: str, *arguments: Any, **named: Any) -> Any:
        if host != NAME:
            under_way.add(host)
            at_once.append(len(under_way))
            begun.set()
            assert answered.wait(LIMIT_S), "the rated match has waited"
            under_way.remove(host)
        return real(GOOD, *arguments, **named)

    monkeypatch.setattr(socket, "getaddrinfo", resolve)
    by, question = HttpBots(Guard(loopback=True), 65_536, 16), {"gameInfo": {"numOfTasksPerTick": 1}}
    unrated = [
        Question(bots.url("good", name), "battlecube", name, "bot", question, 10.0, rated=False)
        for name in ("one.example", "two.example", "three.example")
    ]
    with ThreadPoolExecutor(len(unrated)) as pool:
        replies = [pool.submit(by.ask, one) for one in unrated]
        assert begun.wait(LIMIT_S)
        assert asked(bots, by).value == NOOPS
        answered.set()
    assert [reply.result().value for reply in replies] == [NOOPS] * len(unrated)
    assert at_once == [1] * len(unrated)
