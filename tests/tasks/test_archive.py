"""The archive: stored once whatever runs twice, in the originals' shape, and nothing lost while MongoDB is away."""

from __future__ import annotations

import copy
import threading
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime
from typing import Any

import pytest
from cluster import Cluster, Web, wait_for
from original_client import OriginalClient
from records import reserve
from standstill import standing_still

from battlebot.config import Settings
from battlebot.contests.standings import against_each, ranking
from battlebot.embedded.stores import Stores
from battlebot.storage import Storage


def game(number: int, victor: str | None = "a", contest: str | None = "cup", **match: Any) -> dict[str, Any]:
    """A finished match between a and b as the archive is given it."""
    return {
        "_id": f"{number:024x}",
        "game": "numberwang",
        "contest": contest,
        "players": ["a", "b"],
        "victor": victor,
        "reason": "complete",
        "startTime": datetime(2026, 1, 1, tzinfo=UTC),
        "board": {"n": 10},
        "turns": [{"n": 10, "player": "a", "time": 1}],
        "match": {"seq": number, "void": False, "fault": "none", "clocks": [1.5], **match},
    }


def meet(storage: Storage, *numbers: int) -> None:
    """Reserves the meetings of these matches."""
    for n, number in enumerate(numbers, start=1):
        reserve(storage, "numberwang", "cup", [{"match": f"{number:024x}", "bots": ["a", "b"], "n": n}])


def standings(storage: Storage) -> dict[str, tuple[int, ...]]:
    """bot -> (score, wins, draws, losses)."""
    where = ("numberwang", "cup")
    rows = ranking(
        [],
        storage.standings.of_contest(*where),
        lambda bots: against_each(bots, storage.standings.pairs(*where, bots)),
        (3, 1, 0),
        {},
    )
    return {row["bot_id"]: tuple(row[key] for key in ("score", "wins", "draws", "losses")) for row in rows}


def test_run_twice_it_changes_nothing(storage: Storage) -> None:
    """The second run stores nothing, closes nothing, moves nothing."""
    meet(storage, 1, 2)
    games = [game(1), game(2, None)]
    assert storage.archive.store(copy.deepcopy(games)) == [games[0]["_id"], games[1]["_id"]]
    before = standings(storage)
    assert before == {"a": (4, 1, 1, 0), "b": (1, 0, 1, 1)}
    assert storage.archive.store(copy.deepcopy(games)) == []
    assert standings(storage) == before
    assert storage.meetings.open_since(0) == []


def test_eight_workers_at_once_count_each_match_once(settings: Settings, storage: Storage) -> None:
    """Overlapping batches in concurrent transactions: each match is in the standings exactly once."""
    numbers = list(range(1, 21))
    meet(storage, *numbers)
    together = threading.Barrier(8)

    def archive(offset: int) -> int:
        own = Storage(settings)
        together.wait()
        stored = 0
        for begin in range(0, 20, 5):
            batch = [game(1 + (begin + offset * 3 + index) % 20) for index in range(5)]
            stored += len(own.archive.store(batch))
        own.close()
        return stored

    with ThreadPoolExecutor(8) as pool:
        assert sum(pool.map(archive, range(8))) == 20
    assert standings(storage) == {"a": (60, 20, 0, 0), "b": (0, 0, 0, 20)}
    assert len(list(storage.games.of_contest("numberwang", "cup"))) == 20


def test_a_match_whose_meeting_is_not_open_is_void(storage: Storage) -> None:
    """Another match took its place meanwhile: stored, but it counts for nobody."""
    storage.archive.store([game(7)])
    assert standings(storage) == {}
    found = storage.games.find(f"{7:024x}")
    assert found is not None
    assert found["match"]["void"] is True


def test_a_match_outside_contests_moves_no_standings(storage: Storage) -> None:
    """Stored, and not void; also together with one of a contest."""
    meet(storage, 9)
    storage.archive.store([game(8, contest=None), game(9)])
    assert [row["match"]["void"] for row in storage.games.recent("numberwang", 9)] == [False, False]
    moved = [*storage.database["standings"].find(), *storage.database["pairs"].find()]
    assert {row["contest"] for row in moved} == {"cup"}


