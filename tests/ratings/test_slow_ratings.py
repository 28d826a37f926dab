"""Ratings over a MongoDB that is too slow for whole batches: the same one would be tried again for ever."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
from lifetimes import SLOW, short_lives
from stored_matches import GAME, kept, right, stored
from structlog.testing import capture_logs

from battlebot.ratings.service import Rater
from battlebot.storage import Storage, ratings

FEW = 6  # ratings are written in time
MATCHES = 10


class Slow:
    """A collection in which many writes at once, or a query for all, take too long for a transaction."""

    def __init__(self, collection: Any) -> None:
        self._collection = collection

    def bulk_write(self, writes: list[Any], session: Any, **options: Any) -> None:
        """Does so; many take longer than a transaction may."""
        self._collection.bulk_write(writes, session=session, **options)
        if len(writes) > FEW:
            self._collection.find_one(SLOW, session=session)

    def find(self, query: dict[str, Any], *arguments: Any, session: Any = None, **options: Any) -> Any:
        """Takes more than a second in a session, which all ratings are read in."""
        slowly = {} if session is None else {"$where": "sleep(100) || true"}
        return self._collection.find({**query, **slowly}, *arguments, session=session, **options)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._collection, name)


@pytest.fixture
def games(storage: Storage, monkeypatch: pytest.MonkeyPatch) -> Iterator[list[dict[str, Any]]]:
    """Stored matches of 20 bots, over a MongoDB that ends transactions after a second."""
    found = [stored(n, [f"bot{n}a", f"bot{n}b"], f"bot{n}a") for n in range(1, MATCHES + 1)]
    storage.archive.store(found)
    for limit in ("MOVE_S", "REPLACE_S"):
        monkeypatch.setattr(ratings, limit, 2.5)
    with short_lives(storage):
        yield found


def slow(storage: Storage) -> None:
    """From now on."""
    storage.ratings._ratings = Slow(storage.ratings._ratings)  # type: ignore[assignment]


def test_matches_that_take_too_long_together_are_rated_by_fewer(storage: Storage, games: list[dict[str, Any]]) -> None:
    """Ten change twenty ratings, two four."""
    rater = Rater(storage)
    storage.ratings.cursor(GAME)
    assert storage.ratings.move(GAME, 0, {"at": [-1, 0, 0], "marks": [[-1, 0, 0]], "form": 2}, [])
    slow(storage)
    with capture_logs() as logs:
        assert rater.rate_new(GAME) == MATCHES
    assert [line["matches"] for line in logs if line["event"] == "ratings.halved"] == [5, 2]
    assert kept(storage) == right(games)


def test_ratings_that_take_too_long_together_are_replaced_by_fewer(
    storage: Storage, games: list[dict[str, Any]]
) -> None:
    """Each that was begun anew would be cut off at the same point."""
    slow(storage)
    with capture_logs() as logs:
        assert Rater(storage).rebuild(GAME) == MATCHES
    assert [line["ratings"] for line in logs if line["event"] == "ratings.halved"] == [10, 5]
    assert kept(storage) == right(games)
    assert storage.ratings.cursor(GAME)["stale"] is False


def test_all_ratings_of_a_game_may_take_longer_to_read_than_a_transaction(
    storage: Storage, games: list[dict[str, Any]]
) -> None:
    """They are compared as of one moment."""
    Rater(storage).rebuild(GAME)
    slow(storage)
    assert Rater(storage).compare(GAME).rows == []
