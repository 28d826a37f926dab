"""What a result is for each of its bots: of two, of many, and where somebody did not come."""

from __future__ import annotations

from typing import Any

import pytest

from battlebot.storage.moves import counted, counted_by_pair

CUP = {"game": "g", "contest": "cup"}


def result(players: str, victor: str | None, absent: bool = False, **about: Any) -> dict[str, Any]:
    """A result of bots with names of one letter."""
    return {**CUP, "players": list(players), "victor": victor, "absent": absent, "match": about}


# a result; for each bot its wins, draws, losses; for some pairs w, d or l
CASES: list[tuple[str, dict[str, Any], str, str]] = [
    ("two, a win", result("ab", "b"), "a001 b100", "abl baw"),
    ("two, a draw", result("ab", None), "a010 b010", "abd bad"),
    ("two, nobody came", result("ab", None, True), "a001 b001", "abl bal"),
    ("one alone", result("a", "a"), "a100", ""),
    ("three in order", result("abc", "c", places={"c": 1, "a": 2, "b": 3}), "a001 b001 c100", "abw bal caw bcl"),
    (
        "two first of four",
        result("abcd", None, places={"a": 1, "b": 1, "c": 3, "d": 4}),
        "a010 b010 c001 d001",
        "abd acw cdw dcl",
    ),
    ("all level", result("abc", None, places={"a": 1, "b": 1, "c": 1}), "a010 b010 c010", "abd bcd"),
    ("only one came", result("abc", "b", True), "a001 b100 c001", "acl baw"),
    ("one of four has won, no places", result("abcd", "a"), "a100 b001 c001 d001", "abw bal"),
]


@pytest.mark.parametrize(("one", "rows", "pairs"), [case[1:] for case in CASES], ids=[case[0] for case in CASES])
def test_what_a_result_counts(one: dict[str, Any], rows: str, pairs: str) -> None:
    """Each row: the result, wins, draws and losses of each bot, what some did against others."""
    found = counted([one])
    assert " ".join(f"{bot}{row['wins']}{row['draws']}{row['losses']}" for (_, _, bot), row in found.items()) == rows
    between = counted_by_pair([one])
    outcomes = {"w": "wins", "d": "draws", "l": "losses"}
    for bot, opponent, sign in pairs.split():
        row = between["g", "cup", bot, opponent]
        assert {name: count for name, count in row.items() if count} == {outcomes[sign]: 1}


def test_who_did_not_come_is_counted_as_absent() -> None:
    """Its opponent is not, unless neither came."""
    missed = [result("ab", "b", True), result("ab", None, True), result("ab", "b")]
    assert {bot: row["absent"] for (_, _, bot), row in counted(missed).items()} == {"a": 2, "b": 1}


def test_scores_are_added_up_where_there_are_some() -> None:
    """A row of a game without scores has none."""
    scored = [result("ab", "a", scores={"a": 7, "b": 2}), result("ab", "b", scores={"a": 1, "b": 4}), result("ab", "b")]
    assert {bot: row["scored"] for (_, _, bot), row in counted(scored).items()} == {"a": 8, "b": 6}
    assert all("scored" not in row for row in counted([result("ab", "a")]).values())
