"""Who is turned away at this node, as it knows by itself; `turnedaway` is what all nodes know. No I/O."""

from __future__ import annotations

from collections.abc import Callable

from battlebot.runtime import sharedtime


class TurnedAwayHere:
    """For how long this node has been unable to let in each bot that had logged in: not charged to the bot.

    In memory: it is needed where Redis is what does not answer. What all nodes know, also of logins that nobody could
    check, counts only for a bot whose door was shut at every node.
    """

    AGAIN_S = 10.0  # a bot that comes back later than this was not trying all the time
    REMEMBERED = 100_000

    def __init__(self, now_s: Callable[[], float] = sharedtime.now_s) -> None:
        self._now_s = now_s
        self._since: dict[str, tuple[float, float]] = {}

    def note(self, key: str, came_s: float) -> None:
        """Notes that a bot that came at `came_s` (epoch) is turned away now."""
        since_s, last_s = self._since.pop(key, (came_s, came_s))
        self._since[key] = (since_s if came_s - last_s <= self.AGAIN_S else came_s, self._now_s())
        if len(self._since) > self.REMEMBERED:
            self._since.pop(next(iter(self._since)))

    def let_in(self, key: str, came_s: float) -> float:
        """Returns for how many seconds a bot that came at `came_s` (epoch) had been turned away, and forgets it."""
        since_s, last_s = self._since.pop(key, (came_s, came_s))
        return max(0.0, last_s - since_s) if came_s - last_s <= self.AGAIN_S else 0.0
