"""How long a turn takes while the node is half as busy as it can be: all bots at one node, then each pair at two."""

from __future__ import annotations

from bench.house import House
from bench.runner import Bench, Row, costs

ECHO_CONNECTIONS = 1
GAME = "numberwang"


def run(bench: Bench) -> Row:
    """p99 in ms at half of the rate that `--size` (200) endless matches reach; `two_nodes`: their two bots apart."""
    size = bench.size(full=200, quick=50)
    seconds = bench.seconds(full=10, quick=3)
    with bench.house() as house:
        bots = house.register(6 * size, GAME)
        flood = bench.load(house, "matches", seconds=seconds, bots=bots[: 2 * size])
        reached = flood["turns"] / flood["seconds"]
        pace = {"seconds": seconds, "pause_s": size / (reached / 2)}
        one = bench.load(house, "matches", bots=bots[2 * size : 4 * size], **pace)
        two = _apart(bench, house, bots[4 * size :], pace)
    return {
        "value": one["turn_ms"].get("p99", 0.0),
        "unit": "ms",
        "turn_ms": one["turn_ms"],
        "matches": size,
        "reached_per_s": round(reached, 1),
        "turns_per_s": round(one["turns"] / one["seconds"], 1),
        "two_nodes": {"turn_ms": two["turn_ms"], "turns_per_s": round(two["turns"] / two["seconds"], 1)}
        | costs(two, two["turns"]),
        **costs(one, one["turns"]),
        "wrong": sum(got["wrong"] for got in (flood, one, two)),
        "examples": [example for got in (flood, one, two) for example in got["examples"]],
    }


def _apart(bench: Bench, house: House, bots: list[dict[str, str]], pace: dict[str, float]) -> Row:
    return bench.load(house, "matches", bots=bots, other_url=house.second_node(), **pace)
