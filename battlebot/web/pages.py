"""The routes of the pages: the home page, and for each game its page, contests and matches, with their streams."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import chain
from pathlib import Path
from typing import Any

from flask import Blueprint, Response, current_app, redirect, render_template, request, url_for
from werkzeug.wrappers import Response as AnyResponse

from battlebot.api.concurrency import streamed
from battlebot.api.contests import contest_head, stored_contest
from battlebot.api.context import check_game, current_context
from battlebot.api.reading import check_before, short_match, stored_head
from battlebot.api.streams import event_stream
from battlebot.errors import UnknownMatch
from battlebot.redisio import keys
from battlebot.runtime.cooperative import cooperatively
from battlebot.web.filters import short_json
from battlebot.web.people import people
from battlebot.web.replay import Position, frames, has_a_story, story
from battlebot.web.snapshots import (
    MOST_CONTESTS,
    board_section,
    boards_snapshot,
    contest_matches,
    contest_snapshot,
    game_matches,
    game_snapshot,
    live_matches,
    live_section,
    match_snapshot,
    section,
)
from battlebot.web.stale import ROOT, page, stored

AT_ONCE = 32_768  # characters of a story before they are sent
MOST_BOTS = 200  # on a game's page; the JSON lists all
MOST_OLDER = 100  # matches on a page of older ones

blueprint = Blueprint("pages", __name__, template_folder="templates", static_folder="static", static_url_path="/assets")
blueprint.url_value_preprocessor(check_game)
blueprint.register_blueprint(people)


@blueprint.get("/")
def home() -> str:
    """The home page: the games, the running matches and the running contests."""
    return page(_home)


def _home() -> str:
    context = current_context()
    running = stored(lambda: context.storage.contests.running(MOST_CONTESTS))
    return render_template(
        "home.html",
        games=list(context.registry.values()),
        live=live_section(live_matches(), with_contest=True),
        contests=section("contests", contests=running, with_game=True),
        root=ROOT,
    )


@blueprint.get("/web")
def web() -> AnyResponse:
    """Redirect to the home page, which lists the games."""
    return redirect(url_for("pages.home"))


@blueprint.get("/web/<game>")
def game_page(game: str) -> str:
    """A game's page: its description, how to enter it, its running and finished matches.

    With `?before=` it has the matches alone that ended before that one, and does not change.
    """
    before = request.args.get("before")
    if before is not None:
        return page(lambda: _older(game, before), all_stored=True, keeps=False)
    return page(lambda: _game(game))


def _game(game: str) -> str:
    context = current_context()
    found = context.registry[game]
    return render_template(
        "game.html",
        game=found,
        example=short_json(dict(found.example_turn)) if found.example_turn else None,
        sections=game_snapshot(game).data["sections"],
        bots=stored(lambda: context.storage.bots.of_game(game, MOST_BOTS)),
        bot_count=stored(lambda: context.storage.bots.count(game)),
        root=ROOT,
        events=url_for(".game_events", game=game),
    )


def _older(game: str, before: str) -> str:
    check_before(before)
    matches = game_matches(game, MOST_OLDER, before)
    return render_template(
        "older.html", game=current_context().registry[game], contest=None, before=before, matches=matches
    )


@blueprint.get("/web/<game>/events")
def game_events(game: str) -> Response:
    """The stream of a game's page: its sections when they change."""
    return event_stream(keys.game_events(game), lambda: game_snapshot(game))


@blueprint.get("/web/<game>/contests/<name>")
def contest_page(game: str, name: str) -> str:
    """A contest's page: its ranking, its crosstable, its running and finished matches.

    With `?before=` it has the matches alone that ended before that one, and does not change.
    """
    before = request.args.get("before")
    if before is not None:
        return page(lambda: _older_of_contest(game, name, before), all_stored=True, keeps=False)
    return page(lambda: _contest(game, name), all_stored=True)


def _contest(game: str, name: str) -> str:
    data = contest_snapshot(game, name).data
    return render_template(
        "contest.html",
        game=current_context().registry[game],
        contest=data["contest"],
        title=data["title"],
        sections=data["sections"],
        events=url_for(".contest_events", game=game, name=name),
    )


