"""A clock that tests set, for parts that are told the time by a function."""

from __future__ import annotations


class Clock:
    """Stands at `now_s` until a test moves it."""

    def __init__(self, now_s: float) -> None:
        self.now_s = now_s

    def __call__(self) -> float:
        return self.now_s
