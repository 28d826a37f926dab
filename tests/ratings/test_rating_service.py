"""Ratings over a real MongoDB: each match once, in order, whatever comes late, becomes void, races or fails."""

from __future__ import annotations

import random
import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest
from records import reserve
from stored_matches import GAME, kept, make_void, right, season, stored

from battlebot.config import Settings
from battlebot.ratings import progress, service
from battlebot.ratings.rating import Rating
from battlebot.ratings.service import Rater
from battlebot.storage import Storage, ratings
from battlebot.storage.contests import Change
from battlebot.storage.voids import VoidCause


@pytest.fixture(autouse=True)
def _small_steps(monkeypatch: pytest.MonkeyPatch) -> None:
    """Transactions of a few matches or ratings, so that a few hundred are many."""
    monkeypatch.setattr(service, "BATCH", 7)
    monkeypatch.setattr(progress, "WINDOW", 20)
    monkeypatch.setattr(ratings, "REPLACED_AT_ONCE", 3)


@pytest.fixture
def rater(storage: Storage) -> Rater:
    """Over the emptied database."""
    return Rater(storage)


def cursor(storage: Storage) -> dict[str, Any]:
    """What is kept of the progress."""
    return storage.ratings.cursor(GAME)


def test_each_match_is_applied_once_in_the_order_of_ends(storage: Storage, rater: Rater) -> None:
    """Bit by bit what all at once makes; void ones do not count; a second call applies nothing."""
    games = season(100)
    for begin in range(0, 100, 9):
        storage.archive.store(games[begin : begin + 9])
        assert rater.rate_new(GAME) == sum(not game["match"]["void"] for game in games[begin : begin + 9])
        revision = cursor(storage)["revision"]
        assert rater.rate_new(GAME) == 0
        assert cursor(storage)["revision"] == revision
    assert kept(storage) == right(games)
    assert rater.compare(GAME).rows == []


def test_the_order_is_that_of_the_ends_not_of_the_ids_or_of_storing(storage: Storage, rater: Rater) -> None:
    """One batch stored backwards."""
    games = [{**game, "_id": f"{999 - game['match']['seq']:024x}"} for game in season(40)]
    storage.archive.store(games[::-1])
    rater.rate_new(GAME)
    assert kept(storage) == right(games)


def test_contests_and_games_do_not_mix_but_a_games_matches_do(storage: Storage, rater: Rater) -> None:
    """All matches of the game count, in contests and outside; those of another game are another's."""
    reserve(storage, GAME, "cup", [{"match": f"{2:024x}", "bots": ["a", "b"], "n": 1}])
    games = [stored(1), {**stored(2, victor="b"), "contest": "cup"}]
    storage.archive.store([*games, {**stored(3), "game": "connectfour"}])
    assert rater.rate_new(GAME) == 2
    assert kept(storage) == right(games)
    assert kept(storage, "connectfour") == {}


@pytest.mark.parametrize("late", [[1], [40], [99], [3, 50, 98]])
def test_a_match_that_is_archived_late_is_applied_in_its_place(late: list[int], storage: Storage, rater: Rater) -> None:
    """Set aside, or stored by a second archive: all are rated anew. `thorough` sees it however late."""
    games = season(100)
    storage.archive.store([game for game in games if game["match"]["seq"] not in late])
    rater.rate_new(GAME)
    for game in games:
        if game["match"]["seq"] in late:
            storage.archive.store([game])
            assert rater.rate_new(GAME, thorough=True) > 0
    assert kept(storage) == right(games)


def test_what_comes_late_but_not_very_late_is_seen_at_once(storage: Storage, rater: Rater) -> None:
    """Among the matches since the older mark; further back, the sweep looks."""
    games = season(100)
    storage.archive.store([game for game in games if game["match"]["seq"] not in (2, 85)])
    rater.rate_new(GAME)
    storage.archive.store([games[1]])
    assert rater.rate_new(GAME) == 0
    storage.archive.store([games[84]])
    assert rater.rate_new(GAME) > 0
    assert kept(storage) == right(games)


