"""Gomoku at the TCP door and at the WebSocket door, with 1 pair and with 50: plies per second, and a ply's time."""

from __future__ import annotations

from itertools import islice
from statistics import median

from bench.house import House, free_port
from bench.runner import Bench, Row, costs

ECHO_CONNECTIONS = 1
GAME = "gomoku"


def run(bench: Bench) -> Row:
    """Median ms of a ply at the TCP door, one pair alone; `pairs`: both doors, and the TCP door's ratios to the other.

    A ply lasts from one player's move to the other's question. The doors are measured alternately, so that other load
    on the machine slows both; the medians of the rounds count. `--size`: the larger number of pairs.
    """
    many, seconds, rounds = bench.size(full=50, quick=10), bench.seconds(full=4, quick=1), 3 if bench.quick else 5
    port = free_port()
    with bench.house(tcp_port=port) as house:
        bots = iter(house.register(2 * (1 + many) * rounds, GAME))
        pairs = {
            size: [_doors(bench, house, [*islice(bots, 2 * size)], port, seconds) for _ in range(rounds)]
            for size in (1, many)
        }
    got = [row for played in pairs.values() for doors in played for row in doors.values()]
    alone = _middle([doors["tcp"] for doors in pairs[1]])
    return {
        "value": alone["turn_ms"].get("p50", 0.0),
        "unit": "ms",
        "works": "tcp",
        "turn_ms": alone["turn_ms"],
        "plies_per_s": round(alone["turns"] / alone["seconds"], 1),
        **costs(alone, alone["turns"]),
        "pairs": {str(size): _compared(played) for size, played in pairs.items()},
        "wrong": sum(row["wrong"] for row in got),
        "examples": [example for row in got for example in row["examples"]],
    }


def _doors(bench: Bench, house: House, bots: list[dict[str, str]], port: int, seconds: float) -> dict[str, Row]:
    # registered names need a login at the TCP door
    guests = [{"bot_id": f"{bot['bot_id']} as a guest"} for bot in bots]
    return {
        "websocket": bench.load(house, "plies", seconds=seconds, bots=bots),
        "tcp": bench.load(house, "plies", seconds=seconds, bots=guests, tcp=("127.0.0.1", port)),
    }


def _middle(rows: list[Row]) -> Row:
    return sorted(rows, key=lambda row: row["turn_ms"].get("p50", 0.0))[len(rows) // 2]


def _compared(played: list[dict[str, Row]]) -> Row:
    shown: Row = {}
    for door, part in (("tcp", "tcp"), ("websocket", "web")):
        got = _middle([doors[door] for doors in played])
        shown[door] = {
            "plies_per_s": round(got["turns"] / got["seconds"], 1),
            "ply_ms": got["turn_ms"],
            "cpu_us": costs(got, got["turns"])["cpu_us"][part],
        }
    ratios = [_ratios(doors["tcp"], doors["websocket"]) for doors in played]
    for name in ("median_ratio", "rate_ratio", "cpu_ratio"):
        shown[name] = round(median(row[name] for row in ratios), 3)
        shown[f"{name}s"] = [round(row[name], 3) for row in ratios]
    return shown


def _ratios(tcp: Row, websocket: Row) -> Row:
    """The TCP door's figures divided by the WebSocket door's, for one round."""
    rates = [max(1, got["turns"]) / got["seconds"] for got in (tcp, websocket)]
    costs_s = [got["cpu_s"][part] / max(1, got["turns"]) for got, part in ((tcp, "tcp"), (websocket, "web"))]
    return {
        "median_ratio": tcp["turn_ms"].get("p50", 0.0) / websocket["turn_ms"].get("p50", 1.0),
        "rate_ratio": rates[0] / rates[1],
        "cpu_ratio": costs_s[0] / max(1e-9, costs_s[1]),
    }
