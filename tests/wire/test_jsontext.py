"""JSON from outside: everything that would break something further in is refused at the door."""

from __future__ import annotations

import json
from contextlib import suppress
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from battlebot.errors import BadMessage
from battlebot.storable import INT64_HIGH, INT64_LOW
from battlebot.wire.jsontext import decode_object, encode, is_deeper

NESTING = 16


def nested(levels: int, opening: str = '{"a":', inner: str = "1", closing: str = "}") -> str:
    """An object in objects, `levels` deep."""
    return opening * levels + inner + closing * levels


GOOD: list[tuple[str | bytes, dict[str, Any]]] = [
    ("{}", {}),
    (b'  {"a": 1}\n', {"a": 1}),
    ('{"a": 1, "a": 2}', {"a": 2}),
    ('{"a": {"b": 1}, "a": {}}', {"a": {}}),
    (f'{{"a": [{INT64_LOW}, {INT64_HIGH}]}}', {"a": [INT64_LOW, INT64_HIGH]}),
    ('{"a": 1e308, "b": 1e300, "c": -0.0}', {"a": 1e308, "b": 1e300, "c": 0.0}),
    ('{"a": 18446744073709551616.0}', {"a": 2.0**64}),
    ('{"a": 1e30, "b": 12}', {"a": 1e30, "b": 12}),
    (f'{{"a": {INT64_HIGH + 1}, "b": {INT64_HIGH}}}', {"a": 2.0**63, "b": INT64_HIGH}),
    (f'{{"a": {INT64_LOW - 1}, "b": {INT64_LOW}}}', {"a": -(2.0**63), "b": INT64_LOW}),
    (f'{{"a": [{{"b": {2**64 - 1}}}, true, 7]}}', {"a": [{"b": 2.0**64}, True, 7]}),
    (f'{{"a": [1e30, -{2**64}], "b": {"9" * 300}}}', {"a": [1e30, -(2.0**64)], "b": 1e300}),
    (f'{{"a": {2**63}, "b": "x", "c": null, "d": 0.5}}', {"a": 2.0**63, "b": "x", "c": None, "d": 0.5}),
    ('{"a": "\\u0000", "b": "18446744073709551616"}', {"a": "\0", "b": str(2**64)}),
    ('{"a": "\\ud83e\\udd16", "\\u00e9": "é"}', {"a": "🤖", "é": "é"}),
    ('{"": true, "a.b": null, "$set": false}', {"": True, "a.b": None, "$set": False}),
    ('{"a": "$ref"}', {"a": "$ref"}),
    (nested(NESTING), json.loads(nested(NESTING))),
]

BAD: list[tuple[str | bytes, str]] = [
    ("", "not JSON"),
    ("hello", "not JSON"),
    ("{'a': 1}", "not JSON"),
    ('{"a": 1} {}', "not JSON"),
    ('{"a": 1,}', "not JSON"),
    ("\ufeff{}", "not JSON: a byte order mark stands before it."),
    (b"\xef\xbb\xbf[]", "not JSON: a byte order mark stands before it."),
    ('{"a": NaN}', "not JSON"),
    ('{"a": -Infinity}', "not JSON"),
    ('{"a": 1e999}', "a number that is too large"),
    ('{"a": [1, -' + "9" * 400 + "]}", "a number that is too large"),
    ('{"a": 01}', "not JSON"),
    ('{"a": "\\ud800"}', "not JSON"),
    ('{"\\udfff": 1}', "not JSON"),
    ('{"a": "\ud800"}', "not JSON"),
    (b'{"a": "\xff"}', "not JSON in UTF-8."),
    (b'{"a": "\xed\xa0\x80"}', "not JSON in UTF-8."),
    ("{}".encode("utf-16"), "not JSON in UTF-8."),
    (b"\x00\x01\x02", "not JSON"),
    ("[" * 100_000, "not JSON"),
    (nested(5000), "not JSON"),
    ("null", "not a JSON object"),
    ("[]", "not a JSON object"),
    ("true", "not a JSON object"),
    ("1", "not a JSON object"),
    ('"a"', "not a JSON object"),
    (nested(NESTING + 1), "nested too deeply"),
    (nested(NESTING, inner="[]"), "nested too deeply"),
    (nested(NESTING - 1, inner="[[]]"), "nested too deeply"),
    (f'{{"a": {"9" * 400}}}', "too large"),
    ('{"a\\u0000b": 1}', "NUL"),
    ('{"a": [{"\\u0000": 1}]}', "NUL"),
    ('{"$ref": "games", "$id": 1}', "$ref"),
    ('{"a": [{"$ref": 1}]}', "$ref"),
]


def short(value: object) -> str:
    """A test's id of bearable length."""
    return ascii(value)[:30]


@pytest.mark.parametrize(("text", "value"), GOOD, ids=short)
def test_an_object_is_read(text: str | bytes, value: dict[str, Any]) -> None:
    """Of a key that repeats the last counts; numbers keep their kind."""
    read = decode_object(text, NESTING)
    assert read == value
    assert repr(read).replace("-0.0", "0.0") == repr(value)


@pytest.mark.parametrize(("text", "sentence"), BAD, ids=short)
def test_what_would_break_something_is_refused(text: str | bytes, sentence: str) -> None:
    """Always BadMessage, never an error of the parser's or of recursion."""
    with pytest.raises(BadMessage, match=sentence.replace("$", r"\$")):
        decode_object(text, NESTING)


@pytest.mark.parametrize("levels", [1, 2, 16, 180])
def test_the_limit_of_nesting_is_exact(levels: int) -> None:
    """An object of scalars is one level."""
    decode_object(nested(levels), levels)
    with pytest.raises(BadMessage, match="nested"):
        decode_object(nested(levels + 1), levels)


@pytest.mark.parametrize("levels", [1, 2, 16, 180])
def test_how_deep_a_value_is_that_others_have_decoded_is_told_as_exactly(levels: int) -> None:
    """By the same count; scalars have no level."""
    assert not is_deeper(json.loads(nested(levels)), levels)
    assert is_deeper(json.loads(nested(levels + 1)), levels)
    assert not is_deeper("[[[", 0)
    for wide in ({"a": 1, "b": [[]]}, [[], [1, {"a": []}], 2]):
        assert is_deeper(wide, 2)
        assert not is_deeper(wide, 4)
    assert not is_deeper([], 1)


values = st.recursive(
    st.none() | st.booleans() | st.floats(allow_nan=False, allow_infinity=False) | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=6), inner, max_size=3),
    max_leaves=10,
)


@given(st.dictionaries(st.text(), values | st.integers(INT64_LOW, INT64_HIGH)))
def test_what_is_written_is_read_again(value: dict[str, Any]) -> None:
    """`encode` and `decode_object` are inverse, but for the keys that are refused."""
    try:
        assert decode_object(encode(value), 50) == value
    except BadMessage:
        assert "\\u0000" in encode(value) or "$ref" in encode(value)


@given(st.text() | st.binary())
def test_no_bytes_raise_anything_else(text: str | bytes) -> None:
    """Whatever arrives is an object, or BadMessage."""
    with suppress(BadMessage):
        assert isinstance(decode_object(text, NESTING), dict)
