"""The doctor finds nothing in a server that works, and each ailment of one that does not, and changes nothing."""

from __future__ import annotations

import json
import os
import secrets
import subprocess
import time
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import redis
from cluster import Cluster, free_port, wait_for
from cup import cup
from pymongo.errors import OperationFailure
from records import reserve
from standstill import standing_still
from zygote import run

from app import answering_workers
from battlebot.arena.places import TCP, node_name
from battlebot.config import Settings, as_environment
from battlebot.doctor.examination import examine
from battlebot.doctor.finding import Finding, State, exit_status
from battlebot.doctor.stores import clock
from battlebot.embedded.server import Server, running
from battlebot.redisio import keys
from battlebot.redisio.connection import connect
from battlebot.redisio.tasklists import TaskLists
from battlebot.redisio.unpaired import Unpaired
from battlebot.storage import Storage
from battlebot.storage.inspection import MongoInspection

MATCH = "0" * 24


def found(settings: Settings, workers: tuple[str, ...] = ("worker@here",)) -> dict[str, Finding]:
    """The findings by their parts, with a ping that these workers answer."""
    return {finding.part: finding for finding in examine(settings, lambda: list(workers))}


@pytest.fixture
def client(settings: Settings) -> Iterator[redis.Redis]:
    """Redis with a living node and a sweep in it."""
    made = connect(settings.redis_url)
    made.zadd(keys.NODES, {"node": time.time() * 1000})
    made.set(keys.SWEPT, "1", ex=60)
    yield made
    made.close()


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    """A healthy embedded server; its worker and the one that asks stateless bots answer."""
    data = tmp_path_factory.mktemp("server") / "data"
    settings = Settings(data=data, port=free_port(), tcp_port=0, nats_port=0, log_format="json")
    with running(settings, logs_in_files=True) as made:

        def healthy() -> bool:
            workers = answering_workers(made.settings)
            return len(workers) == 2 and exit_status(list(examine(made.settings, lambda: workers))) == 0

        wait_for(healthy, "a healthy server")
        yield made


def test_in_a_server_that_works_nothing_is_found(server: Server) -> None:
    """Exit status 0, a line a check, of a server that is found by its data folder; and as JSON, by its URLs."""
    told = command(Settings(data=server.settings.data))
    assert told.returncode == 0, told.stdout
    assert {line.split("\t")[0] for line in told.stdout.splitlines()} == {"ok"}
    assert "primary of battlebot" in told.stdout
    answer = json.loads(command(server.settings, "--json").stdout)
    assert answer["ok"] is True
    facts = {row["part"]: row["facts"] for row in answer["findings"]}
    assert len(facts["nodes"]["alive"]) == len(facts["workers"]["workers"]) == 1, "not the one that asks bots"
    assert abs(facts["redis clock"]["aheadS"]) < 1 > abs(facts["mongodb clock"]["aheadS"])


def test_what_has_been_stopped_in_a_server_is_found(server: Server) -> None:
    """Exit status 1."""
    with standing_still(server.child("worker").pid):
        absent = "the worker's absence to be found"
        told = wait_for(lambda: (one := command(Settings(data=server.settings.data))).returncode == 1 and one, absent)
        assert "wrong\tworkers\tNo worker answers" in told.stdout


@pytest.mark.parametrize(
    ("rules", "lacking"),
    [
        ("~bb:* ~LIMITS:* &* +@all", []),
        ("~bb:* ~LIMITS:* resetchannels +@all", ["the channels &*"]),
        ("~bb:* ~LIMITS:* &bb:* +@all", ["the channels &*"]),
        ("~bb:* &* +@all -@scripting", ["the keys ~LIMITS:*", "the command EVAL", "the command EVALSHA"]),
        ("%R~bb:* %W~LIMITS:* &* +@all", ["the keys ~bb:*", "the keys ~LIMITS:*"]),
        ("~bb:* ~LIMITS:* &* +@all -@blocking", ["the command BRPOP"]),
        ("~bb:* ~LIMITS:* &* +@all -evalsha -publish", ["the command EVALSHA", "the command PUBLISH"]),
        ("~bb:* ~LIMITS:* &* +@all -@transaction", ["the command UNWATCH"]),
    ],
)
def test_what_the_user_of_redis_may_not_do_is_named(
    settings: Settings, client: redis.Redis, rules: str, lacking: list[str]
) -> None:
    """That the broker does not answer says nothing of it."""
    client.execute_command("ACL", "SETUSER", "narrow", "reset", "on", ">secret", *rules.split())
    try:
        url = settings.redis_url.replace("://", "://narrow:secret@", 1)
        finding = found(replace(settings, redis_url=url))["redis rights"]
    finally:
        client.execute_command("ACL", "DELUSER", "narrow")
    assert finding.facts == {"lacking": lacking}
    assert finding.state is (State.WRONG if lacking else State.OK)
    assert all(right in finding.sentence for right in lacking)


