"""`battlebot contest watch`: a live table on a terminal, by the server's events, or by asking where these fail."""

from __future__ import annotations

import os
import pty
import signal
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

import pytest
from cluster import LIMIT_S, Cluster, Web, wait_for
from organisers import GAME, Run, new_bots, numbers, playing, said

from battlebot.cli import contest_watch
from battlebot.cli.contest_watch import View, events, views
from battlebot.cli.rest import Rest
from battlebot.client.address import parse_address


def test_a_watch_on_a_terminal_follows_until_it_is_interrupted(
    contest: Run, house: tuple[Cluster, Web], tmp_path: Path
) -> None:
    """A table with the standings and the progress; Ctrl-C ends it without a word."""
    _, web = house
    said(contest("create", GAME, "shown", "--meetings", "1"))
    said(contest("start", GAME, "shown"))
    ours, theirs = pty.openpty()
    command = [sys.executable, "-m", "battlebot", "contest", "watch", GAME, "shown", "--server", web.url]
    environment = {**os.environ, "HOME": str(tmp_path), "TERM": "xterm", "COLUMNS": "100", "LINES": "40"}
    watching = subprocess.Popen(command, stdout=theirs, stderr=theirs, env=environment)
    os.close(theirs)
    screen = bytearray()
    reader = threading.Thread(target=read_terminal, args=(ours, screen))
    reader.start()
    wait_for(lambda: b"shown: running" in screen, "the table")
    bots = new_bots(web, 2)
    with playing(web, bots, "shown", 1):
        wait_for(lambda: b"1 of 1 played" in screen, "the progress")
    watching.send_signal(signal.SIGINT)
    assert watching.wait(LIMIT_S) == 130
    reader.join()
    assert bots[0].bot_id.encode() in screen
    assert b"Traceback" not in screen


@pytest.fixture
def seen(house: tuple[Cluster, Web], token: str) -> tuple[Web, Rest, Iterator[View]]:
    """A web node to be killed at will, a client of it, and what a watch of a contest that is scheduled sees there."""
    web = house[0].web()
    rest, name = Rest(parse_address(web.url), token), f"seen {next(numbers)}"
    rest.post("games", GAME, "contests", body={"name": name})
    return web, rest, views(rest, GAME, name)


def test_what_changes_is_seen_by_the_stream(
    seen: tuple[Web, Rest, Iterator[View]], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Polling would take an hour here."""
    monkeypatch.setattr(contest_watch, "POLL_S", 3600.0)
    _, rest, views_seen = seen
    view = next(views_seen)
    for action, state in (("start", "running"), ("pause", "paused"), ("finish", "finished")):
        rest.post("games", GAME, "contests", view["contest"], action)
        assert next(view for view in views_seen if view["state"] != "scheduled")["state"] == state
    assert list(views_seen) == []


def test_a_server_that_goes_away_is_waited_for(
    seen: tuple[Web, Rest, Iterator[View]], house: tuple[Cluster, Web], monkeypatch: pytest.MonkeyPatch
) -> None:
    """It is said, and the watch goes on when it is back."""
    monkeypatch.setattr(contest_watch, "POLL_S", 0.05)
    web, rest, views_seen = seen
    name = next(views_seen)["contest"]
    assert next(views_seen)["state"] == "scheduled"
    web.child.kill()
    assert next(view for view in views_seen if "away" in view)["away"].startswith(f"Nobody answers at {web.url}")
    again = Web(web.settings, web.log.with_suffix(".again.log"))
    house[0].children.append(again.child)
    assert next(view for view in views_seen if "away" not in view)["state"] == "scheduled"
    rest.delete("games", GAME, "contests", name)
    assert list(views_seen)[-1]["state"] == "cancelled"


def read_terminal(terminal: int, screen: bytearray) -> None:
    """All that a terminal's other side writes, until it is gone."""
    with suppress(OSError):
        while piece := os.read(terminal, 65_536):
            screen.extend(piece)
    os.close(terminal)


def test_events_are_read_as_the_standard_has_them() -> None:
    """Comments and fields that are unknown are passed over, as is what is no JSON object."""
    lines = [
        *("retry: 2000", "id: 1", 'data: {"a": 1}', "", ": nothing has happened", ""),
        *("event: gone", 'data:{"a":', "data: 2}", "", "data: half", "", "data: [1]", "", "data", ""),
        'data: {"never": "ended"}',
    ]
    assert list(events(lines)) == [("message", {"a": 1}), ("gone", {"a": 2})]
