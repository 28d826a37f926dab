"""Matches that are over, in a real Valkey, until they are archived."""

from __future__ import annotations

from collections.abc import Callable

import pytest
import redis

from battlebot.arena.live.aside import set_aside
from battlebot.arena.live.calls import encode_match
from battlebot.arena.live.finished import Finished
from battlebot.arena.live.store import MatchStore
from battlebot.errors import Unavailable, UnreadableMatch
from battlebot.redisio import keys
from battlebot.redisio.mutex import Locks, Mutex
from battlebot.referee.events import Turned
from battlebot.referee.match import Match
from battlebot.referee.step import step
from battlebot.rules.registry import Registry


def test_an_ended_match_is_finished_once_and_due_no_more(
    store: MatchStore, begun: Callable[..., Match], registry: Registry, finished: Finished
) -> None:
    """Its id goes from the deadlines to the finished list, with a number that grows."""
    game = registry["numberwang"]
    numbers = []
    for index in range(3):
        match = begun("numberwang", f"n/{index}.1", f"n/{index}.2")
        answer = step(game, match, Turned("ada", {"n": 10}, 0.1), 1001.0)
        assert store.commit(store.draft(match, answer.match, [answer.recorded], [])) is (index == 0)
        numbers.append(finished.read([match.id])[0].seq)
    assert store.live_ids() == []
    assert len(finished.ids(10)) == 3
    assert numbers == sorted(set(numbers))


def test_ends_ask_for_the_archive_once_until_it_has_begun_and_what_ends_after_that_asks_again(
    store: MatchStore, begun: Callable[..., Match], registry: Registry, finished: Finished
) -> None:
    """Whatever ended before it began it finds; also while another archive is at work somebody must ask."""
    asked: list[bool] = []

    def end() -> None:
        match = begun("numberwang", f"n/{len(asked)}.1", f"n/{len(asked)}.2")
        answer = step(registry["numberwang"], match, Turned("ada", {"n": 10}, 0.1), 1001.0)
        asked.append(store.commit(store.draft(match, answer.match, [answer.recorded], [])))

    def archive() -> int:
        finished.begin_archiving()
        end()
        return len(finished.ids(10))

    end()
    end()
    assert Mutex(Locks(store.client), "archive").run(archive) == 3
    end()
    assert asked == [True, False, True, False]


def test_retired_matches_leave_nothing_behind_but_for_a_while(
    store: MatchStore, begun: Callable[..., Match], registry: Registry, client: redis.Redis, finished: Finished
) -> None:
    """The turns go soon, the match later; and so does all else that was written for it."""
    match = begun("numberwang")
    answer = step(registry["numberwang"], match, Turned("ada", {"n": 10}, 0.1), 1001.0)
    store.commit(store.draft(match, answer.match, [answer.recorded], []))
    finished.retire([match.id])
    finished.retire([match.id])
    assert finished.ids(10) == []
    assert 0 < client.ttl(keys.turns(match.id)) <= 10
    assert 0 < client.ttl(keys.match(match.id)) <= 60
    assert [key.decode() for key in client.scan_iter() if client.ttl(key) == -1] == [keys.END_SEQUENCE]


def test_long_records_are_archived_a_few_at_a_time(
    store: MatchStore, begun: Callable[..., Match], registry: Registry, finished: Finished
) -> None:
    """A worker holds a batch in its memory: by its bytes, with the states, by its turns, but one match at least."""
    ids = []
    for number, pads in enumerate((["x" * 5000] * 2, [""] * 10, [""], ["x" * 5000])):
        match = begun("numberwang", f"n1/{number}", f"n2/{number}")
        for pad in pads:
            turn = Turned(match.state["nextPlayer"], {"n": 0, "pad": pad}, 0.1)
            answer = step(registry["numberwang"], match, turn, 1001.0)
            store.commit(store.draft(match, answer.match, [answer.recorded], []))
            match = answer.match
        ids.append(match.id)
    assert finished.first(ids, 10**9) == ids
    assert finished.first(ids, 1) == ids[:1]
    documents = [len(encode_match(store.load(match_id))) for match_id in ids]
    assert finished.first(ids, 11_000 + documents[0]) == ids[:1]
    assert finished.first(ids, 12_700 + sum(documents[:2])) == ids[:2]
    assert finished.first(ids, 13_500 + sum(documents[:3])) == ids[:3]
    assert finished.first(["f" * 24, ids[1]], 5_000) == ["f" * 24, ids[1]]
    assert finished.first([], 1) == []


def test_a_pipeline_that_redis_does_not_take_now_may_be_tried_again(
    store: MatchStore, finished: Finished, client: redis.Redis
) -> None:
    """redis-py tells of its error first which command it was."""
    client.config_set("min-replicas-to-write", "1")
    try:
        with pytest.raises(Unavailable):
            finished.retire(["m"])
        with pytest.raises(Unavailable):
            set_aside(store, "m")
    finally:
        client.config_set("min-replicas-to-write", "0")


@pytest.mark.parametrize("document", [b'{"id": "m"}', b"no JSON"])
def test_one_that_cannot_be_read_is_chosen_like_any_other(
    begun: Callable[..., Match], finished: Finished, client: redis.Redis, document: bytes
) -> None:
    """The archive must come to it, or it would stand first on the list for ever."""
    broken, other = begun("numberwang"), begun("noughtsandcrosses", "n1/2.1", "n2/2.1")
    client.hset(keys.match(broken.id), "doc", document)
    assert finished.first([broken.id, other.id], 1000) == [broken.id, other.id]
    client.hset(keys.match(broken.id), "seq", 1)
    with pytest.raises(UnreadableMatch):
        finished.read([broken.id])
