"""What is left when everything has settled: MongoDB's documents, Redis's keys, the bots' diaries. Does not judge.

Uses plain drivers, and the names of keys and collections from the documentation; none of the server's code.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pymongo
import redis

from chaos.diary import entries

Document = dict[str, Any]


@dataclass
class Evidence:
    """One contest: its document, its matches (also void ones), meetings, standings, pairs; diaries; what Redis holds.

    `live` are matches that still wait for something, `unarchived` those that ended but are not stored.
    """

    contest: Document
    games: list[Document]
    meetings: list[Document]
    standings: list[Document]
    pairs: list[Document]
    diary: list[Document]
    live: list[str] = field(default_factory=list)
    unarchived: list[str] = field(default_factory=list)


def gather(mongodb_uri: str, database: str, redis_url: str, game: str, contest: str, folder: Path) -> Evidence:
    """Reads all evidence. The stores must be running."""
    query = {"game": game, "contest": contest}
    client: pymongo.MongoClient[Document]
    with pymongo.MongoClient(mongodb_uri) as client, redis.Redis.from_url(redis_url) as store:
        data = client[database]
        return Evidence(
            contest=data["contests"].find_one({"game": game, "name": contest}) or {},
            games=list(data["games"].find(query).sort("match.seq", 1)),
            meetings=list(data["meetings"].find(query)),
            standings=list(data["standings"].find(query)),
            pairs=list(data["pairs"].find(query)),
            diary=list(entries(folder)),
            live=_of_game(store, game, store.zrange("bb:{0}:deadlines", 0, -1)),
            unarchived=_of_game(
                store, game, [*store.zrange("bb:{0}:finished", 0, -1), *store.smembers("bb:{0}:setaside")]
            ),
        )


def _of_game(store: redis.Redis, game: str, answer: Iterable[bytes]) -> list[str]:
    """Returns the matches without those of other games, which may go on."""
    documents = {member.decode(): store.hget(f"bb:{{0}}:match:{member.decode()}", "doc") for member in answer}
    return [match for match, document in documents.items() if document is None or game.encode() in document]
