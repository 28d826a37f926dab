"""The server is slow, bots are not: matches of short turns are played to their end, and nobody is out of time."""

from __future__ import annotations

import random
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from typing import Any

import pytest
from cluster import LIMIT_S, Web, wait_for
from frail import Frail, play_out, ready
from original_client import OriginalClient
from peer import Peer, new_name
from slow_line import slow_line
from standstill import standing_still
from switchboard import Switchboard

LIMIT_MS = 1000
PLAY = {"turn_timeout_ms": LIMIT_MS}
# each is longer than a turn may take
STANDS_S = 2.0
PAIRS = 4

Turn = dict[str, Any]


def hold(seconds: float) -> None:
    """Lets so much time pass: the disturbance is what is tested."""
    began_s = time.monotonic()
    wait_for(lambda: time.monotonic() - began_s > seconds)


def stored(web: Web, clients: list[OriginalClient]) -> list[dict[str, Any]]:
    """The matches of which a client has seen the end, with their turns; not those that were left when all stopped."""
    ends = {
        message["match"]["id"]
        for client in clients
        for connection in client.connections
        for message in connection.received
        if message.get("state", {}).get("complete")
    }
    answers = {end: wait_for(lambda: _found(web, end), "the archive") for end in ends}  # noqa: B023 - called at once
    return list(answers.values())


def _found(web: Web, match_id: str) -> dict[str, Any] | None:
    status, match = web.request(f"/games/numberwang/{match_id}")
    return match if status == 200 else None


@contextmanager
def original_clients(*nodes: Web) -> Iterator[list[OriginalClient]]:
    """Pairs of original clients that play on and on, at these nodes; within it they play."""
    stop = threading.Event()
    clients = []
    for number in range(2 * PAIRS):
        web, dice = nodes[number % len(nodes)], random.Random(number)
        auth = web.register(new_name("original"), "numberwang")
        clients.append(OriginalClient(web.ws, auth, _thoughtful(dice)))
    threads = [threading.Thread(target=_play, args=(client, stop)) for client in clients]
    for thread in threads:
        thread.start()
    try:
        wait_for(lambda: all(client.finished for client in clients), "a first match of each")
        yield clients
        before = [len(client.finished) for client in clients]
        # at a node that stands still for most of the time, on a busy machine, each may take a dozen seconds
        goals = [(client, count + 2) for client, count in zip(clients, before, strict=True)]
        wait_for(lambda: all(len(client.finished) >= goal for client, goal in goals), "two more matches", 4 * LIMIT_S)
    finally:
        stop.set()
        for thread in threads:
            thread.join(30)


def _thoughtful(dice: random.Random) -> Callable[[dict[str, Any]], Turn]:
    def choose(state: dict[str, Any]) -> Turn:
        # a bot that thinks for up to a third of its time
        threading.Event().wait(dice.uniform(0, LIMIT_MS / 3000))
        return {"n": dice.choice([-4, 3, 7])}

    return choose


def _play(client: OriginalClient, stop: threading.Event) -> None:
    with suppress(BaseException):
        client.play_forever(stop)


def nobody_lost_by_time(clients: list[OriginalClient], web: Web, shares: bool = True) -> None:
    """Every match was decided by its rules; the record shows whose the time was."""
    assert [error for client in clients for error in client.errors] == []
    reasons = [state["reason"] for client in clients for state in client.finished]
    assert set(reasons) == {"complete"}
    found = stored(web, clients)
    assert {match["match"]["fault"] for match in found} == {"none"}
    assert max(ms for match in found for ms in match["match"]["clocks"]) < LIMIT_MS
    if shares:
        assert max(ms for match in found for ms in match["match"]["serverMs"]) > LIMIT_MS


def stopped(web: Web) -> None:
    """The node stands still for a while, with everything in it."""
    with standing_still(web.child.pid):
        hold(STANDS_S)


def test_a_redis_that_hangs_costs_nobody_time(frail: Frail, web: Web) -> None:
    """Three times for longer than a turn may take, while original clients play."""
    with original_clients(web) as clients:
        for _ in range(3):
            with frail.paused("valkey"):
                hold(STANDS_S + 0.5)
            hold(0.5)
    nobody_lost_by_time(clients, web)


def test_a_node_that_is_stopped_costs_nobody_time(frail: Frail, web: Web) -> None:
    """Three times, with bots at another node as their opponents and with both at the node."""
    second = frail.parts.web(**PLAY)
    with original_clients(web, second) as clients:
        for node in (second, web, second):
            stopped(node)
            hold(0.5)
    nobody_lost_by_time(clients, web)


def test_a_node_whose_loop_stalls_costs_nobody_time(frail: Frail, web: Web) -> None:
    """Two seconds of every three, for as long as it lives."""
    stalling = frail.parts.web("tests.degraded.stalling_wsgi", **PLAY)
    try:
        with original_clients(stalling) as clients:
            hold(6.0)
    finally:
        stalling.child.kill()
    nobody_lost_by_time(clients, web)


def test_a_slow_line_to_redis_costs_nobody_time(frail: Frail, web: Web) -> None:
    """Each answer takes nearly half of a turn's time; so does what comes by the mailbox."""
    with slow_line(frail.settings.redis_url, LIMIT_MS / 1000 * 0.45) as address:
        slow = frail.parts.web(**PLAY, redis_url=address)
        try:
            with original_clients(slow, web) as clients:
                hold(2.0)
        finally:
            slow.child.kill()
    nobody_lost_by_time(clients, web, shares=False)


@pytest.mark.parametrize("on_turn", [True, False], ids=["on turn", "off turn"])
def test_who_comes_back_while_redis_hangs_has_come_back_in_time(
    frail: Frail, web: Web, meet: Switchboard, on_turn: bool
) -> None:
    """Its time to come back passes while the server cannot let it in: it sits down all the same, and plays on."""
    began_s = time.monotonic()
    mover, other = meet.sit()
    leaver, stayer = (mover, other) if on_turn else (other, mover)
    with frail.paused("valkey"):
        leaver.reset()
        back = Peer(web.address)
        meet.peers.append(back)
        back.log_in(leaver.auth)
        # its own time, which may be long on a busy machine
        own_ms = (time.monotonic() - began_s) * 1000 if on_turn else 0.0
        if not on_turn:
            stayer.send({"n": 0.5})
        hold(STANDS_S + 0.5)
    update = back.update()
    assert update["match"]["id"] == leaver.first["match"]["id"]
    if not on_turn:
        assert stayer.update()["turn"]["valid"] is True
        while update["match"]["version"] < 1:
            update = back.update()
    assert update["match"]["remainingMs"] > LIMIT_MS / 2 - own_ms
    assert play_out(back, stayer, turns=0)["reason"] == "complete"
    wait_for(lambda: ready(web), "a ready server")


def test_who_takes_its_seat_over_while_redis_hangs_has_lost_no_time(frail: Frail, web: Web, meet: Switchboard) -> None:
    """The opponent's turn took long to be told; a second connection is charged what the bot had, and no more."""
    mover, other = meet.sit()
    with frail.paused("valkey"):
        mover.send({"n": 0.5})
        hold(STANDS_S)
    assert other.update()["match"]["version"] == 1
    again = meet.login(other.auth, login={"protocol": 2, "resume": other.first["match"]["id"]})
    update = again.update()
    assert update["match"]["remainingMs"] > LIMIT_MS / 2
    assert play_out(again, mover, turns=0)["reason"] == "complete"


def test_no_part_logged_an_error(frail: Frail, web: Web) -> None:
    """In all of this: a slow server is no broken one."""
    assert frail.errors() == []
