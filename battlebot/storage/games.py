"""The collection `games`: finished matches, in the seeds' shape. Writing them is the archive's work.

A document is the final state without `complete` and `nextPlayer`, plus `_id`, `game`, `contest`, `startTime` and
`turns`; what we add lies under `match` (seq, endTime, fault, void, evidence, clocks, options, seed, version).
"""

from __future__ import annotations

from typing import Any

from pymongo.database import Database

from battlebot.storage.connection import mongo_errors

LISTED = {"turns": 0, "match.clocks": 0}


class Games:
    """Reads finished matches; newest first everywhere, by the order in which the matches ended (`match.seq`)."""

    def __init__(self, database: Database[dict[str, Any]]) -> None:
        self._games = database["games"]
        self._turns = database["turns"]

    def find(self, match_id: str) -> dict[str, Any] | None:
        """The whole match with its `turns`, or None. Raises Unavailable."""
        with mongo_errors():
            game = self._games.find_one({"_id": match_id})
            if game is not None and game["match"].get("parts"):
                for part in self._turns.find({"match": match_id}).sort("part", 1):
                    game["turns"].extend(part["turns"])
                    game["match"]["clocks"].extend(part["clocks"])
        return game

    def recent(self, game: str, limit: int = 30, before: str | None = None) -> list[dict[str, Any]]:
        """The most recent matches of a game, without turns; those before the match `before`. Raises Unavailable."""
        return self._listed({"game": game}, limit, before)

    def of_contest(
        self, game: str, contest: str, limit: int = 1000, before: str | None = None, void: bool = False
    ) -> list[dict[str, Any]]:
        """A contest's most recent matches, without turns; void ones only if `void`. Raises Unavailable."""
        query: dict[str, Any] = {"game": game, "contest": contest}
        if not void:
            query["match.void"] = False
        return self._listed(query, limit, before)

    def archived(self, match_ids: list[str]) -> set[str]:
        """Which of these matches are stored. Raises Unavailable."""
        with mongo_errors():
            return {row["_id"] for row in self._games.find({"_id": {"$in": match_ids}}, {"_id": 1})}

    def _listed(self, query: dict[str, Any], limit: int, before: str | None) -> list[dict[str, Any]]:
        with mongo_errors():
            if before is not None:
                at = self._games.find_one({"_id": before}, {"match.seq": 1})
                if at is None:
                    return []
                query = {**query, "match.seq": {"$lt": at["match"]["seq"]}}
            return list(self._games.find(query, LISTED).sort("match.seq", -1).limit(limit))
