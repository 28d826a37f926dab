"""The test request: the first question of a match that is not played, which a bot must answer with a valid turn."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from battlebot.arena.live.making import new_match
from battlebot.arena.live.questions import content_of, turned
from battlebot.arena.places import STATELESS_PLACE
from battlebot.config import Settings
from battlebot.errors import NotTested
from battlebot.referee.events import Failed, GaveUp
from battlebot.rules.contract import RAISED, Game
from battlebot.runtime import sharedtime
from battlebot.stateless.asking import Askers, Question

OPPONENT = "test-opponent-{}"


class Trial:
    """Sends test requests."""

    def __init__(self, registry: Mapping[str, Game], settings: Settings, askers: Askers) -> None:
        self.askers = askers
        self._registry = registry
        self._settings = settings

    def of(self, game_name: str, bot_id: str, address: str) -> dict[str, Any]:
        """Returns `{"ok", "at" (ms), "answerMs", "code"?, "error"?, "question"}` of one test request to the address.

        The bot moves first, against as many others as the game usually has. Raises NotTested if the server itself
        failed: that is no result.
        """
        game = self._registry[game_name]
        names = [bot_id, *(OPPONENT.format(number) for number in range(1, game.usual_players))]
        match = new_match(
            game,
            [(name, STATELESS_PLACE) for name in names],
            self._settings,
            sharedtime.now_s(),
            addresses=dict.fromkeys(names, address),
        )
        if match.verdict is not None:
            raise _game_failed()
        seat = match.seats[0]
        try:
            content = content_of(game, match, seat)
        except RAISED as error:
            raise _game_failed() from error
        reply = self.askers.ask(Question(address, game_name, match.id, bot_id, content, seat.remaining_s))
        if reply.failure is not None and reply.failure.ours:
            raise NotTested(f"The bot could not be tested: {reply.failure.sentence}", cause=reply.failure.code)
        found: dict[str, Any] = {"ok": False, "at": int(sharedtime.now_s() * 1000)}
        found["answerMs"] = round(reply.thinking_s * 1000, 3)
        found["question"] = content
        if reply.failure is not None:
            return {**found, "code": reply.failure.code, "error": reply.failure.sentence}
        event = turned(game, match, seat, reply.value, reply.thinking_s)
        if isinstance(event, Failed):
            raise _game_failed()
        if isinstance(event, GaveUp):
            return {**found, "code": "invalid-turn", "error": event.sentence}
        return {**found, "ok": True}


def _game_failed() -> NotTested:
    return NotTested("The bot could not be tested: the game's own code failed.", cause="game-error")
