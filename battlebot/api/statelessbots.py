"""`/bots/<game>/<bot_id>`: a registered bot for its owner, who sends its password: its state, its url, its test."""

from __future__ import annotations

from typing import Any

from flask import request

from battlebot.api.botschemas import BotChange, OwnBot, PassHash, Renewed, TestResult
from battlebot.api.context import check_game, current_context
from battlebot.api.parsing import Described
from battlebot.api.schemas import ErrorBody
from battlebot.api.tokens import PASSWORD_SCHEME, bearer

BOT = "/bots/<game>/<bot_id>"
SECURITY: list[dict[str, list[str]]] = [{PASSWORD_SCHEME: []}]

statelessbots = Described("statelessbots", __name__, description="A bot as its owner sees it")
statelessbots.url_value_preprocessor(check_game)


@statelessbots.before_request
def _owner_only() -> None:
    """Check the password, sent as a bearer token; a wrong one and an unknown bot give the same answer."""
    where = request.view_args or {}
    current_context().directory.check_owner(where["game"], where["bot_id"], _password())


def _password() -> str:
    return bearer("This is for the bot's owner: send its pass_hash, as `Authorization: Bearer <pass_hash>`.")


@statelessbots.get(BOT)
@statelessbots.doc(security=SECURITY)
@statelessbots.response(200, OwnBot)
@statelessbots.alt_response(401, schema=ErrorBody)
@statelessbots.alt_response(404, schema=ErrorBody)
def show_bot(game: str, bot_id: str) -> dict[str, Any]:
    """A bot with its url and the state of that url"""
    return current_context().stateless.show(game, bot_id)


@statelessbots.patch(BOT)
@statelessbots.doc(security=SECURITY)
@statelessbots.arguments(BotChange)
@statelessbots.response(200, OwnBot)
@statelessbots.alt_response(401, schema=ErrorBody)
@statelessbots.alt_response(404, schema=ErrorBody)
@statelessbots.alt_response(429, schema=ErrorBody)
def change_bot(body: dict[str, Any], game: str, bot_id: str) -> dict[str, Any]:
    """Change a bot's url, or whether it may be asked

    A new url is tested first. Running matches go on at the url with which they began.
    """
    return current_context().stateless.change(game, bot_id, body)


@statelessbots.put(f"{BOT}/pass_hash")
@statelessbots.doc(security=SECURITY)
@statelessbots.arguments(PassHash)
@statelessbots.response(200, Renewed)
@statelessbots.alt_response(400, schema=ErrorBody)
@statelessbots.alt_response(401, schema=ErrorBody)
@statelessbots.alt_response(404, schema=ErrorBody)
def renew_bot(body: dict[str, Any], game: str, bot_id: str) -> dict[str, Any]:
    """Change a bot's password, to one of the owner's choice

    The old one ends within seconds, and whoever logged in with it: a running match goes on to its end. If there is no
    answer, ask again with the new one: it is right if it has been changed.
    """
    current_context().directory.renew(bot_id, body["pass_hash"], _password())
    return {"game": game, "bot_id": bot_id}


@statelessbots.post(f"{BOT}/test")
@statelessbots.doc(security=SECURITY)
@statelessbots.response(200, TestResult)
@statelessbots.alt_response(400, schema=ErrorBody)
@statelessbots.alt_response(401, schema=ErrorBody)
@statelessbots.alt_response(404, schema=ErrorBody)
@statelessbots.alt_response(429, schema=ErrorBody)
def test_bot(game: str, bot_id: str) -> dict[str, Any]:
    """Send a bot a test request: the first question of a match that is not played

    If a paused bot answers with a valid turn, its pause ends.
    """
    return current_context().stateless.test(game, bot_id)
