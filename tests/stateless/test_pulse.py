"""How long NATS was silent, measured at what the test lets come back, and come otherwise."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from itertools import count

import pytest

from battlebot.stateless.pulse import BEAT_S, SLOW_BEATS, Pulse

ENOUGH = 4 * SLOW_BEATS


async def measured(delay_s: float | None, heard: Callable[[], int]) -> float:
    """The silence of so many beats, where each echo comes after `delay_s`; None: never."""
    looks = count()

    async def send(token: str) -> None:
        if delay_s is not None:
            asyncio.get_running_loop().call_later(delay_s, pulse.came, token)

    pulse = Pulse(send, heard)
    await pulse.measure(lambda: next(looks) < ENOUGH)
    return pulse.silent_s


def test_who_does_not_answer_is_silent() -> None:
    """From the first beat on."""
    assert asyncio.run(measured(None, lambda: 0)) == pytest.approx((ENOUGH - 1) * BEAT_S)


def test_who_is_far_away_is_not_silent() -> None:
    """Else no bot behind it would ever be late."""
    assert asyncio.run(measured(2.5 * BEAT_S, lambda: 0)) == 0


def test_who_is_kept_from_answering_by_what_others_send_is_not_silent() -> None:
    """A bot gains no time by sending much."""
    messages = count()
    assert asyncio.run(measured(None, lambda: next(messages))) == 0
