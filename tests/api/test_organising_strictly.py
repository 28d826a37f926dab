"""What an organiser sends and nobody reads is an error: the organiser believes that it was done."""

from __future__ import annotations

from typing import Any

import pytest
from webhouse import CONTESTS, House

GAME = "noughtsandcrosses"

# method, path, a body that would be accepted
ROUTES: list[tuple[str, str, Any]] = [
    ("POST", "", {"name": "other"}),
    ("PATCH", "/cup", {"title": "The Cup"}),
    ("DELETE", "/cup", None),
    ("POST", "/cup/start", None),
    ("POST", "/cup/pause", None),
    ("POST", "/cup/resume", None),
    ("POST", "/cup/finish", None),
    ("POST", "/cup/entrants", {"bot": "b"}),
    ("DELETE", "/cup/entrants/a", None),
    ("POST", "/cup/games/m/void", {"reason": "a cable"}),
]


@pytest.fixture
def organised(home: House) -> House:
    """An app with a contest that is to be started."""
    home.register("a", "b", "c")
    body = {"name": "cup", "format": "round-robin", "entrants": ["a", "c"]}
    assert home.organise("POST", "", body).status_code == 201
    return home


def record(home: House) -> list[Any]:
    """All that is known of contests."""
    return [home.client.get(f"{CONTESTS}{path}").json for path in ("", "/cup/audit")]


@pytest.mark.parametrize(("method", "path", "body"), ROUTES, ids=lambda value: str(value)[:30])
def test_a_query_argument_is_an_error(organised: House, method: str, path: str, body: Any) -> None:
    """`?dry=true` would otherwise do it for good."""
    before = record(organised)
    answer = organised.organise(method, f"{path}?dry=true", body)
    assert (answer.status_code, answer.json["code"]) == (400, "bad-message")
    assert (answer.json["field"], answer.json["rule"]) == ("dry", "unknown")
    assert record(organised) == before


@pytest.mark.parametrize(
    ("method", "path"), [row[:2] for row in ROUTES if row[2] is None], ids=lambda value: str(value)[:30]
)
@pytest.mark.parametrize(
    ("body", "field"), [({"at": "2126-12-01T10:00:00Z"}, "at"), ([], None), ("now", None), (0, None)]
)
def test_a_body_is_an_error_where_there_is_none(
    organised: House, method: str, path: str, body: Any, field: str | None
) -> None:
    """`start` with a time would otherwise start at once."""
    before = record(organised)
    answer = organised.organise(method, path, body)
    assert (answer.status_code, answer.json["code"], answer.json.get("field")) == (400, "bad-message", field)
    assert record(organised) == before


def test_an_object_without_keys_is_no_body(organised: House) -> None:
    """Many programs send one with every POST."""
    assert organised.organise("POST", "/cup/start", {}).json["state"] == "running"
    assert organised.organise("DELETE", "/cup/entrants/a", {}).json["withdrawn"] == ["a"]
    assert organised.organise("POST", "/cup/finish").json["state"] == "finished"


def test_who_has_no_token_is_told_that_first(organised: House) -> None:
    """Whatever else is wrong."""
    answer = organised.client.post(f"{CONTESTS}/cup/start?dry=true", json={"at": 1})
    assert answer.status_code == 401


def test_a_long_key_is_named_by_its_beginning(organised: House) -> None:
    """An error is a sentence, not what was sent."""
    answer = organised.organise("PATCH", "/cup", {"k" * 60_000: 1})
    assert (answer.status_code, answer.json["rule"], answer.json["field"]) == (400, "unknown", "k" * 64)
    answer = organised.organise("POST", "", {"name": "new", "config": {"k" * 60_000: 1}})
    assert (answer.status_code, answer.json["field"], len(answer.data) < 1000) == (400, "k" * 64, True)
