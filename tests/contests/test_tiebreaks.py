"""The ranking of a contest, by examples worked out by hand."""

from __future__ import annotations

import random
from collections.abc import Iterable, Mapping, Sequence

import orjson
import pytest
import tiebreaks
from hypothesis import given
from hypothesis import strategies as st
from tiebreaks import Result, counts

from battlebot.contests.standings import Row, against_each, ranking


def table(
    entrants: Iterable[str],
    results: Sequence[Result],
    points: tuple[int, int, int] = (3, 1, 0),
    byes: Mapping[str, int] | None = None,
) -> list[Row]:
    """The ranking from counts, which is the one from the results."""
    rows, pairs = counts(results)
    against = against_each([row["bot_id"] for row in rows], pairs)
    made = ranking(entrants, rows, lambda _: against, points, byes or {})
    assert made == tiebreaks.table(entrants, results, points, byes or {})
    return made


def results(text: str) -> list[Result]:
    """`ab+` a won, `ab-` b won, `ab=` a draw, `ab!` b was absent, `ab~` a was, `ab0` both."""
    made = []
    for first, second, sign in text.split():
        victor = first if sign in "+!" else second if sign in "-~" else None
        made.append(Result(first, second, victor, absent=sign in "!~0"))
    return made


def ranks(rows: list[Row]) -> str:
    """`1a 2b 2c`: the table in a line."""
    return " ".join(f"{row['rank']}{row['bot_id']}" for row in rows)


def by_bot(rows: list[Row]) -> dict[str, Row]:
    """The rows by their bots."""
    return {row["bot_id"]: row for row in rows}


# what decides, who entered, the results, the table
ORDERS = [
    ("points: three a win, one a draw", "abc", "ab+ ac= bc=", "1a 2c 3b"),
    ("most wins: w won once, a drew three times", "wxabcd", "wx+ ab= ac= ad=", "1w 2a 3b 3c 3d 6x"),
    ("fewest losses: b lost to c", "abcx", "ax+ bx+ cb+", "1c 2a 3b 4x"),
]


@pytest.mark.parametrize(
    ("entrants", "text", "expected"), [case[1:] for case in ORDERS], ids=[case[0] for case in ORDERS]
)
def test_the_originals_order_comes_first(entrants: str, text: str, expected: str) -> None:
    """Points, most wins, fewest losses (as the original); what is level there is parted by the tie-breaks below."""
    assert ranks(table(entrants, results(text))) == expected


def test_then_sonneborn_berger() -> None:
    """a and b have 3 points, a win and a loss each. a beat c, which has 6; b beat d, which has none."""
    text = "ac+ bd+ ea+ eb+ cd+ cf+"
    rows = by_bot(table("abcdef", results(text)))
    assert {bot: row["score"] for bot, row in rows.items()} == {"a": 3, "b": 3, "c": 6, "d": 0, "e": 6, "f": 0}
    assert {bot: row["tieBreaks"]["sonnebornBerger"] for bot, row in rows.items()} == {
        "a": 6,
        "b": 0,
        "c": 0,
        "d": 0,
        "e": 6,
        "f": 0,
    }
    assert (rows["a"]["rank"], rows["b"]["rank"]) == (3, 4)
    assert (rows["e"]["rank"], rows["c"]["rank"]) == (1, 2)  # e has lost nothing
    assert rows["a"]["tieBreaks"]["headToHead"] == []


def test_sonneborn_berger_halves_a_drawn_opponents_points_exactly() -> None:
    """a drew with b (1 point) and beat c (0): a half; each of several meetings counts."""
    rows = by_bot(table("abc", results("ab= ac+")))
    assert {bot: row["tieBreaks"]["sonnebornBerger"] for bot, row in rows.items()} == {"a": 0.5, "b": 2, "c": 0}
    twice = by_bot(table("ab", results("ab= ba= ab+")))
    # a has 5 points, b has 2: a half of 2, twice, and 2; b: a half of 5, twice
    assert twice["a"]["tieBreaks"]["sonnebornBerger"] == 4
    assert twice["b"]["tieBreaks"]["sonnebornBerger"] == 5


def test_head_to_head_parts_two_that_are_level_in_everything_else() -> None:
    """a and b: a win, a loss each, the beaten ones (b and x) with as many points; a beat b.

    a beat b and lost to y; b beat x and lost to a; x beat z: so that b and x have 3 points each.
    """
    rows = by_bot(table("abxyz", results("ab+ ya+ bx+ xz+")))
    assert {bot: row["score"] for bot, row in rows.items()} == {"a": 3, "b": 3, "x": 3, "y": 3, "z": 0}
    assert {bot: row["tieBreaks"]["sonnebornBerger"] for bot, row in rows.items()} == {
        "a": 3,
        "b": 3,
        "x": 0,
        "y": 3,
        "z": 0,
    }
    assert (rows["a"]["tieBreaks"]["headToHead"], rows["b"]["tieBreaks"]["headToHead"]) == ([3], [0])
    assert ranks(sorted(rows.values(), key=lambda row: row["rank"])) == "1y 2a 3b 4x 5z"


