"""The schemas of what a bot's owner sends and receives."""

from __future__ import annotations

from marshmallow import EXCLUDE, Schema, fields, validate

from battlebot.api.schemas import AVAILABLE_IS, URL_IS, AsItIs, Flag, Url


class BotChange(Schema):
    """The changes to a stateless bot."""

    class Meta:
        unknown = EXCLUDE

    url = Url(load_default=None, allow_none=True, metadata={"description": URL_IS})
    available = Flag(load_default=None, allow_none=True, metadata={"description": AVAILABLE_IS})


class PassHash(Schema):
    """A bot's other pass_hash, as its owner chose it."""

    class Meta:
        unknown = EXCLUDE

    pass_hash = fields.String(
        required=True,
        validate=validate.Regexp(r"[0-9a-f]{64}\Z", error="It must be 64 hex digits, in lower case."),
        metadata={"description": "64 hex digits that nobody can guess, as from `openssl rand -hex 32`"},
    )


class Renewed(AsItIs):
    """A bot that has another pass_hash now."""

    game = fields.String(required=True)
    bot_id = fields.String(required=True)


class TestResult(AsItIs):
    """The result of a test request."""

    ok = fields.Boolean(required=True)
    at = fields.Integer(required=True, metadata={"description": "ms since the epoch"})
    answerMs = fields.Float(required=True, metadata={"description": "what the bot took"})  # noqa: N815
    code = fields.String(metadata={"description": "why it is not ok"})
    error = fields.String(metadata={"description": "the same in a sentence"})
    question = fields.Raw(required=True, metadata={"description": "the body that was sent"})


class BotFailure(AsItIs):
    """A question without a valid answer."""

    at = fields.Integer(required=True, metadata={"description": "ms since the epoch"})
    code = fields.String(required=True)
    error = fields.String(required=True)
    bot_id = fields.String(required=True)
    game = fields.String(required=True)
    match = fields.String(required=True)


class OwnBot(AsItIs):
    """A bot as its owner sees it. All but the first five fields are present only if the bot has a url."""

    bot_id = fields.String(required=True)
    game = fields.String(required=True)
    owner = fields.String(required=True)
    url = fields.String(required=True, allow_none=True)
    state = fields.String(required=True, metadata={"enum": ["connects", "ready", "paused", "off"]})
    available = fields.Boolean()
    error = fields.String(metadata={"description": "why it is paused"})
    answers = fields.Integer(metadata={"description": "of how many at its url the times are, 500 at most"})
    p50Ms = fields.Float(allow_none=True)  # noqa: N815
    p99Ms = fields.Float(allow_none=True)  # noqa: N815
    failures = fields.List(
        fields.Nested(BotFailure), metadata={"description": "its own of the last 20 at its url, newest first"}
    )
    failuresInARow = fields.Integer(metadata={"description": "of all bots at its url"})  # noqa: N815
    pausedUntil = fields.Integer(allow_none=True, metadata={"description": "ms since the epoch"})  # noqa: N815
    lastTest = fields.Nested(TestResult, allow_none=True)  # noqa: N815
