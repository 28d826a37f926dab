"""Ratings as a server makes and shows them: after real matches, asked for by name, found by the sweep, over REST."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from types import SimpleNamespace
from typing import Any

import pytest
import redis
from cluster import Cluster, wait_for
from original_client import OriginalClient
from stored_matches import GAME, kept, make_void, right, season, stored

import tasks.ratings
from battlebot.config import Settings
from battlebot.errors import Unavailable
from battlebot.ratings.service import Rater
from battlebot.redisio import keys
from battlebot.redisio.connection import connect
from battlebot.redisio.mutex import Locks, Mutex
from battlebot.redisio.throttle import SharedThrottle
from battlebot.storage import Storage
from tasks.celeryapp import make_celery


def test_after_a_real_match_both_bots_are_rated(parts: Cluster) -> None:
    """The archive asks for it: there is no beat here, hence no sweep. The winner stands first."""
    web = parts.web()
    parts.worker()

    def first_free(state: dict[str, Any], me: str) -> dict[str, Any]:
        mark = next(mark for mark, bot in state["marks"].items() if bot == me)
        free = [[row, column] for row in range(3) for column in range(3) if not state["board"][row][column]]
        return {"mark": mark, "space": free[0]}

    def client(name: str) -> OriginalClient:
        return OriginalClient(web.ws, web.register(name), lambda state: first_free(state, name), limit_s=60)

    with ThreadPoolExecutor(2) as pool:
        list(pool.map(lambda one: one.play_once(), [client("anna"), client("bert")]))
    path = "/games/noughtsandcrosses/ratings"
    rows = wait_for(lambda: web.request(path)[1]["ratings"], "ratings")
    (match,) = web.request("/games/noughtsandcrosses")[1]
    assert [row["matches"] for row in rows] == [1, 1]
    assert rows[0]["bot_id"] == match["victor"]
    assert rows[0]["mu"] > 25 > rows[1]["mu"]


def forget_what_was(storage: Storage) -> None:
    """As if a hundred thousand matches had been rated since: only a look at all sees what changed before."""
    at = storage.ratings.cursor(GAME)["at"]
    storage.database["rating_cursors"].update_one({"_id": GAME}, {"$set": {"marks": [at, at]}})


def void_one(storage: Storage, games: list[dict[str, Any]]) -> None:
    """One of the matches becomes void."""
    victim = next(game for game in games if not game["match"]["void"])
    make_void(storage, victim["match"]["seq"])
    victim["match"]["void"] = True


def test_the_sweep_finds_what_nobody_asked_for(parts: Cluster, storage: Storage) -> None:
    """Stored by an archive that died before it asked; then one of long ago becomes void, and nobody says so.

    That is found by one an hour; Redis remembers when, however often beat is restarted.
    """
    games = season(60)
    storage.archive.store(games)
    parts.worker()
    parts.beat(sweep_interval_s=0.1)
    wait_for(lambda: kept(storage) == right(games), "the sweep")
    forget_what_was(storage)
    void_one(storage, games)
    client = connect(parts.settings.redis_url)
    hour = keys.throttled("rating checks", GAME)
    wait_for(lambda: client.pttl(hour) > 3_000_000 * parts.settings.sweep_interval_s, "the hour to be noted")
    client.delete(hour)
    wait_for(lambda: kept(storage) == right(games), "the thorough sweep")


def bench_of(storage: Storage, client: redis.Redis, monkeypatch: pytest.MonkeyPatch) -> Any:
    """What the tasks of ratings need of a workbench."""
    bench: Any = SimpleNamespace(
        storage=storage,
        rater=Rater(storage),
        mutex=lambda work: Mutex(Locks(client), work),
        rating_checks=SharedThrottle(client, "rating checks", 3600.0),
    )
    monkeypatch.setattr(tasks.ratings, "workbench", lambda: bench)
    return bench


def play_two_games(storage: Storage) -> None:
    """Stores a match of each, so that both have ratings to be made."""
    for seq, game in enumerate(("connectfour", GAME), start=1):
        storage.archive.store([{**stored(seq), "game": game}])


def test_sweeps_make_one_games_ratings_at_a_time(
    settings: Settings, storage: Storage, client: redis.Redis, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Another one that comes meanwhile would keep a second process busy, perhaps the last: nothing would be paired."""
    bench = bench_of(storage, client, monkeypatch)
    play_two_games(storage)
    begun, under_way = list[str](), list[str]()

    def rate_new(game: str, checks: bool) -> int:
        assert not under_way
        under_way.append(game)
        begun.append(game)
        if len(begun) == 1:
            tasks.ratings.sweep()
        under_way.clear()
        return 0

    bench.rater.rate_new = rate_new
    tasks.ratings.sweep()
    # it was asked for once more, and so it goes over them once more
    assert begun == ["connectfour", GAME] * 2