def test_a_look_whether_mongodb_stores_matches_changes_none(storage: Storage) -> None:
    """What it stores for that is gone again."""
    storage.archive.store([game(1, contest=None), game(2, contest=None)])
    before = list(storage.database["games"].find())
    storage.archive.check()
    assert list(storage.database["games"].find()) == before


def test_a_match_of_a_million_turns_is_stored_whole(storage: Storage) -> None:
    """More than a document holds: its turns go into parts, and come back in order."""
    long = game(9, contest=None)
    long["turns"] = [{"n": 0, "player": "ab"[i % 2], "time": i, "note": "x" * 400} for i in range(50_000)]
    long["match"]["clocks"] = list(range(50_000))
    long["match"]["serverMs"] = list(range(50_000, 0, -1))
    storage.archive.store([copy.deepcopy(long)])
    storage.archive.store([copy.deepcopy(long)])
    found = storage.games.find(long["_id"])
    assert found is not None
    assert found["turns"] == long["turns"]
    assert found["match"]["clocks"] == long["match"]["clocks"]
    assert found["match"]["serverMs"] == long["match"]["serverMs"]


@pytest.mark.parametrize("key", ["$where", "a.b", "$set", "", "_id", "__proto__"])
def test_whatever_a_bot_names_its_keys_is_stored(storage: Storage, key: str) -> None:
    """A turn's own keys are the bot's own business."""
    odd = game(10, contest=None)
    odd["turns"][0][key] = {"$inc": {"x.y": 1}}
    storage.archive.store([copy.deepcopy(odd)])
    found = storage.games.find(odd["_id"])
    assert found is not None
    assert found["turns"] == odd["turns"]


def test_with_mongodb_stopped_matches_go_on_and_are_archived_afterwards(
    tmp_path_factory: pytest.TempPathFactory, stores: Settings
) -> None:
    """SIGSTOP for mongod: known bots log in and play; when it runs again every match is stored, once, and ranked."""
    folder = tmp_path_factory.mktemp("stopped")
    own = Stores(_settings(folder / "data"))
    parts = Cluster(own.settings, folder)
    try:
        web = parts.web()
        parts.worker()
        parts.beat()
        web.wait_until_ready()
        mongod = next(child.pid for child in own.children if child.program.name == "mongod")
        clients = [_client(web, name) for name in ("a", "b")]
        _play(clients)
        wait_for(lambda: len(web.request("/games/noughtsandcrosses/contest/cup")[1]["games"]) == 1, "the first match")
        with standing_still(mongod):
            # no more meeting can be reserved; but bots outside contests need no MongoDB
            others = [OriginalClient(client.url, client.auth, client.choose, limit_s=30) for client in clients]
            for _ in range(3):
                _play(others)
            assert [len(other.finished) for other in others] == [3, 3]
        wait_for(lambda: len(web.request("/games/noughtsandcrosses")[1]) == 4, "all four matches", 60)
        games = web.request("/games/noughtsandcrosses")[1]
        assert max(Counter(row["_id"] for row in games).values()) == 1
        _play(clients)
        wait_for(lambda: web.request("/games/noughtsandcrosses/contest/cup")[1]["bots"][0]["played"] == 2, "the second")
    finally:
        parts.stop()
        own.stop()


def _settings(data: Any) -> Settings:
    from battlebot.config import load_settings

    return load_settings({}, None, data=data, log_format="json")


def _client(web: Web, name: str) -> OriginalClient:
    auth = web.register(name)

    def choose(state: dict[str, Any]) -> dict[str, Any]:
        mark = next(mark for mark, bot in state["marks"].items() if bot == name)
        free = [[row, column] for row in range(3) for column in range(3) if not state["board"][row][column]]
        return {"mark": mark, "space": free[0]}

    return OriginalClient(web.ws, auth, choose, contest="cup", limit_s=60)


def _play(clients: list[OriginalClient]) -> None:
    with ThreadPoolExecutor(len(clients)) as pool:
        list(pool.map(lambda client: client.play_once(), clients))
