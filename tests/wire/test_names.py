"""Names: what may stand in a URL, a page and a log line, and nothing that looks like nothing."""

from __future__ import annotations

import unicodedata
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from battlebot.errors import BadName
from battlebot.wire.names import MAX_NAME_LENGTH, checked_label, checked_name

GOOD = [
    "a",
    "x" * 64,
    "My bot 2.0",
    "...",
    "-",
    "<script>",
    "Zoë",
    "日本語",
    "🤖" * 64,
    "❤️",
    'a"b',
    "a'b",
    "%2e%2e",
    "null",
    "$set",
    "a.b",
    "Ольга",
    "Ελλάδα 2",
    "ひらがなとカタカナー漢字 v2",
    "한국어 bot",
    "עברית",
    "العربية",
    "हिन्दी",
    "ไทย",
    "Việt Nam",
    "o\u02bcbot",
    "५६",
    "\u2764\ufe0f\u2600\ufe0f",
]

BAD = [
    ("", "1 to 64 characters"),
    ("x" * 65, "1 to 64 characters"),
    ("🤖" * 65, "1 to 64 characters"),
    (" a", "blank"),
    ("a ", "blank"),
    (" ", "blank"),
    (".", "dot"),
    ("..", "dot"),
    ("$ref", "a word of MongoDB's own"),
    ("a/b", "slashes"),
    ("a\\b", "slashes"),
    ("a\0b", "control"),
    ("a\nb", "control"),
    ("a\x1b[31m", "control"),
    ("a\x7fb", "control"),
    ("a\x85b", "control"),
    ("a\u200bb", "invisible"),
    ("a\u202eb", "invisible"),
    ("a\u2028b", "invisible"),
    ("a\u00a0b", "invisible"),
    ("\ufeffa", "invisible"),
    ("\ud800", "invisible"),
    ("\u3164", "invisible"),
    ("a\u115f", "invisible"),
    ("\u2800\u2800", "invisible"),
    ("Zoe\u0308", "normal form C"),
    ("\u212b", "normal form C"),
    ("\uff21bot", "plain characters: 'Abot'"),
    ("ﬁsh", "plain characters: 'fish'"),
    ("\U0001d41bot", "plain characters: 'bot'"),
    ("x\u00b2", "plain characters: 'x2'"),
    ("a\ufe0f", "invisible"),
    ("a\ufe01", "invisible"),
    ("\ufe0f", "invisible"),
    ("a\U000e0101", "invisible"),
    ("a\u180b", "invisible"),
    ("a\u200d", "invisible"),
    ("a\u2066b", "invisible"),
    ("a\u061cb", "invisible"),
    ("a\U000e0041", "invisible"),
    ("\u0301a", "accent"),
    ("x\u0301\u0301", "accent"),
    ("x\u0316\u0317\u0318\u0319\u031c", "accent"),
    ("p\u0430ypal", "mix letters of CYRILLIC and LATIN"),
    ("\u03bfk", "mix letters of GREEK and LATIN"),
    ("日本\u0430", "mix letters of CJK and CYRILLIC"),
    ("1\u0967", "mix digits"),
    (None, "must be a string"),
    (7, "must be a string"),
    (True, "must be a string"),
    (["a"], "must be a string"),
    (b"a", "must be a string"),
]


@pytest.mark.parametrize("name", GOOD)
def test_a_name_comes_back_as_it_is(name: str) -> None:
    """Nothing is trimmed or folded in silence: the bot is known by what it sent."""
    assert checked_name(name, "bot_id") == name


@pytest.mark.parametrize(("name", "sentence"), BAD, ids=lambda value: ascii(value)[:24])
def test_what_is_no_name_is_refused_by_field_and_rule(name: Any, sentence: str) -> None:
    """The sentence begins with the field, and the details name it for a program."""
    with pytest.raises(BadName) as caught:
        checked_name(name, "contest")
    assert str(caught.value).startswith("contest must ")
    assert sentence in str(caught.value)
    assert caught.value.as_dict() | {"error": ""} == {"error": "", "code": "bad-name", "field": "contest"}


@given(st.text(max_size=MAX_NAME_LENGTH + 2))
def test_any_text_is_a_safe_name_or_refused(text: str) -> None:
    """What is let through can be written, shown, and put into a path as one segment."""
    try:
        name = checked_name(text, "owner")
    except BadName:
        return
    assert 1 <= len(name.encode()) <= 4 * MAX_NAME_LENGTH
    assert name.isprintable()
    assert name == name.strip() == unicodedata.normalize("NFC", name) == unicodedata.normalize("NFKC", name) == text
    assert not {"/", "\\"} & set(name)
    assert name not in {".", ".."}


@pytest.mark.parametrize(
    "name", ["a", "x" * 64, " my.name ", "a b/c", "..", "e\u0301\u0302", "\uff46\uff55\uff4c\uff4c", "Zоё"]
)
def test_a_player_of_an_original_client_may_be_called_otherwise(name: str) -> None:
    """Up to 64 characters, slashes, blanks, other forms and mixtures of letters as well."""
    assert checked_label(name, "username") == name


@pytest.mark.parametrize(
    "name",
    ["", "x" * 65, "$ref", *" \u3000\0\u3164", "a\n", "a\u200bb", "\u202ex", "a\ufe0f", None, 3, True, ["x"]],
    ids=ascii,
)
def test_a_player_of_an_original_client_is_seen_all_the_same(name: Any) -> None:
    """In one line; the field is named."""
    with pytest.raises(BadName, match="username") as refused:
        checked_label(name, "username")
    assert refused.value.details["field"] == "username"


@pytest.mark.parametrize("mark", ["\u0301", "\u0489"], ids=["above", "around"])
def test_a_letter_may_bear_four_different_accents(mark: str) -> None:
    """As UTS 39 has it, and no fifth; no accent twice, whether it stands above a letter or around it."""
    accents = "\u0316\u0317\u0318" + mark
    name = unicodedata.normalize("NFKC", "x" + accents)
    assert checked_name(name, "bot_id") == name
    for many in (accents + "\u0319", mark * 2):
        with pytest.raises(BadName, match="accents"):
            checked_name(unicodedata.normalize("NFKC", "x" + many), "bot_id")
