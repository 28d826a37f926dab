"""What a viewer is told of a match, as the match is followed."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import pytest

from battlebot.runtime import cooperative
from battlebot.transports.socketio_session import events_of

STATES = 64  # each player's answer makes one, and only a tick has events


class Followed:
    """Battles of which one is over after many states in which nothing happens."""

    def follow(self, _match: Any, _is_wanted: Callable[[], bool]) -> Iterator[tuple[dict[str, Any], int]]:
        """Yields the states."""
        for number in range(STATES):
            yield {"events": [], "complete": False}, number


def test_others_run_between_states_of_which_nothing_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    """Each is made and checked for the viewer, and holds 4096 bombs: together they would take a tenth of a second."""
    rests = list[None]()
    monkeypatch.setattr(cooperative, "MOST_S", 0.0)
    monkeypatch.setattr(cooperative, "in_turn", lambda: rests.append(None))
    match: Any = type("Named", (), {"id": "m"})()
    assert list(events_of(Followed(), match, {}, lambda: True)) == []
    assert len(rests) == STATES