def test_games_whose_matches_end_are_not_all_made_anew_at_a_time(
    settings: Settings, storage: Storage, client: redis.Redis, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As after an upgrade: while one is, what asks for another's leaves it to the next sweep."""
    bench = bench_of(storage, client, monkeypatch)
    play_two_games(storage)
    real, under_way = bench.rater._rate_all, list[str]()

    def made_anew(game: str, *of: Any) -> Any:
        assert not under_way
        under_way.append(game)
        if game == "connectfour":
            assert tasks.ratings.rate(GAME) == tasks.ratings.rebuild(GAME) == 0
        under_way.clear()
        return real(game, *of)

    monkeypatch.setattr(bench.rater, "_rate_all", made_anew)
    assert tasks.ratings.rate("connectfour") == 1
    assert bench.rater.is_stale(GAME)
    tasks.ratings.sweep()
    assert not bench.rater.is_stale(GAME)


@pytest.mark.parametrize("failure", [Unavailable("MongoDB does not answer now."), ValueError("ours"), SystemExit()])
def test_a_check_of_all_matches_that_fails_is_made_again_before_the_hour_is_over(
    settings: Settings, storage: Storage, client: redis.Redis, monkeypatch: pytest.MonkeyPatch, failure: BaseException
) -> None:
    """Though not with each sweep: it may take a minute. One whose process was killed has failed as well."""
    bench = bench_of(storage, client, monkeypatch)
    storage.archive.store(season(20))
    bench.rater.rate_new(GAME)
    real, thorough, failures = bench.rater.rate_new, list[bool](), [failure]

    def rate_new(game: str, checks: bool) -> int:
        thorough.append(checks)
        if checks and failures:
            raise failures.pop()
        return real(game, checks)

    bench.rater.rate_new = rate_new
    hour = keys.throttled("rating checks", GAME)
    with suppress(SystemExit):
        tasks.ratings.sweep()
    assert 0 < client.pttl(hour) <= tasks.ratings.CHECK_AGAIN_S * 1000
    tasks.ratings.sweep()
    client.delete(hour)  # that time is over
    tasks.ratings.sweep()
    assert client.pttl(hour) > 3_000_000
    tasks.ratings.sweep()
    assert thorough == [True, False, True, False]


def test_a_rebuild_is_asked_for_by_name(parts: Cluster, storage: Storage) -> None:
    """As the organiser's service does after a void of long ago; without beat, nobody else would see it."""
    games = season(30)
    storage.archive.store(games)
    Rater(storage).rate_new(GAME)
    forget_what_was(storage)
    void_one(storage, games)
    parts.worker()
    make_celery(parts.settings).send_task("tasks.ratings.rebuild", args=(GAME,))
    wait_for(lambda: kept(storage) == right(games), "the ratings without it")


def test_duplicate_tasks_apply_each_match_once(parts: Cluster, storage: Storage) -> None:
    """Asked for twenty times for each batch, rebuilds between, by two processes of two workers each."""
    games = season(200)
    parts.worker()
    parts.worker()
    celery = make_celery(parts.settings)
    for begin in range(0, 200, 20):
        storage.archive.store(games[begin : begin + 20])
        for index in range(20):
            celery.send_task("tasks.ratings.rebuild" if index == 7 else "tasks.ratings.rate", args=(GAME,))
    wait_for(lambda: kept(storage) == right(games), "all to be rated")
