"""Names that look alike, and names that only nearly do."""

from __future__ import annotations

import string
import sys

import pytest
from hypothesis import given
from hypothesis import strategies as st

from battlebot.arena.names.lookalikes import likeness

ALIKE = [
    ("ace", "асе", "Cyrillic"),
    ("HAT", "НАТ", "Cyrillic capitals"),
    ("HAT", "ΗΑΤ", "Greek capitals"),
    ("НАТ", "ΗΑΤ", "Cyrillic and Greek, neither of them ASCII's"),
    ("I", "І", "a capital I stays one"),
    ("I", "Ι", "in Greek too"),
    ("Zoë", "Zоё", "with the same accent"),
    ("a-b", "a\u2010b", "another hyphen"),
    ("a'b", "a\u2019b", "another apostrophe"),
    ("❤", "❤\ufe0f", "in black and in colour"),
    ("Φ", "Ф", "no letter of ASCII's looks like them"),
    ("go", "ɡo", "letters of one script"),
]
APART = [
    ("bot1", "botl"),
    ("bot0", "botO"),
    ("corn", "com"),
    ("Bot", "bot"),
    ("Zoe", "Zoë"),
    ("日本", "日木"),
    ("l", "І"),
]


@pytest.mark.parametrize(("one", "other", "why"), ALIKE)
def test_names_that_look_alike_have_one_key(one: str, other: str, why: str) -> None:
    """The one's and the other's."""
    assert one != other
    assert likeness(one) == likeness(other)


@pytest.mark.parametrize(("one", "other"), APART)
def test_names_that_look_a_little_different_have_two(one: str, other: str) -> None:
    """Within ASCII all names are different, as on the original server."""
    assert likeness(one) != likeness(other)


@given(st.text(string.printable))
def test_an_ascii_name_is_its_own_key(name: str) -> None:
    """So nobody who writes plain names ever notices any of this."""
    assert likeness(name) == name


def test_every_character_has_a_key_that_is_its_own_key() -> None:
    """Folding ends for each of them, and folding twice changes nothing: one key for all that look alike."""
    for char in map(chr, range(sys.maxunicode + 1)):
        key = likeness(char)
        assert likeness(key) == key
