"""What viewers see of live matches: one that cannot be shown takes none of the others with it."""

from __future__ import annotations

from collections.abc import Callable

import pytest
import redis
from msgspec.structs import replace

from battlebot.arena.live import store as store_module
from battlebot.arena.live import viewing
from battlebot.arena.live.calls import encode_match
from battlebot.arena.live.store import MatchStore
from battlebot.arena.live.viewing import LiveMatches
from battlebot.redisio import keys
from battlebot.referee.match import Match
from battlebot.rules.registry import Registry
from battlebot.runtime import cooperative


def test_a_match_of_a_game_that_is_not_installed_is_left_out(
    begun: Callable[..., Match], store: MatchStore, registry: Registry
) -> None:
    """Its file was removed while it was being played, or this node is older than the one that began it."""
    gone, other = begun("numberwang"), begun("noughtsandcrosses", "n1/2.1", "n2/2.1")
    fewer = Registry({name: game for name, game in registry.items() if name != "numberwang"})
    live = LiveMatches(fewer, store)
    assert [row["id"] for row in live.list()] == [other.id]
    assert live.list("numberwang") == []
    assert live.find(gone.id) is None


@pytest.mark.parametrize("document", [b'{"id": "m"}', b"no JSON", b"\xff"])
def test_a_match_that_cannot_be_read_is_left_out(
    begun: Callable[..., Match], store: MatchStore, registry: Registry, client: redis.Redis, document: bytes
) -> None:
    """Another version of the server has written it."""
    gone, other = begun("numberwang"), begun("noughtsandcrosses", "n1/2.1", "n2/2.1")
    client.hset(keys.match(gone.id), "doc", document)
    live = LiveMatches(registry, store)
    assert [row["id"] for row in live.list()] == [other.id]
    assert live.find(gone.id) is None


def test_of_large_matches_only_a_few_are_listed_and_small_ones_all(
    begun: Callable[..., Match], store: MatchStore, registry: Registry, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A page's list must not fill the memory; the latest come first, and displace no contest's matches."""
    small = [begun("numberwang", f"n1/{n}.1", f"n2/{n}.1") for n in range(2)]
    large = []
    for n in range(2, 5):
        match = begun("noughtsandcrosses", f"n1/{n}.1", f"n2/{n}.1")
        large.append(replace(match, state={**match.state, "note": "x" * 10_000}))
        store.client.hset(keys.match(match.id), "doc", encode_match(large[-1]))
    # half of it for large ones: two of them leave too little for a third
    monkeypatch.setattr(viewing, "MOST_BYTES", 5 * len(encode_match(large[-1])))
    ids = sorted((match.id for match in large), reverse=True)[:2]
    assert {row["id"] for row in LiveMatches(registry, store).list()} == {*ids, *(match.id for match in small)}


def test_while_a_list_is_made_others_run(
    begun: Callable[..., Match], store: MatchStore, registry: Registry, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Some at a time are read, and each may be large: to decode and to describe them all takes tenths of a second."""
    matches = [begun("numberwang", f"n1/{n}.1", f"n2/{n}.1") for n in range(5)]
    rests, read = list[None](), list[int]()
    monkeypatch.setattr(cooperative, "MOST_S", 0.0)
    monkeypatch.setattr(cooperative, "in_turn", lambda: rests.append(None))
    monkeypatch.setattr(store_module, "READ_TOGETHER", 2)
    documents = store.documents
    monkeypatch.setattr(store, "documents", lambda some: read.append(len(some)) or documents(some))
    assert len(LiveMatches(registry, store).list()) == len(matches)
    assert read == [2, 2, 1]
    assert len(rests) == 2 * len(matches)
