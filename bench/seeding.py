"""Makes up matches of noughts and crosses for scenarios, in the form of real ones."""

from __future__ import annotations

import random
from collections.abc import Iterator, Sequence
from itertools import combinations, cycle, islice
from typing import Any

from msgspec.structs import replace

from battlebot.arena.live.archiving import game_document
from battlebot.arena.live.finished import Ended
from battlebot.arena.live.making import new_match
from battlebot.config import Settings
from battlebot.referee.match import Fault, Match, Reason, Verdict
from battlebot.rules.registry import discover

GAME = "noughtsandcrosses"
SPACES = ((1, 1), (0, 1), (0, 0), (2, 2), (2, 0), (0, 2), (1, 0))
BEGAN_S = 1_790_000_000.0
MEETINGS = 5


def played(contest: str, bots: Sequence[str], count: int) -> Iterator[Ended]:
    """`count` matches of a contest, seven turns each, won by the first player: pair after pair, five meetings each.

    Who is first is drawn, the same each time: so bots are about equally strong, and many of them level.
    """
    game, lots = discover()[GAME], random.Random(1)
    pairs = cycle(pair for pair in combinations(bots, 2) for _ in range(MEETINGS))
    begun = new_match(game, [("a", "nowhere/1"), ("b", "nowhere/2")], Settings(), BEGAN_S, contest=contest)
    for number, two in enumerate(islice(pairs, count)):
        pair = two if lots.random() < 0.5 else two[::-1]
        yield Ended(_ended(begun, number, pair), int(BEGAN_S * 1e6) + number, list(_turns(pair)))


def documents(contest: str, bots: Sequence[str], count: int) -> Iterator[dict[str, Any]]:
    """The matches of `played` as the archive stores them."""
    return map(game_document, played(contest, bots, count))


def _ended(begun: Match, number: int, pair: tuple[str, str]) -> Match:
    board = [["X", "O", "O"], ["X", "X", ""], ["X", "", "O"]]
    marks = dict(zip("XO", pair, strict=True))
    state: dict[str, Any] = {"players": list(pair), "nextPlayer": pair[1], "complete": True, "board": board}
    state |= {"marks": marks, "victor": pair[0], "reason": "complete"}
    return replace(
        begun,
        id=f"{number:024x}",
        seats=tuple(replace(seat, bot=bot) for seat, bot in zip(begun.seats, pair, strict=True)),
        state=state,
        version=len(SPACES),
        revision=len(SPACES),
        due_s=None,
        verdict=Verdict(pair[0], Reason.COMPLETE, Fault.NONE),
    )


def _turns(pair: tuple[str, str]) -> Iterator[dict[str, Any]]:
    for at, (space, bot, mark) in enumerate(zip(SPACES, cycle(pair), cycle("XO"), strict=False)):
        time_ms = int(BEGAN_S * 1000) + at
        turn = {"mark": mark, "space": list(space), "player": bot, "time": time_ms, "valid": True}
        yield {"turn": turn, "thinkingMs": 0.5, "serverMs": 0.5}
