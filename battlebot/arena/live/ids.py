"""Random ids and seeds of new matches."""

from __future__ import annotations

import secrets


def new_match_id(now_s: float) -> str:
    """24 hex digits, as MongoDB's own ids look: the seconds since the epoch, then 64 random bits."""
    return f"{int(now_s):08x}{secrets.token_hex(8)}"


def new_seed() -> int:
    """A match's seed: a number that every JSON reader keeps exactly."""
    return secrets.randbits(53)
