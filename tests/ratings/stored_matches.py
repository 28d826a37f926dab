"""Stored matches as the archive writes them, for the tests of ratings; and the ratings that must follow from them."""

from __future__ import annotations

import random
from collections.abc import Iterable, Sequence
from datetime import UTC, datetime
from typing import Any

from battlebot.ratings.model import rated
from battlebot.ratings.rating import Rating
from battlebot.storage import Storage

GAME = "numberwang"


def stored(seq: int, players: Sequence[str] = ("a", "b"), victor: str | None = "a", **match: Any) -> dict[str, Any]:
    """Returns a finished match outside contests, the `seq`-th to end; `match` is what is stored under that key."""
    return {
        "_id": f"{seq:024x}",
        "game": GAME,
        "contest": None,
        "players": list(players),
        "victor": victor,
        "reason": "complete",
        "startTime": datetime(2026, 1, 1, tzinfo=UTC),
        "turns": [{"n": 10, "player": "a", "time": 1}],
        "match": {"seq": seq, "void": False, "fault": "none", "clocks": [1.5], **match},
    }


def season(matches: int, bots: int = 8, seed: int = 1) -> list[dict[str, Any]]:
    """Returns matches among bots, numbered from 1: wins, draws, and here and there a void one."""
    chance = random.Random(seed)
    games = []
    for seq in range(1, matches + 1):
        players = chance.sample([f"bot{index}" for index in range(bots)], 2)
        victor = chance.choice([*players, *players, None])
        games.append(stored(seq, players, victor, void=chance.random() < 0.05))
    return games


def right(games: Iterable[dict[str, Any]]) -> dict[str, Rating]:
    """Returns the ratings that these matches make, in the order in which they ended."""
    ratings: dict[str, Rating] = {}
    for game in sorted(games, key=lambda one: one["match"]["seq"]):
        ratings |= rated(ratings, game)
    return ratings


def kept(storage: Storage, game: str = GAME) -> dict[str, Rating]:
    """Returns the ratings in MongoDB."""
    rows = storage.ratings.page(game, 100_000)
    return {row["bot_id"]: Rating.of(row) for row in rows}


def make_void(storage: Storage, seq: int) -> None:
    """Makes a contest's match void as the ledger does, without telling the ratings."""
    storage.database["games"].update_one({"_id": f"{seq:024x}"}, {"$set": {"match.void": True}})
