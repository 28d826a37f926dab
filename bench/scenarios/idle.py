"""Bots that are logged in and wait: the web node's memory per bot, and its CPU time for all of them.

They wait in a contest whose pairing is stopped, like bots that have already met everybody.
"""

from __future__ import annotations

from bench.runner import Bench, Row, costs

ECHO_CONNECTIONS = 50
GAME = "noughtsandcrosses"
AT_ONCE = 50


def run(bench: Bench) -> Row:
    """KB of resident memory per connection, with `--size` connections (2,000)."""
    with bench.house() as house:
        bots = house.register(bench.size(full=2000, quick=500), GAME)
        house.close_pairing()
        # what the first logins load stays in memory, and must not count for the connections
        bench.load(house, "idle", seconds=0.1, bots=bots[:50], contest="before", at_once=AT_ONCE)
        before_kb = house.rss_kb()
        # as long as two rounds of pings
        seconds = bench.seconds(full=90, quick=3)
        got = bench.load(house, "idle", seconds=seconds, bots=bots, contest="waiting", at_once=AT_ONCE)
        after_kb = house.rss_kb()
    return {
        "value": round((after_kb - before_kb) / len(bots), 1),
        "unit": "KB",
        "connections": len(bots),
        "logged_in_s": round(got["logged_in_s"], 2),
        "lost": got["lost"],
        "web_rss_kb": [before_kb, after_kb],
        **costs(got, len(bots)),
        "wrong": got["wrong"] + got["lost"],
        "examples": got["examples"],
    }
