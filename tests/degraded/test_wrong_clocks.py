"""Machines whose clocks are wrong, or are set while matches are played: no bot is charged for that, and all goes on."""

from __future__ import annotations

import json
import struct
import time
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import pytest
from cluster import Cluster, Web, cluster, wait_for
from peer import Peer
from switchboard import Switchboard

from battlebot.config import Settings

WSGI = "tests.degraded.wrong_clock_wsgi"
LIMIT_MS = 60_000
SETTINGS = {"turn_timeout_ms": LIMIT_MS}
AWAY_S = 2.0
WORKER_AHEAD_S = 200.0  # more than any task waits for


class Wrong(NamedTuple):
    """A node whose clock is off by what `set_off` has written; the others' are right, but the worker's."""

    web: Web
    right: Web
    parts: Cluster
    off: Path

    def set_off(self, seconds: float) -> None:
        """Sets the clock of the node's machine."""
        # in place, as the node has mapped the file
        with self.off.open("r+b") as file:
            file.write(struct.pack("d", seconds))


@pytest.fixture(scope="module")
def wrong(module_settings: Settings, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Wrong]:
    """Yields the nodes, with beat and with a worker whose clock is ahead."""
    folder = tmp_path_factory.mktemp("wrong")
    off, ahead = folder / "off", folder / "ahead"
    off.write_bytes(struct.pack("d", 0.0))
    ahead.write_bytes(struct.pack("d", WORKER_AHEAD_S))
    with cluster(module_settings, folder) as parts:
        right = parts.web(**SETTINGS)
        with pytest.MonkeyPatch.context() as patch:
            patch.setenv("WRONG_CLOCK", str(off))
            web = parts.web(WSGI, **SETTINGS)
            patch.setenv("WRONG_CLOCK", str(ahead))
            parts.worker(WSGI)
        parts.beat()
        right.wait_until_ready()
        yield Wrong(web, right, parts, off)


@pytest.fixture
def meet(wrong: Wrong) -> Iterator[Switchboard]:
    """Yields a maker of connections to the node with the wrong clock, which is right at first."""
    wrong.set_off(0.0)
    switchboard = Switchboard(wrong.web)
    yield switchboard
    for peer in switchboard.peers:
        peer.sock.close()


def hold(seconds: float) -> None:
    """Lets so much time pass: a bot is charged for it."""
    began_s = time.monotonic()
    wait_for(lambda: time.monotonic() - began_s > seconds)


def charged_ms(peer: Peer) -> float:
    """Returns how much less than a whole turn's time the bot on turn has, as it is told when it is back."""
    return LIMIT_MS - float(peer.update()["match"]["remainingMs"])


@pytest.mark.parametrize("off_s", [-3.0, 3.0, 200.0])
def test_who_comes_back_to_another_node_is_charged_for_its_own_time(
    wrong: Wrong, meet: Switchboard, off_s: float
) -> None:
    """The clock of the node that it left is off."""
    wrong.set_off(off_s)
    began_s = time.monotonic()
    mover, _ = meet.sit()
    mover.reset()
    hold(AWAY_S)
    back = meet.login(mover.auth, web=wrong.right)  # type: ignore[attr-defined]
    assert AWAY_S / 4 * 1000 < charged_ms(back) <= (time.monotonic() - began_s) * 1000


@pytest.mark.parametrize("step_s", [4.0, -4.0, 3600.0])
def test_a_clock_that_is_set_costs_no_time(wrong: Wrong, meet: Switchboard, step_s: float) -> None:
    """While the bot on turn is away."""
    began_s = time.monotonic()
    mover, _ = meet.sit()
    mover.reset()
    wrong.set_off(step_s)
    hold(AWAY_S)
    back = meet.login(mover.auth)  # type: ignore[attr-defined]
    assert AWAY_S / 4 * 1000 < charged_ms(back) <= (time.monotonic() - began_s) * 1000


def test_a_worker_whose_clock_is_wrong_works(wrong: Wrong, meet: Switchboard) -> None:
    """It makes the matches of a contest, and its log says by how much it is off."""
    bots = [meet.login(meet.auth(), web=wrong.right, login={"contest": "cup"}) for _ in range(2)]
    assert len({bot.update()["match"]["id"] for bot in bots}) == 1

    def told() -> set[int]:
        events = [json.loads(line) for line in wrong.parts.logs().splitlines() if "clock.apart" in line]
        return {round(event["ahead_s"]) for event in events}

    wait_for(lambda: any(abs(ahead_s - WORKER_AHEAD_S) < AWAY_S * 10 for ahead_s in told()), "its log")
