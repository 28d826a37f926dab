"""Logins: connect, log in, leave, fifty at a time: about fifty of the registered bots in turn, then other bots once.

They log in to a contest whose pairing is stopped, because outside contests they would be given matches.
"""

from __future__ import annotations

from typing import Any

from bench.runner import Bench, Row, costs

ECHO_CONNECTIONS = 50
GAME = "noughtsandcrosses"
AT_ONCE = 50
MOST_A_SECOND = 4000  # more than a node can do, so that no bot logs in twice


def run(bench: Bench) -> Row:
    """logins/s with `--size` registered bots (50); `first`: for bots that are new to the node and to the contest."""
    size, seconds = bench.size(full=50, quick=50), bench.seconds(full=15, quick=3)
    with bench.house() as house:
        bots = house.register(size, GAME)
        house.close_pairing()

        def log_in(these: list[dict[str, str]], seconds: float) -> dict[str, Any]:
            return bench.load(house, "logins", seconds=seconds, bots=these, contest="waiting", at_once=AT_ONCE)

        # spread over the whole collection
        step = max(1, size // AT_ONCE)
        got = log_in(bots[::step], seconds)
        others = [bot for number, bot in enumerate(bots) if number % step]
        first = log_in(others, min(seconds, len(others) / MOST_A_SECOND)) if len(others) > MOST_A_SECOND else None
    wrongs = [got, first] if first is not None else [got]
    return {
        "value": round(got["logins"] / got["seconds"], 1),
        "unit": "logins/s",
        "registered": size,
        "login_ms": got["login_ms"],
        **({} if first is None else {"first": _first(first)}),
        **costs(got, got["logins"]),
        "wrong": sum(one["wrong"] for one in wrongs),
        "examples": [example for one in wrongs for example in one["examples"]],
    }


def _first(got: dict[str, Any]) -> Row:
    rate = round(got["logins"] / got["seconds"], 1)
    return {"logins_per_s": rate, "login_ms": got["login_ms"], **costs(got, got["logins"])}
