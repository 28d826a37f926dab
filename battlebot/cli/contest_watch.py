"""`battlebot contest watch`: a contest's stream of events as a live table; polls if there is no stream."""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Iterable, Iterator
from typing import Any

import click
from rich.console import Group, RenderableType
from rich.live import Live
from rich.progress_bar import ProgressBar
from rich.table import Table
from rich.text import Text

from battlebot.cli.contest_shown import OVER, print_standings, ranking
from battlebot.cli.output import plain
from battlebot.cli.rest import RefusedByServer, Rest, Unreachable

POLL_S = 2.0

# the data of an event: {"contest": name, "state", "bots": rows, "played", "planned", "live", "winner"?};
# or {"away": sentence} while the server does not answer
View = dict[str, Any]


def watch_contest(rest: Rest, game: str, name: str) -> None:
    """Shows the contest until it is over; Ctrl-C raises KeyboardInterrupt. Raises RefusedByServer, Unreachable.

    On a terminal, a live table; elsewhere, one line per change of the progress, and the standings at the end.
    """
    (_live if sys.stdout.isatty() else _lines)(views(rest, game, name))


def views(rest: Rest, game: str, name: str) -> Iterator[View]:
    """Yields views of the contest as it changes; in the last one it is over.

    Waits for a server that goes away after the first view; before that, raises Unreachable. Raises RefusedByServer.
    """
    yield (view := look(rest, game, name))
    while not over(view):
        try:
            for view in _streamed(rest, game, name):
                yield view
                if over(view):
                    return
        except Unreachable:
            pass  # the next look tells whether the server is still away
        try:
            view = look(rest, game, name)
        except Unreachable as error:
            view = {"away": error.format_message()}
        yield view
        if not over(view):
            time.sleep(POLL_S)


def look(rest: Rest, game: str, name: str) -> View:
    """The contest as it stands now."""
    contest = rest.get("games", game, "contests", name)
    bots = rest.get("games", game, "contest", name, limit=1)["bots"]
    return {**contest["progress"], "contest": contest["name"], "state": contest["state"], "bots": bots}


def over(view: View) -> bool:
    """Whether nothing will change any more: matches that are live when a contest ends are played out."""
    return view.get("state") in OVER and not view["live"]


def _streamed(rest: Rest, game: str, name: str) -> Iterator[View]:
    """The views of one stream, until it breaks off; nothing if there is no stream, for example behind a proxy."""
    path = ("games", game, "contests", name, "events")
    try:
        with rest.stream("GET", *path, accept="text/event-stream") as answer:
            for kind, data in events(rest.lines(answer)):
                if kind == "message":
                    yield data
                elif kind == "unavailable":
                    yield {"away": plain(data.get("error"))}
                elif kind == "gone":
                    return
    except RefusedByServer:
        return  # if the contest is the problem, the next look is refused too


def events(lines: Iterable[str]) -> Iterator[tuple[str, Any]]:
    """The name and the decoded data of each server-sent event; skips those whose data is not a JSON object."""
    kind, data = "message", list[str]()
    for line in lines:
        field, _, value = line.partition(":")
        value = value.removeprefix(" ")
        if field == "event":
            kind = value
        elif field == "data":
            data.append(value)
        elif not line:
            try:
                decoded = json.loads("\n".join(data))
            except ValueError:
                decoded = None
            if isinstance(decoded, dict):
                yield kind, decoded
            kind, data = "message", []


def _live(seen: Iterator[View]) -> None:
    last: View | None = None
    with Live(auto_refresh=False, vertical_overflow="crop") as live:
        for view in seen:
            if "away" in view:
                shown = [*([_rendered(last)] if last else []), Text(view["away"], style="yellow")]
                live.update(Group(*shown), refresh=True)
            else:
                last = view
                live.update(_rendered(view), refresh=True)


def _rendered(view: View) -> RenderableType:
    line = Table.grid(padding=(0, 1))
    # without a planned number of meetings the bar only shows activity
    bar = ProgressBar(total=view["planned"], completed=view["played"], width=40, pulse=view["planned"] is None)
    line.add_row(bar, Text(_progress(view)))
    return Group(ranking(f"{view['contest']}: {view['state']}", view["bots"]), line)


def _lines(seen: Iterator[View]) -> None:
    last, said = None, ""
    for view in seen:
        last = view if "away" not in view else last
        line = view.get("away") or f"{plain(view['contest'])}: {plain(view['state'])}, {_progress(view)}"
        if line != said:
            click.echo(line)
            said = line
    if last is not None:
        print_standings(last["bots"])


def _progress(view: View) -> str:
    of = f" of {view['planned']}" if view["planned"] is not None else ""
    playing = f", {view['live']} being played" if view["live"] else ""
    winner = f", won by {plain(view['winner'])}" if view.get("winner") else ""
    return f"{view['played']}{of} played{playing}{winner}"
