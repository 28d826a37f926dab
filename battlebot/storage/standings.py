"""The collection `standings`: a row of a ranking, moved by the archive's transaction and read as it stands."""

from __future__ import annotations

from typing import Any

from pymongo.database import Database

from battlebot.storage.connection import mongo_errors


class Standings:
    """Documents `{game, contest, bot_id, score, wins, draws, losses, played}`."""

    def __init__(self, database: Database[dict[str, Any]]) -> None:
        self._standings = database["standings"]

    def of_contest(self, game: str, contest: str) -> list[dict[str, Any]]:
        """The rows, unordered, without `_id`; ranking them is the contests' work. Raises Unavailable."""
        with mongo_errors():
            return list(self._standings.find({"game": game, "contest": contest}, {"_id": 0, "game": 0, "contest": 0}))

    def enter(self, game: str, contest: str, bot_id: str) -> None:
        """Gives a bot its row of zeroes, if it has none. Raises Unavailable."""
        zeroes = {"score": 0, "wins": 0, "draws": 0, "losses": 0, "played": 0}
        key = {"game": game, "contest": contest, "bot_id": bot_id}
        with mongo_errors():
            self._standings.update_one(key, {"$setOnInsert": zeroes}, upsert=True)
