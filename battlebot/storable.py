"""What MongoDB can keep of JSON: the one rule for what arrives from outside and for what a game makes. Pure."""

from __future__ import annotations

INT64_LOW, INT64_HIGH = -(2**63), 2**63 - 1
# of a state as JSON. In MongoDB short integers take six times as much; a document there holds 16 MB, turns included
SURELY_STORED_BYTES = 2_000_000
MAX_STATE_BYTES = 5_000_000
MAX_STORED_BYTES = 12_000_000
MOST_ADDED_BYTES = 14  # to what a value has as JSON: its type, its number in an array, a short number's full width
MAX_LEVELS = 100  # MongoDB's own promise


def is_storable_key(key: str) -> bool:
    """Returns whether an object may have the key: not with a NUL; `$ref` the driver reads as something else."""
    return "\0" not in key and key != "$ref"


def problem_of_storing(value: object, levels: int = MAX_LEVELS) -> str | None:
    """Returns why MongoDB cannot keep a value made of JSON's types, to be read after its name; None if it can."""
    if isinstance(value, str):
        return None if _is_text(value) else "has a text with half of a surrogate pair, which cannot be stored"
    if isinstance(value, int):
        is_kept = INT64_LOW <= value <= INT64_HIGH
        return None if is_kept else "has an integer of more than 64 bits, the sign included, which cannot be stored"
    if not isinstance(value, dict | list):
        return None
    if levels == 0:
        return f"is nested in more than {MAX_LEVELS} levels, which cannot be stored"
    inner = value
    if isinstance(value, dict):
        refused = [key for key in value if not is_storable_key(key)]
        if refused:
            return f"has the key {refused[0]!r}, which cannot be stored"
        inner = [*value, *value.values()]
    problems = (problem_of_storing(one, levels - 1) for one in inner)
    return next((problem for problem in problems if problem is not None), None)


def problem_of_size(text: bytes, spare: int = 0) -> str | None:
    """Like `problem_of_storing`, for a state whose JSON is `text`; it may have so many bytes to spare."""
    size = len(text)
    if size <= SURELY_STORED_BYTES + spare:
        return None
    # each value but the first follows one of these
    values = 1 + text.count(b",") + text.count(b"[") + text.count(b"{")
    if size <= MAX_STATE_BYTES + spare and size + MOST_ADDED_BYTES * values <= MAX_STORED_BYTES + spare:
        return None
    return f"has {size:,} bytes as JSON, which are too many to be stored"


def _is_text(value: str) -> bool:
    try:
        value.encode()
    except UnicodeEncodeError:
        return False
    return True