def test_matches_that_come_late_and_void_are_seen_too(storage: Storage, rater: Rater) -> None:
    """One more, one fewer: the number of those that count is the same, and yet they are others."""
    games = season(30)
    storage.archive.store([game for game in games if game["match"]["seq"] != 12])
    rater.rate_new(GAME)
    storage.archive.store([games[11]])
    make_void(storage, 20)
    games[19]["match"]["void"] = True
    rater.rate_new(GAME)
    assert kept(storage) == right(games)


@pytest.mark.parametrize("told", [True, False])
def test_a_match_that_becomes_void_after_it_was_rated_is_taken_out(told: bool, storage: Storage, rater: Rater) -> None:
    """By `rebuild`, or found by the sweep; a bot whose only match it was has no rating any more."""
    games = [*season(60), stored(61, ["bot1", "onlyonce"], "onlyonce"), *season(0)]
    storage.archive.store(games)
    rater.rate_new(GAME)
    assert "onlyonce" in kept(storage)
    for seq in (5, 61):
        make_void(storage, seq)
        games[seq - 1]["match"]["void"] = True
    if told:
        rater.rebuild(GAME)
    else:
        rater.rate_new(GAME, thorough=True)
    assert kept(storage) == right(games)
    assert "onlyonce" not in kept(storage)
    assert rater.compare(GAME).rows == []


def test_a_voiding_by_the_ledger_is_noticed(storage: Storage, rater: Rater) -> None:
    """The real way of an organiser's void, without anybody telling the ratings."""
    meetings = [{"match": f"{seq:024x}", "bots": ["a", "b"], "n": seq} for seq in (1, 2)]
    storage.contests.open(GAME, "cup", 2)
    reserve(storage, GAME, "cup", meetings)
    games = [{**stored(seq), "contest": "cup"} for seq in (1, 2)]
    storage.archive.store(games)
    rater.rate_new(GAME)
    assert storage.ledger.void(
        GAME, "cup", games[0]["_id"], VoidCause("me", "unfair"), lambda contest, *_: Change(contest, [])
    )
    rater.rate_new(GAME)
    assert kept(storage) == right(games[1:])


def test_four_raters_at_once_apply_each_match_once(settings: Settings, storage: Storage) -> None:
    """While the archive goes on in order: what they applied sums up to the matches, and the ratings are right."""
    games = season(300)
    archived = threading.Event()

    def rate(_: int) -> int:
        own = Storage(settings)
        applied = 0
        while not archived.is_set():
            applied += Rater(own).rate_new(GAME)
        applied += Rater(own).rate_new(GAME)
        own.close()
        return applied

    with ThreadPoolExecutor(4) as pool:
        raters = [pool.submit(rate, index) for index in range(4)]
        for begin in range(0, 300, 11):
            storage.archive.store(games[begin : begin + 11])
        archived.set()
        applied = sum(one.result() for one in raters)
    assert kept(storage) == right(games)
    assert applied == sum(not game["match"]["void"] for game in games)


def test_raters_rebuilders_late_archives_and_voids_at_once_end_at_the_right_ratings(
    settings: Settings, storage: Storage
) -> None:
    """Everything races; afterwards one more call makes them what a rebuild makes."""
    games = season(200, seed=2)
    order = sorted(games, key=lambda game: game["match"]["seq"] + random.Random(game["_id"]).random() * 30)
    archived = threading.Event()

    def rate(index: int) -> None:
        own = Storage(settings)
        while not archived.is_set():
            Rater(own).rate_new(GAME, thorough=index == 0)
            if index == 1:
                Rater(own).rebuild(GAME)
        own.close()

    with ThreadPoolExecutor(4) as pool:
        raters = [pool.submit(rate, index) for index in range(4)]
        for begin in range(0, 200, 10):
            storage.archive.store(order[begin : begin + 10])
            make_void(storage, order[begin]["match"]["seq"])
            order[begin]["match"]["void"] = True
        archived.set()
        for one in raters:
            one.result()
    Rater(storage).rate_new(GAME, thorough=True)
    assert kept(storage) == right(games)
    assert Rater(storage).compare(GAME).rows == []


class Failing:
    """A collection whose bulk_write writes, and then fails: as a process that dies before the commit."""

    def __init__(self, collection: Any) -> None:
        self.collection = collection

    def bulk_write(self, *arguments: Any, **options: Any) -> None:
        self.collection.bulk_write(*arguments, **options)
        raise RuntimeError("killed here")

    def __getattr__(self, name: str) -> Any:
        return getattr(self.collection, name)


