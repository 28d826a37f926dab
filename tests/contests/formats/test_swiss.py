"""Swiss: the rounds, the byes, and what happens to them when somebody leaves or a meeting is void."""

from __future__ import annotations

import random
from collections import Counter
from dataclasses import replace

import pytest
from playing import CALM, STORMY, Playing, Trouble, contest, first_moves, results, times_met
from thorough import seeds

from battlebot.contests.formats import format_named
from battlebot.contests.formats.record import pair_of
from battlebot.contests.formats.situation import Due, Met, Situation

FORM = format_named("swiss")


def words(meetings: list[Due]) -> list[str]:
    """`1ab`: in round 1 a meets b and moves first."""
    return [f"{one.round}{one.first}{one.second}" for one in meetings]


def after(size: int, *rounds: str, gone: str = "", meetings: int = 1, number: int = 4) -> Situation:
    """A contest of `number` rounds, after these meetings of each round (see `results`)."""
    met: list[Met] = []
    for round_number, text in enumerate(rounds, start=1):
        for one in results(text, round_number):
            before = sum({one.first, one.second} == {other.first, other.second} for other in met)
            met.append(replace(one, n=before + 1))
    now = replace(contest(FORM, size, meetings), met=tuple(met), withdrawn=frozenset(gone))
    return replace(now, config={"rounds": number})


# how many bots, the rounds so far, who withdrew, what is due
CASES = [
    ("the upper half meets the lower", 8, [], "", ["1ae", "1bf", "1cg", "1dh"]),
    ("of an odd number the last has a bye", 5, [], "", ["1ac", "1bd"]),
    ("what is reserved is not due, the rest is", 8, ["ae? bf+"], "", ["1cg", "1dh"]),
    ("the next round waits for the end of this one", 4, ["ac+ bd?"], "", []),
    ("equals meet equals", 8, ["ae+ bf+ cg+ dh+"], "", ["2ac", "2bd", "2eg", "2fh"]),
    ("an absent one counts as met", 4, ["ac! bd+"], "", ["2ab", "2cd"]),
    ("the bye goes to the lowest that had none", 5, ["ac+ bd+"], "", ["2ae", "2bc"]),
    ("no rematch: a has met c and b", 4, ["ac+ bd+", "ab+ cd+"], "", ["3ad", "3bc"]),
    ("all have met all: the contest ends early", 4, ["ac+ bd+", "ab+ cd+", "ad+ bc+"], "", []),
    ("who withdrew is not paired", 5, ["ac+ bd+"], "e", ["2ab", "2cd"]),
    ("the opponent of who withdrew meets who had the bye", 5, ["ac+"], "b", ["1de"]),
    ("or it sits out", 4, ["ac+"], "b", ["2ad"]),
    ("who met in the next round meanwhile meet others in this one", 6, ["cf+", "ad+"], "", ["1ae", "1bd"]),
]


@pytest.mark.parametrize(
    ("size", "rounds", "gone", "expected"), [case[1:] for case in CASES], ids=[case[0] for case in CASES]
)
def test_what_is_due(size: int, rounds: list[str], gone: str, expected: list[str]) -> None:
    """Each row: how many bots, the rounds so far, who withdrew, what is due. One meeting a pair."""
    now = after(size, *rounds, gone=gone)
    assert [f"{one.round}{min(one.first, one.second)}{max(one.first, one.second)}" for one in FORM.due(now)] == expected
    if not expected and all(met.state != "open" for met in now.met):
        assert FORM.complete(now)


def test_what_counts_for_nobody_scores_nothing_in_the_pairing() -> None:
    """Of six, d is absent in the first round: as a loss its opponent a has won, as void it has not."""
    counts = after(6, "ad! be- cf-")
    assert words(FORM.due(counts)) == ["2ea", "2fb", "2dc"]
    void = replace(counts, met=tuple(replace(one, counts=one.state != "absent") for one in counts.met))
    assert words(FORM.due(void)) == ["2ef", "2ac", "2db"]


def test_a_meeting_to_which_neither_came_is_no_draw_in_the_pairing() -> None:
    """a and d have lost it, like those who were beaten."""
    assert words(FORM.due(after(6, "ad0 be- cf-"))) == ["2ef", "2ac", "2db"]


def test_pairs_may_meet_as_long_as_there_are_rounds() -> None:
    """In the last round only those that are due."""
    first = after(4, "ac+ bd?", number=2)
    assert FORM.may_meet(first)("a", "b")
    last = after(4, "ac+ bd+", "ab?", number=2)
    assert [two for two in ("ab", "cd", "ad", "bc") if FORM.may_meet(last)(*two)] == ["cd"]


def test_a_void_first_meeting_is_played_again_with_its_first_mover() -> None:
    """Though by the balance, or the seeds, the other would be due to move first; in another round it would."""
    now = after(4, "bd+")
    (again,) = FORM.due(replace(now, void=(Due(1, 1, "c", "a"),)))
    assert (again.round, again.n, again.first) == (1, 1, "c")
    (other,) = FORM.due(replace(now, void=(Due(2, 1, "c", "a"),)))
    assert other.first == "a"


