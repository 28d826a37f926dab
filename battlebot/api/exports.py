"""Matches as files: one in a format of its game; all of a contest as CSV or NDJSON, streamed with bounded memory."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterator, Mapping
from functools import partial
from typing import Any
from unicodedata import normalize
from urllib.parse import quote

from flask import Response, current_app

from battlebot.api.concurrency import streamed
from battlebot.api.contests import CONTEST, stored_contest
from battlebot.api.context import check_game, current_context
from battlebot.api.jsonprovider import iso
from battlebot.api.longmatches import json_line
from battlebot.api.parsing import Described
from battlebot.api.reading import stored_match
from battlebot.api.schemas import ErrorBody, WithVoid
from battlebot.api.verdicts import explained
from battlebot.wire.matchfiles import file_format_of

COLUMNS = (
    *("match", "game", "contest", "first", "second", "victor", "reason", "fault", "void", "turns"),
    *("startTime", "endTime", "seq", "players", "places"),
)
# FORMULA begins a formula at the start of a cell (with East Asian settings its full-width forms do too).
# SEPARATORS end a cell under one of the dialects in which a spreadsheet may read the file.
FORMULA = frozenset("=+-@\t\r")
SEPARATORS = frozenset(";,|\t")
TEXT = {"schema": {"type": "string"}}
PART = 32_768  # characters of CSV; about so many are sent at a time

exports = Described("exports", __name__, description="Matches and contests as files")
exports.url_value_preprocessor(check_game)


@exports.get("/games/<game>/<match_id>/export.<format_name>")
@exports.doc(responses={200: {"description": "the file", "content": {"*/*": {"schema": {"type": "string"}}}}})
@exports.alt_response(404, schema=ErrorBody)
def export_match(game: str, match_id: str, format_name: str) -> Response:
    """One finished match as a file

    Formats of `crossword`: `gcg`, `json` and `pb` (a GameHistory in JSON or protobuf). Other games have none.
    """
    chosen = file_format_of(game, format_name)
    return _file(iter([chosen.write(stored_match(game, match_id))]), chosen.mimetype, f"{match_id}.{chosen.name}")


@exports.get(f"{CONTEST}/export.csv")
@exports.arguments(WithVoid, location="query")
@exports.doc(responses={200: {"description": "a line a match, oldest first", "content": {"text/csv": TEXT}}})
@exports.alt_response(404, schema=ErrorBody)
def export_csv(asked: dict[str, Any], game: str, name: str) -> Response:
    """All matches without their turns, as CSV

    An apostrophe precedes each character that a spreadsheet would read as the beginning of a formula, also inside a
    text after a separator.
    """
    stored_contest(game, name)
    kept, void = current_context().storage.games, asked["void"] == "true"
    games = kept.each_of_contest(game, name, void=void, fault=asked["fault"])
    return _file(_csv(games), "text/csv", f"{name}.csv")


@exports.get(f"{CONTEST}/export.ndjson")
@exports.arguments(WithVoid, location="query")
@exports.doc(responses={200: {"description": "a match a line", "content": {"application/x-ndjson": TEXT}}})
@exports.alt_response(404, schema=ErrorBody)
def export_ndjson(asked: dict[str, Any], game: str, name: str) -> Response:
    """All matches with their turns, one JSON object per line, oldest first"""
    stored_contest(game, name)
    kept, dumps = current_context().storage.games, current_app.json.dumps
    games = kept.each_of_contest(game, name, void=asked["void"] == "true", turns=True, fault=asked["fault"])
    lines = (json_line(explained(match), partial(kept.entries, match), dumps) for match in games)
    pieces = (piece for line in lines for piece in line)
    return _file(pieces, "application/x-ndjson", f"{name}.ndjson")


def csv_row(match: Mapping[str, Any]) -> list[Any]:
    """A match as a row of COLUMNS. `players` are joined by slashes, which bots' names cannot contain.

    `places` are the players' places, joined by blanks; empty if the match has none, as with two players.
    """
    ours, players = match["match"], match["players"]
    second = players[1] if len(players) > 1 else None
    texts = (match["_id"], match["game"], match["contest"], players[0], second, match["victor"], match["reason"])
    facts = (ours["fault"], str(ours["void"]).lower(), ours["version"], iso(match["startTime"]), iso(ours["endTime"]))
    places = " ".join(str(ours["places"].get(bot, "")) for bot in players) if ours.get("places") else ""
    return [*(_plain(text) for text in texts), *facts, ours["seq"], _plain("/".join(players)), places]


def _csv(games: Iterator[Mapping[str, Any]]) -> Iterator[bytes]:
    buffer = io.StringIO()
    writer = csv.writer(buffer)
    writer.writerow(COLUMNS)
    for match in games:
        writer.writerow(csv_row(match))
        if buffer.tell() > PART:
            yield _taken(buffer)
    yield _taken(buffer)


def _taken(buffer: io.StringIO) -> bytes:
    text = buffer.getvalue().encode()
    buffer.seek(0)
    buffer.truncate()
    return text


def _plain(text: str | None) -> str:
    """The text with an apostrophe before each character that could begin a formula."""
    signs, begins = list[str](), True
    for sign in text or "":
        if begins and normalize("NFKC", sign) in FORMULA:
            signs.append("'")
            begins = False
        else:
            # a spreadsheet may strip quotes and blanks before it interprets the cell
            begins = begins and (sign.isspace() or sign == '"')
        signs.append(sign)
        begins = begins or sign in SEPARATORS
    return "".join(signs)


def _file(pieces: Iterator[bytes], mimetype: str, name: str) -> Response:
    response = streamed(pieces, mimetype)
    response.headers["Content-Disposition"] = f"attachment; filename*=UTF-8''{quote(name, safe='')}"
    response.headers["Access-Control-Allow-Origin"] = "*"
    response.headers["Cache-Control"] = "no-cache"
    response.headers["X-Accel-Buffering"] = "no"
    return response
