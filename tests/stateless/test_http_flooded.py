"""Bots behind HTTP whose answers never end, asked by a process of greenlets: they are in nobody else's way."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import orjson
from httpbots import Bots

ASKER = Path(__file__).with_name("floodedasker.py")
LIMIT_S = 30.0


def test_a_flood_is_refused_and_others_are_asked_meanwhile(bots: Bots) -> None:
    """It comes as fast as it is read: what is no body of an answer has its bounds, and between reads others go on."""
    arguments = [sys.executable, "-m", "gevent.monkey", str(ASKER), bots.url("").rstrip("/")]
    run = subprocess.run(arguments, stdout=subprocess.PIPE, timeout=LIMIT_S, check=True)
    codes, longest_wait_s, turns = orjson.loads(run.stdout)
    floods = ("flooding/extension", "flooding/zeros", "flooding/trailer")
    assert codes == {**dict.fromkeys(floods, "too-big"), "good": None, "slow": None}
    assert longest_wait_s < 3.0
    assert turns >= 10
