"""A contest's standings, counted anew from its results: however long that takes, and whatever happens meanwhile."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from cluster import wait_for
from hall import GAME, Hall
from lifetimes import short_lives
from pymongo.errors import OperationFailure

from battlebot.errors import Unavailable
from battlebot.storage import Storage, ledger
from battlebot.storage.ledger import Ledger

CUP = (GAME, "cup")


@pytest.fixture
def wrong(hall: Hall) -> Hall:
    """A contest in which a match has been played, and both of its bots have a win and a draw too many."""
    hall.begin("abc", meetings=3)
    hall.play("ab")
    for name in ("standings", "pairs"):
        wrong = {"$inc": {"wins": 1, "draws": 1}}
        hall.storage.database[name].update_many({"bot_id": {"$in": ["a", "b"]}}, wrong)
    return hall


def once_read(monkeypatch: pytest.MonkeyPatch, meanwhile: Callable[[], object]) -> None:
    """Has `meanwhile` done in the next recount, when it has read the matches and the standings, but not the pairs."""
    kept, todo = Ledger._kept, [bool, meanwhile]

    def read(*arguments: Any) -> Any:
        if todo:
            todo.pop(0)()
        return kept(*arguments)

    monkeypatch.setattr(Ledger, "_kept", read)


def test_a_recount_may_take_longer_than_a_transaction(wrong: Hall, monkeypatch: pytest.MonkeyPatch) -> None:
    """A contest of many matches does."""
    storage, kept = wrong.storage, Ledger._kept

    def slowly(*arguments: Any) -> Any:
        outlive_a_transaction(storage)
        return kept(*arguments)

    with short_lives(storage), monkeypatch.context() as patch:
        patch.setattr(Ledger, "_kept", slowly)
        assert len(storage.ledger.recount(*CUP, mend_by="ann")) == 4
    assert storage.ledger.recount(*CUP) == []


def outlive_a_transaction(storage: Storage) -> None:
    """Begins a transaction, and returns when MongoDB has ended it."""
    with storage.client.start_session() as session, session.start_transaction():

        def is_ended() -> bool:
            try:
                storage.database["games"].find_one({}, session=session)
            except OperationFailure:
                return True
            return False

        wait_for(is_ended, "a transaction to be ended")
        session.abort_transaction()


def test_what_is_stored_during_a_recount_counts_once(wrong: Hall, monkeypatch: pytest.MonkeyPatch) -> None:
    """It is in the matches and in the standings, or in neither, and what is mended does not touch it."""
    once_read(monkeypatch, lambda: wrong.play("ab") + wrong.play("bc"))
    assert len(wrong.storage.ledger.recount(*CUP, mend_by="ann")) == 4
    assert wrong.storage.ledger.recount(*CUP) == []
    assert wrong.played() == {"a": 2, "b": 3, "c": 1}


def test_of_two_who_mend_at_once_one_does(wrong: Hall, monkeypatch: pytest.MonkeyPatch) -> None:
    """Else what was too much once would be subtracted twice."""
    ledger = wrong.storage.ledger
    once_read(monkeypatch, lambda: ledger.recount(*CUP, mend_by="bob"))
    with pytest.raises(Unavailable, match="changed meanwhile"):
        ledger.recount(*CUP, mend_by="ann")
    assert ledger.recount(*CUP) == []
    assert wrong.audit().count("recompute") == 1


def test_many_rows_are_mended_in_several_transactions(wrong: Hall, monkeypatch: pytest.MonkeyPatch) -> None:
    """MongoDB takes no transaction of tens of thousands of rows. A row that is gone is made, with all its counts."""
    storage = wrong.storage
    bots = {name for row in storage.standings.of_contest(*CUP) for name in row}
    pairs = {name for row in storage.standings.pairs(*CUP) for name in row}
    storage.database["pairs"].delete_many({"bot_id": "a"})
    monkeypatch.setattr(ledger, "MENDED_AT_ONCE", 1)
    assert len(storage.ledger.recount(*CUP, mend_by="ann")) == 4
    assert storage.ledger.recount(*CUP) == []
    assert wrong.audit().count("recompute") == 1
    assert all(row.keys() == bots for row in storage.standings.of_contest(*CUP) if row["played"])
    assert [row.keys() for row in storage.standings.pairs(*CUP)] == [pairs, pairs]
