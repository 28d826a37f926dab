"""The few meetings that a pairing of an open contest reads lead to the same pairs as all meetings of who waits."""

from __future__ import annotations

import random
from collections import Counter
from datetime import UTC, datetime, timedelta
from functools import partial
from itertools import combinations
from math import comb

import pytest
from hall import Hall
from profiled import profiled
from thorough import seeds

from battlebot.contests.contest import Contest
from battlebot.contests.formats import format_named
from battlebot.contests.formats.record import Pairing, Waiter, pair_of
from battlebot.contests.situating import situation_of
from battlebot.storage import Storage
from battlebot.storage.meetings import FEW, LATELY, Meeting, pair_key
from battlebot.storage.mongo import transaction
from battlebot.storage.voids import VoidCause

WHERE = ("numberwang", "cup")
BEGIN = datetime(2026, 1, 1, tzinfo=UTC)


@pytest.fixture
def contest(storage: Storage) -> Contest:
    """An open one, five meetings a pair."""
    return storage.contests.open(*WHERE, 5)


def history(storage: Storage, contest: Contest, bots: str, steps: int, dice: random.Random) -> None:
    """Pairings by all meetings, of whoever waits; now and then meetings are given up, taken back, or played.

    Several are reserved in one moment, as a pairing does, and sometimes two of one bot.
    """
    for step in range(steps):
        pairings = by_all(storage, contest, waiting(bots, dice))
        wanted = [
            Meeting(f"{dice.getrandbits(64):016x}", [waiter.bot for waiter in one.waiters], one.n) for one in pairings
        ]
        storage.ledger.reserve(contest, wanted)
        ids = [meeting.match for meeting in wanted]
        moment = BEGIN + timedelta(milliseconds=step // 2)
        storage.database["meetings"].update_many({"_id": {"$in": ids}}, {"$set": {"at": moment}})
        for match_id in ids:
            fate = dice.random()
            if fate < 0.08:
                storage.meetings.release([match_id])
            elif fate < 0.2:
                storage.meetings.lost([match_id])
            elif fate < 0.7:
                played = {"$set": {"state": "played", "victor": None}}
                storage.database["meetings"].update_one({"_id": match_id}, played)
        if dice.random() < 0.1:
            # one of long ago is taken back
            rows = storage.meetings.of_contest(*WHERE)
            one = {"_id": dice.choice(rows)["_id"]} if rows else {"_id": ""}
            transaction(storage.client, partial(storage.voids.take_back, one, VoidCause("ann", "a cable")))


def waiting(bots: str, dice: random.Random) -> list[Waiter]:
    """Some of the bots in any order; now and then one of them by two connections."""
    names = dice.sample(bots, dice.randint(2, len(bots)))
    names += [dice.choice(names)] if dice.random() < 0.3 else []
    return [Waiter(bot, f"{bot}{index}") for index, bot in enumerate(names)]


def by_all(storage: Storage, contest: Contest, waiters: list[Waiter]) -> list[Pairing]:
    """The pairs by all meetings of all who wait, and all void ones."""
    bots = sorted({waiter.bot for waiter in waiters})
    rows, voids = storage.meetings.among(*WHERE, bots), storage.voids.of_contest(*WHERE, bots)
    return format_named("open").pair(situation_of(contest, rows, bots, voids), waiters)


def by_few(hall: Hall, contest: Contest, waiters: list[Waiter]) -> list[Pairing]:
    """The pairs by what a pairing reads."""
    bots = sorted({waiter.bot for waiter in waiters})
    return format_named("open").pair(hall.pairer.situation(contest, bots), waiters)


@pytest.mark.parametrize("few", [2, FEW])
@pytest.mark.parametrize("seed", seeds(4))
def test_whatever_is_behind_them_the_few_meetings_lead_to_the_same_pairs(
    hall: Hall, storage: Storage, contest: Contest, seed: int, few: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Random pasts of three to eight bots and one that seldom comes.

    Some of their meetings were given up, lost or taken back: now and then all of a pair. Bots are looked up one by one,
    or all at once.
    """
    for module in ("battlebot.contests.service.acquaintance", "battlebot.storage.meetings"):
        monkeypatch.setattr(f"{module}.FEW", few)
    dice = random.Random(seed)
    bots = "abcdefgh"[: 3 + seed % 6]
    seen: Counter[bool] = Counter()
    for _ in range(8):
        came = bots + "x" * (dice.random() < 0.2)
        history(storage, contest, came, 2 * len(bots), dice)
        void = {"pair": pair_key(dice.sample(bots, 2))}
        transaction(storage.client, partial(storage.voids.take_back, void, VoidCause("ann", "a cable")))
        met = {pair_of(*row["bots"]) for row in storage.meetings.of_contest(*WHERE)}
        for _ in range(12):
            waiters = waiting(bots + "x", dice)
            assert by_few(hall, contest, waiters) == by_all(storage, contest, waiters)
            seen[met.issuperset(combinations(sorted({waiter.bot for waiter in waiters}), 2))] += 1
    assert min(seen[True], seen[False]) > 3


@pytest.mark.parametrize("strangers", [0, 1])
def test_of_many_who_wait_the_meetings_with_others_are_not_read(
    hall: Hall, storage: Storage, contest: Contest, strangers: int
) -> None:
    """More than are looked up pair by pair, and as many others: all have met once, but perhaps for one that waits.

    What there is beyond the meetings between them: the first moves, counted, and the latest of each, if they ask.
    """
    bots = [f"bot{number:02}" for number in range(2 * FEW + 4)]
    there = bots[: FEW + 2]
    storage.ledger.reserve(contest, [Meeting(f"{a}/{b}", [a, b], 1) for a, b in combinations(bots, 2)])
    waiting = [*there, *(f"new{number}" for number in range(strangers))]
    situation, looks = profiled(storage, "meetings", lambda: hall.pairer.situation(contest, waiting))
    between = comb(len(there), 2)
    assert between <= len(situation.met) <= between + len(there)
    assert sum(look["nreturned"] for look in looks) <= between + 4 * len(there)
    assert all("IXSCAN { game: 1, contest: 1, bots: 1, at: 1, _id: 1 }" in look["planSummary"] for look in looks)
    assert len(situation.leads) == strangers * len(waiting)
    waiters = [Waiter(bot, bot) for bot in waiting]
    assert format_named("open").pair(situation, waiters) == by_all(storage, contest, waiters)


def test_of_each_the_latest_meeting_is_read_however_long_ago_it_was(storage: Storage) -> None:
    """One whose latest lies before many of the others', one that has met nobody; equal moments go by the id."""
    times = [("b", "a", 0), *(("c", "d", number) for number in range(5, 30)), ("c", "e", 29)]
    storage.database["meetings"].insert_many(
        {"_id": f"m{number:02}", "game": "numberwang", "contest": "cup", "pair": f"{a}/{b} {number}", "n": 1}
        | {"bots": [a, b], "state": "open", "at": BEGIN + timedelta(seconds=at)}
        for number, (a, b, at) in enumerate(times)
    )
    rows = storage.meetings.latest(*WHERE, "acdz")
    assert {bot: [row["_id"] for row in rows if bot in row["bots"]][-1] for bot in "acd"} == {
        "a": "m00",
        "c": "m26",
        "d": "m25",
    }
    assert len(rows) <= 9


def test_it_reads_by_index_what_it_needs_and_no_more(storage: Storage, contest: Contest) -> None:
    """After a long past: as many documents as it answers, and none to be sorted."""
    history(storage, contest, "abcdefgh", 60, random.Random(1))
    read = (storage.meetings.between, storage.meetings.latest)
    rows, looks = profiled(storage, "meetings", lambda: [row for each in read for row in each(*WHERE, "abc")])
    assert sum(look["docsExamined"] for look in looks) <= len(rows) + 3
    assert not any(look.get("hasSortStage") for look in looks)
    assert LATELY.keys() >= {"at", "bots", "n"}