def _no_append_only_file(client: redis.Redis, storage: Storage) -> None:
    client.config_set("appendonly", "no")


def _eviction(client: redis.Redis, storage: Storage) -> None:
    client.config_set("maxmemory-policy", "allkeys-lru")


def _slow_fsync(client: redis.Redis, storage: Storage) -> None:
    client.config_set("appendfsync", "everysec")


def _little_memory(client: redis.Redis, storage: Storage) -> None:
    client.config_set("maxmemory", str(client.info("memory")["used_memory"]))


def _no_index(client: redis.Redis, storage: Storage) -> None:
    storage.database["meetings"].drop_index("one_meeting_a_number")


def _index_not_unique(client: redis.Redis, storage: Storage) -> None:
    storage.database["tokens"].drop_index("name_1")
    storage.database["tokens"].create_index("name")


def _index_of_all(client: redis.Redis, storage: Storage) -> None:
    # it should hold matches that are being played only
    storage.database["voids"].drop_index("playing_1")
    storage.database["voids"].create_index("playing")


def _no_node(client: redis.Redis, storage: Storage) -> None:
    client.delete(keys.NODES)


def _only_another_door(client: redis.Redis, storage: Storage) -> None:
    client.zadd(keys.NODES, {"dead": (time.time() - 60) * 1000})
    client.zadd(keys.NODES, {node_name("living", TCP): time.time() * 1000})
    client.zrem(keys.NODES, "node")


def _dead_node(client: redis.Redis, storage: Storage) -> None:
    client.zadd(keys.NODES, {"dead": (time.time() - 60) * 1000})


def _node_of_another_time(client: redis.Redis, storage: Storage) -> None:
    client.zadd(keys.NODES, {"early": (time.time() + 60) * 1000})


def _no_sweep(client: redis.Redis, storage: Storage) -> None:
    client.delete(keys.SWEPT)


def _old_task(client: redis.Redis, storage: Storage) -> None:
    message = {"headers": {TaskLists.SENT: time.time() - 3600}}
    client.lpush(TaskLists(client).key(9), json.dumps(message))


def _stuck_match(client: redis.Redis, storage: Storage) -> None:
    client.zadd(keys.DEADLINES, {MATCH: (time.time() - 3600) * 1000})


def _not_looked_after(client: redis.Redis, storage: Storage) -> None:
    client.zadd(keys.DEADLINES, {MATCH: (time.time() + 10) * 1000})
    client.hset(keys.TROUBLES, MATCH, json.dumps([(time.time() - 60) * 1000, time.time() * 1000]))


def _not_paired(client: redis.Redis, storage: Storage) -> None:
    Unpaired(client).note("numberwang/cup")


def _not_archived(client: redis.Redis, storage: Storage) -> None:
    client.zadd(keys.FINISHED, {MATCH: (time.time() - 3600) * 1e6})


def _set_aside(client: redis.Redis, storage: Storage) -> None:
    client.sadd(keys.SET_ASIDE, MATCH)


def _meeting_without_match(client: redis.Redis, storage: Storage) -> None:
    reserve(storage, "numberwang", "cup", [{"match": MATCH, "bots": ["a", "b"], "n": 1}])
    storage.database["meetings"].update_many({}, [{"$set": {"at": {"$subtract": ["$at", 3_600_000]}}}])


def _unrated(client: redis.Redis, storage: Storage) -> None:
    seq = int((time.time() - 3600) * 1e6)
    storage.database["games"].insert_one({"_id": MATCH, "game": "numberwang", "match": {"seq": seq, "void": False}})


def _contest_without_its_format(client: redis.Redis, storage: Storage) -> None:
    storage.contests.create(cup())
    storage.database["contests"].update_one({}, {"$set": {"format": "derby"}})


def _old_contest_without_its_format(client: redis.Redis, storage: Storage) -> None:
    storage.contests.create(cup(state="finished"))
    storage.database["contests"].update_one({}, {"$set": {"format": "derby"}})