def test_head_to_head_is_asked_again_of_those_that_it_leaves_level() -> None:
    """a, b and d: 3 points, a win, a loss, and a beaten opponent of 3 points each.

    Among the three a beat b and b beat d: that leaves a and b level, and of the two a won.
    """
    rows = table("abcde", results("ce+ bd+ ab+ ea+ de+"))
    assert [(row["score"], row["tieBreaks"]["sonnebornBerger"]) for row in rows] == [(3, 3)] * 5
    assert ranks(rows) == "1c 2a 3b 4d 5e"
    assert [row["tieBreaks"]["headToHead"] for row in rows] == [[], [3, 3], [3, 0], [0], []]


CIRCLES = [
    ("nobody has met anybody", "abc", "", "1a 1b 1c", [0]),
    ("all level in a circle", "abc", "ab+ bc+ ca+", "1a 1b 1c", [3]),
    ("all drawn", "abc", "ab= bc= ca=", "1a 1b 1c", [2]),
]


@pytest.mark.parametrize(
    ("entrants", "text", "expected", "among"), [case[1:] for case in CIRCLES], ids=[case[0] for case in CIRCLES]
)
def test_a_tie_that_stays_is_a_shared_rank(entrants: str, text: str, expected: str, among: list[int]) -> None:
    """In the order of names, with the values that could not part them."""
    rows = table(entrants, results(text))
    assert ranks(rows) == expected
    assert all(row["tieBreaks"]["headToHead"] == among for row in rows)


def test_an_absence_is_a_win_for_who_was_there_and_a_loss_that_is_told_apart() -> None:
    """For both, if neither was."""
    rows = by_bot(table("abc", results("ab! ac~ bc0")))
    counts = {
        bot: (row["wins"], row["draws"], row["losses"], row["absent"], row["played"]) for bot, row in rows.items()
    }
    assert counts == {"a": (1, 0, 1, 1, 2), "b": (0, 0, 2, 2, 2), "c": (1, 0, 1, 1, 2)}
    assert {bot: row["score"] for bot, row in rows.items()} == {"a": 3, "b": 0, "c": 3}


def test_a_bye_scores_a_win_and_is_no_meeting() -> None:
    """It is in the score, and so in the opponents' Sonneborn-Berger; not in the wins."""
    rows = by_bot(table("abc", results("ab+ cb-"), byes={"c": 1}))
    assert (rows["c"]["score"], rows["c"]["wins"], rows["c"]["played"], rows["c"]["byes"]) == (3, 0, 1, 1)
    assert rows["b"]["tieBreaks"]["sonnebornBerger"] == 3
    assert by_bot(table("a", [], (2, 1, 0), {"a": 1}))["a"]["score"] == 2


def test_the_points_are_the_contests() -> None:
    """Two a win, one a draw, minus one a loss."""
    rows = by_bot(table("ab", results("ab+ ab= ba-"), (2, 1, -1)))
    assert (rows["a"]["score"], rows["b"]["score"]) == (5, -1)


def test_everyone_with_a_result_is_in_the_table() -> None:
    """Entered or not; who entered and did not play too."""
    assert {row["bot_id"] for row in table("a", results("bc+"), byes={"d": 1})} == set("abcd")
    assert table("", []) == []


SIGNS = st.sampled_from("+-=!~0")
PLAYED = st.lists(st.tuples(st.sampled_from("abcdef"), st.sampled_from("abcdef"), SIGNS), max_size=30)


@given(PLAYED, st.randoms(use_true_random=False))
def test_the_order_of_results_and_entrants_changes_nothing(
    words: list[tuple[str, str, str]], dice: random.Random
) -> None:
    """And the table is JSON, agrees with the original's order, and ranks as it says."""
    text = " ".join("".join(word) for word in words if word[0] != word[1])
    rows = table("abcdef", results(text))
    shuffled, entrants = results(text), list("abcdef")
    dice.shuffle(shuffled)
    dice.shuffle(entrants)
    assert table(entrants, shuffled) == rows
    assert orjson.loads(orjson.dumps(rows)) == rows
    merits = []
    for place, row in enumerate(rows, start=1):
        breaks = row["tieBreaks"]
        seeds = (-row["score"], -row["wins"], row["losses"])
        merits.append((seeds, -(breaks["sonnebornBerger"] or 0), [-points for points in breaks["headToHead"]]))
        assert row["rank"] == place or (row["rank"] == rows[place - 2]["rank"] and merits[-1] == merits[-2])
    assert merits == sorted(merits)
    assert sum(row["wins"] for row in rows) <= len(shuffled)
    assert all(row["played"] == row["wins"] + row["draws"] + row["losses"] for row in rows)
