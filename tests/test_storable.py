"""What a state takes in MongoDB is never more than the rule about its size supposes."""

from __future__ import annotations

from typing import Any

import bson
import pytest

from battlebot.storable import MAX_STORED_BYTES, problem_of_size
from battlebot.wire.jsontext import encode


@pytest.mark.parametrize(
    "value", [1, 2**40, 0.5, None, True, "", "x", "a,b", [], {}, [1], {"x": 1, "y": 22}, {"z": []}], ids=repr
)
def test_the_largest_state_of_a_kind_fits_into_a_document(value: Any) -> None:
    """Whether its bytes as JSON decide, or those that it may take there."""
    low, high = 1, 5_000_000
    while low < high:
        count = (low + high + 1) // 2
        fits = problem_of_size(encode({"x": [value] * count}).encode()) is None
        low, high = (count, high) if fits else (low, count - 1)
    assert len(bson.encode({"x": [value] * low})) <= MAX_STORED_BYTES