AILMENTS: list[tuple[str, State, Callable[[redis.Redis, Storage], None]]] = [
    ("redis settings", State.WRONG, _no_append_only_file),
    ("redis settings", State.WRONG, _eviction),
    ("redis settings", State.WARNING, _slow_fsync),
    ("redis memory", State.WRONG, _little_memory),
    ("indexes", State.WRONG, _no_index),
    ("indexes", State.WRONG, _index_not_unique),
    ("indexes", State.WRONG, _index_of_all),
    ("nodes", State.WRONG, _no_node),
    ("nodes", State.WRONG, _only_another_door),
    ("nodes", State.WARNING, _dead_node),
    ("nodes", State.WRONG, _node_of_another_time),
    ("sweep", State.WRONG, _no_sweep),
    ("tasks", State.WRONG, _old_task),
    ("pairing", State.WRONG, _not_paired),
    ("live matches", State.WRONG, _stuck_match),
    ("live matches", State.WRONG, _not_looked_after),
    ("archive", State.WRONG, _not_archived),
    ("set aside", State.WRONG, _set_aside),
    ("meetings", State.WRONG, _meeting_without_match),
    ("ratings", State.WRONG, _unrated),
    ("formats", State.WRONG, _contest_without_its_format),
    ("formats", State.WARNING, _old_contest_without_its_format),
]


@pytest.mark.parametrize(("part", "state", "ail"), AILMENTS, ids=lambda value: getattr(value, "__name__", None))
def test_each_ailment_is_found_alone(
    settings: Settings, client: redis.Redis, storage: Storage, part: str, state: State, ail: Any
) -> None:
    """All else is ok, before and beside it, also where it takes longer than a node lives without a heartbeat."""
    settings = replace(settings, node_timeout_s=60.0)
    assert {finding.state for finding in found(settings).values()} == {State.OK}
    kept = client.config_get()
    try:
        ail(client, storage)
        ill = [(finding.part, finding.state) for finding in found(settings).values() if finding.state != State.OK]
    finally:
        for name in ("appendonly", "maxmemory-policy", "appendfsync", "maxmemory"):
            client.config_set(name, kept[name])
    assert ill == [(part, state)]


def test_an_index_of_another_kind_is_to_be_dropped(settings: Settings, client: redis.Redis, storage: Storage) -> None:
    """A node that starts makes one that is missing, but cannot replace one."""
    _index_not_unique(client, storage)
    altered = found(settings)["indexes"]
    assert altered.facts == {"missing": [], "altered": ["tokens.name_1"]}
    assert "Drop them" in altered.sentence
    with pytest.raises(OperationFailure, match="same name"):
        storage.ensure_indexes()
    storage.database["tokens"].drop_index("name_1")
    missing = found(settings)["indexes"]
    assert missing.facts == {"missing": ["tokens.name_1"], "altered": []}
    assert "A web node makes them" in missing.sentence
    storage.ensure_indexes()
    assert found(settings)["indexes"].state == State.OK


@pytest.mark.parametrize(
    "options",
    [
        {"name": "mine"},
        {"name": "mine", "expireAfterSeconds": 0},
        {"collation": {"locale": "en"}},
        {"expireAfterSeconds": 0},
        {"storageEngine": {"wiredTiger": {"configString": "block_compressor=zlib"}}},
    ],
)
def test_whatever_keeps_an_index_from_being_made_is_to_be_dropped(
    options: dict[str, Any], settings: Settings, storage: Storage
) -> None:
    """The same one under another name, too: a node that starts could not make ours."""
    tokens = storage.database["tokens"]
    tokens.drop_index("name_1")
    name = tokens.create_index("name", unique=True, **options)
    with pytest.raises(OperationFailure):
        storage.ensure_indexes()
    assert found(settings)["indexes"].facts == {"missing": [], "altered": [f"tokens.{name}"]}
    tokens.drop_index(name)
    assert found(settings)["indexes"].facts == {"missing": ["tokens.name_1"], "altered": []}
    storage.ensure_indexes()


def test_all_that_keeps_an_index_from_being_made_is_told_at_once(settings: Settings, storage: Storage) -> None:
    """Whoever has dropped one of the two would meet the other when a node starts."""
    tokens = storage.database["tokens"]
    tokens.drop_index("name_1")
    tokens.create_index("name", unique=True, name="mine")
    tokens.create_index("created", name="name_1")
    assert found(settings)["indexes"].facts == {"missing": [], "altered": ["tokens.mine", "tokens.name_1"]}
    for name in ("mine", "name_1"):
        tokens.drop_index(name)
    storage.ensure_indexes()


