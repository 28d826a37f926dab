"""All formats: found by name, their settings checked; contests of every kind come to an end and never stall."""

from __future__ import annotations

import inspect
import random
from contextlib import suppress
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from playing import CALM, STORMY, Playing, Trouble, battles_to_the_end, contest, times_met
from thorough import seeds

from battlebot.contests.formats import format_named, format_names
from battlebot.contests.formats.contract import CONSTANTS, Format
from battlebot.contests.formats.situation import Situation
from battlebot.errors import Refused

CLOSED = [name for name in format_names() if format_named(name).CLOSED]
OF_PAIRS = [name for name in CLOSED if not format_named(name).TOGETHER]
TOGETHER = [name for name in CLOSED if format_named(name).TOGETHER]


def counts_of(form: Format, counts: list[int]) -> list[int]:
    """Those of these meetings a pair that the format takes."""
    taken = []
    for count in counts:
        with suppress(Refused):
            form.checked_config({}, (), count)
            taken.append(count)
    return taken


def test_every_format_is_found_by_its_name_and_no_other() -> None:
    """An unknown name raises; nothing falls back; what the formats share is none."""
    assert set(format_names()) >= {"champion", "gauntlet", "knockout", "open", "round-robin", "swiss"}
    for name in ("record", "seating", "round_robin", "nonsense", "../open", "", "OPEN"):
        with pytest.raises(Refused) as refused:
            format_named(name)
        assert refused.value.details["field"] == "format"


@pytest.mark.parametrize("name", format_names())
def test_a_format_has_all_that_the_contract_names(name: str) -> None:
    """Each method is called as the contract's is, whatever calls them by their arguments' names included."""
    form = format_named(name)
    assert [type(getattr(form, constant)) for constant in CONSTANTS] == [str, bool, bool]
    assert name == form.NAME
    for method in [method for method in vars(Format) if callable(getattr(Format, method)) and method[0] != "_"]:
        wanted = inspect.signature(getattr(Format, method)).parameters
        assert list(inspect.signature(getattr(type(form), method)).parameters) == list(wanted)


BAD_CONFIGS = [
    ("open", {"rounds": 3}, "ab", 5, "rounds"),
    ("round-robin", {"rounds": 3}, "ab", 5, "rounds"),
    ("knockout", {"rounds": 3}, "ab", 5, "rounds"),
    ("knockout", {}, "ab", 4, "meetings"),
    ("gauntlet", {"champion": "x"}, "ab", 5, "champion"),
    ("gauntlet", {"champions": "a"}, "ab", 5, "champions"),
    ("gauntlet", {"champion": ["a"]}, "ab", 5, "champion"),
    ("swiss", {"rounds": 0}, "abcd", 5, "rounds"),
    ("swiss", {"rounds": True}, "abcd", 5, "rounds"),
    ("swiss", {"rounds": 2.0}, "abcd", 5, "rounds"),
    ("swiss", {"rounds": "3"}, "abcd", 5, "rounds"),
    ("swiss", {"rounds": 4}, "abcd", 1, "rounds"),
    ("swiss", {"rounds": 6}, "abcde", 5, "rounds"),
    ("round-robin", {}, "aba", 5, "entrants"),
    ("champion", {"battles": 0}, "ab", 5, "battles"),
    ("champion", {"battles": 1001}, "ab", 5, "battles"),
    ("champion", {"battles": True}, "ab", 5, "battles"),
    ("champion", {"battles": "10"}, "ab", 5, "battles"),
    ("champion", {"rounds": 10}, "ab", 5, "rounds"),
    ("champion", {}, "aba", 5, "entrants"),
]


@pytest.mark.parametrize(("name", "config", "entrants", "meetings", "field"), BAD_CONFIGS)
def test_a_bad_setting_is_refused_by_its_name(
    name: str, config: dict[str, Any], entrants: str, meetings: int, field: str
) -> None:
    """The field is in the details, for the API's answer."""
    with pytest.raises(Refused) as refused:
        format_named(name).checked_config(config, tuple(entrants), meetings)
    assert refused.value.details["field"] == field


