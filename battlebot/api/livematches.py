"""A game's running matches, as JSON and as server-sent events. Finished matches are in `reading`."""

from __future__ import annotations

from typing import Any

from flask import Response
from marshmallow import fields

from battlebot.api.context import check_game, current_context
from battlebot.api.parsing import Described
from battlebot.api.schemas import AsItIs, ErrorBody
from battlebot.api.streams import Snapshot, event_stream
from battlebot.redisio import keys

AGAIN_S = 1.0  # polled, because turns are announced only to those who watch their match

livematches = Described("livematches", __name__, description="Matches as they are played")
livematches.url_value_preprocessor(check_game)


class LiveMatch(AsItIs):
    """A running match as viewers may see it."""

    id = fields.String(required=True)
    game = fields.String(required=True)
    contest = fields.String(required=True, allow_none=True)
    players = fields.List(fields.String(), required=True)
    state = fields.Dict(required=True, metadata={"description": "the game's own"})
    version = fields.Integer(required=True, metadata={"description": "how many turns have been made"})
    startedAt = fields.Integer(required=True, metadata={"description": "ms since the epoch"})  # noqa: N815


class LiveAnswer(AsItIs):
    """The running matches, the latest first, at most 200."""

    game = fields.String(required=True)
    matches = fields.List(fields.Nested(LiveMatch), required=True)


@livematches.get("/games/<game>/live")
@livematches.response(200, LiveAnswer)
@livematches.alt_response(404, schema=ErrorBody)
def list_live(game: str) -> dict[str, Any]:
    """The running matches of a game, the latest first"""
    return _seen(game)


@livematches.get("/games/<game>/live/events")
@livematches.response(200, LiveAnswer, content_type="text/event-stream")
@livematches.alt_response(404, schema=ErrorBody)
def live_events(game: str) -> Response:
    """A stream of server-sent events: the running matches with their states, whenever these change

    Checked every second.
    """
    return event_stream(keys.game_events(game), lambda: Snapshot(_seen(game), again_s=AGAIN_S))


def _seen(game: str) -> dict[str, Any]:
    return {"game": game, "matches": current_context().live.list(game)}
