"""The format `open`: fewest meetings first, longest waiting first, no needless rematch, never more than the cap."""

from __future__ import annotations

import random
from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st

from battlebot.contests.formats import format_named, format_names
from battlebot.contests.formats.open import pair
from battlebot.contests.formats.record import Record, Waiter, pair_of
from battlebot.errors import Refused


def waiters(names: str) -> list[Waiter]:
    """One waiter a letter, in the order of waiting."""
    return [Waiter(name, f"{name}{index}") for index, name in enumerate(names)]


# meetings so far (first mover first), who waits, the pairs that follow
CASES = [
    ("nobody waits", [], "", []),
    ("one alone waits", [], "a", []),
    ("the longest waiting meets the next", [], "abcd", ["ab", "cd"]),
    ("the odd one waits on", [], "abc", ["ab"]),
    ("whom it has met least", ["ab", "ba"], "abc", ["ac"]),
    ("no rematch while another waits", ["ac", "ca", "ab"], "abc", ["ac"]),
    ("a rematch where nobody else waits", ["ab"], "ab", ["ba"]),
    ("nobody meets itself", [], "aa", []),
    ("nobody meets itself, but others behind it", [], "aab", ["ab"]),
    ("two connections of one bot meet two others", [], "aabc", ["ab", "ac"]),
    ("nobody left to meet", ["ab", "ba", "ab", "ba", "ab"], "ab", []),
    ("one that has nobody left holds nobody up", ["ab", "ba", "ab", "ba", "ab"], "abc", ["ac"]),
]


@pytest.mark.parametrize(("played", "waiting", "expected"), [case[1:] for case in CASES], ids=[c[0] for c in CASES])
def test_who_meets_whom(played: list[str], waiting: str, expected: list[str]) -> None:
    """Each row: the meetings so far, who waits, who meets."""
    numbers: Counter[tuple[str, str]] = Counter()
    meetings = []
    for first, second in played:
        numbers[pair_of(first, second)] += 1
        meetings.append((first, second, numbers[pair_of(first, second)]))
    pairings = pair(waiters(waiting), Record.of(meetings), 5)
    assert ["".join(sorted(p.first.bot + p.second.bot)) for p in pairings] == ["".join(sorted(row)) for row in expected]


def test_the_first_mover_alternates_within_a_pair() -> None:
    """Five meetings: 3 to 2, in turn."""
    record = Record()
    firsts = [pair(waiters("ab"), record, 5)[0].first.bot for _ in range(5)]
    assert firsts in (list("ababa"), list("babab"))


def test_a_void_meetings_number_is_played_again_with_the_same_first_mover() -> None:
    """Number 2 of 3 is missing: it comes next, and who moved first in it before does so again."""
    record = Record.of([("a", "b", 1), ("a", "b", 3)])
    (pairing,) = pair(waiters("ab"), record, 5)
    assert (pairing.n, pairing.first.bot) == (2, "b")


@given(st.integers(0, 2**32), st.integers(1, 5), st.integers(2, 9))
def test_random_comings_and_goings_end_with_every_pair_met_exactly(seed: int, meetings: int, bots: int) -> None:
    """Whoever waits when: no pair beyond the cap, no pair at the end below it, first moves balanced in each pair."""
    dice, record = random.Random(seed), Record()
    names = [chr(97 + index) for index in range(bots)]
    pairs: Counter[tuple[str, str]] = Counter()
    while sum(pairs.values()) < meetings * bots * (bots - 1) // 2:
        present = names if dice.random() < 0.3 else dice.sample(names, dice.randint(2, bots))
        made = pair(waiters("".join(present)), record, meetings)
        left = [pair_of(a, b) for a in present for b in present if a < b and pairs[pair_of(a, b)] < meetings]
        assert bool(made) == bool(left)
        busy = [waiter.bot for pairing in made for waiter in (pairing.first, pairing.second)]
        assert len(busy) == len(set(busy))
        pairs.update(pair_of(pairing.first.bot, pairing.second.bot) for pairing in made)
        assert max(pairs.values(), default=0) <= meetings
    for numbers in record.numbers.values():
        counts = Counter(numbers.values())
        assert abs(2 * counts[next(iter(counts))] - meetings) <= 1


def test_every_format_is_found_by_its_name_and_no_other() -> None:
    """An unknown name raises; nothing falls back."""
    assert "open" in format_names()
    for name in format_names():
        assert format_named(name).TITLE
    for name in ("record", "nonsense", "../open", ""):
        with pytest.raises(Refused):
            format_named(name)
