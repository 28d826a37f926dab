"""The gain of a second node: endless matches at one node, then half of them at a second one on the core of all else.

The load generator is not part of a server, but shares the second core. So besides the rates there is what two cores
would carry without it: their time divided by the cost of a turn in all parts of the server.
"""

from __future__ import annotations

from typing import Any

from bench.runner import Bench, Row, costs

ECHO_CONNECTIONS = 50
GAME = "numberwang"


def run(bench: Bench) -> Row:
    """turns/s of two nodes with `--size` (100) endless matches, each match at one of them; `one_node`: for one node."""
    size, seconds = bench.size(full=100, quick=50), bench.seconds(full=15, quick=3)
    with bench.house() as house:
        bots = house.register(4 * size, GAME)
        one = bench.load(house, "matches", seconds=seconds, bots=bots[: 2 * size])
        other = house.second_node(core=1)
        two = bench.load(house, "matches", seconds=seconds, bots=bots[2 * size :], other_url=other, apart=False)
    return {
        "value": round(two["turns"] / two["seconds"], 1),
        "unit": "turns/s",
        "turn_ms": two["turn_ms"],
        "matches": size,
        **_carried(two),
        "one_node": {"turns_per_s": round(one["turns"] / one["seconds"], 1), **_carried(one)},
        "wrong": one["wrong"] + two["wrong"],
        "examples": one["examples"] + two["examples"],
    }


def _carried(got: dict[str, Any]) -> Row:
    """Costs of a turn, and `two_cores_carry`: the turns/s of a server with two cores to itself."""
    of_turn = costs(got, got["turns"])
    of_server = sum(used_us for part, used_us in of_turn["cpu_us"].items() if part != "load")
    return {**of_turn, "two_cores_carry": round(2e6 / max(1.0, of_server))}
