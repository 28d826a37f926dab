"""Knockout: the bracket, who goes on, and that one is left."""

from __future__ import annotations

import random
from dataclasses import replace

import pytest
from playing import CALM, STORMY, Playing, Trouble, contest, results
from thorough import seeds

from battlebot.contests.formats import format_named
from battlebot.contests.formats.knockout import bracket, knocked_out
from battlebot.contests.formats.situation import Due, Situation

FORM = format_named("knockout")


def words(meetings: list[Due]) -> list[str]:
    """`11ab`: in round 1 the first meeting of a and b, a moves first."""
    return [f"{one.round}{one.n}{one.first}{one.second}" for one in meetings]


# how many entrants, the pairs that are known at once, with their round
BRACKETS = [
    (2, ["1ab"]),
    (3, ["1bc"]),
    (4, ["1ad", "1bc"]),
    (5, ["1de", "2bc"]),
    (6, ["1de", "1cf"]),
    (7, ["1de", "1bg", "1cf"]),
    (8, ["1ah", "1de", "1bg", "1cf"]),
]


@pytest.mark.parametrize(("size", "expected"), BRACKETS)
def test_the_highest_seeds_pass_the_first_round_of_an_uneven_field(size: int, expected: list[str]) -> None:
    """The best meets the last; where a place is empty, there is no pair. Of five b and c have passed, and meet."""
    pairs = bracket(contest(FORM, size, 1))
    assert [f"{pair.round}{pair.higher}{pair.lower}" for pair in pairs] == expected
    assert [f"{one.round}{one.first}{one.second}" for one in FORM.due(contest(FORM, size, 1))] == expected


# best of three: meetings of a and b (see `results`), who withdrew, what is due or who has won
PAIRS = [
    ("the higher seed begins", "", "", "11ab"),
    ("first moves alternate", "ab+", "", "12ba"),
    ("while they play, nothing is due", "ab+ ba?", "", ""),
    ("most wins decide, the third is not played", "ab+ ba-", "", "a"),
    ("a win each: the third decides", "ab+ ba+", "", "13ab"),
    ("the lower seed wins the third", "ab+ ba+ ab-", "", "b"),
    ("a draw is no win", "ab= ba+", "", "13ab"),
    ("one win of three is enough, if the other has none", "ab= ba+ ab=", "", "b"),
    ("all drawn: the higher seed", "ab= ba= ab=", "", "a"),
    ("as many wins: the higher seed", "ab+ ba+ ab=", "", "a"),
    ("absent: a win for who was there", "ab~ ba~", "", "13ab"),
    ("absent twice is out", "ab~ ba!", "", "b"),
    ("both absent counts for neither", "ab0", "", "12ba"),
    ("both absent throughout: the higher seed", "ab0 ba0 ab0", "", "a"),
    ("who withdraws is out", "ab+", "a", "b"),
    ("who withdraws is not out while it plays", "ab+ ba?", "a", ""),
    ("who withdraws after it has won has won", "ab+ ba-", "a", "a"),
    ("both withdraw: the higher seed, in name", "ab-", "ab", "a"),
]


@pytest.mark.parametrize(("met", "gone", "expected"), [case[1:] for case in PAIRS], ids=[case[0] for case in PAIRS])
def test_who_goes_on(met: str, gone: str, expected: str) -> None:
    """Each row: the meetings of two bots, best of three; who has withdrawn; the winner, or what is due."""
    now = replace(contest(FORM, 2, 3), met=results(met, 1), withdrawn=frozenset(gone))
    if len(expected) == 1:
        assert (FORM.winner(now), FORM.due(now)) == (expected, [])
        assert (FORM.complete(now), FORM.planned(now)) == (True, len(now.met))
        assert knocked_out(now) == {({"a", "b"} - {expected}).pop(): 1}
    else:
        assert words(FORM.due(now)) == ([expected] if expected else [])
        assert (FORM.winner(now), FORM.complete(now), FORM.planned(now)) == (None, False, None)
        assert knocked_out(now) == {}


def test_a_meeting_that_can_decide_nothing_any_more_is_waited_for() -> None:
    """It began before an earlier one was found to count."""
    now = replace(contest(FORM, 2, 3), met=results("ab+ ba- ab?", 1))
    assert (FORM.winner(now), FORM.due(now), FORM.complete(now), FORM.planned(now)) == ("a", [], False, None)


def four(first_round: str, last_round: str = "", gone: str = "") -> Situation:
    """Of four bots, best of one: a-d and b-c, then the winners."""
    met = (*results(first_round, 1), *results(last_round, 2))
    return replace(contest(FORM, 4, 1), met=met, withdrawn=frozenset(gone))


