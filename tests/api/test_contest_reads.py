"""How much is read of a large contest for an answer: no more than is shown of it."""

from __future__ import annotations

from functools import partial
from itertools import combinations

import pytest
from cup import cup
from profiled import profiled
from webhouse import CONTESTS, House

from battlebot.api import listed
from battlebot.contests.service import lookout
from battlebot.storage.audit import Note
from battlebot.storage.meetings import Meetings

GAME = "noughtsandcrosses"


def closed(home: House, bots: str, **fields: object) -> None:
    """A running contest of these bots, `closed`: a round-robin unless said otherwise."""
    home.register(*bots)
    body = {"name": "closed", "format": "round-robin", "entrants": list(bots), "meetings": 1, **fields}
    assert home.organise("POST", "", body).status_code == 201
    assert home.organise("POST", "/closed/start").status_code == 200


def test_a_table_of_too_many_bots_is_refused_before_it_is_read(home: House, monkeypatch: pytest.MonkeyPatch) -> None:
    """Four hundred bots may have met four hundred thousand times."""
    monkeypatch.setattr(lookout, "MOST_BOTS", 2)
    home.contest("cup", bots=("a", "b", "c"))
    closed(home, "def")
    monkeypatch.delattr(Meetings, "of_contest")
    for name in ("cup", "closed"):
        assert home.client.get(f"{CONTESTS}/{name}/meetings").json["rule"] == "required"


def test_a_bots_meetings_are_read_without_those_of_others(home: House) -> None:
    """Where what it plays next needs nothing of them: in an open contest, and in one that is over."""
    home.contest("cup", bots=("a", "b", "c", "d"))
    closed(home, "efgh")
    for name, bots in (("cup", "abcd"), ("closed", "efgh")):
        for two in combinations(bots, 2):
            home.play(*two, two[0], name, n=1)
    home.organise("POST", "/closed/finish")
    for name, bot in (("cup", "b"), ("closed", "f")):
        ask = partial(home.client.get, f"{CONTESTS}/{name}/meetings?bot={bot}")
        answer, looks = profiled(home.storage, "meetings", ask)
        assert [pair["played"] for pair in answer.json["pairs"]] == [1, 1, 1]
        assert sum(look["docsExamined"] for look in looks) == 3


def test_for_a_bot_that_plays_nothing_in_it_not_all_meetings_are_read(home: House) -> None:
    """Neither to say so, nor to refuse to show its meetings."""
    closed(home, "abcd")
    for two in combinations("abc", 2):
        home.play(*two, two[0], "closed", n=1)
    home.register("e")
    assert home.organise("DELETE", "/closed/entrants/d").status_code == 200
    for path, code in (("why?bot=e", "not-an-entrant"), ("why?bot=d", "withdrawn"), ("meetings?bot=e", "refused")):
        answer, looks = profiled(home.storage, "meetings", partial(home.client.get, f"{CONTESTS}/closed/{path}"))
        assert answer.json["code"] == code
        assert sum(look["docsExamined"] for look in looks) == 0


def test_a_crosstable_reads_the_pairs_that_it_shows(home: House) -> None:
    """Not what its bots have done against all others; an index leads to each of the pairs."""
    home.contest("cup", bots=tuple("abcdef"))
    for best, other in combinations("abcdef", 2):
        home.play(best, other, best, "cup", n=1)
    ask = partial(home.client.get, f"{CONTESTS}/cup/crosstable?limit=2")
    answer, looks = profiled(home.storage, "pairs", ask)
    assert [list(row["against"]) for row in answer.json["rows"]] == [["b"], ["a"]]
    assert [look["docsExamined"] for look in looks if look["nreturned"] == 2] == [2]


@pytest.mark.parametrize("asked", ["void=true", "fault=none"])
def test_a_page_of_matches_of_all_kinds_reads_no_more_than_it_shows(home: House, asked: str) -> None:
    """Neither the older ones of the contest, nor the later ones of others."""
    for name in ("cup", "later"):
        home.contest(name, bots=("a", "b"))
        for number in range(20):
            home.play("a", "b", "a", name, fault="none" if number else "server")
    ask = partial(home.client.get, f"/games/{GAME}/contest/cup?{asked}&limit=2")
    answer, looks = profiled(home.storage, "games", ask)
    assert len(answer.json["games"]) == 2
    assert sum(look["docsExamined"] for look in looks) == 3
    assert sum(look["keysExamined"] for look in looks) <= 5


def test_a_list_of_contests_is_cut_where_it_is_too_large(home: House, monkeypatch: pytest.MonkeyPatch) -> None:
    """Each comes with its entrants; it leads to the next part, until all have been listed once."""
    bots = [f"bot{number:04}" for number in range(1000)]
    for number in range(5):
        home.storage.contests.create(cup(game=GAME, name=f"cup{number}", format="gauntlet", entrants=bots))
    monkeypatch.setattr(listed, "MOST_BYTES", 25_000)
    seen: list[list[str]] = []
    address: str | None = f"{CONTESTS}?limit=1000"
    while address is not None:
        answer = home.client.get(address).json
        assert all(row["entrants"] == bots for row in answer["contests"])
        seen.append([row["name"] for row in answer["contests"]])
        address = answer.get("next")
    assert seen == [["cup4", "cup3"], ["cup2", "cup1"], ["cup0"]]


def test_an_audit_is_cut_where_it_is_too_large(home: House, monkeypatch: pytest.MonkeyPatch) -> None:
    """An entry may have a list of thousands of entrants; the latest are listed."""
    notes = [Note("ann", f"change{number}", {"entrants": ["bot"] * 1000}) for number in range(5)]
    home.storage.contests.create(cup(game=GAME), notes)
    monkeypatch.setattr(listed, "MOST_BYTES", 15_000)
    assert [row["action"] for row in home.client.get(f"{CONTESTS}/cup/audit").json] == ["change4", "change3"]


@pytest.mark.parametrize("form", ["round-robin", "gauntlet"])
def test_what_a_list_plans_needs_no_meetings_but_of_those_who_withdrew(home: House, form: str) -> None:
    """A round-robin may have a hundred thousand; whoever asks for the ranking asks how many are planned."""
    closed(home, "abcd", format=form, meetings=2)
    for two in ("ab", "ac", "ad"):
        home.play(*two, two[0], "closed", n=1)
    home.organise("DELETE", "/closed/entrants/d")
    answer, looks = profiled(home.storage, "meetings", partial(home.client.get, f"{CONTESTS}/closed"))
    planned = {"round-robin": 2 * 3 + 1, "gauntlet": 2 * 2 + 1}[form]
    assert answer.json["progress"] == {"played": 3, "planned": planned, "live": 0}
    # with which index MongoDB counts those that are live is its choice, and of few it reads them
    found = [look for look in looks if "find" in look["command"]]
    assert sum(look["docsExamined"] for look in found) == 1
