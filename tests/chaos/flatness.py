"""Whether a measured quantity stays level: a line through its samples after the warm-up. Pure."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

Sample = tuple[float, float]  # seconds, value


@dataclass(frozen=True)
class Trend:
    """The line through the samples: its value in the middle, and how much it rises from the first to the last."""

    mean: float
    growth: float
    seconds: float

    def is_flat(self, share: float, least: float) -> bool:
        """Returns whether it grows by at most this share of its mean, or by at most `least`, which is noise."""
        return self.growth <= max(share * self.mean, least)


def trend(samples: Sequence[Sample], warm_up_s: float) -> Trend:
    """Fits by least squares the samples from `warm_up_s` on. Raises ValueError for fewer than three samples."""
    kept = [(at_s, value) for at_s, value in samples if at_s >= warm_up_s]
    if len(kept) < 3:
        raise ValueError(f"{len(kept)} samples after a warm-up of {warm_up_s:g} s are too few")
    mean_s = sum(at_s for at_s, _ in kept) / len(kept)
    mean = sum(value for _, value in kept) / len(kept)
    spread = sum((at_s - mean_s) ** 2 for at_s, _ in kept)
    slope = sum((at_s - mean_s) * (value - mean) for at_s, value in kept) / spread
    seconds = kept[-1][0] - kept[0][0]
    return Trend(mean, slope * seconds, seconds)
