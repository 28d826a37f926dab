"""How long to wait before the next connection. Counts attempts; reads no clock and does not sleep."""

from __future__ import annotations

import random
from collections.abc import Callable

FIRST_S, LONGEST_S = 0.1, 10.0
# during a match: the seat is kept for some seconds (`BATTLEBOT_NODE_GRACE`), and the bot's clock may be running
LONGEST_IN_MATCH_S, IN_MATCH_ATTEMPTS = 2.0, 20
HEALTHY_S = 10.0  # after a connection that lasted this long, callers reset the back-off
_RANDOM = random.SystemRandom()
_DOUBLINGS = 20  # far beyond LONGEST_S; bounds the exponent


class Backoff:
    """Exponential back-off with jitter: 0.1 s, doubled per attempt, at most 10 s; jitter takes off up to half.

    During a match the first 20 waits are at most 2 s each: about half a minute, as long as the match is likely to wait.
    The jitter keeps a thousand bots from coming back in the same millisecond.
    """

    def __init__(self, dice: Callable[[], float] = _RANDOM.random) -> None:
        self._dice = dice
        self._attempts = 0

    def reset(self) -> None:
        """Make the next wait the shortest: the server is well again."""
        self._attempts = 0

    def is_urgent(self, in_match: bool) -> bool:
        """Whether a match is likely to wait still."""
        return in_match and self._attempts < IN_MATCH_ATTEMPTS

    def next_s(self, at_least_s: float = 0.0, in_match: bool = False) -> float:
        """Seconds to wait before the next attempt; `at_least_s` is a lower bound for the wait before jitter."""
        longest_s = LONGEST_IN_MATCH_S if self.is_urgent(in_match) else LONGEST_S
        whole_s = max(at_least_s, min(longest_s, FIRST_S * 2.0 ** min(self._attempts, _DOUBLINGS)))
        self._attempts += 1
        return whole_s * (0.5 + self._dice() / 2)

    def soon_s(self, in_match: bool = False) -> float:
        """Return 0 for the first attempt after a reset; then like `next_s`, to avoid a tight loop."""
        if self._attempts:
            return self.next_s(in_match=in_match)
        self._attempts = 1
        return 0.0
