"""An organiser's changes when several are made at once: none is lost, none is half done, nothing ends too early."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest
import redis

from battlebot.arena.bus import Bus
from battlebot.arena.conduct import Conductor
from battlebot.arena.connection import connect
from battlebot.arena.store import MatchStore
from battlebot.config import Settings
from battlebot.contests.service.organiser import Organiser
from battlebot.errors import Refused, TooLate, UnknownMatch, WrongState
from battlebot.rules.registry import discover
from battlebot.storage import Storage

GAME = "numberwang"
BOTS = [f"bot{index}" for index in range(24)]


@pytest.fixture
def client(settings: Settings) -> Iterator[redis.Redis]:
    """A client of the emptied Valkey."""
    made = connect(settings.redis_url)
    yield made
    made.close()


@pytest.fixture
def organiser(client: redis.Redis, storage: Storage) -> Organiser:
    """An organiser's service; the bots are registered."""
    for bot in BOTS:
        storage.bots.register(GAME, bot, "owner", b"sealed")
    registry, store = discover(), MatchStore(client)
    ignored: Callable[..., None] = lambda *_: None  # noqa: E731
    return Organiser(registry, storage, Conductor(registry, store), Bus(client), ignored, ignored)


def create(organiser: Organiser, bots: list[str], **fields: Any) -> dict[str, Any]:
    """The contest `cup`."""
    return organiser.create(GAME, {"name": "cup", "meetings": 3, "entrants": bots, **fields}, "ann")


def played(storage: Storage, match: str, first: str, second: str, n: int, number: int) -> None:
    """A meeting of that number and round that the first has won."""
    storage.meetings.reserve(GAME, "cup", [{"match": match, "bots": [first, second], "n": n, "round": number}])
    about = {"seq": n, "void": False, "clocks": []}
    game = {"game": GAME, "contest": "cup", "players": [first, second], "victor": first, "turns": [], "match": about}
    assert storage.archive.store([{"_id": match, **game}]) == [match]


def test_of_entries_at_the_same_time_none_is_lost(organiser: Organiser, storage: Storage) -> None:
    """Eight organisers enter two bots each while others change the title and withdraw one: all is as they said."""
    create(organiser, BOTS[:2], format="round-robin")
    together = threading.Barrier(10, timeout=30)

    def enter(index: int) -> None:
        together.wait()
        organiser.enter(GAME, "cup", BOTS[2 * index + 2 : 2 * index + 4], f"organiser {index}")

    def retitle() -> None:
        together.wait()
        organiser.change(GAME, "cup", {"title": "The Cup"}, "bob")

    def withdraw() -> None:
        together.wait()
        organiser.withdraw(GAME, "cup", BOTS[0], "cid")

    with ThreadPoolExecutor(10) as pool:
        begun = [*(pool.submit(enter, index) for index in range(8)), pool.submit(retitle), pool.submit(withdraw)]
        for one in begun:
            one.result()
    contest = organiser.contest(GAME, "cup")
    assert sorted(contest["entrants"]) == sorted(BOTS[:18])
    assert (contest["title"], contest["withdrawn"]) == ("The Cup", [BOTS[0]])
    actions = sorted(row["action"] for row in storage.audit.of_contest(GAME, "cup"))
    assert actions == ["change", "create", *["enter"] * 8, "withdraw"]


def test_who_enters_again_and_who_enters_late_enter_together_or_not_at_all(organiser: Organiser) -> None:
    """After the start the one may and the other may not, so that nothing happens."""
    create(organiser, BOTS[:3], format="round-robin")
    organiser.transition("start", GAME, "cup", "ann")
    organiser.withdraw(GAME, "cup", BOTS[0], "ann")
    with pytest.raises(WrongState):
        organiser.enter(GAME, "cup", [BOTS[0], BOTS[5]], "ann")
    assert organiser.contest(GAME, "cup")["withdrawn"] == [BOTS[0]]
    assert organiser.enter(GAME, "cup", [BOTS[0], BOTS[1]], "ann")["withdrawn"] == []


