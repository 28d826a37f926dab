"""What owners do with stateless bots: register them (after a test request), change them, look at them, test them."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager
from typing import Any, Protocol

from battlebot.arena.live.queue import Queues
from battlebot.errors import NameTaken, Refused, UnansweredTest, UnknownBot
from battlebot.runtime import sharedtime
from battlebot.stateless.health import Health
from battlebot.stateless.trial import Trial
from battlebot.storage import Storage


class Directory(Protocol):
    """Makes credentials."""

    def register(self, game: str, bot_id: str, owner: str, **stateless: Any) -> str:
        """Registers a bot, with these fields besides; returns its pass_hash. Raises NameTaken, Unavailable."""


class StatelessBots:
    """Every method raises Unavailable (NotTested if the server could not ask the bot).

    The caller must have checked that the request is the owner's. A test is done within `place()`, which may wait, or
    raise Unavailable: slow bots must not have all of the process's tests.
    """

    def __init__(
        self,
        storage: Storage,
        directory: Directory,
        trial: Trial,
        health: Health,
        queues: Queues,
        place: Callable[[], AbstractContextManager[None]],
    ) -> None:
        self._bots = storage.bots
        self._queues = queues
        self._directory = directory
        self._trial = trial
        self._health = health
        self._place = place

    def register(self, game: str, bot_id: str, owner: str, url: str, available: bool) -> str:
        """Registers the bot if it answers a test request; returns its pass_hash.

        Raises BadAddress, UnansweredTest with the test's result, NameTaken.
        """
        self._trial.askers.check(url)
        if self._bots.find(bot_id) is not None:
            raise NameTaken(f"The name {bot_id!r} is taken.", field="bot_id")
        result = self._passed(game, bot_id, url)
        # in one write: if a second one failed, nobody would be told the pass_hash
        return self._directory.register(game, bot_id, owner, url=url, available=available, lastTest=result)

    def change(self, game: str, bot_id: str, changes: Mapping[str, Any]) -> dict[str, Any]:
        """Changes `url` (after a test request) or `available`; returns the same as `show`. Live matches are unaffected.

        Ends a pause, unless the bot is made unavailable. An unavailable bot waits for no further match; one may just be
        beginning. Raises UnknownBot, Refused if the bot has no url and gets none, BadAddress, UnansweredTest.
        """
        bot = self._found(game, bot_id)
        update = {key: value for key, value in changes.items() if value is not None}
        url = update.get("url", bot.get("url"))
        if url is None:
            field = "available" if "available" in update else "url"
            raise Refused("This bot has no url: it connects by itself, until you give it one.", field=field)
        if "available" not in bot:
            # until now it connected by itself
            update.setdefault("available", True)
        if url != bot.get("url"):
            self._trial.askers.check(url)
            update["lastTest"] = self._passed(game, bot_id, url)
        if url != bot.get("url") or (update.get("available") and not bot.get("available", True)):
            update["asked_since"] = sharedtime.now()
        self._bots.change(bot_id, update)
        if update.get("available", True):
            self._health.resume(url)
        if "available" in update:
            self._switch(game, bot_id)
        return self.show(game, bot_id)

    def show(self, game: str, bot_id: str) -> dict[str, Any]:
        """Returns the bot with its url, its state, the health of its url, and its last test. Raises UnknownBot."""
        bot = self._found(game, bot_id)
        url = bot.get("url")
        about = {"bot_id": bot_id, "game": game, "owner": bot["owner"], "url": url}
        if url is None:
            return {**about, "state": "connects"}
        health = self._health.report(url, bot_id)
        paused = health["pausedUntil"] is not None
        available = bot.get("available", True)
        state = "off" if not available else "paused" if paused else "ready"
        rest = {"available": available, "state": state, **health, "lastTest": bot.get("lastTest")}
        if paused:
            rest["error"] = (
                f"The url failed {health['failuresInARow']} times one after another. It is tested again after "
                f"{time.strftime('%Y-%m-%d %H:%M:%S', time.gmtime(health['pausedUntil'] / 1000))} UTC, or when its "
                "owner asks for a test that it passes."
            )
        return {**about, **rest}

    def _switch(self, game: str, bot_id: str) -> None:
        """Brings the queues in line with the stored bot, even if other requests change it at the same time."""
        told: bool | None = None
        while told is not (available := bool(self._found(game, bot_id)["available"])):
            if available:
                self._queues.switch_on(bot_id)
            else:
                self._queues.switch_off(game, bot_id)
            told = available

    def test(self, game: str, bot_id: str) -> dict[str, Any]:
        """Sends a test request and returns its result; a passed test ends a pause.

        Raises UnknownBot, Refused if the bot has no url.
        """
        self._url_of(game, bot_id)
        with self._place():
            # it may have been changed while this waited
            url = self._url_of(game, bot_id)
            result = self._trial.of(game, bot_id, url)
        self._bots.tested(bot_id, url, result)
        if result["ok"]:
            self._health.resume(url)
        return result

    def _url_of(self, game: str, bot_id: str) -> str:
        url: str | None = self._found(game, bot_id).get("url")
        if url is None:
            raise Refused("This bot has no url: it connects by itself.", field="url")
        return url

    def _passed(self, game: str, bot_id: str, url: str) -> dict[str, Any]:
        with self._place():
            result = self._trial.of(game, bot_id, url)
        if not result["ok"]:
            raise UnansweredTest(f"The test request was not answered: {result['error']}", field="url", test=result)
        return result

    def _found(self, game: str, bot_id: str) -> dict[str, Any]:
        bot = self._bots.find(bot_id)
        if bot is None or bot["game"] != game:
            raise UnknownBot(f"There is no bot {bot_id!r} of {game}.")
        return bot
