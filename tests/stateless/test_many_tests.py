"""Many tests of slow bots at a time, by one client, at a real node."""

from __future__ import annotations

import http.client
import json
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from cluster import LIMIT_S, Web, cluster, wait_for
from httpbots import http_bots

from battlebot.api.concurrency import MOST_OF_AN_ADDRESS
from battlebot.config import Settings

MANY = 24  # tests that one client asks for


@pytest.fixture
def web(settings: Settings, tmp_path: Path) -> Iterator[Web]:
    """A web node alone; a bot has longer than any wait in the test."""
    with cluster(replace(settings, bot_loopback=True, turn_timeout_ms=60_000), tmp_path) as parts:
        yield parts.web()


def posted(web: Web, path: str, body: Any, password: str = "", source: str = "127.0.0.1") -> int:
    """The status of a POST from that address of this machine."""
    connection = http.client.HTTPConnection(web.address, timeout=2 * LIMIT_S, source_address=(source, 0))
    headers = {"Content-Type": "application/json"} | ({"Authorization": f"Bearer {password}"} if password else {})
    connection.request("POST", path, None if body is None else json.dumps(body), headers)
    with connection.getresponse() as answer:
        answer.read()
        return answer.status


def test_who_has_slow_bots_tested_keeps_nobody_from_registering(web: Web) -> None:
    """An address has a few tests at a time; its others wait in turn."""
    with http_bots() as bots, ThreadPoolExecutor(MANY) as many:
        bots.hanging.set()
        slow = {"bot_id": "slow", "url": bots.url("hanging")}
        status, own = web.request("/bots/battlecube", slow)
        assert status == 201
        bots.hanging.clear()
        path = "/bots/battlecube/slow/test"
        tests = [many.submit(posted, web, path, None, own["pass_hash"]) for _ in range(MANY)]
        try:
            wait_for(lambda: bots.asked["hanging"] > MOST_OF_AN_ADDRESS, "the first tests")
            other = {"bot_id": "other", "url": bots.url("good")}
            assert posted(web, "/bots/battlecube", other, source="127.0.0.2") == 201
            assert bots.asked["hanging"] == 1 + MOST_OF_AN_ADDRESS
        finally:
            bots.hanging.set()
        # one that has waited for long is refused
        assert {test.result() for test in tests} <= {200, 503}
