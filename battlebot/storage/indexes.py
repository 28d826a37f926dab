"""All indexes, by collection: they make the cap of meetings, and every frequent query has one."""

from __future__ import annotations

from pymongo import ASCENDING, DESCENDING, IndexModel

# of an index, beside its keys: what tells it from others, and what MongoDB never changes in one that is there
PROPERTIES = ("unique", "sparse", "partialFilterExpression", "collation")
LASTING = ("expireAfterSeconds", "storageEngine")

INDEXES = {
    "bots": [
        # few bots have a url
        IndexModel([("url", ASCENDING)], partialFilterExpression={"url": {"$type": "string"}}),
        IndexModel([("game", ASCENDING), ("date_registered", ASCENDING)]),
        # sparse: bots registered before the field existed have no likeness
        IndexModel([("likeness", ASCENDING)], unique=True, sparse=True),
        # few as well: those whose pass_hash was changed
        IndexModel([("renewed", ASCENDING)], partialFilterExpression={"renewed": {"$type": "date"}}),
    ],
    "games": [
        IndexModel([("game", ASCENDING), ("match.seq", DESCENDING)]),
        IndexModel([("game", ASCENDING), ("players", ASCENDING), ("match.seq", DESCENDING)]),
        IndexModel([("game", ASCENDING), ("contest", ASCENDING), ("match.void", ASCENDING), ("match.seq", DESCENDING)]),
        # few, and counted whenever ratings are brought up to date
        IndexModel([("game", ASCENDING), ("match.seq", ASCENDING)], partialFilterExpression={"match.void": True}),
        # few as well: matches that ended by somebody's fault
        IndexModel(
            [("game", ASCENDING), ("match.fault", ASCENDING), ("match.seq", DESCENDING)],
            partialFilterExpression={"match.fault": {"$in": ["bot", "network", "server"]}},
        ),
    ],
    "contests": [
        IndexModel([("game", ASCENDING), ("name", ASCENDING)], unique=True),
        # what pages show is chosen from the index alone, the contests of organisers apart from those opened by logins
        *(
            IndexModel([(kind, ASCENDING), ("openedBy", ASCENDING), ("createdAt", DESCENDING), ("_id", DESCENDING)])
            for kind in ("state", "game")
        ),
        # those that logins have opened run for ever, and each sweep asks for a few others
        IndexModel([("state", ASCENDING), ("endsAt", ASCENDING)]),
        IndexModel(
            [("state", ASCENDING), ("name", ASCENDING)],
            partialFilterExpression={"entrants": {"$type": "array"}},
        ),
        IndexModel([("game", ASCENDING), ("createdAt", DESCENDING), ("_id", DESCENDING)]),
    ],
    "meetings": [
        # The cap of five meetings is this index: inserting a meeting is reserving it.
        IndexModel(
            [("game", ASCENDING), ("contest", ASCENDING), ("pair", ASCENDING), ("n", ASCENDING)],
            unique=True,
            name="one_meeting_a_number",
        ),
        # ordered by time, so that a bot's latest meeting is found without reading the others
        IndexModel(
            [
                ("game", ASCENDING),
                ("contest", ASCENDING),
                ("bots", ASCENDING),
                ("at", ASCENDING),
                ("_id", ASCENDING),
            ]
        ),
        IndexModel([("game", ASCENDING), ("contest", ASCENDING), ("state", ASCENDING), ("round", ASCENDING)]),
        IndexModel([("state", ASCENDING), ("at", ASCENDING)]),
        # few, and counted whenever somebody asks for a contest's progress
        IndexModel([("game", ASCENDING), ("contest", ASCENDING)], partialFilterExpression={"counts": "void"}),
    ],
    "voids": [
        IndexModel([("game", ASCENDING), ("contest", ASCENDING), ("bots", ASCENDING)]),
        # whether there are any of late is asked with each pairing
        IndexModel([("game", ASCENDING), ("contest", ASCENDING), ("at", ASCENDING)]),
        # few, and asked for with each sweep
        IndexModel([("playing", ASCENDING)], partialFilterExpression={"playing": True}),
    ],
    "standings": [IndexModel([("game", ASCENDING), ("contest", ASCENDING), ("bot_id", ASCENDING)], unique=True)],
    "pairs": [
        IndexModel(
            [("game", ASCENDING), ("contest", ASCENDING), ("bot_id", ASCENDING), ("opponent", ASCENDING)], unique=True
        )
    ],
    "ratings": [
        IndexModel([("game", ASCENDING), ("bot_id", ASCENDING)], unique=True),
        IndexModel([("game", ASCENDING), ("ordinal", DESCENDING), ("bot_id", ASCENDING)]),
        IndexModel([("game", ASCENDING), ("elo", DESCENDING), ("bot_id", ASCENDING)]),
    ],
    "audit": [
        IndexModel(
            [
                ("game", ASCENDING),
                ("contest", ASCENDING),
                ("revision", ASCENDING),
                ("at", ASCENDING),
                ("_id", ASCENDING),
            ]
        )
    ],
    "tokens": [IndexModel([("name", ASCENDING)], unique=True)],
    "turns": [IndexModel([("match", ASCENDING), ("part", ASCENDING)], unique=True)],
}
