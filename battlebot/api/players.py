"""`GET /games/<game>/players`: the duel arena's table of results, and the profile of one of its players."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import chain, islice
from typing import Any

from flask import redirect, request, url_for
from marshmallow import Schema, fields
from marshmallow.validate import Length
from werkzeug.wrappers import Response

from battlebot.api.context import check_game, current_context
from battlebot.api.listed import entry_of, page_of, shown
from battlebot.api.parsing import Described
from battlebot.api.ratings import RatingsPage
from battlebot.api.reading import check_before
from battlebot.api.schemas import LINK, AsItIs, Choice, Count, ErrorBody, StoredMatch, link
from battlebot.errors import Unavailable, UnknownPlayer
from battlebot.ratings.rating import Rating, result, results
from battlebot.wire.duel import GAME
from battlebot.wire.names import MAX_NAME_LENGTH

MOST_MATCHES = 100
MATCHES = 30
VARY = {"Vary": "Accept"}


def as_json() -> Choice:
    """The query argument by which a browser can ask for JSON."""
    return Choice(
        "json",
        load_default=None,
        metadata={"description": "json: JSON also for a browser, which is sent to the page of it otherwise"},
    )


players = Described("players", __name__, description="The duel arena's table of results")
players.url_value_preprocessor(check_game)


class TablePart(RatingsPage):
    """The part of the table to return."""

    format = as_json()


class PlayerRow(AsItIs):
    """A player's results over all boards of the game that are not void."""

    player = fields.String(required=True)
    rating = fields.Float(required=True, metadata={"description": "Elo, K = 30, from 1200"})
    wins = fields.Integer(required=True)
    games = fields.Integer(required=True)
    invalidMoves = fields.Integer(required=True, metadata={"description": "time-outs included"})  # noqa: N815
    registered = fields.Boolean(required=True, metadata={"description": "false: anybody may use the name"})
    online = fields.Boolean(required=True, allow_none=True, metadata={"description": "at the TCP door; null: unknown"})
    onlineS = fields.Float(  # noqa: N815
        required=True, allow_none=True, metadata={"description": "seconds at the TCP door; null: never there"}
    )


class RankedRow(PlayerRow):
    """A row of the table."""

    rank = fields.Integer(required=True, metadata={"description": "by rating; shared where it is equal"})


class PlayersAnswer(AsItIs):
    """A part of the table of results, best first, and who is connected to the TCP door."""

    players = fields.List(fields.Nested(RankedRow), required=True)
    online = fields.List(fields.String(), required=True, allow_none=True, metadata={"description": "null: unknown"})
    next = fields.String(metadata={"description": "where the rest is; absent where there is none"})


class AboutPlayer(Schema):
    """The player, and the part of its history to return."""

    format = as_json()
    name = fields.String(required=True, validate=Length(1, MAX_NAME_LENGTH))
    limit = Count(1, MOST_MATCHES, "At most so many matches.", load_default=MATCHES)
    before = fields.String(
        load_default=None, metadata={"description": "Only matches that ended before the one with this id."}
    )


class PlayerAnswer(AsItIs):
    """A player's numbers, and its most recent matches, newest first, without turns."""

    player = fields.Nested(PlayerRow, required=True)
    games = fields.List(fields.Nested(StoredMatch), required=True)
    next = fields.String(metadata={"description": "where the older matches are; absent where there are none"})


@players.get("/games/<game>/players")
@players.arguments(TablePart, location="query")
@players.response(200, PlayersAnswer, headers=LINK)
@players.alt_response(404, schema=ErrorBody)
def list_players(page: dict[str, Any], game: str) -> Any:
    """The duel arena's table of results: those who have played, best rating first

    Browsers, which ask for HTML, are redirected to the page.
    """
    if _is_for_people(page):
        return _to_the_page(url_for("pages.people.players_page", game=game))
    limit, offset = page["limit"], page["offset"]
    rows, online, more = table_of(game, limit, offset)
    answer: dict[str, Any] = {"players": rows, "online": online}
    if not more:
        return answer, 200, VARY
    part = {"limit": limit, "offset": offset + limit, "format": page["format"]}
    answer["next"] = url_for("players.list_players", game=game, **part)
    return answer, 200, VARY | link(answer["next"])