def test_the_first_move_goes_to_who_had_it_less_often() -> None:
    """In round 1 to the higher seed; in a rematch to the other."""
    assert words(FORM.due(after(4))) == ["1ac", "1bd"]
    # a and d have won, b and c lost; c and d moved second
    assert words(FORM.due(after(4, "ac+ bd-"))) == ["2da", "2cb"]
    # a meeting that was missed was nobody's first move
    assert words(FORM.due(after(4, "ac+ bd!"))) == ["2ba", "2cd"]
    rematch = after(2, "ab+", meetings=3)
    assert [(one.n, one.first) for one in FORM.due(rematch)] == [(2, "b")]


def test_the_first_move_of_a_late_meeting_counts_the_later_rounds() -> None:
    """g and h, brought back, meet in round 1: g has moved first in round 2, h has not played."""
    now = after(8, "ad+ be+ cf+", "fa+ gb+ dc+")
    assert words(FORM.due(now)) == ["1hg"]


@pytest.mark.parametrize("size", [5, 7, 8, 9])
def test_a_rounds_pairings_stay_while_some_are_reserved_or_void(size: int) -> None:
    """The same pairs, numbers and first movers, though a bot with a bye would be free to take a place."""
    for seed in range(30):
        dice = random.Random(seed)
        now = contest(FORM, size, 5)
        while not FORM.complete(now):
            rows = [(one, dice.choice([one.first, one.second, None])) for one in FORM.due(now)]
            met = tuple(Met(one.round, one.n, one.first, one.second, "played", victor) for one, victor in rows)
            for void, (one, _) in zip(met, rows, strict=True):
                others = tuple(other for other in met if other != void)
                assert FORM.due(replace(now, met=(*now.met, *others))) == [one]
            begun = dice.sample(range(len(met)), dice.randint(1, len(met) - 1)) if len(met) > 1 else []
            if begun:
                part = replace(now, met=(*now.met, *(met[index] for index in begun)))
                assert FORM.due(part) == [one for index, (one, _) in enumerate(rows) if index not in begun]
            now = replace(now, met=(*now.met, *met))


def test_a_void_meeting_of_an_earlier_round_is_due_before_those_left_in_the_later() -> None:
    """What is being played goes on; the round after that waits for both."""
    now = after(4, "ac+", "ab+ cd?")
    assert words(FORM.due(now)) == ["1bd"]
    assert FORM.due(after(4, "ac+ bd?", "ab+ cd+")) == []
    assert len(FORM.due(after(4, "ac+ bd+", "ab+ cd+"))) == 2


def test_a_later_round_waits_while_a_meeting_of_an_earlier_one_is_played_again() -> None:
    """Its result changes whom the others should meet: two workers that looked before and after it would disagree."""
    under_way = after(6, "ad- cf- be?", "de+", number=2)
    assert FORM.due(under_way) == []
    assert FORM.planned(under_way) == 6
    assert [FORM.may_meet(under_way)(*two) for two in ("af", "bc", "ab")] == [True, True, False]
    assert [FORM.has_more(under_way, bot) for bot in "abcdef"] == [True, True, True, False, False, True]
    assert words(FORM.due(after(6, "ad- cf- be+", "de+", number=2))) == ["2fb", "2ac"]


def test_a_bye_counts_from_the_beginning_of_its_round_and_once() -> None:
    """It is who sits the round out; a second time counts for nothing."""
    assert FORM.byes(after(5)) == {}
    assert FORM.byes(after(5, "ac?")) == {"e": 1}
    assert FORM.byes(after(5, "ac+ bd+")) == {"e": 1}
    assert FORM.byes(after(5, "ac+ bd+", "ab+ de+")) == {"e": 1, "c": 1}
    assert FORM.byes(after(3, "ab+", "ab+", meetings=2)) == {"c": 1}


def test_a_bye_scores_a_win_in_the_pairing() -> None:
    """After round 1 of seven with one winner, g has as many points as that one: they meet."""
    assert ("a", "g") in {pair_of(one.first, one.second) for one in FORM.due(after(7, "ad+ be= cf="))}


def test_a_bot_that_left_had_no_bye_in_the_rounds_after_that() -> None:
    """Nor before, unless it sat a round out and played again."""
    assert FORM.byes(after(5, "ac+ bd+", "ab+", gone="e")) == {}
    assert FORM.byes(after(5, "ac+ bd+", "ab+ de+", gone="e")) == {"e": 1, "c": 1}
    assert FORM.byes(after(5, "ac+ bd+", "ab+ de+", "ae+ cd+", gone="b")) == {"e": 1, "c": 1}


