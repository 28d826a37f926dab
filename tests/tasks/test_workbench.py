"""A worker's parts: what they ask of other tasks is asked in vain where the broker is lost, and no more than that."""

from __future__ import annotations

import json
import shlex
import time
from dataclasses import replace
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from types import SimpleNamespace

import msgspec
import pytest
from cluster import wait_for
from cup import cup
from records import reserve
from structlog.testing import capture_logs

import tasks.contests
import tasks.matches
import tasks.workbench
from battlebot.arena.live.aside import set_aside
from battlebot.arena.live.making import begin, new_match
from battlebot.arena.live.queue import BY_A_TASK, Ticket
from battlebot.config import Settings
from battlebot.errors import BadGame, Unavailable
from battlebot.redisio import keys
from battlebot.redisio.connection import connect
from battlebot.redisio.probes import Probes
from battlebot.redisio.tasklists import TaskLists
from battlebot.referee.events import Failed, Turned
from battlebot.referee.match import Match
from battlebot.rules.registry import discover
from battlebot.runtime.answering import Answering
from battlebot.stateless.health import Health
from battlebot.storage import Storage
from tasks.celeryapp import make_celery
from tasks.requests import Requests
from tasks.workbench import Workbench, match_bench


def made(settings: Settings, monkeypatch: pytest.MonkeyPatch) -> Workbench:
    """A workbench whose broker cannot be reached."""
    celery = make_celery(replace(settings, redis_url="unix:///there/is/none.sock"))
    celery.battlebot_settings = settings
    monkeypatch.setattr(tasks.workbench, "current_app", SimpleNamespace(_get_current_object=lambda: celery))
    monkeypatch.setattr(tasks.workbench, "match_bench", match_bench.__wrapped__)
    return tasks.workbench._workbench.__wrapped__()


@pytest.fixture
def bench(settings: Settings, monkeypatch: pytest.MonkeyPatch) -> Workbench:
    """Its stores can be reached."""
    return made(settings, monkeypatch)


def test_a_match_ends_where_the_archive_cannot_be_asked_for(bench: Workbench) -> None:
    """Its end is committed: whoever conducted it has more to do, and the sweep finds what has ended."""
    seats = [("ada", "n1/1.1"), ("bob", "n1/2.1")]
    match = new_match(bench.registry["numberwang"], seats, bench.settings, 1000.0)
    for bot, place in seats:
        bench.queues.wait("numberwang", Ticket(place, bot, 1000.0), BY_A_TASK)
    assert begin(bench.store, bench.registry["numberwang"], match, "numberwang")
    answer = bench.conductor.conduct(match, Turned("ada", {"n": 10}, 0.1))
    assert answer.match.verdict is not None
    assert bench.finished.ids(1) == [match.id]


def test_what_is_asked_of_other_tasks_ends_no_sweep(bench: Workbench) -> None:
    """The next one asks again; a contest that cannot be paired must not keep the others from being looked after."""
    bench.requests.pairing("numberwang", "autumn")
    bench.organiser.ask_rating("numberwang")
    bench.requests.archive()


def test_no_contest_is_always_the_first_to_be_paired(bench: Workbench) -> None:
    """The first gets the next place at an address at which bots of several contests are asked."""
    asked: list[str] = []
    requests = Requests(lambda task, game, contest: asked.append(contest))
    for name in ("cup", "bowl"):
        bench.queues.wait(f"numberwang/{name}", Ticket("n1/1.1", "ada", 1.0), BY_A_TASK)
    for _ in range(64):
        tasks.contests._look_after(replace(bench, requests=requests))
    assert set(asked[::2]) == {"cup", "bowl"}
    assert len(asked) == 2 * 64


def test_contests_are_paired_though_no_worker_has_time_for_pairings(
    bench: Workbench, monkeypatch: pytest.MonkeyPatch
) -> None:
    """On a slow machine all that they do is what goes before; pairings, of which each sweep sent more, would expire."""
    asked: list[str] = []
    slow = replace(bench, requests=Requests(lambda task, game, contest: asked.append(contest)))
    monkeypatch.setattr(tasks.contests, "workbench", lambda: slow)
    names = ["cup", "bowl"]
    for name in names:
        bench.storage.contests.create(cup(name=name))
        for bot in ("ada", "bob"):
            bench.queues.wait(f"numberwang/{name}", Ticket(f"n1/{bot}.1", bot, 1.0), BY_A_TASK)
    lists = TaskLists(bench.client)
    bench.client.lpush(lists.key(6), json.dumps({"headers": {TaskLists.SENT: time.time()}}))
    tasks.contests.sweep()
    assert sorted(asked) == sorted(names)
    bench.client.lset(lists.key(6), 0, json.dumps({"headers": {TaskLists.SENT: time.time() - 60}}))

    def paired() -> list[str]:
        return [name for name in names if bench.storage.meetings.of_contest("numberwang", name)]

    tasks.contests.sweep()
    assert len(paired()) == 1
    wait_for(lambda: tasks.contests.sweep() or paired() == names, "the other contest to be paired")