@pytest.mark.parametrize("work", [lambda rater: rater.rate_new(GAME), lambda rater: rater.rebuild(GAME)])
def test_what_fails_within_a_transaction_leaves_nothing(
    work: Callable[[Rater], int], storage: Storage, rater: Rater
) -> None:
    """No ratings without their cursor, no cursor without its ratings; afterwards it goes on as if nothing was."""
    games = season(60)
    storage.archive.store(games[:30])
    rater.rate_new(GAME)
    before = kept(storage), cursor(storage)["at"]
    storage.archive.store(games[30:])
    real = storage.ratings._ratings
    storage.ratings._ratings = Failing(real)  # type: ignore[assignment]
    with pytest.raises(RuntimeError, match="killed here"):
        work(rater)
    storage.ratings._ratings = real
    assert (kept(storage), cursor(storage)["at"]) == before
    rater.rate_new(GAME)
    assert kept(storage) == right(games)


def test_a_rebuild_that_was_overtaken_is_done_again(storage: Storage, rater: Rater) -> None:
    """A match becomes void after it was read and before the ratings are written: what was read must not be kept."""
    games = season(40)
    storage.archive.store(games)
    rater.rate_new(GAME)
    real, calls = storage.ratings.replace, []

    def overtaken(*arguments: Any) -> bool:
        calls.append(arguments)
        if len(calls) == 1:
            make_void(storage, 3)
            storage.ratings.mark_stale(GAME)
        return real(*arguments)

    storage.ratings.replace = overtaken  # type: ignore[method-assign]
    rater.rebuild(GAME)
    games[2]["match"]["void"] = True
    assert len(calls) == 2
    assert kept(storage) == right(games)


class Counting:
    """A collection that notes how many writes each bulk_write has; `then` is called after each."""

    def __init__(self, collection: Any, then: Callable[[int], None] = lambda done: None) -> None:
        self.collection, self.then = collection, then
        self.sizes: list[int] = []

    def bulk_write(self, writes: Any, **options: Any) -> None:
        self.collection.bulk_write(writes, **options)
        self.sizes.append(len(writes))
        self.then(len(self.sizes))

    def __getattr__(self, name: str) -> Any:
        return getattr(self.collection, name)


@pytest.fixture
def many_bots(storage: Storage, rater: Rater, monkeypatch: pytest.MonkeyPatch) -> list[dict[str, Any]]:
    """Matches of 20 bots, rated wrongly; with as many ghosts, and transactions of 6 ratings."""
    monkeypatch.setattr(ratings, "REPLACED_AT_ONCE", 6)
    games = [stored(n, [f"bot{n}a", f"bot{n}b"], f"bot{n}a") for n in range(1, 11)]
    storage.archive.store(games)
    rater.rate_new(GAME)
    storage.database["ratings"].update_many({}, {"$set": {"mu": 99.0}})
    ghosts = [{"game": GAME, "bot_id": f"ghost{n}", "mu": 1.0, "sigma": 1.0, "matches": 1} for n in range(20)]
    storage.database["ratings"].insert_many(ghosts)
    return games


def test_the_ratings_of_many_bots_are_replaced_in_several_transactions(
    storage: Storage, rater: Rater, many_bots: list[dict[str, Any]]
) -> None:
    """MongoDB ends one that takes longer than `transactionLifetimeLimitSeconds`: no rebuild would ever be done."""
    counting = storage.ratings._ratings = Counting(storage.ratings._ratings)  # type: ignore[assignment]
    assert rater.rebuild(GAME) == 10
    assert counting.sizes == [6, 6, 6, 6, 6, 6, 4]
    assert kept(storage) == right(many_bots)
    assert cursor(storage)["stale"] is False


def test_a_process_that_dies_between_two_of_these_leaves_stale_ratings(
    storage: Storage, rater: Rater, many_bots: list[dict[str, Any]]
) -> None:
    """Whoever rates next makes them anew."""

    def die(done: int) -> None:
        if done == 3:
            raise RuntimeError("killed here")

    real = storage.ratings._ratings
    storage.ratings._ratings = Counting(real, die)  # type: ignore[assignment]
    with pytest.raises(RuntimeError, match="killed here"):
        rater.rebuild(GAME)
    storage.ratings._ratings = real
    assert cursor(storage)["stale"] is True
    assert storage.database["ratings"].count_documents({}) == 40 - 2 * 6
    rater.rate_new(GAME)
    assert kept(storage) == right(many_bots)


