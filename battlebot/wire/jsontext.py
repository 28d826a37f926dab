"""JSON as it may arrive from outside and as it leaves. No sockets.

What is refused here would break something further in. MongoDB holds no NUL in a key; its driver reads an object with
the key `$ref` back as something that is no JSON. No board is indexed with a million brackets. Integers of more than 64
bits, which MongoDB holds neither, become floats, as they are in JavaScript.
"""

from __future__ import annotations

from typing import Any

import orjson

from battlebot.errors import BadMessage

INT64_LOW, INT64_HIGH = -(2**63), 2**63 - 1


def decode_object(text: str | bytes, max_nesting: int) -> dict[str, Any]:
    """The JSON object in `text`; of a key that repeats, the last counts.

    Raises BadMessage for anything else: no JSON (NaN, lone surrogates and numbers that no float holds are none), no
    object, nesting deeper than `max_nesting`, a NUL in a key, the key `$ref`.
    """
    value = decode_value(text, max_nesting)
    if not isinstance(value, dict):
        raise BadMessage("This is not a JSON object.")
    return value


def decode_value(text: str | bytes, max_nesting: int) -> Any:
    """As `decode_object`, of any JSON value."""
    try:
        value = orjson.loads(text)
    except orjson.JSONDecodeError:
        raise BadMessage("This is not JSON.") from None
    return _with_floats(value) if _check(value, max_nesting) else value


def _check(value: object, levels: int) -> bool:
    """Raises BadMessage; else answers whether there is an integer in it that is too large."""
    large = False
    if isinstance(value, dict | list):
        if levels == 0:
            raise BadMessage("This JSON is nested too deeply.")
        for key in value if isinstance(value, dict) else ():
            if "\0" in key or key == "$ref":
                raise BadMessage("A key must not hold a NUL character, nor be $ref.")
        for inner in value.values() if isinstance(value, dict) else value:
            if inner.__class__ is not str and _check(inner, levels - 1):
                large = True
    elif isinstance(value, int):
        large = value > INT64_HIGH  # of those below INT64_LOW, and beyond 64 bits, orjson makes floats itself
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
