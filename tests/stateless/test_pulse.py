"""How long NATS was silent, measured at what the test lets come back, and come otherwise."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable
from itertools import count

import pytest

from battlebot.stateless.nats.pulse import BEAT_S, MANY, SLOW_S, Pulse

ENOUGH = 24


async def measured(delay_s: float | None, heard: Callable[[], int], distance_s: float = 0.0) -> float:
    """The silence of so many beats, where each echo comes after `delay_s`; None: never."""
    looks = count()

    async def send(token: str) -> None:
        if delay_s is not None:
            asyncio.get_running_loop().call_later(delay_s, pulse.came, token)

    pulse = Pulse(send, heard)
    pulse.took(distance_s)
    await pulse.measure(lambda: next(looks) < ENOUGH)
    return pulse.silent_s


def test_who_does_not_answer_is_silent() -> None:
    """From the first beat on."""
    began_s = time.monotonic()
    silent_s = asyncio.run(measured(None, lambda: 0))
    assert (ENOUGH - 3) * BEAT_S <= silent_s <= time.monotonic() - began_s


@pytest.mark.parametrize("way_s", [0.05, SLOW_S + 0.2])
def test_who_is_far_away_is_not_silent(way_s: float) -> None:
    """Else no bot behind it would ever be late."""
    assert asyncio.run(measured(way_s, lambda: 0, 2 * way_s)) == 0


def test_a_silence_begins_with_the_last_echo() -> None:
    """Not with what is sent next: what NATS was silent before is the same silence."""

    async def silence() -> float:
        loop, sent, looks = asyncio.get_running_loop(), count(), count()

        async def send(token: str) -> None:
            if next(sent) == 1:
                # more than SLOW_S after the echo before, and less after this one was sent
                loop.call_later(SLOW_S - BEAT_S / 2, pulse.came, token)
            else:
                pulse.came(token)

        pulse = Pulse(send, lambda: 0)
        await pulse.measure(lambda: next(looks) < ENOUGH)
        return pulse.silent_s

    assert asyncio.run(silence()) >= SLOW_S


@pytest.mark.parametrize(("messages", "silent"), [(1, True), (MANY, True), (MANY + 1, False)])
def test_only_what_an_echo_may_stand_behind_is_no_silence(messages: int, silent: bool) -> None:
    """A bot gains no time by sending much; where little comes in, it is our own way to NATS that is held."""
    heard = count(0, messages)
    assert (asyncio.run(measured(None, lambda: next(heard))) > 0) is silent


def test_what_this_process_is_late_is_not_counted_twice() -> None:
    """Who adds both up would give the bot as much again."""
    looks = count()

    async def never(token: str) -> None:
        pass

    async def silence() -> float:
        pulse = Pulse(never, lambda: 0, time.monotonic)  # late all the time
        await pulse.measure(lambda: next(looks) < ENOUGH)
        return pulse.silent_s

    assert asyncio.run(silence()) == 0