def test_what_keeps_no_index_from_being_made_may_stay(settings: Settings, storage: Storage) -> None:
    """A property that is said not to be there; the same keys in an index that is none of ours."""
    games, tokens = storage.database["games"], storage.database["tokens"]
    games.drop_index("game_1_match.seq_-1")
    games.create_index([("game", 1), ("match.seq", -1)], sparse=False)
    tokens.create_index("name", name="mine")
    storage.ensure_indexes()
    assert found(settings)["indexes"].state == State.OK


def test_nodes_are_counted_by_their_doors(parts: Cluster, settings: Settings) -> None:
    """Real ones; when the last web node is gone, that is wrong, whatever other doors are open."""
    web = parts.web()
    parts.tcp()
    both = wait_for(lambda: (one := found(settings)["nodes"]).facts["doors"] == {"web": 1, "tcp": 1} and one, "both")
    assert (both.state, both.sentence) == (State.OK, "1 web node, 1 TCP node.")
    web.child.kill()
    hasty = replace(settings, node_timeout_s=2.0)
    left = wait_for(lambda: (one := found(hasty)["nodes"]).state != State.OK and one, "the web node to be missed")
    assert (left.state, left.sentence) == (State.WRONG, "No web node lives; 1 TCP node.")


def test_a_disk_that_is_nearly_full_is_found(settings: Settings, client: redis.Redis, storage: Storage) -> None:
    """As nearly full counts what the operator says; before that, it is warned of."""
    free_mb = storage.room.free_mb()
    assert free_mb is not None
    assert found(replace(settings, min_free_mb=int(free_mb * 2)))["disk"].state == State.WRONG
    assert found(replace(settings, min_free_mb=int(free_mb / 2)))["disk"].state == State.WARNING


def test_no_worker_is_found(settings: Settings, client: redis.Redis, storage: Storage) -> None:
    """By the ping that none answers."""
    assert found(settings, workers=())["workers"].state == State.WRONG


def test_mongodbs_clock_is_read_in_every_time_zone(storage: Storage, monkeypatch: pytest.MonkeyPatch) -> None:
    """The server's answer has no zone, and is not to be taken for local time."""
    monkeypatch.setenv("TZ", "Pacific/Auckland")
    time.tzset()
    try:
        ahead_s, _ = MongoInspection(storage.client, storage.database).clock()
    finally:
        monkeypatch.undo()
        time.tzset()
    assert abs(ahead_s) < 60


@pytest.mark.parametrize(
    ("ahead_s", "unsure_s", "state"),
    [
        (0.0, 0.0, State.OK),
        (0.9, 0.0, State.OK),
        (-1.5, 0.1, State.WRONG),
        (1.5, 0.1, State.WRONG),
        (1.5, 0.9, State.OK),
    ],
)
def test_clocks_may_be_a_second_apart(ahead_s: float, unsure_s: float, state: State) -> None:
    """As far as can be told: the way there and back makes a look unsure."""
    assert clock("clock", "Redis", ahead_s, unsure_s).state == state


def test_a_store_that_is_away_is_said_once(settings: Settings, storage: Storage) -> None:
    """And the other one is looked at all the same."""
    nowhere = found(replace(settings, redis_url="unix:///nowhere/valkey.sock"))
    assert nowhere["redis"].state == State.AWAY
    assert nowhere["indexes"].state == State.OK
    nowhere = found(replace(settings, mongodb_uri="mongodb://127.0.0.1:1/?serverSelectionTimeoutMS=200"))
    assert nowhere["mongodb"].state == State.AWAY
    assert nowhere["redis settings"].state == State.OK


def test_it_changes_nothing(settings: Settings, client: redis.Redis, storage: Storage) -> None:
    """No key, no document, no index."""
    _meeting_without_match(client, storage)

    def everything() -> Any:
        names = sorted(storage.database.list_collection_names())
        held = {
            name: (list(storage.database[name].find()), storage.database[name].index_information()) for name in names
        }
        return sorted(client.keys()), held

    before = everything()
    found(settings)
    assert everything() == before


def test_the_exit_status_says_whether_it_could_look(settings: Settings, tmp_path: Path) -> None:
    """2: something does not answer, or there is no server at all."""
    assert command(replace(settings, redis_url="unix:///nowhere/valkey.sock")).returncode == 2
    none = command(Settings(data=tmp_path / "none"))
    assert (none.returncode, none.stdout) == (2, "")
    assert "No Battlebot runs over" in none.stderr


def command(settings: Settings, *arguments: str) -> subprocess.CompletedProcess[str]:
    """`battlebot doctor` over these settings."""
    environment = {**os.environ, **as_environment(settings), "SECRET_KEY": secrets.token_hex(16)}
    return run(["doctor", *arguments], environment, Path.cwd())
