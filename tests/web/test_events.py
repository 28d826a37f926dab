"""Server-sent events over a real Redis: the state at once, then what changes, and a heartbeat."""

from __future__ import annotations

import json
import re
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import replace
from typing import Any

import pytest
from cluster import wait_for
from flask import Flask
from lefttocollector import left_of
from webhouse import House, house

from battlebot.api import streams
from battlebot.config import Settings
from battlebot.errors import TooMany, Unavailable, UnknownContest
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
    home.redis.publish(channel, b"{}")


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
        sections = {"title", "progress", "standings", "crosstable", "all-rounds", "live", "recent"}
        assert set(data["sections"]) == sections
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
    """As events with data; without asking they are comments, which nobody has to understand. One in each period."""
    monkeypatch.setattr(streams, "HEARTBEAT_S", 0.1)
    home.contest(bots=("a", "b"))
    for question, event in (("?alive=1", "event: alive\ndata: {}\n"), ("", "")):
        with stream(home, f"{CONTEST}{question}") as open_stream:
            open_stream.next()
            assert open_stream.next() == f": nothing has happened\n{event}\n"
            asked_s = time.monotonic()
            open_stream.next()
            assert time.monotonic() - asked_s >= 0.1


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


def test_a_stream_that_begins_with_anothers_look_tells_what_happened_before_it_listened(
    home: House, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Nothing is announced to it any more, and its page does not look again by itself."""

    def look(game: str, name: str) -> streams.Snapshot:
        return replace(snapshots.contest_snapshot(game, name), again_s=600.0)

    monkeypatch.setattr(pages, "contest_snapshot", look)
    monkeypatch.setattr(streams, "FRESH_S", 2.0)
    home.contest(bots=("a", "b"))
    with stream(home, CONTEST) as open_stream, ExitStack() as opened:
        before = open_stream.data()
        match_id = home.play("a", "b", "a", "autumn")
        late = opened.enter_context(stream(home, CONTEST))
        shown = late.data()
        if shown == before:
            block = late.next()
            assert not block.startswith(":"), "nothing but a heartbeat"
            shown = json.loads(block.partition("data: ")[2])
        assert match_id in shown["sections"]["recent"]


def test_a_stream_tells_that_it_cannot_look_and_that_nothing_is_left(
    home: House, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What is seen after a failure is sent again, though it is the same; where nothing is left the stream ends."""
    outcomes: list[Any] = [None, Unavailable("MongoDB does not answer now."), None, UnknownContest("It is gone.")]

    def look(game: str, name: str) -> streams.Snapshot:
        if (failure := outcomes.pop(0)) is not None:
            raise failure
        return snapshots.contest_snapshot(game, name)

    monkeypatch.setattr(pages, "contest_snapshot", look)
    monkeypatch.setattr(streams, "FRESH_S", 0.0)
    home.contest(bots=("a", "b"))
    with stream(home, CONTEST) as open_stream:
        first = open_stream.data()
        for expected in ("\nevent: unavailable\n", None, "\nevent: gone\n"):
            announce(home, keys.contest_events("noughtsandcrosses", "autumn"))
            if expected is None:
                assert open_stream.data() == first
            else:
                assert expected in open_stream.next()
        with pytest.raises(StopIteration):
            open_stream.next()


@pytest.mark.parametrize("path", ["/web/chess/events", f"{WEB}/contests/none/events", f"{WEB}/matches/none/events"])
def test_a_stream_of_nothing_is_a_json_404(home: House, path: str) -> None:
    """Before anything is streamed; a script reads it, so it is no page. Nobody stays subscribed."""
    answer = home.client.get(path)
    assert (answer.status_code, answer.mimetype) == (404, "application/json")
    # Redis hears of it when it reads that the connection has ended
    wait_for(lambda: not home.redis.pubsub_channels("bb:events:*none*"), "the end of the subscription")


def test_who_goes_away_is_unsubscribed(home: House) -> None:
    """Also before the first event was read. A contest of its own: of a closed browser's streams others may be open."""
    home.contest("winter")
    channel = keys.contest_events("noughtsandcrosses", "winter")
    answer = home.client.get(f"{WEB}/contests/winter/events", buffered=False)
    assert home.redis.pubsub_numsub(channel)[0][1] == 1
    answer.close()
    wait_for(lambda: home.redis.pubsub_numsub(channel)[0][1] == 0, "the end of the subscription")


def test_head_does_not_stream(home: House) -> None:
    """It would never end, and nobody would close it."""
    home.contest("spring")
    answer = home.client.head(f"{WEB}/contests/spring/events", buffered=False)
    assert (answer.status_code, answer.mimetype, answer.data) == (200, "text/event-stream", b"")
    assert answer.headers["Cache-Control"] == "no-store"
    assert home.client.head(f"{WEB}/contests/none/events").status_code == 404
    assert home.redis.pubsub_numsub(keys.contest_events("noughtsandcrosses", "spring"))[0][1] == 0


@pytest.mark.parametrize("error", [UnknownContest("none"), Unavailable("MongoDB does not answer now.")], ids=str)
def test_a_stream_that_is_refused_is_not_left_to_the_collector(
    home: House, monkeypatch: pytest.MonkeyPatch, error: Exception
) -> None:
    """Its request may be as long as all headers together, and whoever sent it may send it again at once."""

    def refused(*_: Any) -> streams.Snapshot:
        raise type(error)(str(error)) from ValueError()

    monkeypatch.setattr(pages, "contest_snapshot", refused)
    assert not left_of(Flask.wsgi_app, lambda: home.client.get(CONTEST))


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


def test_streams_of_an_ipv6_network_are_of_one_address(settings: Settings) -> None:
    """Whoever has a /64 has as many addresses as he likes."""
    with house(replace(settings, max_streams_per_address=1)) as home, ExitStack() as opened:
        home.contest()

        def status(address: str) -> int:
            answer = home.client.get(CONTEST, buffered=False, environ_base={"REMOTE_ADDR": address})
            opened.callback(answer.close)
            return answer.status_code

        assert [status(f"2001:db8::{rest}") for rest in ("1", "2", "1:0:0:0:1")] == [200, 429, 200]