def test_a_bot_that_was_made_unavailable_is_not_paused(bench: Workbench) -> None:
    """It may connect by itself instead: a champion's battles must wait for it as for other bots that do."""
    for bot, available in (("ada", True), ("bob", False)):
        where = {"url": "http://127.0.0.1:9/", "available": available}
        bench.storage.bots.register("battlecube", bot, "owner", b"sealed", bot, **where)
    Health(bench.store.client).pause("http://127.0.0.1:9/")
    assert list(bench.pairer.paused(["ada", "bob"])) == ["ada"]


def nobody(settings: Settings, tmp_path: Path) -> Settings:
    """The settings, with a MongoDB that does not answer."""
    path = str(tmp_path / "mongod.sock").replace("/", "%2F")
    return replace(settings, mongodb_uri=f"mongodb://{path}/battlebot")


def test_a_task_is_put_off_long_before_a_query_would_fail(
    settings: Settings, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A MongoDB that does not answer must not hold up the processes, which have matches to look after."""
    monkeypatch.setattr(tasks.workbench, "PING_S", 0.1)
    monkeypatch.setattr(tasks.workbench, "Storage", partial(Storage, answer_within_s=30.0))
    begun_s = time.monotonic()
    with pytest.raises(Unavailable):
        made(nobody(settings, tmp_path), monkeypatch)
    assert time.monotonic() - begun_s < 15


def test_a_task_is_put_off_also_where_mongodb_was_there_when_the_process_began(
    bench: Workbench, settings: Settings, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It is asked before each task."""
    monkeypatch.setattr(tasks.workbench, "_workbench", lambda: bench)
    assert tasks.workbench.workbench() is bench
    away = Storage(nobody(settings, tmp_path))
    deserted = replace(bench, mongodb=Answering(partial(away.ping, 0.1)))
    monkeypatch.setattr(tasks.workbench, "_workbench", lambda: deserted)
    with pytest.raises(Unavailable):
        tasks.workbench.workbench()
    away.close()


def test_a_match_that_cannot_be_stored_is_set_aside_and_played_again(
    bench: Workbench, monkeypatch: pytest.MonkeyPatch
) -> None:
    """MongoDB allows no NUL in a key. Its meeting counts as spoilt by the server, so that not all follow at once."""
    monkeypatch.setattr(tasks.matches, "workbench", lambda: bench)
    seats, where = [("ada", "n1/1.1"), ("bob", "n1/2.1")], ("numberwang", "cup")
    game = bench.registry[where[0]]
    match = new_match(game, seats, bench.settings, 1000.0, contest=where[1])
    reserve(bench.storage, *where, [{"match": match.id, "bots": ["ada", "bob"], "n": 1}])
    for bot, place in seats:
        bench.queues.wait("numberwang/cup", Ticket(place, bot, 1000.0), BY_A_TASK)
    unstorable = msgspec.structs.replace(match, options={**match.options, "\0": 1})
    assert begin(bench.store, game, unstorable, "numberwang/cup")
    bench.conductor.conduct(unstorable, Failed("a mistake"))
    assert tasks.matches.archive() == 0
    assert bench.finished.ids(1) == []
    assert bench.storage.meetings.of_contest(*where) == []
    [row] = bench.storage.voids.spoilt(*where, datetime.fromtimestamp(0.0, UTC))
    assert (row["pair"], row["bots"]) == ("ada/bob", ["ada", "bob"])


def test_a_match_waits_for_a_mongodb_that_would_store_no_other_either(
    bench: Workbench, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Here by a validator; set aside, the results of a whole contest would be lost by what an operator can mend."""
    monkeypatch.setattr(tasks.matches, "workbench", lambda: bench)
    match = ended(bench)
    storage = bench.storage
    storage.database.command("collMod", "games", validator={"nobody": "has this"})
    try:
        with capture_logs() as logs:
            assert tasks.matches.archive() == 0
    finally:
        storage.database.command("collMod", "games", validator={})
    told = [(line["event"], line["error"]) for line in logs]
    assert told == [("archive.put_off", "MongoDB stores no match now: Document failed validation")]
    assert bench.finished.ids(2) == [match.id]
    assert tasks.matches.archive() == 1
    assert [row["_id"] for row in storage.database["games"].find()] == [match.id]


def test_a_match_that_was_set_aside_is_stored_once_it_is_put_back_by_hand(
    bench: Workbench, monkeypatch: pytest.MonkeyPatch
) -> None:
    """With the commands of docs/operations.md."""
    monkeypatch.setattr(tasks.matches, "workbench", lambda: bench)
    match = ended(bench)
    set_aside(bench.store, match.id)
    assert tasks.matches.archive() == 0
    page = Path(tasks.__file__).parents[1].joinpath("docs", "operations.md").read_text()
    given = (
        page.partition("gets back into the archive:")[2].split("```")[1].replace("65a1b2c3d4e5f60718293a4b", match.id)
    )
    for line in given.splitlines()[1:]:
        _, command, *arguments = shlex.split(line)
        seq = bench.client.hget(keys.match(match.id), "seq")
        arguments = [word if "HGET" not in word else seq for word in arguments]
        bench.client.execute_command(command, *arguments)
    assert tasks.matches.archive() == 1
    assert bench.client.smembers(keys.SET_ASIDE) == set()
    assert bench.storage.games.archived([match.id]) == {match.id}


def ended(bench: Workbench) -> Match:
    """A match of numberwang that has ended, after a turn."""
    game, seats = bench.registry["numberwang"], [("ada", "n1/1.1"), ("bob", "n1/2.1")]
    match = new_match(game, seats, bench.settings, 1000.0)
    for bot, place in seats:
        bench.queues.wait("numberwang", Ticket(place, bot, 1000.0), BY_A_TASK)
    assert begin(bench.store, game, match, "numberwang")
    bench.conductor.conduct(match, Turned("ada", {"n": 10}, 0.1))
    return match


def test_a_match_that_cannot_be_read_is_set_aside_and_the_others_are_archived(
    bench: Workbench, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It ended between them, and comes to the archive with them."""
    monkeypatch.setattr(tasks.matches, "workbench", lambda: bench)
    game, ids = bench.registry["numberwang"], []
    for number in range(3):
        seats = [("ada", f"n1/{number}.1"), ("bob", f"n1/{number}.2")]
        match = new_match(game, seats, bench.settings, 1000.0)
        for bot, place in seats:
            bench.queues.wait("numberwang", Ticket(place, bot, 1000.0), BY_A_TASK)
        assert begin(bench.store, game, match, "numberwang")
        bench.conductor.conduct(match, Failed("a mistake"))
        ids.append(match.id)
    bench.client.hset(keys.match(ids[1]), "doc", b'{"id": "of another version"}')
    assert tasks.matches.archive() == 2
    assert bench.finished.ids(1) == []
    assert bench.storage.games.archived(ids) == {ids[0], ids[2]}
    assert bench.client.smembers(keys.SET_ASIDE) == {ids[1].encode()}


def test_a_meeting_is_played_again_when_its_match_is_set_aside_and_not_before(bench: Workbench) -> None:
    """That the match cannot be read may pass."""
    seats, where = [("ada", "n1/1.1"), ("bob", "n1/2.1")], ("numberwang", "cup")
    game = bench.registry[where[0]]
    match = new_match(game, seats, bench.settings, 1000.0, contest=where[1])
    reserve(bench.storage, *where, [{"match": match.id, "bots": ["ada", "bob"], "n": 1}])
    bench.storage.database["meetings"].update_many({}, [{"$set": {"at": {"$subtract": ["$at", 3_600_000]}}}])
    for bot, place in seats:
        bench.queues.wait("numberwang/cup", Ticket(place, bot, 1000.0), BY_A_TASK)
    assert begin(bench.store, game, match, "numberwang/cup")
    bench.client.hset(keys.match(match.id), "doc", b'{"id": "m"}')
    tasks.contests._look_after(bench)
    assert len(bench.storage.meetings.of_contest(*where)) == 1
    set_aside(bench.store, match.id)
    tasks.contests._look_after(bench)
    assert bench.storage.meetings.of_contest(*where) == []
    assert len(bench.storage.voids.spoilt(*where, datetime.fromtimestamp(0.0, UTC))) == 1


def test_a_worker_that_cannot_load_the_games_has_the_nodes_say_so(
    settings: Settings, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """The file was broken after they had started: they have it as it was, and see no more than that nothing is done."""
    probes = Probes(connect(settings.redis_url))
    probes.games()
    (tmp_path / "fewgames").mkdir()
    (tmp_path / "fewgames" / "__init__.py").touch()
    (tmp_path / "fewgames" / "tiny.py").write_text("GAME = {")
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.setattr(tasks.workbench, "discover", partial(discover, "fewgames"))
    with pytest.raises(BadGame):
        made(settings, monkeypatch)
    with pytest.raises(Unavailable, match=r"^A worker cannot load the games: fewgames/tiny\.py: importing it raises"):
        probes.games()
