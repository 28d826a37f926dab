"""docs/security.md against the settings: each limit is named there, with the default that it has."""

from __future__ import annotations

import re
from dataclasses import fields
from pathlib import Path

import pytest

from battlebot.config import Settings

PAGE = (Path(__file__).parents[2] / "docs" / "security.md").read_text()
SETTINGS = {row.metadata["env"]: row.default for row in fields(Settings)}
LIMITS = [
    *(env for env in SETTINGS if env.startswith("BATTLEBOT_MAX_") and env != "BATTLEBOT_MAX_STRIKES"),
    *(f"BATTLEBOT_{name}_TIMEOUT" for name in ("LOGIN", "SEND", "CLOSE", "HEADER", "BODY", "RESPONSE")),
    *("BATTLEBOT_REGISTRATIONS", "BATTLEBOT_REQUESTS", "BATTLEBOT_OUTBOX", "BATTLEBOT_PING_INTERVAL"),
    *("BATTLEBOT_CONTESTS", "BATTLEBOT_GAMES", "BATTLEBOT_BOT_ANSWER"),
    *("BATTLEBOT_RELOGIN_FREE", "BATTLEBOT_RELOGIN_DELAY", "BATTLEBOT_ORIGINS", "BATTLEBOT_TRUSTED_PROXIES"),
]
SHOWN = {16_384: "16 kB", 65_536: "64 kB", 4_194_304: "4 MB"}


def test_every_variable_that_the_page_names_exists() -> None:
    """A setting that was renamed is renamed there."""
    assert set(re.findall(r"BATTLEBOT_[A-Z_]+[A-Z]", PAGE)) <= SETTINGS.keys()


@pytest.mark.parametrize("env", sorted(set(LIMITS)))
def test_every_limit_is_on_the_page(env: str) -> None:
    """In its table with its default, or in a sentence."""
    rows = [row.split("|") for row in PAGE.splitlines() if row.startswith("|") and f"`{env}`" in row]
    assert rows or f"`{env}`" in PAGE
    default = SETTINGS[env]
    shown = SHOWN.get(default, f"{default:.10g}") if default else ""
    assert not rows or any(re.search(rf"(?<!\d){shown}(?!\d)", row[2] + row[4]) for row in rows), shown
