"""Server-sent events over a real Redis: the state at once, then what changes, and a heartbeat."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from typing import Any

import pytest
from cluster import wait_for
from webhouse import House

from battlebot.api import streams
from battlebot.errors import TooMany
from battlebot.redisio import keys
from battlebot.web import pages, snapshots

WEB = "/web/noughtsandcrosses"
CONTEST = f"{WEB}/contests/autumn/events"


class Stream:
    """What arrives, one event or comment at a time."""

    def __init__(self, chunks: Iterator[bytes]) -> None:
        self.chunks = chunks

    def next(self) -> str:
        """The next event's or comment's lines."""
        return next(self.chunks).decode()

    def data(self) -> dict[str, Any]:
        """The data of the next event; comments before it are left out."""
        while (block := self.next()).startswith(":"):
            pass
        found = re.search(r"^data: (.*)$", block, re.MULTILINE)
        assert found
        assert block.endswith("\n\n")
        return json.loads(found[1])


@contextmanager
def stream(home: House, path: str) -> Iterator[Stream]:
    """Opens a stream, and closes it as a browser would that goes away."""
    answer = home.client.get(path, buffered=False)
    assert (answer.status_code, answer.mimetype) == (200, "text/event-stream")
    assert answer.headers["X-Accel-Buffering"] == "no"
    assert answer.headers["Cache-Control"] == "no-store"
    try:
        yield Stream(answer.iter_encoded())
    finally:
        answer.close()


def announce(home: House, channel: str) -> None:
    """Says that something happened."""
    home.context.redis.publish(channel, b"{}")


def test_a_stream_begins_with_the_state_and_goes_on_with_what_changes(home: House) -> None:
    """Rows for programs, sections for the page, an id for both."""
    home.contest(bots=("a", "b"))
    with stream(home, CONTEST) as open_stream:
        first = open_stream.next()
        assert re.search(r"^id: \d{13}$", first, re.MULTILINE)
        assert first.startswith("retry: ")
        home.play("b", "a", "b", "autumn")
        announce(home, keys.contest_events("noughtsandcrosses", "autumn"))
        data = open_stream.data()
        assert [(row["bot_id"], row["rank"], row["score"]) for row in data["bots"]] == [("b", 1, 3), ("a", 2, 0)]
        assert data["progress"] == {"played": 1, "planned": 5}
        assert set(data["sections"]) == {"progress", "standings", "crosstable", "rounds", "live", "recent"}
        assert "0\N{EN DASH}0\N{EN DASH}1" in data["sections"]["crosstable"]


def test_what_happens_at_once_travels_together(home: House, monkeypatch: pytest.MonkeyPatch) -> None:
    """For a hundred announcements MongoDB is asked once; nothing is missed at the end."""
    looks: list[str] = []

    def counted(game: str, name: str) -> streams.Snapshot:
        looks.append(name)
        return snapshots.contest_snapshot(game, name)

    monkeypatch.setattr(pages, "contest_snapshot", counted)
    monkeypatch.setattr(streams, "HEARTBEAT_S", 0.6)
    home.contest(bots=("a", "b"))
    with stream(home, CONTEST) as open_stream:
        open_stream.next()
        for _ in range(4):
            home.play("a", "b", "a", "autumn")
            for _ in range(25):
                announce(home, keys.contest_events("noughtsandcrosses", "autumn"))
        assert open_stream.data()["progress"]["played"] == 4
        assert open_stream.next().startswith(":")
        assert len(looks) <= 3


def test_a_script_may_ask_for_heartbeats_that_it_can_see(home: House, monkeypatch: pytest.MonkeyPatch) -> None:
    """As events with data; without asking they are comments, which nobody has to understand."""
    monkeypatch.setattr(streams, "HEARTBEAT_S", 0.2)
    home.contest(bots=("a", "b"))
    for question, event in (("?alive=1", "event: alive\ndata: {}\n"), ("", "")):
        with stream(home, f"{CONTEST}{question}") as open_stream:
            open_stream.next()
            assert open_stream.next() == f": nothing has happened\n{event}\n"


def test_an_announcement_that_changes_nothing_is_not_sent(home: House, monkeypatch: pytest.MonkeyPatch) -> None:
    """What comes after it is the heartbeat, in its time."""
    monkeypatch.setattr(streams, "HEARTBEAT_S", 0.6)
    home.contest(bots=("a", "b"))
    with stream(home, CONTEST) as open_stream:
        open_stream.next()
        announce(home, keys.contest_events("noughtsandcrosses", "autumn"))
        assert open_stream.next().startswith(":")
        assert open_stream.next().startswith(":")


def test_a_begun_match_is_seen_though_nobody_announces_it(home: House, monkeypatch: pytest.MonkeyPatch) -> None:
    """The page looks again by itself."""
    monkeypatch.setattr(snapshots, "LIVE_AGAIN_S", 0.2)
    home.contest(bots=("a", "b"))
    with stream(home, CONTEST) as open_stream:
        open_stream.next()
        match = home.begin("a", "b", contest="autumn")
        assert match.id in open_stream.data()["sections"]["live"]


def test_a_matchs_stream_ends_with_its_record(home: House) -> None:
    """Live, then over, then recorded."""
    match = home.begin("a", "b")
    with stream(home, f"{WEB}/matches/{match.id}/events") as open_stream:
        assert open_stream.data()["state"]["nextPlayer"] == "a"
        home.play("a", "b", "b", _id=match.id)
        announce(home, keys.match_events(match.id))
        data = open_stream.data()
        assert data["final"] is True
        assert "<bdi>b</bdi> won by the rules" in data["sections"]["facts"]
        with pytest.raises(StopIteration):
            open_stream.next()


def test_a_games_stream_tells_of_its_matches(home: House) -> None:
    """Those of the game alone."""
    with stream(home, f"{WEB}/events") as open_stream:
        open_stream.next()
        match_id = home.play("a", "b", "a")
        announce(home, keys.game_events("noughtsandcrosses"))
        assert match_id in open_stream.data()["sections"]["recent"]


@pytest.mark.parametrize("path", ["/web/chess/events", f"{WEB}/contests/none/events", f"{WEB}/matches/none/events"])
def test_a_stream_of_nothing_is_a_json_404(home: House, path: str) -> None:
    """Before anything is streamed; a script reads it, so it is no page. Nobody stays subscribed."""
    answer = home.client.get(path)
    assert (answer.status_code, answer.mimetype) == (404, "application/json")
    # Redis hears of it when it reads that the connection has ended
    wait_for(lambda: not home.context.redis.pubsub_channels("bb:events:*none*"), "the end of the subscription")


def test_who_goes_away_is_unsubscribed(home: House) -> None:
    """Also before the first event was read. A contest of its own: of a closed browser's streams others may be open."""
    home.contest("winter")
    channel = keys.contest_events("noughtsandcrosses", "winter")
    answer = home.client.get(f"{WEB}/contests/winter/events", buffered=False)
    assert home.context.redis.pubsub_numsub(channel)[0][1] == 1
    answer.close()
    wait_for(lambda: home.context.redis.pubsub_numsub(channel)[0][1] == 0, "the end of the subscription")


def test_head_does_not_stream(home: House) -> None:
    """It would never end."""
    assert home.client.head(CONTEST).data == b""


def test_a_node_has_so_many_streams_in_all_and_for_each_address() -> None:
    """Also on one page; who closes one may open another."""
    shared = streams.Shared(3, 2)
    with ExitStack() as opened:
        for page, address in (("/a", "one"), ("/b", "one")):
            opened.enter_context(shared.stream(page, address))
        with pytest.raises(TooMany), shared.stream("/c", "one"):
            pass
        for _ in range(2):
            with shared.stream("/a", "two"), pytest.raises(TooMany), shared.stream("/a", "three"):
                pass
    for _ in range(2):
        with shared.stream("/a", "one"), shared.stream("/a", "one"):
            pass
