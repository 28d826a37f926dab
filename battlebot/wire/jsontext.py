"""JSON as it may arrive from outside and as it leaves. No sockets.

What is refused here would break something further in. MongoDB holds 64-bit integers and no NUL in a key; its driver
reads an object with the key `$ref` back as something that is no JSON. No board is indexed with a million brackets.
"""

from __future__ import annotations

import json
from typing import Any

import orjson

from battlebot.errors import BadMessage

INT64_LOW, INT64_HIGH = -(2**63), 2**63 - 1
UINT64_DIGITS = 20
BIG_INTEGER = "An integer must fit into 64 bits."


def decode_object(text: str | bytes, max_nesting: int) -> dict[str, Any]:
    """The JSON object in `text`; of a key that repeats, the last counts.

    Raises BadMessage for anything else: no JSON (NaN and lone surrogates are none), no object, nesting deeper than
    `max_nesting`, integers of more than 64 bits, a NUL in a key, the key `$ref`.
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
    if _check(value, max_nesting):
        # orjson makes a float of an integer beyond 64 bits; only the text tells it from a float
        json.loads(text, parse_int=_checked_int)
    return value


def _check(value: object, levels: int) -> bool:
    """Raises BadMessage; else answers whether there is a float in it that may have been an integer."""
    suspect = False
    if isinstance(value, dict | list):
        if levels == 0:
            raise BadMessage("This JSON is nested too deeply.")
        for key in value if isinstance(value, dict) else ():
            if "\0" in key or key == "$ref":
                raise BadMessage("A key must not hold a NUL character, nor be $ref.")
        for inner in value.values() if isinstance(value, dict) else value:
            if inner.__class__ is not str and _check(inner, levels - 1):
                suspect = True
    elif isinstance(value, float):
        suspect = abs(value) >= 2.0**63
    elif isinstance(value, int) and not INT64_LOW <= value <= INT64_HIGH:
        raise BadMessage(BIG_INTEGER)
    return suspect


def _checked_int(digits: str) -> int:
    # int() of very many digits is slow, or refused
    if len(digits) > UINT64_DIGITS or not INT64_LOW <= int(digits) <= INT64_HIGH:
        raise BadMessage(BIG_INTEGER)
    return int(digits)


def encode(value: object) -> str:
    """The JSON text of a value made of dicts with string keys, lists and scalars."""
    return orjson.dumps(value).decode()
