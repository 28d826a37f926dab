"""The format `open`: fewest meetings first, longest waiting first, no needless rematch, never more than the cap."""

from __future__ import annotations

import random
from collections import Counter, defaultdict
from dataclasses import replace

import pytest
from cpu import least_cpu_s
from hypothesis import given
from hypothesis import strategies as st

from battlebot.contests.formats import format_named
from battlebot.contests.formats.record import Record, Waiter, pair_of
from battlebot.contests.formats.situation import Due, Met, Situation

FORM = format_named("open")


def waiters(names: str) -> list[Waiter]:
    """One waiter a letter, in the order of waiting."""
    return [Waiter(name, f"{name}{index}") for index, name in enumerate(names)]


def situation(met: list[Met], meetings: int = 5, entrants: str = "", withdrawn: str = "") -> Situation:
    """An open contest after these meetings."""
    return Situation(tuple(entrants), frozenset(withdrawn), meetings, {}, tuple(met))


def played(words: list[str]) -> list[Met]:
    """Meetings from words, first mover first: `["ab", "ba"]`."""
    numbers: Counter[tuple[str, str]] = Counter()
    meetings = []
    for first, second in words:
        numbers[pair_of(first, second)] += 1
        meetings.append(Met(0, numbers[pair_of(first, second)], first, second, "played", first))
    return meetings


# meetings so far (first mover first), who waits, the pairs that follow
CASES = [
    ("nobody waits", [], "", []),
    ("one alone waits", [], "a", []),
    ("the longest waiting meets the next", [], "abcd", ["ab", "cd"]),
    ("the odd one waits on", [], "abc", ["ab"]),
    ("whom it has met least", ["ab", "ba"], "abc", ["ac"]),
    ("no rematch while another waits", ["ac", "ca", "ab"], "abc", ["ac"]),
    ("a rematch where nobody else waits", ["ab"], "ab", ["ba"]),
    ("no rematch is one with a bot that has met another since", ["ac", "ab", "bd"], "abc", ["ab"]),
    ("nobody meets itself", [], "aa", []),
    ("nobody meets itself, but others behind it", [], "aab", ["ab"]),
    ("two connections of one bot meet two others", [], "aabc", ["ab", "ac"]),
    ("nobody left to meet", ["ab", "ba", "ab", "ba", "ab"], "ab", []),
    ("one that has nobody left holds nobody up", ["ab", "ba", "ab", "ba", "ab"], "abc", ["ac"]),
    ("one that has withdrawn is not paired", [], "xab", ["ab"]),
]


@pytest.mark.parametrize(("met", "waiting", "expected"), [case[1:] for case in CASES], ids=[c[0] for c in CASES])
def test_who_meets_whom(met: list[str], waiting: str, expected: list[str]) -> None:
    """Each row: the meetings so far, who waits, who meets. The bot x has withdrawn."""
    pairings = FORM.pair(situation(played(met), withdrawn="x"), waiters(waiting))
    assert ["".join(sorted(p.first.bot + p.second.bot)) for p in pairings] == ["".join(sorted(row)) for row in expected]


def test_the_first_mover_alternates_within_a_pair() -> None:
    """Five meetings: 3 to 2, in turn."""
    met: list[Met] = []
    for _ in range(5):
        (pairing,) = FORM.pair(situation(met), waiters("ab"))
        met.append(Met(0, pairing.n, pairing.first.bot, pairing.second.bot, "open", None))
    assert [one.first for one in met] in (list("ababa"), list("babab"))
    assert [one.n for one in met] == [1, 2, 3, 4, 5]


@pytest.mark.parametrize(
    ("met", "first"), [([], "a"), (["ac"], "b"), (["cb"], "b"), (["ac", "ca"], "a"), (["bc", "cb"], "a")]
)
def test_who_moved_first_less_often_begins(met: list[str], first: str) -> None:
    """By name among equals; one that is new has done so as often as not."""
    (pairing,) = FORM.pair(situation(played(met)), waiters("ba"))
    assert pairing.first.bot == first


