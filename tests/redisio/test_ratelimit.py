"""What an address may do in a minute, counted over all nodes."""

from __future__ import annotations

from battlebot.config import Settings
from battlebot.redisio.connection import connect
from battlebot.redisio.ratelimit import RateLimit


def test_so_often_in_a_minute_and_again_in_the_next(settings: Settings) -> None:
    """Two nodes count together; another address, or another thing, for itself."""
    now_s = [6000.0]
    clients = [connect(settings.redis_url) for _ in range(2)]
    one, other = (RateLimit(client, "games", 3, lambda: now_s[0]) for client in clients)
    assert [one.take("a"), other.take("a"), one.take("a"), other.take("a"), one.take("a")] == [True] * 3 + [False] * 2
    assert one.take("b")
    assert RateLimit(clients[0], "else", 3, lambda: now_s[0]).take("a")
    now_s[0] += 60
    assert other.take("a")
    assert all(0 < clients[0].ttl(key) <= 120 for key in clients[0].scan_iter("*allowance*"))
    for client in clients:
        client.close()
