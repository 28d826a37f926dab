"""For how long players have been online, over their connections."""

from __future__ import annotations

import pytest

from battlebot.storage import Storage

Stays = list[tuple[str, int, float]]

# notes, each of several connections -> seconds online
NOTED: dict[str, tuple[list[Stays], dict[str, float]]] = {
    "nobody": ([[]], {}),
    "several at once": ([[("ada", 1000, 5.0), ("bob", 2000, 7.0)]], {"ada": 5.0, "bob": 7.0}),
    "a connection that goes on": ([[("ada", 1000, 5.0)], [("ada", 1000, 35.0)]], {"ada": 35.0}),
    "a note that comes late": ([[("ada", 1000, 35.0)], [("ada", 1000, 5.0)]], {"ada": 35.0}),
    "a later connection": ([[("ada", 1000, 5.0)], [("ada", 9000, 2.0)]], {"ada": 7.0}),
    "one that a later one has replaced": (
        [[("ada", 9000, 2.0)], [("bob", 2000, 7.0), ("ada", 1000, 5.0), ("cat", 3000, 1.0)]],
        {"ada": 2.0, "bob": 7.0, "cat": 1.0},
    ),
    "both at once": ([[("ada", 1000, 5.0), ("ada", 9000, 2.0)]], {"ada": 7.0}),
}


@pytest.mark.parametrize("case", NOTED)
def test_the_seconds_of_a_player_are_those_of_all_its_connections(storage: Storage, case: str) -> None:
    """One of an earlier time counts no more once a later one has begun, and keeps nobody else from being noted."""
    notes, expected = NOTED[case]
    for stays in notes:
        storage.players.were_online(stays)
    assert storage.players.seconds_online(["ada", "bob", "cat"]) == expected
