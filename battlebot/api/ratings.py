"""`GET /games/<game>/ratings`: the estimated strength of a game's bots. Tasks compute the ratings."""

from __future__ import annotations

from typing import Any

from flask import url_for
from marshmallow import Schema, fields

from battlebot.api.context import check_game, current_context
from battlebot.api.parsing import Described
from battlebot.api.schemas import LINK, AsItIs, Count, ErrorBody, link
from battlebot.ratings.rating import table

MOST_ROWS = 1000
MOST_OFFSET = 999_999_999

ratings = Described("ratings", __name__, description="Ratings")
ratings.url_value_preprocessor(check_game)


class RatingsPage(Schema):
    """The part of the table to return."""

    limit = Count(1, MOST_ROWS, "At most so many bots.", load_default=100)
    offset = Count(0, MOST_OFFSET, "So many bots are left out at the top.", load_default=0)


class RatingRow(AsItIs):
    """A bot's rating over all its matches of the game that are not void."""

    rank = fields.Integer(required=True, metadata={"description": "by ordinal; shared where a tie stays"})
    bot_id = fields.String(required=True)
    mu = fields.Float(required=True, metadata={"description": "the strength, as far as is known; newcomers have 25"})
    sigma = fields.Float(required=True, metadata={"description": "how uncertain that is; newcomers have 8.33"})
    low = fields.Float(required=True, metadata={"description": "mu - 1.96 sigma"})
    high = fields.Float(required=True, metadata={"description": "mu + 1.96 sigma"})
    ordinal = fields.Float(required=True, metadata={"description": "mu - 3 sigma"})
    matches = fields.Integer(required=True)


class RatingsAnswer(AsItIs):
    """A part of the table of ratings, best first."""

    ratings = fields.List(fields.Nested(RatingRow), required=True)
    next = fields.String(metadata={"description": "where the rest is; absent where there is none"})


@ratings.get("/games/<game>/ratings")
@ratings.arguments(RatingsPage, location="query")
@ratings.response(200, RatingsAnswer, headers=LINK)
@ratings.alt_response(404, schema=ErrorBody)
def list_ratings(page: dict[str, Any], game: str) -> tuple[dict[str, Any], int, dict[str, str]]:
    """The ratings of the bots that have played, best first

    Ordered by `ordinal`, then by name.
    """
    kept = current_context().storage.ratings
    limit, offset = page["limit"], page["offset"]
    # one row more than requested shows whether there is more
    rows = kept.page(game, limit + 1, offset)
    above = kept.better(game, rows[0]["ordinal"]) if rows and offset else 0
    answer: dict[str, Any] = {"ratings": table(rows[:limit], offset, above)}
    if len(rows) <= limit:
        return answer, 200, {}
    answer["next"] = url_for("ratings.list_ratings", game=game, limit=limit, offset=offset + limit)
    return answer, 200, link(answer["next"])
