"""Letters that are not of the arena's own, or of no kind that this node knows, over a real Valkey."""

from __future__ import annotations

import pytest
import redis
from cluster import wait_for
from conductors import Conductor
from nodes import arena_of
from peer import new_name
from seated import Node
from structlog.testing import capture_logs

from battlebot.arena.live.mail import eviction, freed
from battlebot.arena.live.store import MatchStore
from battlebot.redisio import keys
from battlebot.redisio.bus import Mailbox
from battlebot.referee.match import Match
from battlebot.rules.registry import Registry
from battlebot.wire.closing import TAKEN_OVER


class Reader:
    """The mailbox of a node, and the places that its letters `freed` have named."""

    def __init__(self, client: redis.Redis, store: MatchStore, registry: Registry) -> None:
        self.places: list[str] = []
        self._client, self._store = client, store
        self.arena = arena_of(Conductor(registry, store, new_name("node")))
        post = self.arena.post(freed=self._freed)
        Mailbox(client, keys.mailbox(self.arena.node), post.take, lambda: None).start()

    def comes(self, *letters: bytes) -> None:
        """These letters come, and are read, up to a last one that frees the place `last`."""
        for letter in (*letters, freed("last")):
            self._store.post(self.arena.node, letter)
        wait_for(lambda: "last" in self.places, "the last letter")

    def _freed(self, place: str) -> None:
        self.places.append(place)


@pytest.fixture
def reader(client: redis.Redis, store: MatchStore, registry: Registry) -> Reader:
    """A node that reads its mail."""
    return Reader(client, store, registry)


def test_a_letter_goes_to_whom_it_is_for(reader: Reader) -> None:
    """In the order of the letters."""
    reader.comes(freed("n1/1.1"), freed("n1/2.1"))
    assert reader.places == ["n1/1.1", "n1/2.1", "last"]


def test_a_letter_that_nobody_knows_is_logged_once_in_a_while_and_breaks_nothing(reader: Reader) -> None:
    """During an update, nodes of a later version may write to this one."""
    with capture_logs() as logs:
        reader.comes(b'{"do": "dance", "place": "n1/1.1"}', b'{"do": "dance"}', b'{"do": "sing"}')
    assert [(line["event"], line["do"]) for line in logs] == [("letter.unknown", "dance"), ("letter.unknown", "sing")]
    assert {line["log_level"] for line in logs} == {"warning"}


@pytest.mark.parametrize("broken", [b"", b"no JSON", b"[]", b"{}", b'{"do": "freed"}', b'{"do": []}'])
def test_a_letter_that_cannot_be_read_breaks_nothing(reader: Reader, broken: bytes) -> None:
    """It is logged as a mistake, with a traceback; the next letter is read."""
    with capture_logs() as logs:
        reader.comes(broken)
    assert [line["event"] for line in logs] == ["bus.failed"]


def test_of_a_letter_of_a_later_version_what_this_one_knows_is_read(reader: Reader) -> None:
    """It may say more."""
    with capture_logs() as logs:
        reader.comes(b'{"do": "freed", "place": "n1/1.1", "why": "left", "since": 1.5}')
    assert (reader.places, logs) == (["n1/1.1", "last"], [])


def test_a_letter_costs_the_same_however_many_tables_there_are(
    node: Node, match: Match, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A node may have thousands, and get thousands of letters to players who are gone, or play elsewhere now."""
    node.read_letter(match)
    asked, every = list[None](), node.arena._tables.all
    monkeypatch.setattr(node.arena._tables, "all", lambda: asked.append(None) or every())
    node.arena.post().take(eviction(node.ada.place))
    wait_for(lambda: node.bot.closed == [TAKEN_OVER], "the end of the connection")
    node.read_letter(match)
    wait_for(lambda: node.seat(match).place is None, "an empty seat")
    assert asked == []