def _older_of_contest(game: str, name: str, before: str) -> str:
    contest = contest_head(stored_contest(game, name))
    check_before(before)
    matches = contest_matches(game, name, MOST_OLDER, before)
    return render_template(
        "older.html", game=current_context().registry[game], contest=contest, before=before, matches=matches
    )


@blueprint.get("/web/<game>/contests/<name>/events")
def contest_events(game: str, name: str) -> Response:
    """The stream of a contest's page: its ranking and sections when they change."""
    return event_stream(keys.contest_events(game, name), lambda: contest_snapshot(game, name))


@blueprint.get("/web/<game>/matches/<match_id>")
def match_page(game: str, match_id: str) -> str:
    """A match's page, running or finished: its board, its turns, its verdict."""
    return page(lambda: _match(game, match_id))


def _match(game: str, match_id: str) -> str:
    shown = match_snapshot(game, match_id)
    return render_template(
        "match.html",
        game=current_context().registry[game],
        players=shown.data["state"].get("players") or (),
        sections=shown.data["sections"],
        viewer=has_viewer(game),
        story=url_for(".match_story", game=game, match_id=match_id),
        events=None if shown.final else url_for(".match_events", game=game, match_id=match_id),
    )


@blueprint.get("/web/<game>/matches/<match_id>/events")
def match_events(game: str, match_id: str) -> Response:
    """The stream of a match's page: its sections when they change; ends with the stored match."""
    return event_stream(keys.match_events(match_id), lambda: match_snapshot(game, match_id))


def has_viewer(game: str) -> bool:
    """Whether a script draws this game's matches: static/boards/<game>.js."""
    assert blueprint.static_folder is not None
    return (Path(blueprint.static_folder) / "boards" / f"{game}.js").is_file()


@blueprint.get("/web/<game>/matches/<match_id>/story")
def match_story(game: str, match_id: str) -> Response:
    """All events that a finished match's states hold, in order, one JSON line each, if the game has such.

    Raises UnknownMatch.
    """
    head = stored_head(game, match_id)
    if not has_a_story(head):
        raise UnknownMatch("There are no events of this match.")
    # not all in memory: a page takes it slowly, and many may
    turns = chain.from_iterable(current_context().storage.games.entries(head, "turns"))
    record = {**head, "turns": turns}
    lines = _lines(story(current_context().registry[game], record), current_app.json.dumps)
    return streamed(lines, "application/x-ndjson")


def _lines(told: Iterator[list[Any]], dumps: Callable[[Any], str]) -> Iterator[bytes]:
    for events in told:
        lines = ""
        for event in cooperatively(events):
            lines += f"{dumps(event)}\n"
            if len(lines) >= AT_ONCE:
                yield lines.encode()
                lines = ""
        if lines:
            yield lines.encode()


@blueprint.get("/web/<game>/matches/<match_id>/turns/<int:turn>")
def turn_page(game: str, match_id: str, turn: int) -> str:
    """The page with the board of a finished match after `turn` turns."""
    return page(lambda: _turn(game, match_id, turn), all_stored=True, keeps=False)


def _turn(game: str, match_id: str, turn: int) -> str:
    record = short_match(game, match_id)
    rules = current_context().registry[game]
    before, state = frames(rules, record, turn)
    facts = {"id": match_id, "game": game, "players": record["players"]}
    return render_template(
        "turn.html",
        game=rules,
        match=facts,
        turn=turn,
        board=board_section(facts, state, Position(turn, len(record["turns"])), before),
    )


@blueprint.get("/web/<game>/live")
def boards_page(game: str) -> str:
    """The page with the boards of a game's running matches."""
    return render_template(
        "live.html",
        game=current_context().registry[game],
        sections=boards_snapshot(game).data["sections"],
        events=url_for(".boards_events", game=game),
    )


@blueprint.get("/web/<game>/live/events")
def boards_events(game: str) -> Response:
    """The stream of the page of boards: the boards when they change."""
    return event_stream(keys.game_events(game), lambda: boards_snapshot(game))
