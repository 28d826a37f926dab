"""The schemas of answers about contests, for OpenAPI."""

from __future__ import annotations

from marshmallow import fields

from battlebot.api.schemas import AsItIs, StandingRow
from battlebot.contests.contest import STATES


class Progress(AsItIs):
    """A contest's progress."""

    played = fields.Integer(required=True, metadata={"description": "meetings that are over, absences included"})
    planned = fields.Integer(required=True, allow_none=True, metadata={"description": "null where nobody knows"})
    live = fields.Integer(required=True, metadata={"description": "meetings being played"})
    winner = fields.String(allow_none=True, metadata={"description": "where the format names one"})


class Contest(AsItIs):
    """A contest with all its fields. Times are in UTC."""

    name = fields.String(required=True)
    title = fields.String(required=True)
    game = fields.String(required=True)
    state = fields.String(required=True, metadata={"enum": list(STATES)})
    format = fields.String(required=True)
    config = fields.Dict(required=True)
    meetings = fields.Integer(required=True, metadata={"description": "of each pair, at most; or of all together"})
    together = fields.Boolean(
        required=True,
        allow_none=True,
        metadata={"description": "whether all entrants meet in one match; null: its format is not installed any more"},
    )
    entrants = fields.Raw(required=True, metadata={"description": '"open", or a list of bot ids'})
    withdrawn = fields.List(fields.String(), required=True)
    options = fields.Dict(required=True)
    turnTimeoutMs = fields.Integer(required=True, allow_none=True)  # noqa: N815
    points = fields.Dict(required=True)
    absentAfterS = fields.Integer(required=True)  # noqa: N815
    absentCounts = fields.String(required=True)  # noqa: N815
    startsAt = fields.DateTime(required=True, allow_none=True)  # noqa: N815
    endsAt = fields.DateTime(required=True, allow_none=True)  # noqa: N815
    startedAt = fields.DateTime(required=True, allow_none=True)  # noqa: N815
    endedAt = fields.DateTime(required=True, allow_none=True)  # noqa: N815
    createdAt = fields.DateTime(required=True)  # noqa: N815
    openedBy = fields.String(required=True, metadata={"description": "an organiser's token, or `login`"})  # noqa: N815


class ContestWithProgress(Contest):
    """A contest with its progress."""

    progress = fields.Nested(
        Progress, required=True, allow_none=True, metadata={"description": "null: its format is not installed any more"}
    )


class Contests(AsItIs):
    """Contests, the latest first."""

    contests = fields.List(fields.Nested(Contest), required=True)
    next = fields.String(metadata={"description": "where the older ones are; absent where there are none"})


class AuditEntry(AsItIs):
    """Who did what to a contest."""

    at = fields.DateTime(required=True)
    by = fields.String(required=True, metadata={"description": "an organiser's token, `clock`, or `contest` itself"})
    action = fields.String(required=True)
    details = fields.Dict(required=True)


class Meeting(AsItIs):
    """The n-th meeting of a pair."""

    match = fields.String(required=True, allow_none=True, metadata={"description": "null where nobody played"})
    n = fields.Integer(required=True)
    round = fields.Integer(required=True, metadata={"description": "0 in formats without rounds"})
    first = fields.String(required=True, metadata={"description": "who moves first"})
    state = fields.String(required=True, metadata={"enum": ["open", "played", "absent", "due"]})
    victor = fields.String(required=True, allow_none=True)


class Pair(AsItIs):
    """Two bots of a contest."""

    bots = fields.List(fields.String(), required=True)
    played = fields.Integer(required=True)
    absent = fields.Integer(required=True)
    open = fields.Integer(required=True, metadata={"description": "being played"})
    due = fields.Boolean(required=True, metadata={"description": "whether the format wants them to meet now"})
    left = fields.Integer(required=True, metadata={"description": "how often they may still meet"})
    meetings = fields.List(fields.Nested(Meeting), required=True)


class Round(AsItIs):
    """A round with its meetings that are already known."""

    round = fields.Integer(required=True)
    over = fields.Boolean(required=True)
    meetings = fields.List(fields.Nested(Meeting), required=True, metadata={"description": "each with its `bots`"})


class Meetings(AsItIs):
    """Who has met whom."""

    pairs = fields.List(fields.Nested(Pair), required=True)
    rounds = fields.List(fields.Nested(Round), required=True)


class Why(AsItIs):
    """Why a bot is not playing right now."""

    bot = fields.String(required=True)
    code = fields.String(required=True)
    sentence = fields.String(required=True)
    match = fields.String(required=True, allow_none=True, metadata={"description": "what it is playing"})
    since = fields.DateTime(required=True, allow_none=True, metadata={"description": "of not-connected, where known"})
    left = fields.List(fields.String(), required=True, metadata={"description": "whom it could meet now"})


class Crosstable(AsItIs):
    """Who beat whom."""

    points = fields.Dict(required=True)
    bots = fields.List(fields.String(), required=True, metadata={"description": "best first"})
    rows = fields.List(
        fields.Dict(),
        required=True,
        metadata={"description": "`{bot_id, rank, score, against: {opponent: {wins, draws, losses}}}`"},
    )


class Voided(AsItIs):
    """A match that was taken back."""

    match = fields.String(required=True)
    reason = fields.String(required=True)
    contest = fields.Nested(Contest, required=True)


class ContestEvent(Progress):
    """The data of an event of a contest's stream."""

    contest = fields.String(required=True)
    state = fields.String(required=True, metadata={"enum": list(STATES)})
    bots = fields.List(fields.Nested(StandingRow), required=True, metadata={"description": "the ranking, best first"})
    final = fields.Boolean(required=True, metadata={"description": "whether the stream ends here"})
