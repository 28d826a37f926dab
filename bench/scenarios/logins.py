"""Logins: connect, log in, leave, fifty at a time, over all registered bots in turn.

They log in to a contest whose pairing is stopped, since outside contests they would be given matches.
"""

from __future__ import annotations

from bench.runner import Bench, Row, costs

ECHO_CONNECTIONS = 50
GAME = "noughtsandcrosses"
AT_ONCE = 50


def run(bench: Bench) -> Row:
    """logins/s with `--size` registered bots (50)."""
    with bench.house() as house:
        bots = house.register(bench.size(full=50, quick=50), GAME)
        house.close_pairing()
        seconds = bench.seconds(full=15, quick=3)
        got = bench.load(house, "logins", seconds=seconds, bots=bots, contest="waiting", at_once=AT_ONCE)
    return {
        "value": round(got["logins"] / got["seconds"], 1),
        "unit": "logins/s",
        "registered": len(bots),
        "login_ms": got["login_ms"],
        **costs(got, got["logins"]),
        "wrong": got["wrong"],
        "examples": got["examples"],
    }
