"""The pages of the duel arena's players: the table of results, and a player's profile."""

from __future__ import annotations

from functools import partial

from flask import Blueprint, Response, render_template, request, url_for

from battlebot.api.context import current_context
from battlebot.api.players import profile_of, table_of
from battlebot.api.reading import check_before
from battlebot.api.streams import Snapshot, event_stream
from battlebot.errors import UnknownPlayer
from battlebot.redisio import keys
from battlebot.web.snapshots import section
from battlebot.web.stale import page

MOST_PLAYERS = 200  # on the page; the JSON lists all
MOST_MATCHES = 100
MOST_ONLINE = 100
AGAIN_S = 5.0  # polled, because arrivals and departures are not announced

people = Blueprint("people", __name__)


@people.get("/web/<game>/players")
def players_page(game: str) -> str:
    """The page with the table of results, and who is online."""
    return page(lambda: _players(game), all_stored=True)


def _players(game: str) -> str:
    return render_template(
        "players.html",
        game=current_context().registry[game],
        sections=_snapshot(game).data["sections"],
        events=url_for(".players_events", game=game),
    )


@people.get("/web/<game>/players/events")
def players_events(game: str) -> Response:
    """The stream of the table's page: its sections when they change."""
    return event_stream(keys.game_events(game), lambda: _snapshot(game))


@people.get("/web/<game>/player")
def player_page(game: str) -> str:
    """The page of the player `?name=`: its numbers and its matches, with `?before=` those that ended before that one.

    Raises UnknownPlayer, BadMessage.
    """
    name, before = request.args.get("name", ""), request.args.get("before")
    if not name:
        raise UnknownPlayer("Which player? The address must end with ?name=...")
    return page(lambda: _player(game, name, before), all_stored=True, about=(name,), keeps=before is None)


def _player(game: str, name: str, before: str | None) -> str:
    check_before(before)
    # one match more than is shown tells whether there is more
    row, found = profile_of(game, name, MOST_MATCHES + 1, before)
    matches = list(found)
    address = partial(url_for, ".player_page", game=game, name=name)
    return render_template(
        "player.html",
        game=current_context().registry[game],
        row=row,
        games=matches[:MOST_MATCHES],
        older=address(before=matches[MOST_MATCHES - 1]["_id"]) if len(matches) > MOST_MATCHES else None,
        newest=None if before is None else address(),
        with_contest=True,
    )


def _snapshot(game: str) -> Snapshot:
    rows, online, more = table_of(game, MOST_PLAYERS)
    shown = {
        "online": section(
            "online", game=game, online=None if online is None else online[:MOST_ONLINE], count=len(online or ())
        ),
        "players": section("players", game=game, rows=rows, more=more),
    }
    return Snapshot({"game": game, "sections": shown}, again_s=AGAIN_S)
