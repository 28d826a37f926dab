"""The pages' colors: text is seen upon all that it stands on, by light and by dark (WCAG 2, level AA)."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

import battlebot.web

STYLE = (Path(battlebot.web.__file__).parent / "static" / "style.css").read_text()
LIGHT, DARK = (dict(re.findall(r"--([\w-]+): (#\w+);", block)) for block in re.findall(r":root \{(.*?)\}", STYLE, re.S))
TEXTS = ("ink", "quiet", "accent", "win", "loss", "seat-0", "seat-1", "seat-2", "seat-3")
GROUNDS = ("paper", "card", "gold")
ENOUGH = 4.5


def luminance(color: str) -> float:
    """The relative luminance of `#rgb` or `#rrggbb`, 0 to 1."""
    digits = color[1:] if len(color) == 7 else "".join(digit * 2 for digit in color[1:])
    parts = [int(digits[at : at + 2], 16) / 255 for at in (0, 2, 4)]
    red, green, blue = (part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in parts)
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


def contrast(one: str, other: str) -> float:
    """1 to 21."""
    dark, light = sorted((luminance(one), luminance(other)))
    return (light + 0.05) / (dark + 0.05)


@pytest.mark.parametrize("ground", GROUNDS)
@pytest.mark.parametrize("text", TEXTS)
def test_text_is_seen(text: str, ground: str) -> None:
    """Every color of text upon every ground."""
    for theme in (LIGHT, {**LIGHT, **DARK}):
        assert contrast(theme[text], theme[ground]) >= ENOUGH, (theme[text], theme[ground])