def test_what_was_checked_together_is_changed_together(organiser: Organiser) -> None:
    """One opens the contest for all, the other makes it a round-robin, which needs a list: one of them is refused."""
    for round_number in range(8):
        name = f"cup{round_number}"
        organiser.create(GAME, {"name": name, "meetings": 1, "entrants": BOTS[:2]}, "ann")
        together = threading.Barrier(2)

        def change(changes: dict[str, Any], name: str = name, together: threading.Barrier = together) -> bool:
            together.wait()
            try:
                organiser.change(GAME, name, changes, "ann")
            except Refused:
                return False
            return True

        with ThreadPoolExecutor(2) as pool:
            done = list(pool.map(change, [{"entrants": "open"}, {"format": "round-robin"}]))
        assert done.count(True) == 1
        contest = organiser.contest(GAME, name)
        assert (contest["entrants"] == "open") == (contest["format"] == "open")


def test_of_two_clocks_one_starts_a_contest_and_writes_it_down(organiser: Organiser, storage: Storage) -> None:
    """The change and its entry in the audit are one."""
    contest = create(organiser, BOTS[:2], format="round-robin")
    storage.database["contests"].update_one({"name": "cup"}, {"$set": {"startsAt": contest["createdAt"]}})
    with ThreadPoolExecutor(6) as pool:
        list(pool.map(lambda _: organiser.tick(), range(6)))
    entries = storage.audit.of_contest(GAME, "cup")
    assert [(row["by"], row["action"]) for row in entries] == [("clock", "start"), ("ann", "create")]


def test_a_contest_from_which_a_match_was_taken_back_does_not_finish_by_an_old_look(
    organiser: Organiser, storage: Storage
) -> None:
    """Who read the contest before the match was void must look again."""
    create(organiser, BOTS[:2], format="round-robin", meetings=1)
    organiser.transition("start", GAME, "cup", "ann")
    played(storage, "m1", BOTS[0], BOTS[1], 1, 1)
    before = organiser.contest(GAME, "cup")
    organiser.void(GAME, "cup", "m1", "a cable", "ann")
    organiser.finish_by_itself(before)
    assert organiser.contest(GAME, "cup")["state"] == "running"
    organiser.finish_by_itself(organiser.contest(GAME, "cup"))
    assert organiser.contest(GAME, "cup")["state"] == "finished"


def test_a_knockouts_match_is_taken_back_before_the_next_round_only(organiser: Organiser, storage: Storage) -> None:
    """Then it would not be played again, so it stands; those of the other pairs, and of the next round, may be."""
    create(organiser, BOTS[:4], format="knockout", meetings=1)
    organiser.transition("start", GAME, "cup", "ann")
    played(storage, "first", BOTS[0], BOTS[3], 1, 1)
    played(storage, "second", BOTS[1], BOTS[2], 1, 1)
    organiser.void(GAME, "cup", "second", "a cable", "ann")
    played(storage, "again", BOTS[1], BOTS[2], 1, 1)
    played(storage, "final", BOTS[0], BOTS[1], 1, 2)
    before = storage.standings.of_contest(GAME, "cup")
    for match in ("first", "again"):
        with pytest.raises(TooLate) as refused:
            organiser.void(GAME, "cup", match, "a cable", "ann")
        assert (refused.value.code, refused.value.http_status) == ("too-late", 409)
        assert refused.value.details == {"match": match, "round": 1}
    assert storage.standings.of_contest(GAME, "cup") == before
    with pytest.raises(UnknownMatch):
        organiser.void(GAME, "cup", "second", "once more", "ann")
    organiser.void(GAME, "cup", "final", "a cable", "ann")
    organiser.void(GAME, "cup", "again", "a cable", "ann")
    assert [row["action"] for row in storage.audit.of_contest(GAME, "cup")].count("void") == 3


def test_rounds_that_were_over_are_looked_at_again_when_a_bot_is_back(organiser: Organiser, storage: Storage) -> None:
    """Its own were left out of the count; and whoever counted before it came back does not say so afterwards."""
    create(organiser, BOTS[:4], format="round-robin")
    organiser.transition("start", GAME, "cup", "ann")
    organiser.withdraw(GAME, "cup", BOTS[0], "ann")
    before = organiser.contest(GAME, "cup")
    storage.contests.settle(before, 7)
    storage.contests.settle(before, 5)
    assert organiser.contest(GAME, "cup")["settled"] == 7
    organiser.enter(GAME, "cup", [BOTS[0]], "ann")
    storage.contests.settle(before, 8)
    assert organiser.contest(GAME, "cup")["settled"] == 0
