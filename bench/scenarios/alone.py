"""One endless match of numberwang, alone on the node: the time from sending a turn to its acknowledgement."""

from __future__ import annotations

from bench.runner import Bench, Row, costs

ECHO_CONNECTIONS = 1
GAME = "numberwang"


def run(bench: Bench) -> Row:
    """Median ms of a turn; the ratio is to the median round trip of the echo."""
    with bench.house() as house:
        bots = house.register(2, GAME)
        got = bench.load(house, "matches", seconds=bench.seconds(full=15, quick=3), bots=bots)
        lost = house.not_archived(GAME, got["ends"])
    return {
        "value": got["turn_ms"].get("p50", 0.0),
        "unit": "ms",
        "turn_ms": got["turn_ms"],
        "turns_per_s": round(got["turns"] / got["seconds"], 1),
        "tenths": got["tenths"],
        **costs(got, got["turns"]),
        "wrong": got["wrong"] + len(lost),
        "told_again": got["told_again"],
        "examples": got["examples"] + lost,
    }
