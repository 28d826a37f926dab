"""`POST /bots/<game>` and `POST /games/<game>` (both are the originals'): registers a bot."""

from __future__ import annotations

from typing import Any

from battlebot.api.context import check_game, current_context
from battlebot.api.parsing import Described
from battlebot.api.schemas import ANONYMOUS, ErrorBody, Registered, Registration

registrations = Described("registrations", __name__, description="Registering bots")
registrations.url_value_preprocessor(check_game)


@registrations.post("/bots/<game>")
@registrations.arguments(Registration)
@registrations.response(201, Registered)
@registrations.alt_response(404, schema=ErrorBody)
@registrations.alt_response(409, schema=ErrorBody)
@registrations.alt_response(429, schema=ErrorBody)
def register_bot(body: dict[str, Any], game: str) -> tuple[dict[str, str], int, dict[str, str]]:
    """Register a bot for a game

    The answer holds the bot's credentials, which are never given out again. A bot with a `url` is stateless: it is
    asked there and is always ready while it is `available`. It must answer a test request.
    """
    context, owner, url = current_context(), body["owner"] or ANONYMOUS, body["url"]
    if url is None:
        pass_hash = context.directory.register(game, body["bot_id"], owner)
    else:
        pass_hash = context.stateless.register(game, body["bot_id"], owner, url, body["available"])
    return {"game": game, "bot_id": body["bot_id"], "pass_hash": pass_hash}, 201, {"Cache-Control": "no-store"}


registrations.add_url_rule("/games/<game>", endpoint="register_bot_at_games", view_func=register_bot, methods=["POST"])
