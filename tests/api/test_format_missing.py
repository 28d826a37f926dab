"""Contests whose format has been removed since they were made: what needs it says so, everything else works."""

from __future__ import annotations

import pytest
from cup import cup
from webhouse import CONTESTS, House

GAME = "noughtsandcrosses"


@pytest.fixture
def bereft(home: House) -> House:
    """An app in which the running contest `cup` of a and b is a `derby`, which nobody knows; b is withdrawn."""
    home.register("a", "b", "c")
    home.storage.contests.create(cup(game=GAME, format="round-robin", entrants=["a", "b"], withdrawn=["b"], meetings=3))
    home.storage.contests.create(cup(game=GAME, name="another", state="scheduled"))
    home.play("a", "b", "a", "cup", n=1)
    home.storage.database["contests"].update_one({"name": "cup"}, {"$set": {"format": "derby"}})
    return home


def test_it_is_listed_and_shown(bereft: House) -> None:
    """What its format would say is null; the meetings are as they were set."""
    found = {row["name"]: row for row in bereft.client.get(CONTESTS).json["contests"]}
    assert {name: row["together"] for name, row in found.items()} == {"cup": None, "another": False}
    assert (found["cup"]["format"], found["cup"]["meetings"]) == ("derby", 3)
    shown = bereft.client.get(f"{CONTESTS}/cup")
    assert (shown.status_code, shown.json["progress"], shown.json["entrants"]) == (200, None, ["a", "b"])
    assert bereft.client.get(f"/web/{GAME}").status_code == 200
    assert bereft.client.get(f"{CONTESTS}/cup/audit").status_code == 200
    assert len(bereft.client.get(f"{CONTESTS}/cup/export.ndjson").text.splitlines()) == 1


@pytest.mark.parametrize("path", ["meetings", "why?bot=a", "crosstable", "events"])
def test_what_its_format_would_say_is_409(bereft: House, path: str) -> None:
    """With a code of its own, and the format's name."""
    answer = bereft.client.get(f"{CONTESTS}/cup/{path}")
    assert (answer.status_code, answer.json["code"], answer.json["format"]) == (409, "format-missing", "derby")


@pytest.mark.parametrize("path", [f"/games/{GAME}/contest/cup", f"/web/{GAME}/contests/cup"])
def test_so_is_its_ranking(bereft: House, path: str) -> None:
    """A page says it in a sentence."""
    answer = bereft.client.get(path)
    assert answer.status_code == 409
    assert "is not installed on this server" in answer.text


@pytest.mark.parametrize(
    ("method", "path", "body"),
    [
        ("POST", "/resume", None),
        ("PATCH", "", {"title": "The Cup"}),
        ("DELETE", "/entrants/a", None),
    ],
)
def test_what_it_would_be_needed_for_changes_nothing(bereft: House, method: str, path: str, body: object) -> None:
    """The contest is as it was."""
    assert bereft.organise("POST", "/cup/pause").status_code == 200
    before = bereft.client.get(f"{CONTESTS}/cup").json, bereft.client.get(f"{CONTESTS}/cup/audit").json
    answer = bereft.organise(method, f"/cup{path}", body)
    assert (answer.status_code, answer.json["code"]) == (409, "format-missing")
    assert (bereft.client.get(f"{CONTESTS}/cup").json, bereft.client.get(f"{CONTESTS}/cup/audit").json) == before


@pytest.mark.parametrize(
    ("method", "path", "state"),
    [("POST", "/finish", "finished"), ("POST", "/pause", "paused"), ("DELETE", "", "cancelled")],
)
def test_it_can_be_ended_and_paused(bereft: House, method: str, path: str, state: str) -> None:
    """And says that it was; who was withdrawn may come back before that."""
    assert bereft.organise("POST", "/cup/entrants", {"bot": "b"}).json["withdrawn"] == []
    answer = bereft.organise(method, f"/cup{path}")
    assert (answer.status_code, answer.json["state"]) == (200, state)


def test_a_scheduled_one_may_be_given_another_format(bereft: House) -> None:
    """Which is not another unknown one; until then it cannot be started."""
    bereft.storage.database["contests"].update_one({"name": "cup"}, {"$set": {"state": "scheduled", "withdrawn": []}})
    assert bereft.organise("POST", "/cup/start").json["code"] == "format-missing"
    wrong = bereft.organise("PATCH", "/cup", {"format": "darby"})
    assert (wrong.status_code, wrong.json["code"], wrong.json["field"]) == (400, "refused", "format")
    assert bereft.organise("PATCH", "/cup", {"format": "round-robin"}).json["together"] is False
    assert bereft.client.get(f"{CONTESTS}/cup").json["progress"]["played"] == 1