GOOD_CONFIGS = [
    ("open", {}, "", 5, {}),
    ("round-robin", {}, "abc", 5, {}),
    ("knockout", {}, "abc", 3, {}),
    ("gauntlet", {}, "abc", 5, {"champion": "a"}),
    ("gauntlet", {"champion": "c"}, "abc", 5, {"champion": "c"}),
    ("gauntlet", {}, "", 5, {"champion": None}),
    ("champion", {}, "", 5, {"battles": 100}),
    ("champion", {"battles": 7}, "abc", 1, {"battles": 7}),
    ("swiss", {}, "", 5, {"rounds": 1}),
    ("swiss", {}, "a", 5, {"rounds": 1}),
    ("swiss", {}, "ab", 5, {"rounds": 2}),
    ("swiss", {}, "ab", 1, {"rounds": 1}),
    ("swiss", {}, "abc", 1, {"rounds": 3}),
    ("swiss", {}, "abcdefgh", 1, {"rounds": 4}),
    ("swiss", {}, "abcdefghi", 1, {"rounds": 5}),
    ("swiss", {"rounds": 5}, "abcde", 1, {"rounds": 5}),
    ("swiss", {"rounds": 15}, "abcd", 5, {"rounds": 15}),
]


@pytest.mark.parametrize(("name", "config", "entrants", "meetings", "expected"), GOOD_CONFIGS)
def test_defaults_are_filled_in(
    name: str, config: dict[str, Any], entrants: str, meetings: int, expected: dict[str, Any]
) -> None:
    """What was given stays; checking what was checked changes nothing."""
    form = format_named(name)
    assert form.checked_config(config, tuple(entrants), meetings) == expected
    assert form.checked_config(expected, tuple(entrants), meetings) == expected


@pytest.mark.parametrize("name", CLOSED)
@pytest.mark.parametrize("size", [0, 1])
def test_a_contest_of_nobody_or_of_one_is_over_before_it_begins(name: str, size: int) -> None:
    """Nothing due, nobody paired, complete."""
    form = format_named(name)
    now = contest(form, size, 5)
    assert (form.due(now), form.pair(now, []), form.complete(now), form.planned(now)) == ([], [], True, 0)


@pytest.mark.parametrize("name", CLOSED)
def test_a_contest_that_everyone_leaves_is_over(name: str) -> None:
    """Before the first meeting, but for one bot or for none."""
    form = format_named(name)
    now = contest(form, 5, 3)
    for staying in ("", "c"):
        left = Situation(now.entrants, frozenset(now.entrants) - set(staying), 3, now.config, ())
        assert (form.due(left), form.complete(left), form.planned(left)) == ([], True, 0)


@pytest.mark.parametrize("name", OF_PAIRS)
@pytest.mark.parametrize("trouble", [CALM, STORMY], ids=["calm", "stormy"])
def test_hundreds_of_contests_come_to_an_end(name: str, trouble: Trouble) -> None:
    """Random sizes, caps, results, absences, withdrawals and voids; `Playing.check` holds at each of their moments."""
    form = format_named(name)
    for seed in seeds(200):
        dice = random.Random(seed)
        meetings = dice.choice(counts_of(form, [1, 1, 2, 3, 5]))
        playing = Playing(form, contest(form, dice.choice([2, 3, 3, 4, 4, 5, 6, 7]), meetings), dice, trouble)
        try:
            end = playing.to_the_end()
        except AssertionError as error:
            raise AssertionError(f"seed {seed}: " + "; ".join(playing.events)) from error
        assert max(times_met(end).values(), default=0) <= meetings


@settings(max_examples=60, deadline=None)
@given(st.sampled_from(OF_PAIRS), st.integers(2, 12), st.sampled_from([1, 3, 5]), st.integers(0, 2**32))
def test_larger_contests_come_to_an_end_too(name: str, size: int, most: int, seed: int) -> None:
    """As above, where a failure shrinks."""
    form = format_named(name)
    meetings = max(counts_of(form, list(range(1, most + 1))))
    end = Playing(form, contest(form, size, meetings), random.Random(seed), STORMY).to_the_end()
    assert max(times_met(end).values(), default=0) <= meetings


@pytest.mark.parametrize("name", TOGETHER)
@pytest.mark.parametrize("seed", range(20))
def test_a_contest_of_all_together_comes_to_an_end(name: str, seed: int) -> None:
    """With the settings that nobody gave."""
    form, dice = format_named(name), random.Random(seed)
    battles_to_the_end(form, contest(form, dice.randint(2, 6), 5), dice)
