"""What there is once: kept so by MongoDB itself, whatever runs twice or races."""

from __future__ import annotations

import pytest
from pymongo.errors import DuplicateKeyError

from battlebot.storage import Storage

ONCE = {
    "bots": ("likeness",),
    "contests": ("game", "name"),
    "meetings": ("game", "contest", "pair", "n"),
    "standings": ("game", "contest", "bot_id"),
    "pairs": ("game", "contest", "bot_id", "opponent"),
    "ratings": ("game", "bot_id"),
    "tokens": ("name",),
    "turns": ("match", "part"),
}


@pytest.mark.parametrize("collection", ONCE)
def test_what_there_is_once_cannot_be_written_twice(storage: Storage, collection: str) -> None:
    """What differs in one field is another thing."""
    row = dict.fromkeys(ONCE[collection], "one")
    storage.database[collection].insert_many([{**row}, *({**row, field: "another"} for field in row)])
    with pytest.raises(DuplicateKeyError):
        storage.database[collection].insert_one(row)