@players.get("/games/<game>/player")
@players.arguments(AboutPlayer, location="query")
@players.response(200, PlayerAnswer, headers=LINK)
@players.alt_response(404, schema=ErrorBody)
def show_player(asked: dict[str, Any], game: str) -> Any:
    """A player's profile: its numbers and its history

    The name is a query argument, because names at the TCP door may contain slashes. Browsers, which ask for HTML, are
    redirected to the page.
    """
    name, limit, before = asked["name"], asked["limit"], asked["before"]
    if _is_for_people(asked):
        return _to_the_page(url_for("pages.people.player_page", game=game, name=name, before=before))
    check_before(before)
    # one match more than requested shows whether there is more
    row, matches = profile_of(game, name, limit + 1, before)
    page, older = page_of(map(entry_of, matches), limit)
    answer: dict[str, Any] = {"player": row, "games": shown(page)}
    if not older:
        return answer, 200, VARY
    part = {"limit": limit, "before": page[-1].key, "format": asked["format"]}
    answer["next"] = url_for("players.show_player", game=game, name=name, **part)
    return answer, 200, VARY | link(answer["next"])


def table_of(game: str, limit: int, offset: int = 0) -> tuple[list[dict[str, Any]], list[str] | None, bool]:
    """A part of the table's rows, who is online (None: unknown), and whether there is more. Raises Unavailable."""
    kept = current_context().storage.ratings
    # one row more than requested shows whether there is more
    rows = kept.page(game, limit + 1, offset, by="elo")
    above = kept.better(game, Rating.of(rows[0]).elo, by="elo") if rows and offset else 0
    online = names_online(game)
    found = results(rows[:limit], offset, above)
    return _attended(game, found, online), online, len(rows) > limit


def profile_of(game: str, name: str, limit: int, before: str | None) -> tuple[dict[str, Any], Iterator[dict[str, Any]]]:
    """A player's row, and its most recent matches, `limit` at most. Raises UnknownPlayer, Unavailable."""
    storage = current_context().storage
    rated = storage.ratings.of_bots(game, [name])
    [row] = _attended(game, [result(name, Rating.of(rated[0]) if rated else Rating())], names_online(game))
    matches = storage.games.of_player(game, name, limit, before)
    latest = list(islice(matches, 1))
    if not (rated or latest or row["registered"] or row["onlineS"] is not None):
        raise UnknownPlayer(f"Nobody called {name!r} has played {game}.")
    return row, chain(latest, matches)


def names_online(game: str) -> list[str] | None:
    """Who is at the TCP door, sorted by name; None while Redis does not answer. Empty for games but gomoku."""
    if game != GAME:
        return []
    context = current_context()
    try:
        return sorted(context.presence.online(context.settings.node_timeout_s))
    except Unavailable:
        return None


def _attended(game: str, rows: Sequence[dict[str, Any]], online: list[str] | None) -> list[dict[str, Any]]:
    storage = current_context().storage
    names = [row["player"] for row in rows]
    registered = storage.bots.known(game, names)
    seconds = storage.players.seconds_online(names) if game == GAME else {}
    here = set(online or ())
    return [
        {
            **row,
            "registered": row["player"] in registered,
            "online": None if online is None else row["player"] in here,
            # a player who has just connected is not stored yet
            "onlineS": seconds.get(row["player"], 0.0 if row["player"] in here else None),
        }
        for row in rows
    ]


def _is_for_people(asked: dict[str, Any]) -> bool:
    liked = request.accept_mimetypes.best_match(("application/json", "text/html"))
    return asked["format"] is None and liked == "text/html"


def _to_the_page(address: str) -> Response:
    answer = redirect(address, 303)
    answer.headers.update(VARY)
    return answer