def test_a_void_meetings_number_is_played_again_with_the_same_first_mover() -> None:
    """Number 2 of 3 is missing: it comes next, and who moved first in it before does so again."""
    met = [Met(0, n, "a", "b", "played", None) for n in (1, 3)]
    (pairing,) = FORM.pair(situation(met), waiters("ab"))
    assert (pairing.n, pairing.first.bot, pairing.round) == (2, "b", 0)


def test_a_pairs_only_meeting_is_played_again_with_the_same_first_mover() -> None:
    """Whoever has moved first less often by then; the next one alternates from it."""
    met = played(["ab", "ca", "da", "be", "bf"])
    now = situation(met[1:], entrants="abcdef")
    (balanced,) = FORM.pair(now, waiters("ab"))
    (again,) = FORM.pair(replace(now, void=(Due(0, 1, "b", "a"),)), waiters("ab"))
    assert [(one.n, one.first.bot) for one in (balanced, again)] == [(1, "a"), (1, "b")]
    follows = replace(situation(met[1:]), void=(Due(0, 2, "a", "b"), Due(0, 1, "b", "a")))
    (again,) = FORM.pair(follows, waiters("ab"))
    assert (again.n, again.first.bot) == (1, "b")


@given(st.integers(0, 2**32))
def test_whatever_is_void_is_played_again_as_it_was(seed: int) -> None:
    """Any past of five bots, any of its meetings."""
    dice = random.Random(seed)
    met: list[Met] = []
    for _ in range(dice.randint(1, 12)):
        for one in FORM.pair(situation(met), waiters("".join(dice.sample("abcde", 2)))):
            met.append(Met(0, one.n, one.first.bot, one.second.bot, "played", None))
    for gone in met:
        now = situation([one for one in met if one != gone])
        (again,) = FORM.pair(
            replace(now, void=(Due(0, gone.n, gone.first, gone.second),)), waiters(gone.second + gone.first)
        )
        assert (again.n, again.first.bot) == (gone.n, gone.first)


def test_due_is_every_pairs_next_meeting_fewest_meetings_first() -> None:
    """Not of those who withdrew, nor of those who have met often enough."""
    met = played(["ab", "ba", "ac", "xc"])
    rows = FORM.due(situation(met, 2, "abcx", withdrawn="x"))
    assert [(one.round, one.n, one.first + one.second) for one in rows] == [(0, 1, "cb"), (0, 2, "ca")]


def test_it_is_never_complete_by_itself_nor_planned() -> None:
    """Someone new may come."""
    for now in (situation([]), situation(played(["ab"]), 1, "ab")):
        assert (FORM.complete(now), FORM.planned(now)) == (False, None)


@given(st.integers(0, 2**32), st.integers(1, 5), st.integers(2, 9))
def test_random_comings_and_goings_end_with_every_pair_met_exactly(seed: int, meetings: int, bots: int) -> None:
    """Whoever waits when: no pair beyond the cap, no pair at the end below it, first moves balanced in each pair."""
    dice = random.Random(seed)
    names = [chr(97 + index) for index in range(bots)]
    met: list[Met] = []
    firsts: defaultdict[tuple[str, str], Counter[str]] = defaultdict(Counter)
    while len(met) < meetings * bots * (bots - 1) // 2:
        present = names if dice.random() < 0.3 else dice.sample(names, dice.randint(2, bots))
        made = FORM.pair(situation(met, meetings), waiters("".join(present)))
        left = [(a, b) for a in present for b in present if a < b and firsts[pair_of(a, b)].total() < meetings]
        assert bool(made) == bool(left)
        busy = [waiter.bot for pairing in made for waiter in (pairing.first, pairing.second)]
        assert len(busy) == len(set(busy))
        for one in made:
            met.append(Met(0, one.n, one.first.bot, one.second.bot, "played", None))
            firsts[pair_of(one.first.bot, one.second.bot)][one.first.bot] += 1
        assert all(counts.total() <= meetings for counts in firsts.values())
    for counts in firsts.values():
        assert abs(2 * max(counts.values()) - meetings) <= 1


