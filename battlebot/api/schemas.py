"""The schemas of REST requests and answers, for validation and for OpenAPI."""

from __future__ import annotations

from typing import Any

from marshmallow import EXCLUDE, INCLUDE, Schema, ValidationError, fields

from battlebot.contests.contest import STATES
from battlebot.wire.names import MAX_NAME_LENGTH, checked_label, checked_name

ANONYMOUS = "Anonymous"
MOST_GAMES = 1000
RECENT_GAMES = 30  # that `GET /games/<game>` lists unless told otherwise, as in the original
URL_IS = (
    "Where a stateless bot is asked: http://, https:// or, of a game that has such bots, nats://. "
    "It is tested before it is taken."
)
AVAILABLE_IS = "Whether a stateless bot is matched."
FAULTS = ("none", "bot", "network", "server")
# the header by which a part of a list leads to the next
LINK = {"Link": {"description": 'rel="next"', "schema": {"type": "string"}}}


def link(address: str) -> dict[str, str]:
    """The header that `LINK` describes."""
    return {"Link": f'<{address}>; rel="next"'}


def refused(rule: str, sentence: str) -> ValidationError:
    """The error that a field's check raises."""
    return ValidationError({"rule": rule, "sentence": sentence})


class Name(fields.Field[str]):
    """A name as `battlebot.wire.names` allows it; BadName passes through with its own code."""

    def _deserialize(self, value: Any, attr: str | None, data: Any, **kwargs: Any) -> str:
        return checked_name(value, attr or "name")


class Owner(fields.Field[str]):
    """A bot's owner, by the rules for labels; an empty text counts as none, as it did at the original server."""

    def _deserialize(self, value: Any, attr: str | None, data: Any, **kwargs: Any) -> str:
        return ANONYMOUS if value == "" else checked_label(value, attr or "owner")


class Url(fields.Field[str]):
    """The address of a stateless bot: any non-empty string; `stateless` checks whether it can be called."""

    def _deserialize(self, value: Any, attr: str | None, data: Any, **kwargs: Any) -> str:
        if not isinstance(value, str) or not value:
            raise refused("type", f"{attr} must be a text.")
        return value


class Flag(fields.Field[bool]):
    """A JSON boolean; nothing is converted to one."""

    def _deserialize(self, value: Any, attr: str | None, data: Any, **kwargs: Any) -> bool:
        if not isinstance(value, bool):
            raise refused("type", f"{attr} must be true or false.")
        return value


class Count(fields.Field[int]):
    """A whole number within bounds, in ASCII digits; `description` is for OpenAPI."""

    def __init__(self, low: int, high: int, description: str, **kwargs: Any) -> None:
        about = {"type": "integer", "minimum": low, "maximum": high, "description": description}
        super().__init__(metadata=about, **kwargs)
        self.low, self.high = low, high

    def _deserialize(self, value: Any, attr: str | None, data: Any, **kwargs: Any) -> int:
        text = str(value)
        # `isdigit` alone accepts digits of all scripts; nine digits are enough
        if not (text.isascii() and text.isdigit() and len(text) <= 9 and self.low <= int(text) <= self.high):
            raise refused("bounds", f"{attr} must be a whole number from {self.low} to {self.high}.")
        return int(text)


class Choice(fields.Field[str]):
    """One of the given words."""

    def __init__(self, *words: str, **kwargs: Any) -> None:
        super().__init__(metadata={"type": "string", "enum": list(words), **kwargs.pop("metadata", {})}, **kwargs)
        self.words = words

    def _deserialize(self, value: Any, attr: str | None, data: Any, **kwargs: Any) -> str:
        if value not in self.words:
            raise refused("choice", f"{attr} must be one of {', '.join(self.words)}.")
        return str(value)


class Registration(Schema):
    """The request that registers a bot; unknown keys are ignored."""

    class Meta:
        unknown = EXCLUDE

    bot_id = Name(
        required=True,
        error_messages={
            "required": {"rule": "required", "sentence": "bot_id is missing."},
            "null": {"rule": "required", "sentence": "bot_id must not be null."},
        },
        metadata={"description": "The bot's name, unique over the whole server.", "maxLength": MAX_NAME_LENGTH},
    )
    owner = Owner(
        load_default=ANONYMOUS,
        allow_none=True,
        metadata={"description": "Whose bot it is.", "maxLength": MAX_NAME_LENGTH},
    )
    url = Url(load_default=None, allow_none=True, metadata={"description": URL_IS})
    available = Flag(load_default=True, metadata={"description": AVAILABLE_IS})


class Registered(Schema):
    """A registered bot's credentials, which are shown only this once."""

    game = fields.String(required=True)
    bot_id = fields.String(required=True)
    pass_hash = fields.String(required=True, metadata={"description": "64 hex digits, needed to log in."})


class AsItIs(Schema):
    """Describes an answer that is sent unchanged: each game defines its own state, and a list may be long."""

    class Meta:
        unknown = INCLUDE  # further keys are in OpenAPI too

    def dump(self, obj: Any, *, many: bool | None = None) -> Any:
        """The object itself."""
        return obj


