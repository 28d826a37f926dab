"""One finished match as a file, in the formats of its game's world."""

from __future__ import annotations

import pytest
from histories import from_gcg, from_protobuf
from records import GAMES, played
from webhouse import House

from battlebot.referee.events import Turned
from battlebot.wire.macondo.history import normal
from games.crossword.replay import replay

PLAY = {"type": "TILE_PLACEMENT_MOVE", "position": "8G"}


@pytest.fixture
def match(home: House) -> str:
    """The id of a stored match: two tiles of the first bot's rack, then passes."""
    start = GAMES["crossword"].initial_state(["a", "b"], 7, {})
    tiles = start["racks"][0].replace("?", "")[:2]
    turns = [{**PLAY, "played_tiles": tiles}, *[{"type": "PASS"}] * 6]
    document = played([Turned("ab"[n % 2], turn, 0.25) for n, turn in enumerate(turns)], "crossword")
    home.storage.archive.store([document])
    return str(document["_id"])


def test_every_format_tells_the_same_match(home: House, match: str) -> None:
    """GCG, and a GameHistory in JSON and in protobuf; its events lead to the stored scores."""
    path = f"/games/crossword/{match}"
    gcg, text, data = (home.client.get(f"{path}/export.{name}") for name in ("gcg", "json", "pb"))
    assert [answer.status_code for answer in (gcg, text, data)] == [200] * 3
    assert [answer.mimetype for answer in (gcg, text, data)] == [
        "text/plain",
        "application/json",
        "application/x-protobuf",
    ]
    assert gcg.headers["Content-Disposition"] == f"attachment; filename*=UTF-8''{match}.gcg"
    history, stored = normal(text.json), home.client.get(path).json
    assert history == from_protobuf(data.data)
    assert (history["uid"], history["play_state"]) == (match, "GAME_OVER")
    for events in (history["events"], from_gcg(gcg.data)["events"]):
        assert list(replay(events).scores) == stored["scores"]
    assert len(history["events"]) == 9


@pytest.mark.parametrize(
    ("path", "code"),
    [
        ("/games/crossword/{match}/export.xls", "unknown-format"),
        ("/games/crossword/{match}/export.", "not-found"),
        ("/games/crossword/65a1b2c3d4e5f6071829ffff/export.gcg", "unknown-match"),
        ("/games/numberwang/{match}/export.gcg", "unknown-format"),
        ("/games/chess/{match}/export.gcg", "unknown-game"),
    ],
)
def test_what_is_not_there_is_said(home: House, match: str, path: str, code: str) -> None:
    """The format, the match or the game."""
    answer = home.client.get(path.format(match=match))
    assert (answer.status_code, answer.json["code"]) == (404, code)
