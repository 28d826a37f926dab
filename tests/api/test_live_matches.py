"""The matches of a game that are being played, as JSON and as events."""

from __future__ import annotations

from test_progress import data_of
from webhouse import House

from battlebot.redisio import keys

PATH = "/games/gomoku/live"


def test_live_matches_are_listed(home: House) -> None:
    """Of that game only, with the state that a viewer may see."""
    match = home.begin("a", "b", "gomoku")
    home.begin("c", "d")
    [row] = home.client.get(PATH).json["matches"]
    assert (row["id"], row["players"], row["version"], row["state"]["moves"]) == (match.id, ["a", "b"], 0, [])


def test_live_matches_are_followed(home: House) -> None:
    """A new one is there by itself, although nobody announces it; one that is over is gone."""
    first = home.begin("a", "b", "gomoku")
    answer = home.client.get(f"{PATH}/events", buffered=False)
    chunks = iter(answer.iter_encoded())
    assert [row["id"] for row in data_of(chunks)["matches"]] == [first.id]
    second = home.begin("c", "d", "gomoku")
    assert {row["id"] for row in data_of(chunks)["matches"]} == {first.id, second.id}
    home.redis.delete(keys.match(first.id))
    home.redis.zrem(keys.DEADLINES, first.id)
    assert [row["id"] for row in data_of(chunks)["matches"]] == [second.id]
    answer.close()