class BotRow(AsItIs):
    """A registered bot."""

    bot_id = fields.String(required=True)
    owner = fields.String(required=True)
    date_registered = fields.Raw(required=True, metadata={"type": "string", "format": "date-time"})


class OfFault(Schema):
    """The matches to return."""

    fault = Choice(
        *FAULTS,
        load_default=None,
        metadata={"description": "Only matches whose end was the fault of this one; void ones as well."},
    )


class RecentPage(OfFault):
    """The part of a game's matches to return."""

    limit = Count(1, MOST_GAMES, "At most so many matches.", load_default=RECENT_GAMES)
    before = fields.String(
        load_default=None, metadata={"description": "Only matches that ended before the one with this id."}
    )


class WithVoid(OfFault):
    """Which matches, and whether to include void ones."""

    void = Choice("true", "false", load_default="false", metadata={"description": "true: void matches as well"})


class Page(WithVoid, RecentPage):
    """The part of a contest's matches to return."""

    limit = Count(1, MOST_GAMES, "At most so many matches.", load_default=MOST_GAMES)


class StoredMatch(AsItIs):
    """A finished match: the keys of its final state (`board`, ...), and the server's data under `match`."""

    _id = fields.String(required=True)
    game = fields.String(required=True)
    contest = fields.String(required=True, allow_none=True)
    players = fields.List(fields.String(), required=True)
    victor = fields.String(required=True, allow_none=True, metadata={"description": "null for a draw"})
    reason = fields.String(required=True)
    startTime = fields.Raw(required=True, metadata={"type": "string", "format": "date-time"})  # noqa: N815
    match = fields.Dict(metadata={"description": "sentence, endTime, fault, void, evidence, ..."})


class StoredMatchWithTurns(StoredMatch):
    """A finished match with its valid turns, each with `player` and `time` (ms since the epoch)."""

    turns = fields.List(fields.Dict(), required=True)


class TieBreaks(AsItIs):
    """The tie-breaks for bots with equal points, wins and losses, in the order in which they apply."""

    sonnebornBerger = fields.Float(  # noqa: N815
        required=True,
        allow_none=True,
        metadata={"description": "points of beaten opponents, half of drawn ones'; null where not needed"},
    )
    headToHead = fields.List(  # noqa: N815
        fields.Integer(), required=True, metadata={"description": "points among those level; among those still level"}
    )


class StandingRow(AsItIs):
    """A row of a ranking."""

    rank = fields.Integer(required=True, metadata={"description": "shared where a tie stays"})
    bot_id = fields.String(required=True)
    score = fields.Integer(required=True, metadata={"description": "by the contest's points; in a champion's, wins"})
    wins = fields.Integer(required=True)
    draws = fields.Integer(required=True)
    losses = fields.Integer(required=True)
    played = fields.Integer(required=True)
    absent = fields.Integer(required=True, metadata={"description": "of the losses, those by not being there"})
    scored = fields.Integer(metadata={"description": "champion only: the sum of its scores in its matches"})
    byes = fields.Integer(required=True, metadata={"description": "rounds without an opponent, each scoring a win"})
    tieBreaks = fields.Nested(TieBreaks, required=True)  # noqa: N815


class ContestHead(AsItIs):
    """A contest's main settings and state."""

    name = fields.String(required=True)
    title = fields.String(required=True)
    state = fields.String(required=True, metadata={"enum": list(STATES)})
    format = fields.String(required=True)
    meetings = fields.Integer(required=True, metadata={"description": "of each pair, at most; or of all together"})
    together = fields.Boolean(required=True, metadata={"description": "whether all entrants meet in one match"})
    points = fields.Dict(required=True, metadata={"description": "of a win, a draw, a loss"})
    startsAt = fields.DateTime(required=True, allow_none=True)  # noqa: N815
    endsAt = fields.DateTime(required=True, allow_none=True)  # noqa: N815
    startedAt = fields.DateTime(required=True, allow_none=True)  # noqa: N815
    endedAt = fields.DateTime(required=True, allow_none=True)  # noqa: N815


class ContestAnswer(AsItIs):
    """A contest's ranking and its most recent matches."""

    contest = fields.Nested(ContestHead, required=True)
    bots = fields.List(fields.Nested(StandingRow), required=True)
    games = fields.List(fields.Nested(StoredMatch), required=True)
    next = fields.String(metadata={"description": "where the older matches are; absent where there are none"})


class ErrorBody(Schema):
    """The body of every error answer; further keys may give details."""

    class Meta:
        unknown = INCLUDE

    error = fields.String(required=True, metadata={"description": "a sentence for a person"})
    code = fields.String(required=True, metadata={"description": "a stable slug for a program"})
    field = fields.String(metadata={"description": "which field is wrong"})
    rule = fields.String(metadata={"description": "which rule it breaks"})
