"""A contest as original clients play it: noughts and crosses, five meetings per pair, one connection per match."""

from __future__ import annotations

import time

from bench.house import House
from bench.runner import Bench, Row, costs

ECHO_CONNECTIONS = 50
GAME = "noughtsandcrosses"
CONTEST = "cup"
MEETINGS = 5
SETTLED_S = 10.0


def run(bench: Bench) -> Row:
    """games/s until the end of the last match; `--keep`: protocol 2, without new connections.

    `archived_after_s`: from the end of the load to complete rankings.
    """
    with bench.house() as house:
        bots = house.register(bench.size(full=20, quick=20), GAME)
        rounds = MEETINGS * (len(bots) - 1)
        limit_s = bench.seconds(full=120, quick=20)
        arguments = {"contest": CONTEST, "keep": bench.keep, "rounds": rounds}
        got = bench.load(house, "games", seconds=limit_s, bots=bots, **arguments)
        begin_s = time.monotonic()
        # a stalled contest must be noticed; with less time than usual it need not be over
        unfinished = [] if bench.quick or bench.seconds_asked else [f"not finished in {limit_s:g} s"]
        lost = _check_rankings(house, got["rounds"]) if got["finished"] else unfinished
        archived_after_s = time.monotonic() - begin_s
    return {
        "value": round(got["games"] / (got["last_game_s"] or 1.0), 1),
        "unit": "games/s",
        "games": got["games"],
        "finished": got["finished"],
        "turn_ms": got["turn_ms"],
        "login_ms": got["login_ms"],
        "archived_after_s": round(archived_after_s, 2),
        "keep": bench.keep,
        **costs(got, got["games"]),
        "wrong": got["wrong"] + len(lost),
        "told_again": got["told_again"],
        "examples": got["examples"] + lost,
    }


def _check_rankings(house: House, rounds: list[int]) -> list[str]:
    """Wait until the rankings contain all matches; return what is wrong with them."""
    until_s = time.monotonic() + SETTLED_S
    while True:
        _, answer = house.request(f"/games/{GAME}/contest/{CONTEST}")
        played = sorted(row["wins"] + row["draws"] + row["losses"] for row in answer["bots"])
        if played == sorted(rounds):
            return []
        if time.monotonic() > until_s:
            return [f"bots played {sorted(rounds)} matches, the rankings say {played}"]
        time.sleep(0.05)
