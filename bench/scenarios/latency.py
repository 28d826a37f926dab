"""The time of a turn at half of the node's load limit: all bots at one node, then each pair at two nodes."""

from __future__ import annotations

from typing import Any

from bench.house import House
from bench.runner import Bench, Row, costs

ECHO_CONNECTIONS = 1
GAME = "numberwang"


def run(bench: Bench) -> Row:
    """p99 in ms at half of the rate that `--size` (200) endless matches reach; `two_nodes`: each pair at two nodes.

    Each measurement uses half of its own maximum: two nodes, which share the first core, reach fewer turns per second.
    """
    size = bench.size(full=200, quick=50)
    with bench.house() as house:
        bots = house.register(8 * size, GAME)
        one, reached = _at_half(bench, house, bots[: 4 * size])
        two, reached_apart = _at_half(bench, house, bots[4 * size :], other_url=house.second_node(core=0))
    return {
        "value": one["turn_ms"].get("p99", 0.0),
        "unit": "ms",
        "turn_ms": one["turn_ms"],
        "matches": size,
        "reached_per_s": round(reached, 1),
        "turns_per_s": round(one["turns"] / one["seconds"], 1),
        "two_nodes": {
            "turn_ms": two["turn_ms"],
            "reached_per_s": round(reached_apart, 1),
            "turns_per_s": round(two["turns"] / two["seconds"], 1),
        }
        | costs(two, two["turns"]),
        **costs(one, one["turns"]),
        "wrong": one["wrong"] + two["wrong"],
        "examples": one["examples"] + two["examples"],
    }


def _at_half(bench: Bench, house: House, bots: list[dict[str, str]], **where: Any) -> tuple[Row, float]:
    """The result of half of the bots at half of the maximum rate that the other half reaches, and that maximum."""
    half, seconds = len(bots) // 2, bench.seconds(full=10, quick=3)
    flood = bench.load(house, "matches", seconds=seconds, bots=bots[:half], **where)
    reached = flood["turns"] / flood["seconds"]
    paced = bench.load(house, "matches", seconds=seconds, bots=bots[half:], pause_s=half / reached, **where)
    wrong = {"wrong": paced["wrong"] + flood["wrong"], "examples": paced["examples"] + flood["examples"]}
    return paced | wrong, reached
