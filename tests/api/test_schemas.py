"""What requests may hold, field by field. No server, no stores."""

from __future__ import annotations

from typing import Any

import pytest
from marshmallow import Schema, ValidationError

from battlebot.api.contestanswers import AuditEntry
from battlebot.api.schemas import BotRow, OfFault, Page, RecentPage, Registration, StoredMatch
from battlebot.errors import BadName

DEFAULTS = {"owner": "Anonymous", "url": None, "available": True}


@pytest.mark.parametrize(
    ("more", "read"),
    [
        ({}, {}),
        ({"owner": ""}, {}),
        ({"owner": None}, {"owner": None}),
        ({"owner": "Zoë"}, {"owner": "Zoë"}),
        ({"owner": "Даша Smith / ﬁve"}, {"owner": "Даша Smith / ﬁve"}),
        ({"url": None}, {}),
        ({"url": "x"}, {"url": "x"}),
        ({"available": False}, {"available": False}),
        ({"pass_hash": "5a", "game": 3}, {}),
    ],
)
def test_a_registration_is_a_name_and_what_else_is_given(more: dict[str, Any], read: dict[str, Any]) -> None:
    """Nobody's bot is Anonymous's; other keys are nobody's business."""
    assert Registration().load({"bot_id": "me", **more}) == {"bot_id": "me", **DEFAULTS, **read}


@pytest.mark.parametrize(
    ("more", "field", "rule"),
    [
        ({"bot_id": ...}, "bot_id", "required"),
        ({"bot_id": None}, "bot_id", "required"),
        ({"url": ""}, "url", "type"),
        ({"url": 3}, "url", "type"),
        ({"available": "true"}, "available", "type"),
        ({"available": 1}, "available", "type"),
    ],
)
def test_a_wrong_field_is_told_with_its_rule(more: dict[str, Any], field: str, rule: str) -> None:
    """In a sentence that names it."""
    fields = {key: value for key, value in {"bot_id": "me", **more}.items() if value is not ...}
    with pytest.raises(ValidationError) as refused:
        Registration().load(fields)
    ((wrong, about),) = refused.value.messages_dict.items()
    assert (wrong, about["rule"]) == (field, rule)
    assert about["sentence"].startswith(field)


@pytest.mark.parametrize("more", [{"bot_id": ""}, {"bot_id": 3}, {"owner": "a\u202eb"}, {"owner": 3}])
def test_a_name_that_is_none_has_an_error_of_its_own(more: dict[str, Any]) -> None:
    """That of all doors, which names the field."""
    with pytest.raises(BadName) as refused:
        Registration().load({"bot_id": "me", **more})
    assert refused.value.details["field"] == next(iter(more))


def test_a_page_is_as_large_as_is_said() -> None:
    """Thirty of a game's matches, as in the original; all of a contest's, up to a thousand, without the void ones."""
    assert RecentPage().load({}) == {"fault": None, "limit": 30, "before": None}
    assert Page().load({}) == {"fault": None, "limit": 1000, "before": None, "void": "false"}
    for limit in ("1", "0030", "1000"):
        assert RecentPage().load({"limit": limit})["limit"] == int(limit)
    for limit in ("0", "1001", "-1", "+1", "1.0", " 1", "", "x", "٣", "0000000001"):
        with pytest.raises(ValidationError, match="limit must be a whole number from 1 to 1000"):
            RecentPage().load({"limit": limit})


@pytest.mark.parametrize(
    ("field", "good", "bad"),
    [("fault", ["none", "bot", "network", "server"], ["Bot", "", "void"]), ("void", ["true", "false"], ["1", "True"])],
)
def test_a_word_is_one_of_a_few(field: str, good: list[str], bad: list[str]) -> None:
    """Written as it is."""
    schema = Page() if field == "void" else OfFault()
    assert [schema.load({field: word})[field] for word in good] == good
    for word in bad:
        with pytest.raises(ValidationError, match="must be"):
            schema.load({field: word})


@pytest.mark.parametrize("schema", [AuditEntry, BotRow, StoredMatch])
def test_a_list_is_sent_as_it_is(schema: type[Schema]) -> None:
    """To go through ten thousand rows takes a hundred times as long as to write them, and bots play meanwhile."""
    rows = [{"bot_id": "a", "owner": "b", "date_registered": "2026-11-21T12:00:00.000Z"}]
    assert schema(many=True).dump(rows) is rows
