"""Updates on the wire: the exact shape, since original clients index `state` in every message."""

from __future__ import annotations

import json
from typing import Any

import pytest

from battlebot.wire.updates import Update, complaint, notice

STATE = {"players": ["a", "b"], "nextPlayer": "a", "complete": False}
ABOUT = {"id": "m1", "version": 4, "turnTimeoutMs": 3000, "remainingMs": 1235, "strikes": 1}


def an_update(**changes: Any) -> Update:
    """An update in the middle of a match."""
    fields: dict[str, Any] = {
        "bot": "a",
        "match_id": "m1",
        "version": 4,
        "revision": 9,
        "state": STATE,
        "turn": None,
        "asks": True,
        "final": False,
        "remaining_s": 1.2345,
        "turn_timeout_s": 3.0,
        "strikes": 1,
    }
    return Update(**(fields | changes))


@pytest.mark.parametrize(
    ("changes", "expected"),
    [
        ({}, {"state": STATE, "match": {**ABOUT, "remainingMs": 1234}}),
        (
            {"turn": {"n": 1, "player": "a", "valid": True}, "remaining_s": 1.235},
            {"state": STATE, "match": ABOUT, "turn": {"n": 1, "player": "a", "valid": True}},
        ),
        ({"turn": {}, "remaining_s": 1.235}, {"state": STATE, "match": ABOUT, "turn": {}}),
        ({"remaining_s": -0.5}, {"state": STATE, "match": {**ABOUT, "remainingMs": 0}}),
        ({"remaining_s": 1.235, "asks": False}, {"state": STATE, "match": ABOUT}),
        (
            {"remaining_s": 1.235, "leeway_s": 0.5},
            {"state": STATE, "match": {**ABOUT, "turnTimeoutMs": ABOUT["turnTimeoutMs"] - 500, "remainingMs": 735}},
        ),
        (
            {"remaining_s": 1.235, "series": {"id": "s", "number": 7}},
            {"state": STATE, "match": {**ABOUT, "series": {"id": "s", "number": 7}}},
        ),
        ({"remaining_s": 1.235, "final": True, "fault": "bot"}, {"state": STATE, "match": {**ABOUT, "fault": "bot"}}),
        ({"remaining_s": 1.235, "missed": ()}, {"state": STATE, "match": ABOUT, "missed": []}),
        ({"remaining_s": 1.235, "missed": ({"n": 1},)}, {"state": STATE, "match": ABOUT, "missed": [{"n": 1}]}),
        (
            {"remaining_s": 1.235, "code": "stale", "error": "Too late."},
            {"state": STATE, "match": ABOUT, "code": "stale", "error": "Too late."},
        ),
    ],
    ids=lambda value: repr(value)[:40],
)
def test_the_message_is_exactly_this(changes: dict[str, Any], expected: dict[str, Any]) -> None:
    """`state` always; `turn` only where there is one; times are whole milliseconds, never below 0."""
    message = json.loads(an_update(**changes).text)
    assert message == expected
    assert type(message["match"]["remainingMs"]) is type(message["match"]["turnTimeoutMs"]) is int


@pytest.mark.parametrize("more", [{}, {"turn": {"n": 1}}, {"code": "stale", "error": "Too late."}, {"missed": ()}])
def test_what_tells_only_the_state_repeats_it(more: dict[str, Any]) -> None:
    """All else is told to a bot that knows the version as well."""
    assert an_update(**more).repeats is (not more)


def test_what_is_not_about_a_match_has_no_state() -> None:
    """These go only to bots that opted in; an original client would index `state` in them."""
    assert json.loads(notice("Wait.", "waiting")) == {"notice": "Wait.", "code": "waiting"}
    assert json.loads(complaint("No.", "rate")) == {"error": "No.", "code": "rate"}
