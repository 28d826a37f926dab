"""Bodies that organisers send over REST, and query parameters about contests. Answers are in `contestanswers`."""

from __future__ import annotations

from marshmallow import Schema, fields

from battlebot.api.contestfields import BotNames, Entrants, JsonObject, Moment, Points, Text, Whole
from battlebot.api.schemas import Choice, Count, Name
from battlebot.contests.contest import STATES
from battlebot.contests.formats import format_names
from battlebot.wire.names import MAX_NAME_LENGTH

LONGEST_REASON = 500
MOST_LISTED = 1000
LISTED = 100


class Strict(Schema):
    """A body in which an unknown key is an error: a typo must not be ignored silently."""

    error_messages = {  # noqa: RUF012 - marshmallow reads it so
        "unknown": {"rule": "unknown", "sentence": "The body has a key that is not known here."}  # type: ignore[dict-item]
    }


class ContestChanges(Strict):
    """The fields of a contest that may be changed, most of them only before the start."""

    title = Text(100, metadata={"description": "For people; by default the name."})
    format = Text(64, metadata={"description": f"One of {', '.join(format_names())}; by default open."})
    config = JsonObject(
        metadata={"type": "object", "description": "The format's own settings, such as swiss's rounds."}
    )
    startsAt = Moment(metadata={"description": "null: the contest waits for `start`."})  # noqa: N815
    endsAt = Moment(metadata={"description": "null: it ends when all is played, or by `finish`."})  # noqa: N815
    meetings = Whole(1, 5, metadata={"description": "of each pair, at most"})
    entrants = Entrants(metadata={"description": '"open", or a list of bot ids'})
    options = JsonObject(metadata={"type": "object", "description": "Options of the game."})
    turnTimeoutMs = Whole(  # noqa: N815
        100, 3_600_000, allow_none=True, metadata={"description": "for a turn; null: what the server and the game say"}
    )
    points = Points(metadata={"description": "A win must not count less than a draw, nor a draw less than a loss."})
    absentAfterS = Whole(  # noqa: N815
        1, 86_400, metadata={"description": "how long a bot is waited for before its meeting is closed without it"}
    )
    absentCounts = Choice(  # noqa: N815
        "loss", "void", metadata={"description": "what such a meeting counts for the bot that did not come"}
    )


class NewContest(ContestChanges):
    """A contest to be scheduled."""

    name = Name(
        required=True,
        error_messages={"required": {"rule": "required", "sentence": "name is missing."}},
        metadata={"description": "Part of its addresses; it cannot be changed.", "maxLength": MAX_NAME_LENGTH},
    )
    meetings = Whole(1, 5, load_default=5, metadata={"description": "of each pair, at most; by default 5"})


class NewEntrants(Strict):
    """One bot, or several."""

    bot = Name(metadata={"description": "one bot id"})
    bots = BotNames(metadata={"type": "array", "items": {"type": "string"}, "description": "or a list of them"})


class VoidReason(Strict):
    """Why a match is taken back."""

    reason = Text(
        LONGEST_REASON,
        required=True,
        error_messages={"required": {"rule": "required", "sentence": "reason is missing."}},
        metadata={"description": "kept in the audit and with the match"},
    )


class ContestList(Schema):
    """Which contests to list."""

    state = Choice(*STATES, load_default=None, metadata={"description": "Only contests in this state."})
    limit = Count(1, MOST_LISTED, "At most so many.", load_default=LISTED)
    before = fields.String(load_default=None, metadata={"description": "Only those made before the one of this name."})


class OfBot(Schema):
    """An optional bot to ask about."""

    bot = Name(load_default=None, metadata={"description": "Only what concerns this bot."})


class AboutBot(Schema):
    """The bot to ask about; required."""

    bot = Name(
        required=True,
        error_messages={"required": {"rule": "required", "sentence": "bot is missing."}},
        metadata={"description": "the bot's name"},
    )


class Best(Schema):
    """How many bots of the table."""

    limit = Count(2, 500, "Of so many bots, the best.", load_default=200)
