"""Tests of bots whose pause is over: one that is passed has them asked again, one that fails pauses them for longer."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import structlog

from battlebot.errors import Unavailable
from battlebot.runtime import sharedtime
from battlebot.runtime.background import in_background
from battlebot.stateless.health import Health
from battlebot.stateless.trial import Trial
from battlebot.storage.bots import Bots

log = structlog.get_logger()

MOST_TESTED = 20  # bots at a time


@dataclass
class Retests:
    """Tests run in the background, so that bots that hang do not hold up the others."""

    bots: Bots
    health: Health
    trial: Trial
    now_s: Callable[[], float] = sharedtime.now_s
    _tested: set[str] = field(default_factory=set)  # addresses that are being tested

    def look(self, bots: Sequence[Mapping[str, Any]]) -> set[str]:
        """Starts the tests of available bots whose pause is over; returns the addresses that are paused.

        A later call sees the results. Raises Unavailable.
        """
        until_s = self.health.paused_until_s(sorted({bot["url"] for bot in bots}))
        paused = {url: moment_s for url, moment_s in until_s.items() if moment_s is not None}
        late = {url for url, moment_s in paused.items() if moment_s <= self.now_s()}
        for bot in bots:
            if bot["available"] and bot["url"] in late - self._tested and len(self._tested) < MOST_TESTED:
                self._tested.add(bot["url"])
                in_background(self._test, bot)
        return set(paused)

    def _test(self, bot: Mapping[str, Any]) -> None:
        try:
            result = self.trial.of(bot["game"], bot["_id"], bot["url"])
            self.bots.tested(bot["_id"], bot["url"], result)
            if result["ok"]:
                self.health.passed(bot["url"])
                log.info("bot.resumed", bot=bot["_id"])
                return
            for_s = round(self.health.pause(bot["url"]) - self.now_s())
            log.info("bot.paused_again", bot=bot["_id"], for_s=for_s, code=result.get("code"))
        except Unavailable as error:
            # nothing was learned about the bot: it stays as it was, and the next look tries again
            log.warning("bot.not_tried", bot=bot["_id"], error=str(error))
        finally:
            self._tested.discard(bot["url"])
