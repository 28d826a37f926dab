"""Round-robin: the schedule, its balance, and that nobody waits for one bot."""

from __future__ import annotations

import gc
import random
import tracemalloc
from collections import defaultdict
from dataclasses import replace
from functools import partial
from itertools import pairwise

import pytest
from cpu import least_cpu_s
from playing import CALM, Playing, Trouble, contest, first_moves, results, times_met
from thorough import seeds

from battlebot.contests.formats import format_named
from battlebot.contests.formats.record import Waiter, pair_of
from battlebot.contests.formats.round_robin import Schedule
from battlebot.contests.formats.situation import Due, Met
from battlebot.errors import Refused

FORM = format_named("round-robin")
SIZES = [2, 3, 4, 5, 6, 7, 8, 9, 12, 13, 30, 31]


def meetings_of(entrants: tuple[str, ...], meetings: int) -> list[Due]:
    """The whole schedule, in the order of rounds."""
    schedule = Schedule(entrants, meetings)
    return [schedule.meeting(place) for place in range(schedule.size)]


def words(meetings: list[Due]) -> list[str]:
    """`1ab`: in round 1 a meets b and moves first."""
    return [f"{one.round}{one.first}{one.second}" for one in meetings]


@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize("meetings", [1, 2, 5])
def test_every_pair_meets_so_often_once_a_cycle_and_every_bot_once_a_round(size: int, meetings: int) -> None:
    """The circle method: n - 1 rounds a cycle of an even number, n of an odd one."""
    now = contest(FORM, size, meetings)
    schedule = meetings_of(now.entrants, meetings)
    cycle = size if size % 2 else size - 1
    assert len(schedule) == FORM.planned(now) == meetings * size * (size - 1) // 2
    assert {one.round for one in schedule} == set(range(1, cycle * meetings + 1))
    assert len({(pair_of(one.first, one.second), one.n) for one in schedule}) == len(schedule)
    assert all(one.n == (one.round - 1) // cycle + 1 for one in schedule)
    playing = [(one.round, bot) for one in schedule for bot in (one.first, one.second)]
    assert len(set(playing)) == len(playing)
    assert [one.round for one in schedule] == sorted(one.round for one in schedule)


@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize("meetings", [1, 2, 3, 4, 5])
def test_first_moves_are_balanced_within_one_and_alternate_within_a_pair(size: int, meetings: int) -> None:
    """Over the whole contest and each cycle of it; never three rounds of a cycle in a row with the same."""
    now = contest(FORM, size, meetings)
    schedule = meetings_of(now.entrants, meetings)
    for n in range(1, meetings + 1):
        in_cycle = replace(now, met=tuple(met_of(one) for one in schedule if one.n == n))
        assert max(map(abs, first_moves(in_cycle).values())) <= 1
    whole = replace(now, met=tuple(met_of(one) for one in schedule))
    assert max(map(abs, first_moves(whole).values())) <= (meetings * (size - 1)) % 2
    firsts = defaultdict(list)
    for one in schedule:
        firsts[pair_of(one.first, one.second)].append(one.first)
    assert all(a != b for row in firsts.values() for a, b in pairwise(row))
    for bot in now.entrants:
        moves = [one.first == bot for one in schedule if one.n == 1 and bot in (one.first, one.second)]
        assert all(len({*three}) == 2 for three in zip(moves, moves[1:], moves[2:], strict=False))


def met_of(one: Due, state: str = "played") -> Met:
    """The meeting, won by who moved first."""
    return Met(one.round, one.n, one.first, one.second, state, one.first if state == "played" else None)


def test_a_contest_of_four_by_hand() -> None:
    """The last does not turn: rounds a-d b-c, then a-b c-d, d-b c-a; once more with first moves swapped."""
    schedule = meetings_of(tuple("abcd"), 2)
    assert words(list(schedule)) == ["1da", "1bc", "2ab", "2cd", "3db", "3ca", "4ad", "4cb", "5ba", "5dc", "6bd", "6ac"]


def test_whoever_is_free_goes_on_while_another_still_plays() -> None:
    """Two of six are done with round 1: they do not run on to a rematch; four are: two of them meet in round 2."""
    now = contest(FORM, 6, 2)
    one, two, three = meetings_of(now.entrants, 2)[:3]
    now = replace(now, met=(met_of(one), met_of(two, "open"), met_of(three, "open")))
    rematch = pair_of(one.first, one.second)
    assert FORM.due(now)
    assert rematch not in {pair_of(row.first, row.second) for row in FORM.due(now)}
    assert FORM.pair(now, [Waiter(bot, bot) for bot in rematch]) == []
    now = replace(now, met=(met_of(one), met_of(two), met_of(three, "open")))
    free = [bot for row in (one, two) for bot in (row.first, row.second)]
    assert [one.round for one in FORM.pair(now, [Waiter(bot, bot) for bot in free])] == [2]


@pytest.mark.parametrize(("size", "rounds"), [(2, 1), (4, 2), (6, 2), (8, 3), (12, 4)])
def test_at_the_start_so_many_rounds_are_within_reach(size: int, rounds: int) -> None:
    """A bot may skip a quarter of the field, at least one."""
    now = contest(FORM, size, 1)
    assert FORM.due(now) == [one for one in meetings_of(now.entrants, 1) if one.round <= rounds]


@pytest.mark.parametrize("size", [3, 4, 5, 8, 13])
@pytest.mark.parametrize("plays", [True, False], ids=["slow", "gone"])
def test_one_bot_that_is_slow_or_gone_keeps_the_others_from_nothing(size: int, plays: bool) -> None:
    """Its meetings do not even end as absent, and all others are played to the last."""
    now = contest(FORM, size, 5)
    slow = now.entrants[size // 2]
    if plays:
        one = next(row for row in FORM.due(now) if slow in (row.first, row.second))
        now = replace(now, met=(met_of(one, "open"),))
    others = [Waiter(bot, bot) for bot in now.entrants if bot != slow]
    for _ in range(5 * size * size):
        made = FORM.pair(now, others)
        met = [Met(p.round, p.n, p.first.bot, p.second.bot, "played", None) for p in made]
        now = replace(now, met=(*now.met, *met))
    of_others = {two: times for two, times in times_met(now).items() if slow not in two}
    assert set(of_others.values()) == {5}
    assert len(of_others) == (size - 1) * (size - 2) // 2
    assert not FORM.complete(now)


@pytest.mark.parametrize("size", [2, 3, 6, 9])
def test_a_finished_contest_has_exactly_so_many_meetings_of_each_pair(size: int) -> None:
    """With absences and voids too; with them first moves stay balanced, as the schedule has them."""
    for seed in seeds(10):
        trouble = CALM if seed % 2 else Trouble(absent=0.2, voids=5)
        end = Playing(FORM, contest(FORM, size, 1 + seed % 5), random.Random(seed), trouble).to_the_end()
        assert set(times_met(end).values()) == {end.meetings}
        assert len(times_met(end)) == size * (size - 1) // 2
        assert max(map(abs, first_moves(end).values())) <= 1


def test_who_withdraws_leaves_the_others_all_their_meetings() -> None:
    """What it has played stays; what it has not is not due, and not planned."""
    now = contest(FORM, 4, 2)
    now = replace(now, met=results("da+ bc=", 1), withdrawn=frozenset("d"))
    assert FORM.planned(now) == 1 + 2 * 3
    assert all("d" not in (row.first, row.second) for row in FORM.due(now))
    end = Playing(FORM, now, random.Random(1)).to_the_end()
    assert times_met(end) == {("a", "d"): 1, ("a", "b"): 2, ("a", "c"): 2, ("b", "c"): 2}


def test_a_meeting_of_who_withdraws_is_played_to_its_end() -> None:
    """Though nothing else is left, the contest is not over before it is."""
    now = replace(contest(FORM, 2, 2), withdrawn=frozenset("a"))
    (first, _) = meetings_of(now.entrants, 2)
    for state in ("open", "played"):
        now = replace(now, met=(met_of(first, state),))
        assert (FORM.due(now), FORM.complete(now)) == ([], state == "played")


@pytest.mark.parametrize(("size", "rounds"), [(1, 0), (2, 2), (5, 10)])
def test_a_contest_whose_meetings_are_all_over_is_settled_up_to_its_last_round(size: int, rounds: int) -> None:
    """One bot alone has none."""
    now = contest(FORM, size, 2)
    now = replace(now, met=tuple(met_of(one) for one in meetings_of(now.entrants, 2)))
    assert (FORM.due(now), FORM.complete(now), FORM.settled(now)) == ([], True, rounds)


def test_a_void_meeting_is_due_again_as_it_was() -> None:
    """Its round, its number, its first mover; though the pair has met again since."""
    now = contest(FORM, 2, 3)
    schedule = meetings_of(now.entrants, 3)
    now = replace(now, met=(met_of(schedule[0]), met_of(schedule[2])))
    assert FORM.due(now) == [schedule[1]]


def test_what_is_due_costs_about_as_much_as_reading_the_schedule_once() -> None:
    """Called every 50 ms, of 200 bots with five meetings, at any stage."""
    now = contest(FORM, 200, 5)
    schedule = meetings_of(now.entrants, 5)
    reading_s = least_cpu_s(lambda: set(schedule))
    for done in (0, len(schedule) // 2, len(schedule) - 100):
        later = replace(now, met=tuple(met_of(one) for one in schedule[:done]))
        assert least_cpu_s(partial(FORM.due, later)) < 10 * reading_s


def test_looks_at_many_large_contests_leave_little_in_memory() -> None:
    """A worker and a web node look at all that run: each schedule as a list would be 20 MB."""
    contests = [replace(contest(FORM, 200, 5), entrants=tuple(f"{cup}-{bot}" for bot in range(200))) for cup in "abc"]
    tracemalloc.start()
    try:
        assert all(FORM.due(now) for now in contests)
        gc.collect()
        kept, _ = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert kept < 5_000_000


@pytest.mark.parametrize(
    ("size", "meetings", "planned"), [(201, 5, 100_500), (448, 1, 100_128), (10_000, 1, 49_995_000)]
)
def test_a_contest_has_no_more_meetings_than_a_process_can_plan(size: int, meetings: int, planned: int) -> None:
    """Ten thousand bots are a list like another, but their schedule would take all memory."""
    entrants = [f"bot{number}" for number in range(size)]
    assert FORM.checked_config({}, entrants[: size // 50], meetings) == {}
    with pytest.raises(Refused, match=f"{size} bots with {meetings} meetings a pair would play {planned}") as refused:
        FORM.checked_config({}, entrants, meetings)
    assert refused.value.details["field"] == "entrants"


@pytest.mark.parametrize(("size", "meetings"), [(200, 5), (447, 1)])
def test_a_contest_may_be_as_large_as_that(size: int, meetings: int) -> None:
    """And no larger: see above."""
    assert FORM.checked_config({}, [f"bot{number}" for number in range(size)], meetings) == {}