@pytest.mark.parametrize("seed", range(4))
def test_every_bot_moves_first_about_as_often_as_second(seed: int) -> None:
    """Of 65 matches of each of 14 bots, which end in any order: the numbers differ by at most five."""
    dice = random.Random(seed)
    names = [chr(97 + index) for index in range(14)]
    met: list[Met] = []
    playing: list[Met] = []
    free = dice.sample(names, len(names))
    while True:
        for one in FORM.pair(situation(met), waiters("".join(free))):
            playing.append(Met(0, one.n, one.first.bot, one.second.bot, "open", None))
            met.append(playing[-1])
            free = [bot for bot in free if bot not in (one.first.bot, one.second.bot)]
        if not playing:
            break
        ended = playing.pop(dice.randrange(len(playing)))
        free += dice.sample((ended.first, ended.second), 2)
    lead = Counter(one.first for one in met)
    lead.subtract(one.second for one in met)
    assert len(met) == 5 * 14 * 13 // 2
    assert max(map(abs, lead.values())) <= 5


def by_looking_at_everyone(now: Situation, waiting: list[Waiter]) -> list[tuple[str, str]]:
    """The rule, word by word: each in turn looks at all who still wait."""
    record = Record.of((met.first, met.second, met.n) for met in now.met)
    free, made = list(waiting), []
    while free:
        one = free.pop(0)
        may = [other for other in free if other.bot != one.bot and record.met(one.bot, other.bot) < now.meetings]

        def merit(other: Waiter, bot: str = one.bot) -> tuple[bool, int]:
            rematch = record.last.get(bot) == other.bot and record.last.get(other.bot) == bot
            return rematch, record.met(bot, other.bot)

        if may:
            best = min(may, key=merit)
            free.remove(best)
            n = record.next_number(one.bot, best.bot)
            record.add(one.bot, best.bot, n)
            made.append((one.ticket, best.ticket))
    return made


@given(st.integers(0, 2**32), st.integers(1, 3), st.integers(2, 8))
def test_the_short_way_finds_what_looking_at_everyone_finds(seed: int, meetings: int, bots: int) -> None:
    """Any past, any queue, bots in it several times."""
    dice = random.Random(seed)
    names = "abcdefgh"[:bots]
    past = [word for word in ("".join(dice.sample(names, 2)) for _ in range(30)) if dice.random() < 0.6]
    met = [one for one in played(past) if one.n <= meetings]
    waiting = waiters("".join(dice.choices(names, k=dice.randint(0, 12))))
    found = [{one.first.ticket, one.second.ticket} for one in FORM.pair(situation(met, meetings), waiting)]
    assert found == [set(two) for two in by_looking_at_everyone(situation(met, meetings), waiting)]


@pytest.mark.parametrize(("bots", "rounds"), [(1_000, 100), (10_000, 20)])
def test_pairing_costs_a_few_times_what_reading_the_meetings_does(bots: int, rounds: int) -> None:
    """All wait at once, after so many rounds in which everyone met someone; and where each has met all near it."""
    names = [f"bot{index}" for index in range(bots)]
    met = [
        Met(0, 1, names[index], names[(index + step) % bots], "played", None)
        for step in range(1, rounds // 2 + 1)
        for index in range(bots)
    ]
    waiting = [Waiter(name, name) for name in names]
    assert len(FORM.pair(situation(met), waiting)) == bots // 2
    assert least_cpu_s(lambda: FORM.pair(situation(met), waiting), 2) < 30 * least_cpu_s(lambda: who_met(met))


def test_pairing_a_queue_whose_bots_have_all_met_costs_no_more() -> None:
    """Nobody can stop at somebody it has never met: 1,000 bots, half a million meetings."""
    names = [f"bot{index}" for index in range(1_000)]
    met = [Met(0, 1, one, other, "played", None) for index, one in enumerate(names) for other in names[:index]]
    waiting = [Waiter(name, name) for name in names]
    assert len(FORM.pair(situation(met), waiting)) == 500
    assert least_cpu_s(lambda: FORM.pair(situation(met), waiting), 2) < 30 * least_cpu_s(lambda: who_met(met), 2)


def who_met(meetings: list[Met]) -> set[tuple[str, str]]:
    """What any pairing must know at least, read once."""
    return {(met.first, met.second) for met in meetings}
