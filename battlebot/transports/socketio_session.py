"""One connected viewer of the socket.io door, and the events that it is sent of a match. The door handles requests."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from battlebot.runtime.cooperative import cooperatively, in_turn
from battlebot.transports.limits import Rate
from battlebot.transports.ports import Battles, Match
from battlebot.wire import cubed

MOST_WAITING = 200  # events in a session's queue at which no more are added
MOST_BYTES = 1_000_000  # of these events; one of a battle with many bombs has 50,000
MOST_IN_A_POLL = 12  # the same if it polls: the whole queue goes out at once, and some clients take only 16 packets
PAUSE_S = 0.02  # between two looks at a full queue
NEXT_TICK = "NEXT_TICK"


@dataclass
class Session:
    """A connected viewer. `game`: the match that it has started, while that is running; `watches`: all that it follows.

    `setup`: changes of the game that came too fast, and wait for their turn. `has_played`: a game of its own has ended;
    `is_put_off`: the one that it asked for waits until its address may begin one. `gone`: the session is over.
    `attended`: held while one of its requests is answered, so that they are answered one after another.
    """

    server: Any
    sid: str
    address: str
    rate: Rate
    game: str | None = None
    watches: set[str] = field(default_factory=set)
    setup: dict[str, Any] = field(default_factory=dict)
    has_played: bool = False
    is_put_off: bool = False
    gone: bool = False
    attended: threading.Lock = field(default_factory=threading.Lock)

    def ended(self, match_id: str) -> None:
        """Notes that a match is over. If it is its own, one event more is allowed: the original asks for its next."""
        if self.game == match_id:
            self.game, self.setup, self.has_played = None, {}, True
            self.rate.give_back()

    def tell(self, event: tuple[str, Any]) -> None:
        """Queues an event, a name and a body."""
        self.server.emit(event[0], event[1], to=self.sid)

    def waits(self) -> bool:
        """Waits until there is room in the viewer's queue; returns False if the viewer is gone."""
        has_waited = False
        while not self.gone:
            standing = self.server.waiting(self.sid)
            if standing is None:
                return False
            waiting, polls = standing
            if len(waiting) < (MOST_IN_A_POLL if polls else MOST_WAITING) and sum(map(_size, waiting)) < MOST_BYTES:
                if has_waited:
                    in_turn()
                return True
            has_waited = True
            time.sleep(PAUSE_S)
        return False

    def is_there(self) -> bool:
        """Waits for its turn to look for news of a match; returns whether the viewer is there."""
        in_turn()
        return not self.gone


def _size(packet: Any) -> int:
    # None stands for the end
    return len(packet.data or "") if packet is not None else 0


def events_of(
    battles: Battles, match: Match, urls: Mapping[str, str], is_wanted: Callable[[], bool]
) -> Iterator[cubed.Event]:
    """Yields all events of a match, each at its time, with `speed` ms after each tick. Raises like `Battles.follow`.

    While Redis does not answer, it waits, as long as `is_wanted()`. `urls`: player -> URL, for the final scores.
    """
    before: Any = None
    held: cubed.Event | None = None
    # of most states there is nothing to tell, but each takes its time
    for state, _ in cooperatively(battles.follow(match, is_wanted)):
        events = cubed.told(state, match.id) if state.get("events") != before else []
        is_anew = [name for name, _ in events] == [NEXT_TICK]
        if held is not None and not is_anew:
            yield held
        held = None
        pause_s = _tick_s(state) if before is not None else 0.0
        for event in events:
            if event[0] == NEXT_TICK and pause_s:
                if not is_anew:
                    time.sleep(pause_s)
                if event is events[-1]:
                    # the setup may be changed meanwhile: then the tick is told as it is under the new one
                    held = event
                    break
            yield event
        before = state.get("events")
        if state["complete"]:
            if state["reason"] != "complete":
                yield cubed.failed(state["reason"])
            elif pause_s:
                # the original waits after its last tick, too
                time.sleep(pause_s)
            yield cubed.ended(state, match.id, urls)


def _tick_s(state: Mapping[str, Any]) -> float:
    """Returns the pause in seconds before each tick of a state's events; its `speed` may be that of later ticks."""
    ticks = sum(name == NEXT_TICK for name, _ in state.get("events") or ())
    pause_ms: float = state.get("speed", 0) if state["complete"] else state.get("pauseMs", 0) / max(1, ticks)
    return pause_ms / 1000