@pytest.mark.parametrize("trouble", [CALM, Trouble(absent=0.2, voids=3)], ids=["calm", "absences"])
def test_without_withdrawals_everyone_plays_every_round_or_has_a_bye(trouble: Trouble) -> None:
    """As many rounds as planned; each bot once in each; of an odd number one sits out, and nobody twice."""
    # in the last two the void meetings are of rounds before the one that is played
    for seed in (*seeds(50), 1438, 1731):
        size = 4 + seed % 9
        now = contest(FORM, size, 5)
        end = Playing(FORM, now, random.Random(seed), trouble).to_the_end()
        rounds = Counter(met.round for met in end.met)
        assert rounds == dict.fromkeys(range(1, now.config["rounds"] + 1), size // 2)
        assert FORM.planned(now) == len(end.met)
        each = Counter(bot for met in end.met for bot in (met.first, met.second))
        assert all(each[bot] + FORM.byes(end).get(bot, 0) == now.config["rounds"] for bot in end.entrants)
        assert sum(FORM.byes(end).values()) == (now.config["rounds"] if size % 2 else 0)


@pytest.mark.parametrize("size", [2, 3, 4, 5])
def test_first_moves_alternate_within_a_pair_that_meets_again(size: int) -> None:
    """Whatever the balance of the two."""
    for seed in range(20):
        now = contest(FORM, size, 5, {"rounds": size if size % 2 else 5 * (size - 1)})
        end = Playing(FORM, now, random.Random(seed), Trouble(voids=2)).to_the_end()
        for pair in times_met(end):
            firsts = {met.n: met.first for met in end.met if pair_of(met.first, met.second) == pair}
            assert len({(n + (first == pair[0])) % 2 for n, first in firsts.items()}) == 1


class Watched(Playing):
    """Looks at each round when it is paired, and at who plays in it."""

    paired = 0

    def check(self, due: list[Due]) -> None:
        """As for all formats; no bot twice in a round; when a round begins, no needless rematch."""
        super().check(due)
        now = self.situation
        seats = [(one.round, bot) for one in (*now.met, *due) for bot in (one.first, one.second)]
        assert len(set(seats)) == len(seats)
        assert set(FORM.byes(now).values()) <= {1}
        begun = max((met.round for met in now.met), default=0)
        if due and due[0].round > begun and self.paired < due[0].round:
            self.paired = due[0].round
            met = times_met(now)
            active = [bot for bot in now.entrants if bot not in now.withdrawn]
            again = sum(met[pair_of(one.first, one.second)] for one in due)
            sat_out = frozenset(FORM.byes(now))
            out = set(active) - {bot for one in due for bot in (one.first, one.second)}
            assert (-len(due), len(out & sat_out), again) == fewest(tuple(active), met, now.meetings, sat_out)


def fewest(
    bots: tuple[str, ...], met: Counter[tuple[str, str]], cap: int, sat_out: frozenset[str]
) -> tuple[int, int, int]:
    """Of all pairings: most pairs (negative), then fewest that sit out again, then fewest rematches."""
    if not bots:
        return 0, 0, 0
    one, others = bots[0], bots[1:]
    pairs, out, again = fewest(others, met, cap, sat_out)
    best = (pairs, out + (one in sat_out), again)
    for other in others:
        times = met[pair_of(one, other)]
        if times < cap:
            pairs, out, again = fewest(tuple(bot for bot in others if bot != other), met, cap, sat_out)
            best = min(best, (pairs - 1, out, again + times))
    return best


@pytest.mark.parametrize("trouble", [CALM, STORMY], ids=["calm", "stormy"])
def test_no_rematch_and_no_second_bye_that_can_be_avoided(trouble: Trouble) -> None:
    """Each round of small contests, against all pairings that there are."""
    for seed in seeds(40):
        dice = random.Random(seed)
        size, meetings = dice.randint(2, 7), dice.choice([1, 1, 2, 3])
        most = size if size % 2 else (size - 1) * meetings
        now = contest(FORM, size, meetings, {"rounds": dice.randint(1, most)})
        Watched(FORM, now, dice, trouble).to_the_end()


@pytest.mark.parametrize("size", [8, 15, 16, 33, 64])
def test_first_moves_stay_within_two_of_second_ones(size: int) -> None:
    """In every round of contests without rematches."""
    for seed in seeds(1):
        end = Playing(FORM, contest(FORM, size, 1), random.Random(seed)).to_the_end()
        for number in range(1, end.config["rounds"] + 1):
            so_far = replace(end, met=tuple(met for met in end.met if met.round <= number))
            assert max(map(abs, first_moves(so_far).values())) <= 2


@pytest.mark.parametrize("size", [16, 17, 64])
def test_the_better_bot_wins_a_contest_in_which_the_better_always_wins(size: int) -> None:
    """And no two bots that are not beaten are left."""
    now = contest(FORM, size, 1)
    strength = {bot: rank for rank, bot in enumerate(random.Random(size).sample(now.entrants, size))}

    def played(one: Due) -> Met:
        victor = one.first if strength[one.first] > strength[one.second] else one.second
        return Met(one.round, one.n, one.first, one.second, "played", victor)

    while not FORM.complete(now):
        now = replace(now, met=(*now.met, *map(played, FORM.due(now))))
    lost = Counter(met.first if met.victor == met.second else met.second for met in now.met)
    assert [bot for bot in now.entrants if not lost[bot]] == [bot for bot in strength if strength[bot] == size - 1]
    assert set(times_met(now).values()) == {1}
