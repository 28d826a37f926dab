"""Organisers' tokens: who may, who may not, what is kept of them."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from webhouse import CONTESTS, House

from battlebot.errors import NameTaken

BODY = {"name": "cup"}
CHANGES = [
    ("POST", ""),
    ("PATCH", "/cup"),
    ("DELETE", "/cup"),
    ("POST", "/cup/start"),
    ("POST", "/cup/pause"),
    ("POST", "/cup/resume"),
    ("POST", "/cup/finish"),
    ("POST", "/cup/entrants"),
    ("DELETE", "/cup/entrants/a"),
    ("POST", "/cup/games/m/void"),
]


@pytest.mark.parametrize(("method", "path"), CHANGES)
def test_without_a_token_nothing_changes(home: House, method: str, path: str) -> None:
    """401 before anything is read of the body; the challenge says which scheme."""
    answer = home.client.open(f"{CONTESTS}{path}", method=method, data=b"{")
    assert (answer.status_code, answer.json["code"]) == (401, "no-token")
    assert answer.headers["WWW-Authenticate"].startswith("Bearer ")
    assert home.storage.contests.of_game("noughtsandcrosses") == []


@pytest.mark.parametrize("header", ["", "Basic dTpw", "Bearer", "Bearer ", "token"])
def test_what_is_no_token(home: House, header: str) -> None:
    """Another scheme is none either."""
    answer = home.client.post(CONTESTS, json=BODY, headers={"Authorization": header})
    assert (answer.status_code, answer.json["code"]) == (401, "no-token")


def bad_tokens(home: House) -> dict[str, str]:
    """Tokens that are none, or none any more."""
    tokens, soon = home.storage.tokens, datetime.now(UTC)
    revoked, expired = tokens.create("revoked"), tokens.create("expired", soon)
    assert tokens.revoke("revoked")
    good = tokens.create("good")
    return {"revoked": revoked, "expired": expired, "cut": good[:-1], "long": "x" * 5000, "odd": "\udcffé"}


def test_a_bad_token_is_told_from_none(home: House) -> None:
    """Unknown, revoked and expired look the same."""
    for kind, token in bad_tokens(home).items():
        header = f"bearer {token}".encode("utf-8", "surrogateescape").decode("latin-1")
        answer = home.client.post(CONTESTS, json=BODY, headers={"Authorization": header})
        assert (kind, answer.status_code, answer.json["code"]) == (kind, 401, "bad-token")
        assert 'error="invalid_token"' in answer.headers["WWW-Authenticate"]
        assert answer.json["error"] == "This token is unknown, expired or revoked."


def test_a_token_is_worth_something_until_it_ends(home: House) -> None:
    """And its holder stands in the audit."""
    token = home.storage.tokens.create("Ada", datetime.now(UTC) + timedelta(hours=1))
    assert home.organise("POST", "", BODY, token).status_code == 201
    assert next(home.storage.audit.of_contest("noughtsandcrosses", "cup"))["by"] == "Ada"
    assert home.storage.tokens.revoke("Ada")
    assert home.organise("DELETE", "/cup", token=token).status_code == 401


def stored(home: House) -> list[dict[str, Any]]:
    """The collection as it is."""
    return list(home.storage.database["tokens"].find())


def test_only_the_hash_is_kept(home: House) -> None:
    """Of 256 bits of chance; no two alike."""
    token = home.storage.tokens.create("Ada")
    assert len(token) == 43
    assert token != home.storage.tokens.create("Bob")
    assert token not in str(stored(home))
    assert {len(row["_id"]) for row in stored(home)} == {64}
    assert "_id" not in home.storage.tokens.list()[0]


def test_a_name_is_used_once(home: House) -> None:
    """Also after it was revoked: the audit must not mean two people by one name."""
    home.storage.tokens.create("Ada")
    home.storage.tokens.revoke("Ada")
    with pytest.raises(NameTaken):
        home.storage.tokens.create("Ada")
    assert home.storage.tokens.revoke("nobody") is False
    with pytest.raises(NameTaken):
        home.storage.tokens.create("clock")


def test_its_use_is_noted_at_most_once_a_minute(home: House) -> None:
    """Not at each request; and of no other token."""
    tokens = home.storage.tokens
    tokens.create("Bob")
    token = tokens.create("Ada")
    assert tokens.list()[1]["lastUsedAt"] is None
    assert tokens.holder(token) == "Ada"
    first = tokens.list()[1]["lastUsedAt"]
    assert tokens.holder(token) == "Ada"
    assert tokens.list()[1]["lastUsedAt"] == first
    earlier = first - timedelta(seconds=61)
    home.storage.database["tokens"].update_one({"name": "Ada"}, {"$set": {"lastUsedAt": earlier}})
    assert tokens.holder(token) == "Ada"
    assert tokens.list()[1]["lastUsedAt"] >= first
    assert tokens.list()[0]["lastUsedAt"] is None


def test_what_cannot_be_kept_is_no_token(home: House) -> None:
    """The one who was to keep it fails."""

    def fail(token: str) -> None:
        raise OSError("no space")

    with pytest.raises(OSError, match="no space"):
        home.storage.tokens.create("Ada", keep=fail)
    assert stored(home) == []


def test_reading_needs_no_token(home: House) -> None:
    """Whoever watches or publishes."""
    home.contest("cup", bots=("a",))
    for path in ("", "/cup", "/cup/audit", "/cup/meetings", "/cup/why?bot=a", "/cup/crosstable", "/cup/export.csv"):
        assert home.client.get(f"{CONTESTS}{path}").status_code == 200, path


def test_the_description_says_what_needs_a_token(home: House) -> None:
    """By the security scheme, and 401 among the answers."""
    document = home.client.get("/openapi.json").json
    assert document["components"]["securitySchemes"]["organiser"] == {"type": "http", "scheme": "bearer"}
    for path, item in document["paths"].items():
        for method, operation in item.items():
            if method in ("get", "post", "patch", "delete", "put"):
                needs = "organiser" if "/contests" in path and method != "get" else None
                needs = "password" if path.startswith("/bots/{game}/") else needs
                assert (path, method, operation.get("security")) == (
                    path,
                    method,
                    [{needs: []}] if needs else None,
                )
                assert ("401" in operation["responses"]) is bool(needs)
