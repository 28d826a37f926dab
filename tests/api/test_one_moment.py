"""An answer about a contest is of one moment, though a match ends while it is put together."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from webhouse import CONTESTS, House

from battlebot.storage.standings import Standings


def once(monkeypatch: pytest.MonkeyPatch, after: bool, happens: Callable[[], object]) -> None:
    """Has something happen just before the standings are read for the first time, or just after."""
    read, left = Standings.of_contest, [happens]

    def reading(standings: Standings, game: str, contest: str) -> list[dict[str, Any]]:
        if left and not after:
            left.pop()()
        found = read(standings, game, contest)
        if left:
            left.pop()()
        return found

    monkeypatch.setattr(Standings, "of_contest", reading)


@pytest.mark.parametrize("after", [False, True], ids=["before", "after"])
@pytest.mark.parametrize("query", ["", "?void=true"], ids=["those that count", "void ones too"])
def test_the_ranking_counts_the_matches_that_are_listed(
    home: House, monkeypatch: pytest.MonkeyPatch, query: str, after: bool
) -> None:
    """A match was in the ranking, and not in the list beside it."""
    home.contest("cup", bots=("a", "b"))
    home.play("a", "b", "a", "cup", n=1)
    once(monkeypatch, after, lambda: home.play("a", "b", "b", "cup", n=2))
    answer = home.client.get(f"/games/noughtsandcrosses/contest/cup{query}").json
    assert (len(answer["games"]), [row["played"] for row in answer["bots"]]) == (2, [2, 2])


def test_a_match_that_is_taken_back_meanwhile_is_in_neither(home: House, monkeypatch: pytest.MonkeyPatch) -> None:
    """It was listed, and did not count any more."""
    home.contest("cup", bots=("a", "b"))
    match_id = home.play("a", "b", "a", "cup", n=1)
    token = home.storage.tokens.create("ann")

    def void() -> None:
        home.organise("POST", f"/cup/games/{match_id}/void", {"reason": "the server's clock"}, token)

    once(monkeypatch, False, void)
    answer = home.client.get("/games/noughtsandcrosses/contest/cup").json
    assert (answer["games"], [row["played"] for row in answer["bots"]]) == ([], [0, 0])


def test_the_crosstable_has_the_scores_of_its_results(home: House, monkeypatch: pytest.MonkeyPatch) -> None:
    """A win was among the results against the opponent, and not in the score."""
    home.contest("cup", bots=("a", "b"))
    home.play("a", "b", "a", "cup", n=1)
    once(monkeypatch, True, lambda: home.play("b", "a", "a", "cup", n=2))
    best = home.client.get(f"{CONTESTS}/cup/crosstable").json["rows"][0]
    assert (best["score"], best["against"]["b"]["wins"]) == (6, 2)


def test_an_answer_comes_though_results_come_all_the_time(home: House, monkeypatch: pytest.MonkeyPatch) -> None:
    """It is not put together for ever."""
    home.contest("cup", bots=("a", "b"))
    read = Standings.of_contest

    def reading(standings: Standings, game: str, contest: str) -> list[dict[str, Any]]:
        found = read(standings, game, contest)
        home.play("a", "b", "a", "cup")
        return found

    monkeypatch.setattr(Standings, "of_contest", reading)
    assert home.client.get("/games/noughtsandcrosses/contest/cup").status_code == 200
