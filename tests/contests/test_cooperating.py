"""A look at a large contest holds up nobody who shares the process: bit by bit, or in a process of its own."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator
from dataclasses import replace
from types import SimpleNamespace
from typing import Any

import pytest
from hall import Hall

from battlebot.contests.formats import format_named, format_names
from battlebot.contests.formats.matching import MANY, matching
from battlebot.contests.formats.situation import Due, Situation, directly
from battlebot.contests.matrix import by_pairs, by_rounds
from battlebot.contests.situating import situation_of
from battlebot.contests.standings import against_each, ranking
from battlebot.runtime import cooperative
from battlebot.runtime.elsewhere import Elsewhere

BOTS = tuple(f"b{number}" for number in range(12))
POINTS = (3, 1, 0)


@pytest.fixture
def pauses(monkeypatch: pytest.MonkeyPatch) -> list[float]:
    """Where each pause is noted; each item takes so long that one follows."""
    found, clock = list[float](), itertools.count(0, 2 * cooperative.MOST_S)
    # the module's own: other threads use the real one
    monkeypatch.setattr(cooperative, "time", SimpleNamespace(monotonic=lambda: next(clock), sleep=found.append))
    return found


def stored() -> list[dict[str, Any]]:
    """A meeting of each two bots."""
    return [
        {"_id": f"{a}{b}", "n": 1, "round": 1, "bots": [a, b], "state": "played", "victor": a}
        for a, b in itertools.combinations(BOTS, 2)
    ]


def pair_counts() -> Iterator[dict[str, Any]]:
    """All have beaten those after them, and lost to those before."""
    for a, b in itertools.permutations(BOTS, 2):
        yield {"bot_id": a, "opponent": b, "wins": int(a < b), "draws": 0, "losses": int(a > b)}


def cup(format_name: str = "round-robin") -> Any:
    """What `situation_of` needs of a contest."""
    facts = {"format": format_name, "config": {}, "meetings": 1, "withdrawn": (), "points": {"win": 3, "draw": 1}}
    return SimpleNamespace(bots=lambda came: BOTS, **facts | {"points": {"win": 3, "draw": 1, "loss": 0}})


LOOKS: dict[str, Callable[[], Any]] = {
    "situation": lambda: situation_of(cup(), stored(), ()),
    "pairs": lambda: by_pairs(Situation(BOTS, frozenset(), 5, {}, ()), stored(), [], lambda a, b: True),
    "rounds": lambda: by_rounds(stored(), [Due(2, 1, BOTS[0], BOTS[1])]),
    "counts": lambda: against_each(BOTS, pair_counts()),
}


@pytest.mark.parametrize("name", LOOKS)
def test_others_run_after_each_bit(name: str, pauses: list[float]) -> None:
    """Of two hundred bots there are a hundred thousand meetings, and ten thousand bots may be in a contest."""
    LOOKS[name]()
    assert len(pauses) >= len(stored())


def test_no_part_of_a_ranking_is_in_one_piece(pauses: list[float]) -> None:
    """Neither the rows, nor the bots that are compared, nor those that are level."""
    ranking(BOTS, [], lambda bots: {}, POINTS, {})
    assert len(pauses) >= 3 * len(BOTS)


@pytest.mark.parametrize("name", [name for name in format_names() if format_named(name).CLOSED])
def test_a_format_goes_through_meetings_bit_by_bit(name: str, pauses: list[float]) -> None:
    """Whatever it asks of them: it need not know."""
    form = format_named(name)
    contest = cup(name)
    contest.config = {"battles": 3} if form.TOGETHER else {}
    rows = stored() if not form.TOGETHER else [{**row, "bots": BOTS, "n": 1} for row in stored()[:1]]
    situation = situation_of(contest, rows, ())
    pauses.clear()
    form.due(situation)
    assert len(pauses) >= len(rows)


@pytest.mark.parametrize(
    ("count", "config", "asked"), [(MANY - 1, {}, 0), (MANY, {}, 1), (8, {"rounds": 4}, 0), (8, {"rounds": 5}, 1)]
)
def test_a_large_round_of_swiss_is_paired_as_its_situation_says(count: int, config: dict[str, Any], asked: int) -> None:
    """The library does it in one piece, seconds for five hundred bots.

    Of eight, a quarter of a second was seen where they may not meet as often any more as later rounds would need.
    """
    calls = list[Any]()

    def noted(function: Any, *arguments: Any) -> Any:
        calls.append(function)
        return function(*arguments)

    form, bots = format_named("swiss"), tuple(f"b{number}" for number in range(count))
    situation = Situation(bots, frozenset(), 1, form.checked_config(config, bots, 1), ())
    assert form.due(replace(situation, call=noted)) == form.due(situation)
    assert calls == [matching] * asked


def test_what_is_seen_of_a_contest_is_worked_out_aside(hall: Hall) -> None:
    """By web nodes. A worker, in whose process nobody plays, does it itself."""
    hall.begin("abcd", format="swiss")
    situation, _ = hall.lookout()._situation(hall.contest())
    assert isinstance(situation.call, Elsewhere)
    assert hall.pairer.situation(hall.contest(), []).call is directly
