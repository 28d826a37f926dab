"""Rankings from remembered counts of pairs: the same as from those in the storage, with less of them read."""

from __future__ import annotations

import random
from typing import Any

import pytest
from hall import GAME, Hall

from battlebot.contests.service import paircounts
from battlebot.storage.standings import Standings

CUP = (GAME, "cup")


def spy(monkeypatch: pytest.MonkeyPatch) -> list[list[str]]:
    """The bots whose counts against others are read, one list for each time."""
    asked, real = list[list[str]](), Standings.pairs

    def pairs(self: Standings, game: str, contest: str, bots: Any = None, among: bool = False) -> list[dict[str, Any]]:
        asked.append(sorted(bots))
        return real(self, game, contest, bots, among)

    monkeypatch.setattr(Standings, "pairs", pairs)
    return asked


@pytest.mark.parametrize("most", [0, 12, paircounts.MOST_REMEMBERED])
@pytest.mark.parametrize("seed", range(3))
def test_whatever_comes_the_ranking_is_that_of_one_who_remembers_nothing(
    hall: Hall, monkeypatch: pytest.MonkeyPatch, seed: int, most: int
) -> None:
    """Results, matches taken back and played again: remembering everything, some of it, or nothing."""
    monkeypatch.setattr(paircounts, "MOST_REMEMBERED", most)
    dice, bots = random.Random(seed), "abcde"
    hall.begin(bots, meetings=3)
    lookout, played = hall.lookout(), list[str]()
    for _ in range(25):
        if played and dice.random() < 0.3:
            hall.void(played.pop(dice.randrange(len(played))))
        else:
            played += hall.play("".join(dice.sample(bots, dice.choice([2, 4]))))
        contest = hall.contest()
        assert lookout.ranking(contest) == hall.lookout().ranking(contest)
    assert played


def test_only_the_bots_that_have_played_are_read_again(hall: Hall, monkeypatch: pytest.MonkeyPatch) -> None:
    """Of two hundred bots there are forty thousand counts: each answer of a large contest had taken 0.2 s."""
    hall.begin("abcd", meetings=3)
    hall.play("abcd")
    lookout, asked = hall.lookout(), spy(monkeypatch)
    lookout.ranking(hall.contest())
    hall.play("ab")
    for _ in range(2):
        lookout.ranking(hall.contest())
    assert asked == [["a", "b", "c", "d"], ["a", "b"]]


def test_after_a_recount_nothing_remembered_counts(hall: Hall) -> None:
    """Counts of a pair may have been wrong though the standings were right."""
    hall.begin("abc", meetings=3)
    hall.play("ab")
    hall.play("bc")
    hall.storage.database["pairs"].update_many({}, {"$inc": {"wins": 1, "draws": 1}})
    lookout = hall.lookout()
    wrong = lookout.ranking(hall.contest())
    hall.storage.ledger.recount(*CUP, mend_by="ann")
    right = lookout.ranking(hall.contest())
    assert right == hall.lookout().ranking(hall.contest()) != wrong


def test_a_match_taken_back_while_a_ranking_is_read(hall: Hall, monkeypatch: pytest.MonkeyPatch) -> None:
    """The standings are the former ones again, for which the counts with that match have been remembered."""
    hall.begin("abcd", meetings=3)
    for bots in ("ab", "cd", "ac"):
        hall.play(bots)
    real, lookout, late = Standings.pairs, hall.lookout(), list[str]()

    def pairs(self: Standings, *of: Any) -> list[dict[str, Any]]:
        late.extend([] if late else hall.play("ab"))
        return real(self, *of)

    monkeypatch.setattr(Standings, "pairs", pairs)
    before = hall.contest()
    lookout.ranking(before)
    hall.void(*late)
    assert lookout.ranking(before) == hall.lookout().ranking(before)
