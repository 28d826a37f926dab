"""How long to wait before the next connection. Counts; reads no clock and does not sleep."""

from __future__ import annotations

import random
from collections.abc import Callable

FIRST_S, LONGEST_S = 0.1, 10.0
# where a match waits: its seat is kept for some seconds (`BATTLEBOT_NODE_GRACE`), and its clock may go on
LONGEST_IN_MATCH_S, IN_MATCH_ATTEMPTS = 2.0, 20
_RANDOM = random.SystemRandom()
_DOUBLINGS = 20  # far beyond LONGEST_S; keeps the power small


class Backoff:
    """Exponential back-off with jitter: 0.1 s, doubled for each attempt, 10 s at most, each between half and whole.

    Where a match waits it is 2 s at most, for as long as the match is likely to wait: some half a minute.
    The jitter is there so that a thousand bots do not come back in the same millisecond.
    """

    def __init__(self, dice: Callable[[], float] = _RANDOM.random) -> None:
        self._dice = dice
        self._attempts = 0

    def reset(self) -> None:
        """The server is well again: the next wait is the shortest."""
        self._attempts = 0

    def next_s(self, at_least_s: float = 0.0, in_match: bool = False) -> float:
        """Seconds to wait before the next attempt; `at_least_s` raises the whole that the jitter takes from."""
        longest_s = LONGEST_IN_MATCH_S if in_match and self._attempts < IN_MATCH_ATTEMPTS else LONGEST_S
        whole_s = max(at_least_s, min(longest_s, FIRST_S * 2.0 ** min(self._attempts, _DOUBLINGS)))
        self._attempts += 1
        return whole_s * (0.5 + self._dice() / 2)

    def soon_s(self, in_match: bool = False) -> float:
        """No wait at all for the first attempt after a reset; then as `next_s`, so that no loop gets tight."""
        if self._attempts:
            return self.next_s(in_match=in_match)
        self._attempts = 1
        return 0.0
