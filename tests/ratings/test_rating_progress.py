"""Whether two counts show that stored matches changed: always, and only then."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from stored_matches import season, stored

from battlebot.ratings import progress
from battlebot.ratings.progress import ORIGIN, Mark, Progress


def counted(games: list[dict[str, object]], after: int, until: int) -> tuple[int, int]:
    """What MongoDB would count."""
    between = [game for game in games if after < game["match"]["seq"] <= until]  # type: ignore[index]
    return len(between), sum(game["match"]["void"] for game in between)  # type: ignore[index]


seqs = st.lists(st.integers(0, 20), max_size=40)


@given(first=seqs, late=seqs, voids=seqs, cut=st.integers(0, 40))
def test_it_is_seen_exactly_when_something_changed(
    first: list[int], late: list[int], voids: list[int], cut: int
) -> None:
    """Matches may have one number, come late, become void; in one step or two; the marks are never amid one number."""
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(progress, "WINDOW", 7)
        games = [stored(seq, void=seq % 5 == 0) for seq in sorted(first)]
        cut = next((index for index in range(cut, len(games)) if games[index - 1] != games[index]), len(games))
        done = Progress().over(games[:cut]).over(games[cut:])
        assert done == Progress().over(games) == Progress.from_document(done.as_document())
        until = done.at.seq
        changed = [seq for seq in late if seq <= until]
        became = [game for game in games if game["match"]["seq"] in voids and not game["match"]["void"]]
        games = [*games, *(stored(seq) for seq in late)]
        for game in became:
            game["match"]["void"] = True
        for since in {ORIGIN, *done.marks}:
            hit = [seq for seq in (*changed, *(game["match"]["seq"] for game in became)) if since.seq < seq]
            assert done.is_as_counted(since, *counted(games, since.seq, until)) is not bool(hit)


def test_the_marks_are_the_latest_two(monkeypatch: pytest.MonkeyPatch) -> None:
    """So between one and two windows of matches are looked at, however many there are."""
    monkeypatch.setattr(progress, "WINDOW", 10)
    assert Progress().over(season(10)).marks == (ORIGIN,)
    done = Progress().over(season(95))
    assert [mark.seq for mark in done.marks] == [80, 90]
    assert done.since == Mark(
        80, *(sum(game["match"]["void"] is void for game in season(80)) for void in (False, True))
    )


def test_where_nothing_is_kept_it_begins_at_the_beginning() -> None:
    """A cursor that was just made has no progress."""
    assert Progress.from_document({"revision": 0, "stale": True}) == Progress() == Progress(ORIGIN, (ORIGIN,))