def test_ratings_that_are_marked_stale_between_two_of_these_are_made_again(
    storage: Storage, rater: Rater, many_bots: list[dict[str, Any]]
) -> None:
    """A match becomes void: what was being written is wrong."""
    match = many_bots[3]["match"]
    real = storage.ratings._change

    def overtaken(*arguments: Any) -> bool:
        written = real(*arguments)
        if not match["void"]:
            make_void(storage, match["seq"])
            storage.ratings.mark_stale(GAME)
            match["void"] = True
        return written

    storage.ratings._change = overtaken  # type: ignore[method-assign]
    assert rater.rebuild(GAME) == 9
    assert kept(storage) == right(many_bots)


def test_what_has_been_rated_since_is_not_marked_stale(storage: Storage) -> None:
    """Whoever finds older ratings wrong says nothing of these; nor of another game's."""
    other = storage.ratings.cursor("connectfour")
    found = storage.ratings.cursor(GAME)["revision"]
    assert storage.ratings.move(GAME, found, {"at": 1}, [])
    storage.ratings.mark_stale(GAME, found)
    assert storage.ratings.cursor(GAME)["stale"] is False
    assert storage.ratings.cursor("connectfour") == other


def test_a_rebuild_reaches_the_same_numbers(storage: Storage, rater: Rater) -> None:
    """To the last bit, from nonsense, and from ratings of which nobody knows how far they go."""
    games = season(150)
    for begin in range(0, 150, 10):
        storage.archive.store(games[begin : begin + 10])
        rater.rate_new(GAME)
    grown = kept(storage)
    storage.database["ratings"].update_one({"bot_id": "bot1"}, {"$set": {"mu": 99.0, "ordinal": 99.0}})
    storage.database["ratings"].insert_one({"game": GAME, "bot_id": "ghost", "mu": 1.0, "sigma": 1.0, "matches": 1})
    assert rater.rebuild(GAME) == sum(not game["match"]["void"] for game in games)
    assert kept(storage) == grown == right(games)
    storage.database["rating_cursors"].drop()
    rater.rate_new(GAME)
    assert kept(storage) == grown


def test_the_difference_names_who_differs_and_changes_nothing(storage: Storage, rater: Rater) -> None:
    """A wrong number, a rating too many, one too few; matches that are not rated yet are no difference."""
    storage.archive.store([stored(1), stored(2, ["c", "d"], "c")])
    rater.rate_new(GAME)
    storage.archive.store([stored(3)])
    assert rater.compare(GAME).rows == []
    collection = storage.database["ratings"]
    collection.update_one({"bot_id": "a"}, {"$inc": {"mu": 1e-6}})
    collection.delete_one({"bot_id": "c"})
    collection.insert_one({"game": GAME, "bot_id": "ghost", "mu": 1.0, "sigma": 2.0, "matches": 3})
    before = kept(storage)
    rows = {row["bot_id"]: row for row in rater.compare(GAME).rows}
    assert rows.keys() == {"a", "c", "ghost"}
    assert rows["ghost"] == {"bot_id": "ghost", "kept": Rating(1.0, 2.0, 3).as_dict(), "rebuilt": None}
    assert rows["c"]["kept"] is None
    assert rows["a"]["kept"]["mu"] - rows["a"]["rebuilt"]["mu"] == pytest.approx(1e-6)
    assert kept(storage) == before
    assert Rater(storage).compare("nothing was ever played here").rows == []


def test_more_than_two_players_by_places(storage: Storage, rater: Rater) -> None:
    """What a later game's matches carry goes through storage as well."""
    games = [stored(1, "abc", None, places={"c": 1, "a": 2, "b": 3}), stored(2, "abc", "a")]
    storage.archive.store(games)
    rater.rate_new(GAME)
    assert kept(storage) == right(games)
    assert kept(storage)["c"].mu > kept(storage)["b"].mu
