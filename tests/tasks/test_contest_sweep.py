"""The sweep over all contests: what is wrong with one of them is nobody else's concern."""

from __future__ import annotations

from datetime import UTC, datetime
from itertools import product
from types import SimpleNamespace
from typing import Any

import pytest
import redis
from cluster import Cluster, wait_for
from cup import cup
from structlog.testing import capture_logs

import tasks.contests
from battlebot.arena.live.queue import BY_A_TASK, Queues, Ticket
from battlebot.contests.contest import Contest
from battlebot.errors import Unavailable
from battlebot.redisio.connection import connect
from battlebot.redisio.unpaired import Unpaired
from battlebot.runtime.loglimit import LogLimit
from battlebot.storage import Storage

GAME = "numberwang"


def test_a_contest_that_cannot_be_looked_after_keeps_no_other_from_going_on(parts: Cluster, storage: Storage) -> None:
    """A knockout of an even number of meetings, such as nobody can make; the others have nobody to meet, and end.

    What is wrong with it is told once, not with each sweep.
    """
    for bot in ("a", "b"):
        storage.bots.register(GAME, bot, "owner", b"sealed", bot)
    names = ["one", "two", "three"]
    for name in names:
        storage.contests.create(cup(name=name, format="round-robin", entrants=["a"], meetings=1))
    broken = {"entrants": ["a", "b"], "format": "knockout", "meetings": 4}
    storage.database["contests"].update_one({"name": "two"}, {"$set": broken})
    client = connect(parts.settings.redis_url)
    for bot in ("a", "b"):
        Queues(client).wait(f"{GAME}/two", Ticket(f"n/{bot}.1", bot, 1.0), BY_A_TASK)
    parts.worker(worker_concurrency=1)
    parts.beat(sweep_interval_s=0.2)

    def states() -> list[str]:
        return [found.state for name in names if (found := storage.contests.find(GAME, name)) is not None]

    wait_for(lambda: states() == ["finished", "running", "finished"], "the others to end", 60)
    # each of these takes one more sweep at least
    for name in ("four", "five", "six"):
        storage.contests.create(cup(name=name, format="round-robin", entrants=["a"], meetings=1))
        names[:] = [name]
        wait_for(lambda: states() == ["finished"], "the end of one that came later", 60)

    def told() -> list[int]:
        return [parts.logs().count(event) for event in ("contest.not_looked_after", "contest.not_paired", "Traceback")]

    # on a busy machine many sweeps go before a pairing
    wait_for(lambda: all(told()), "both to be told", 60)
    assert told() == [1, 1, 2]
    client.close()


def test_a_contest_without_its_format_is_told_in_a_line_and_no_traceback(parts: Cluster, storage: Storage) -> None:
    """The format was removed while it ran, and before another's time came: that one is not begun. Others go on."""
    for bot in ("a", "b"):
        storage.bots.register(GAME, bot, "owner", b"sealed", bot)
    storage.contests.create(cup(name="one", format="round-robin", entrants=["a", "b"]))
    long_ago = datetime(2020, 1, 1, tzinfo=UTC)
    storage.contests.create(cup(name="two", state="scheduled", starts_at=long_ago))
    storage.database["contests"].update_many({}, {"$set": {"format": "derby"}})
    storage.contests.create(cup(name="three", state="scheduled", starts_at=long_ago))
    # likewise an option that the game has not any more
    storage.contests.create(cup(name="four", format="round-robin", entrants=["a", "b"], options={"size": 3}))
    client = connect(parts.settings.redis_url)
    for contest, bot in product(("one", "four"), ("a", "b")):
        Queues(client).wait(f"{GAME}/{contest}", Ticket(f"n/{bot}.{contest}", bot, 1.0), BY_A_TASK)
    parts.worker(worker_concurrency=1)
    parts.beat(sweep_interval_s=0.2)
    events = ("contest.not_looked_after", "contest.not_paired", "contest.not_on_time")
    wait_for(lambda: all(event in parts.logs() for event in events), "all three to be told", 60)
    wait_for(lambda: parts.logs().count("contest.not_paired") > 1, "the one with an option, too", 60)

    def state(name: str) -> str | None:
        return None if (found := storage.contests.find(GAME, name)) is None else found.state

    wait_for(lambda: state("three") == "running", "the other contest to begin", 60)
    assert [state(name) for name in ("one", "two")] == ["running", "scheduled"]
    assert "Traceback" not in parts.logs()
    wait_for(lambda: Unpaired(client).queues() == [f"{GAME}/four", f"{GAME}/one"], "both to be noted", 60)
    client.close()


def test_contests_that_cannot_be_looked_at_hide_none_behind_them(
    client: redis.Redis, storage: Storage, monkeypatch: pytest.MonkeyPatch
) -> None:
    """One is passed over, and told of once; after two in a row the sweep ends, and the next one goes on behind them.

    So it does behind one at which it was killed.
    """
    monkeypatch.setattr(tasks.contests, "may_tell", LogLimit())
    for name in "abcdef":
        storage.contests.create(cup(name=name, entrants=["ada", "bob"], format="round-robin"))
    away: dict[str, BaseException] = {name: Unavailable("MongoDB does not answer now.") for name in "bde"}
    looked = list[str]()

    def look(contest: Contest) -> int:
        looked.append(contest.name)
        if contest.name in away:
            raise away[contest.name]
        return 1

    bench: Any = SimpleNamespace(client=client, storage=storage, absences=SimpleNamespace(look_at=look))

    def sweep() -> tuple[str, int | None]:
        looked.clear()
        try:
            done = tasks.contests._look_at_all(bench)
        except (Unavailable, SystemExit):
            done = None
        return "".join(looked), done

    with capture_logs() as logs:
        assert [sweep() for _ in range(3)] == [("abcde", None), ("fabcde", None), ("fabcde", None)]
    assert [(line["event"], line["contest"]) for line in logs] == [
        ("contest.look_put_off", "numberwang/b"),
        ("contest.look_put_off", "numberwang/d"),
    ]
    away = {"c": SystemExit()}
    assert [sweep() for _ in range(2)] == [("fabc", None), ("defabc", None)]
    away.clear()
    assert [sweep() for _ in range(2)] == [("defabc", 6), ("abcdef", 6)]
