"""Two hundred bots outside contests, each with a new connection per match: noughts and crosses without a pause."""

from __future__ import annotations

from bench.runner import Bench, Row, costs

ECHO_CONNECTIONS = 50
GAME = "noughtsandcrosses"
CHECKED = 200  # matches that are looked up in the archive


def run(bench: Bench) -> Row:
    """games/s; `--keep`: protocol 2, without new connections."""
    with bench.house() as house:
        bots = house.register(bench.size(full=200, quick=200), GAME)
        got = bench.load(house, "games", seconds=bench.seconds(full=20, quick=5), bots=bots, keep=bench.keep)
        lost = house.not_archived(GAME, dict(list(got["ends"].items())[-CHECKED:]))
    return {
        "value": round(got["games"] / got["seconds"], 1),
        "unit": "games/s",
        "turn_ms": got["turn_ms"],
        "login_ms": got["login_ms"],
        "keep": bench.keep,
        **costs(got, got["games"]),
        "wrong": got["wrong"] + len(lost),
        "examples": got["examples"] + lost,
    }
