"""JSON from outside, decoded and checked, and JSON to be sent. No sockets.

It refuses what would cause failures later. MongoDB allows no NUL in a key; its driver decodes an object with the key
`$ref` as something other than JSON. No game needs very deep nesting. Integers of more than 64 bits, which MongoDB
cannot store either, become floats, as in JavaScript.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import orjson

from battlebot.errors import BadMessage
from battlebot.storable import INT64_HIGH, is_storable_key

BOM = b"\xef\xbb\xbf"  # which a .NET StreamWriter of Encoding.UTF8 puts first, and no editor shows
TOO_LARGE = "number is infinity"  # orjson has no other sign of a number that no float can hold
NOT_UTF8 = "not valid UTF-8"  # nor of bytes in another encoding, such as PowerShell's


def decode_object(text: str | bytes, max_nesting: int) -> dict[str, Any]:
    """Decode the JSON object in `text`; of duplicate keys the last counts.

    Raises BadMessage for invalid JSON (including NaN, lone surrogates and numbers that no float can hold), other
    values than objects, nesting deeper than `max_nesting`, a NUL in a key, and the key `$ref`.
    """
    value = decode_value(text, max_nesting)
    if not isinstance(value, dict):
        raise BadMessage("This is not a JSON object.")
    return value


def decode_value(text: str | bytes, max_nesting: int) -> Any:
    """Like `decode_object`, for any JSON value."""
    try:
        value = orjson.loads(text)
    except orjson.JSONDecodeError as error:
        if TOO_LARGE in error.msg:
            raise BadMessage("This JSON holds a number that is too large.") from None
        if NOT_UTF8 in error.msg:
            raise BadMessage("This is not JSON in UTF-8.") from None
        if text[:3] == BOM or text[:1] == BOM.decode():
            raise BadMessage("This is not JSON: a byte order mark stands before it.") from None
        raise BadMessage("This is not JSON.") from None
    return _with_floats(value) if _check(value, max_nesting) else value


def is_deeper(value: object, levels: int) -> bool:
    """Whether a JSON value holds arrays and objects nested more than `levels` deep."""
    if not isinstance(value, dict | list):
        return False
    return levels == 0 or any(
        is_deeper(one, levels - 1) for one in (value.values() if isinstance(value, dict) else value)
    )


def _check(value: object, levels: int) -> bool:
    """Return whether the value contains an integer above INT64_HIGH. Raises BadMessage for what is refused."""
    inner: Iterable[object]
    if isinstance(value, dict):
        for key in value:
            if not is_storable_key(key):
                raise BadMessage("A key must not hold a NUL character, nor be $ref.")
        inner = value.values()
    elif isinstance(value, list):
        inner = value
    else:
        # orjson itself turns integers below INT64_LOW or beyond 64 bits into floats
        return isinstance(value, int) and value > INT64_HIGH
    if levels == 0:
        raise BadMessage("This JSON is nested too deeply.")
    large = False
    for one in inner:
        if one.__class__ is not str and _check(one, levels - 1):
            large = True
    return large


def _with_floats(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _with_floats(inner) for key, inner in value.items()}
    if isinstance(value, list):
        return [_with_floats(inner) for inner in value]
    return float(value) if isinstance(value, int) and value > INT64_HIGH else value


def encode(value: object) -> str:
    """The JSON text of a value made of dicts with string keys, lists and scalars."""
    return orjson.dumps(value).decode()
