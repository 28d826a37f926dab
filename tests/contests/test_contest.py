"""A contest as a value: what it is made of, and what of it is written."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest
from cup import cup

from battlebot.api.contestschemas import NewContest
from battlebot.contests.contest import Contest
from battlebot.contests.service.changes import CHANGEABLE_BEFORE_THE_START
from battlebot.storage import Storage
from battlebot.storage.contests import Change


def test_a_contest_is_its_document() -> None:
    """And is made of one of an older version, which lacks fields, and of a later one, which has others."""
    contest = cup(entrants=["a", "b"], absent_after_s=7)
    document = contest.as_document()
    assert (document["absentAfterS"], document["turnTimeoutMs"], document["openedBy"]) == (7, None, "ann")
    assert Contest.from_document({**document, "_id": 1, "prize": "a cup"}) == contest
    del document["absentAfterS"]
    assert Contest.from_document(document) == replace(contest, absent_after_s=60)


def test_who_is_in_a_contest() -> None:
    """Whoever is on its list or, without one, whoever came."""
    assert (cup().is_open, cup().listed, cup().bots(["c"])) == (True, (), ["c"])
    closed = cup(entrants=["a", "b"], withdrawn=["a"])
    assert (closed.is_open, closed.listed, closed.bots(["c"])) == (False, ["a", "b"], ["a", "b"])


@pytest.mark.parametrize(
    ("state", "hours_left", "how"),
    [
        ("scheduled", None, None),
        ("running", -1, None),
        ("paused", None, None),
        ("finished", None, "for-now"),
        ("finished", 1, "for-now"),
        ("finished", 0, "for-good"),
        ("cancelled", 1, "for-good"),
    ],
)
def test_how_a_contest_is_over(state: str, hours_left: int | None, how: str | None) -> None:
    """Only of one that has finished before its end can a match be played again."""
    now = datetime(2026, 11, 21, 12, tzinfo=UTC)
    ends = None if hours_left is None else now + timedelta(hours=hours_left)
    assert cup(state=state, ends_at=ends).over(now) == how


def test_what_an_organiser_sends_is_fields_of_a_contest() -> None:
    """A name that is none of them is not passed over."""
    fields = cup().as_document()
    assert fields.keys() >= NewContest().fields.keys() >= CHANGEABLE_BEFORE_THE_START
    assert cup().with_fields({"absentAfterS": 7}).absent_after_s == 7
    with pytest.raises(KeyError):
        cup().with_fields({"absentafterS": 7})


def test_a_change_writes_what_it_changes_and_nothing_else(storage: Storage) -> None:
    """Other versions' documents keep what they have and lack; a value of another type is another value.

    `held` only counts transactions that relied on the contest.
    """
    storage.contests.create(cup(options={"fast": 1}))
    documents = storage.database["contests"]
    documents.update_one({}, {"$unset": {"absentAfterS": 1}, "$set": {"prize": "a cup"}})
    before = documents.find_one({})
    done = storage.contests.change(
        "numberwang", "cup", lambda now: Change(replace(now, title="The Cup", options={"fast": True}), [])
    )
    after = documents.find_one({})
    assert before is not None
    assert after == {**before, "title": "The Cup", "options": {"fast": True}, "revision": 1, "held": 1}
    assert after["options"]["fast"] is True
    assert done is not None
    assert (done.contest.title, done.contest.absent_after_s, done.contest.revision) == ("The Cup", 60, 1)
