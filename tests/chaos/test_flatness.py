"""The line through the samples of a soak."""

from __future__ import annotations

import random

import pytest

from chaos.flatness import Sample, trend


def noisy(per_s: float, warm_up: float = 0.0) -> list[Sample]:
    """A hundred samples in a thousand seconds around 1000, growing; `warm_up` more until second 300."""
    dice = random.Random(1)
    return [
        (at_s, 1000 + per_s * at_s + dice.uniform(-20, 20) + (warm_up * at_s if at_s < 300 else 0))
        for at_s in range(0, 1000, 10)
    ]


@pytest.mark.parametrize(
    ("samples", "flat"),
    [
        (noisy(0.0), True),
        (noisy(0.0, warm_up=2.0), True),
        (noisy(-0.5), True),
        (noisy(0.2), False),
        (noisy(0.2, warm_up=2.0), False),
    ],
    ids=["still", "only warming up", "shrinking", "leaking", "leaking after warming up"],
)
def test_what_grows_after_the_warm_up_is_not_flat(samples: list[Sample], flat: bool) -> None:
    """By more than five parts in a hundred, here."""
    assert trend(samples, warm_up_s=300.0).is_flat(0.05, 0.0) is flat


def test_a_little_growth_of_something_small_is_noise() -> None:
    """Two files more."""
    assert trend([(float(i), 10.0 + i / 50) for i in range(100)], 0.0).is_flat(0.05, 3.0)


def test_too_few_samples_say_nothing() -> None:
    """That is an error, not a pass."""
    with pytest.raises(ValueError, match="too few"):
        trend([(0.0, 1.0), (1.0, 1.0)], 0.0)