def test_a_round_does_not_wait_for_the_other_half_of_the_bracket() -> None:
    """Of eight, the winners of one quarter meet while the others still play."""
    now = replace(contest(FORM, 8, 1), met=results("ah+ de- bg?", 1))
    assert words(FORM.due(now)) == ["11cf", "21ae"]


def test_who_withdraws_before_its_next_pair_leaves_it_to_the_opponent() -> None:
    """Nobody whom it has beaten comes back."""
    assert FORM.winner(four("ad+ bc+", gone="a")) == "b"
    assert knocked_out(four("ad+ bc+", gone="a")) == {"d": 1, "c": 1, "a": 2}


def test_who_is_out_may_meet_nobody() -> None:
    """Neither the one that knocked it out, nor another that is out."""
    now = replace(contest(FORM, 4, 1), met=results("ad+", 1))
    assert [two for two in ("ab", "ac", "ad", "bc", "bd", "cd") if FORM.may_meet(now)(*two)] == ["ab", "ac", "bc"]


def test_who_neither_plays_nor_is_due_has_more_if_it_meets_somebody_later() -> None:
    """At each moment of some contests; the others are out or have won."""
    for seed in seeds(20):
        dice = random.Random(seed)
        playing = Playing(FORM, contest(FORM, dice.randint(2, 9), dice.choice([1, 3])), dice)
        foreseen: list[tuple[str, int, bool | None]] = []
        while not FORM.complete(playing.situation):
            now, due = playing.situation, FORM.due(playing.situation)
            busy = {bot for one in (*due, *playing.open_ones()) for bot in one.bots}
            idle = [bot for bot in now.entrants if bot not in busy]
            foreseen += [(bot, len(now.met), FORM.has_more(now, bot)) for bot in idle]
            playing.happen(due)
        end = playing.situation
        assert not any(FORM.has_more(end, bot) for bot in end.entrants)
        assert [any(bot in one.bots for one in end.met[met:]) for bot, met, _ in foreseen] == [
            more for *_, more in foreseen
        ]


def test_one_that_went_on_stays_on() -> None:
    """Whatever is withdrawn or void of its earlier pairs: it has begun the next, and nobody takes its place."""
    beaten_by_default = four("bc+", "db+", gone="ad")
    assert (FORM.winner(beaten_by_default), FORM.complete(beaten_by_default)) == ("d", True)
    void_since = four("bc+", "ab?")
    assert (FORM.due(void_since), FORM.winner(void_since)) == ([], None)
    assert FORM.winner(four("bc+", "ab-")) == "b"


def test_what_a_later_round_rests_on_is_what_its_bots_have_won() -> None:
    """Of eight, one quarter has met in the second round: neither the other quarter's first nor that one itself is."""
    now = replace(contest(FORM, 8, 1), met=(*results("ah+ de- bg+ cf+", 1), *results("ae?", 2)))
    assert [met.first + met.second for met in now.met if FORM.built_upon(now, met)] == ["ah", "de"]


def test_a_void_meeting_before_the_next_pair_has_begun_is_played_again() -> None:
    """And decides."""
    assert words(FORM.due(four("bc+"))) == ["11ad"]
    assert words(FORM.due(four("ad- bc+"))) == ["21bd"]


def test_those_who_left_fill_the_bracket_in_name_only() -> None:
    """One is left of eight: it wins without a meeting."""
    now = replace(contest(FORM, 8, 3), withdrawn=frozenset("abcdefh"))
    assert (FORM.winner(now), FORM.due(now), FORM.complete(now)) == ("g", [], True)


@pytest.mark.parametrize("trouble", [CALM, STORMY], ids=["calm", "stormy"])
def test_one_wins_and_all_others_are_knocked_out_once(trouble: Trouble) -> None:
    """Whatever happens; without withdrawals the winner has won all its pairs."""
    for seed in seeds(60):
        dice = random.Random(seed)
        size = dice.randint(2, 17)
        end = Playing(FORM, contest(FORM, size, dice.choice([1, 3, 5])), dice, trouble).to_the_end()
        assert set(knocked_out(end)) == set(end.entrants) - {FORM.winner(end)}
        pairs = bracket(end)
        assert len(pairs) == size - 1
        assert all(pair.winner in (pair.higher, pair.lower) for pair in pairs)
        assert pairs[-1].winner == FORM.winner(end)
        if trouble is CALM:
            assert min(sum(bot in (met.first, met.second) for met in end.met) for bot in end.entrants) >= 1
