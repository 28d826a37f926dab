"""Fifty endless matches of numberwang: turns per second, and whether the last turns are as fast as the first."""

from __future__ import annotations

from statistics import mean

from bench.runner import Bench, Row, costs

ECHO_CONNECTIONS = 50
GAME = "numberwang"


def run(bench: Bench) -> Row:
    """turns/s. `last_to_first`: turns in the last tenth of the time divided by those in the first."""
    with bench.house() as house:
        bots = house.register(2 * bench.size(full=50, quick=50), GAME)
        before_kb = house.rss_kb()
        got = bench.load(house, "matches", seconds=bench.seconds(full=60, quick=5), bots=bots)
        after_kb = house.rss_kb()
        lost = house.not_archived(GAME, got["ends"])
    return {
        "value": round(got["turns"] / got["seconds"], 1),
        "unit": "turns/s",
        "turn_ms": got["turn_ms"],
        "last_to_first": round(got["tenths"][-1] / max(1, got["tenths"][0]), 3),
        "tenths": got["tenths"],
        "web_rss_kb": [before_kb, after_kb],
        "turns_a_match": round(mean(got["ends"].values())) if got["ends"] else 0,
        **costs(got, got["turns"]),
        "wrong": got["wrong"] + len(lost),
        "examples": got["examples"] + lost,
    }
