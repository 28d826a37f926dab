"""The GET paths of the originals: bots, finished matches, contests with their rankings. Always JSON."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from typing import Any

from flask import current_app, url_for
from orjson import Fragment

from battlebot.api.concurrency import streamed
from battlebot.api.contests import contest_head, stored_contest
from battlebot.api.context import check_game, current_context
from battlebot.api.jsonprovider import iso
from battlebot.api.listed import Entry, entry_of, listed, page_of, shown
from battlebot.api.longmatches import json_line
from battlebot.api.parsing import Described
from battlebot.api.schemas import (
    LINK,
    BotRow,
    ContestAnswer,
    ErrorBody,
    Page,
    RecentPage,
    StoredMatch,
    StoredMatchWithTurns,
    link,
)
from battlebot.api.verdicts import explained
from battlebot.errors import BadMessage, UnknownMatch
from battlebot.runtime.cooperative import cooperatively
from battlebot.storage.games import is_long

reading = Described("reading", __name__, description="Bots, finished matches, contests")
reading.url_value_preprocessor(check_game)


@reading.get("/bots/<game>")
@reading.response(200, BotRow(many=True))
@reading.alt_response(404, schema=ErrorBody)
def list_bots(game: str) -> list[dict[str, Any]]:
    """The bots of a game, oldest first, at most 10,000"""
    rows = current_context().storage.bots.of_game(game)
    # there may be ten thousand, and to write their moments takes longer than all the rest
    return [{**row, "date_registered": iso(row["date_registered"])} for row in cooperatively(rows)]


@reading.get("/games/<game>")
@reading.arguments(RecentPage, location="query")
@reading.response(200, StoredMatch(many=True), headers=LINK)
@reading.alt_response(404, schema=ErrorBody)
def list_matches(asked: dict[str, Any], game: str) -> tuple[list[Fragment], int, dict[str, str]]:
    """The most recent finished matches of a game, newest first, without turns

    At most 4 MB of them, and one at least.
    """
    limit, before, fault = asked["limit"], asked["before"], asked["fault"]
    check_before(before)
    # one match more than requested shows whether there is more
    found = current_context().storage.games.recent(game, limit + 1, before, fault)
    page, more = page_of(map(entry_of, found), limit)
    if not more:
        return shown(page), 200, {}
    last = page[-1].key
    return shown(page), 200, link(url_for("reading.list_matches", game=game, limit=limit, before=last, fault=fault))


@reading.get("/games/<game>/<match_id>")
@reading.response(200, StoredMatchWithTurns)
@reading.alt_response(404, schema=ErrorBody)
def show_match(game: str, match_id: str) -> Any:
    """One finished match with its turns"""
    head = stored_head(game, match_id)
    if not is_long(head):
        return explained(stored_match(game, match_id))
    entries = partial(current_context().storage.games.entries, head)
    return streamed(json_line(explained(head), entries, current_app.json.dumps), "application/json")


@reading.get("/games/<game>/contest/<contest>")
@reading.arguments(Page, location="query")
@reading.response(200, ContestAnswer, headers=LINK)
@reading.alt_response(404, schema=ErrorBody)
@reading.alt_response(409, schema=ErrorBody)
def show_contest(asked: dict[str, Any], game: str, contest: str) -> tuple[dict[str, Any], int, dict[str, str]]:
    """A contest: its ranking, best first, and its most recent matches, newest first, without turns

    At most 4 MB of matches, and one at least.
    """
    found = stored_contest(game, contest)
    limit, before, void, fault = asked["limit"], asked["before"], asked["void"] == "true", asked["fault"]
    check_before(before)

    def matches(_: object) -> tuple[list[Entry], bool]:
        # one match more than requested shows whether there is more
        if void or fault is not None:
            kept = current_context().storage.games
            entries: Iterator[Entry] = map(entry_of, kept.of_contest(game, contest, limit + 1, before, void, fault))
        else:
            entries = listed().of_contest(game, contest, limit + 1, before)
        return page_of(entries, limit)

    bots, (page, more) = current_context().lookout.ranking_with(found, matches)
    answer: dict[str, Any] = {"contest": contest_head(found), "bots": bots, "games": shown(page)}
    if not more:
        return answer, 200, {}
    older = {"limit": limit, "before": page[-1].key, "void": "true" if void else None, "fault": fault}
    answer["next"] = url_for("reading.show_contest", game=game, contest=contest, **older)
    return answer, 200, link(answer["next"])


def check_before(before: str | None) -> None:
    """Check the cursor of a list of matches: raises BadMessage unless it is None or a finished match's id.

    Raises Unavailable.
    """
    if before is not None and not current_context().storage.games.archived([before]):
        raise BadMessage("before must be the id of a finished match.", field="before", rule="known")


def stored_match(game: str, match_id: str) -> dict[str, Any]:
    """A finished match of that game, with its turns. Raises UnknownMatch, Unavailable."""
    return _of_game(game, match_id, current_context().storage.games.find(match_id))


def stored_head(game: str, match_id: str) -> dict[str, Any]:
    """A finished match of that game, without its turns. Raises UnknownMatch, Unavailable."""
    return _of_game(game, match_id, current_context().storage.games.head(match_id))


def short_match(game: str, match_id: str) -> dict[str, Any]:
    """A finished match of that game, with its turns, unless it is a long one. Raises UnknownMatch, Unavailable."""
    if is_long(stored_head(game, match_id)):
        raise UnknownMatch("This match is too long to be replayed for a page.")
    return stored_match(game, match_id)


def _of_game(game: str, match_id: str, found: dict[str, Any] | None) -> dict[str, Any]:
    if found is None or found["game"] != game:
        raise UnknownMatch(f"There is no finished match {match_id[:64]!r} of {game}.")
    return found
