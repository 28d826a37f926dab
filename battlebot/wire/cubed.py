"""The messages from and to Battle-cubed's viewers over socket.io (docs/socketio.md). No sockets.

Incoming are `NEW_GAME`, `GAME_SETUP_UPDATE` and `WATCH_GAME`; a match's states become the original's events, each a
name and a body.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

from battlebot.errors import BadAddress, BadMessage, BadName, BattlebotError
from battlebot.wire.names import checked_label

PATH = "/socket.io/"
MOST_PLAYERS = 64
NUMBERS = ("maxNumOfTicks", "edgeLength", "speed", "numOfTasksPerTick")
REQUIRED = ("maxNumOfTicks", "edgeLength")
CHANGEABLE = ("edgeLength", "speed", "numOfTasksPerTick")
POSITIONS = "playerStartPositions"
AXES = ("x", "y", "z")
LONGEST_NUMBER = 9  # digits of a number sent as a string or float

INVALID = "INVALID_GAME_CONFIGURATION"
RUNNING = "GAME_ALREADY_RUNNING"
NO_GAME = "NO_GAME_RUNNING"
ENDED = "GAME_ENDED"

Event = tuple[str, dict[str, Any]]

OURS: Event = ("ERROR", {"error": "SERVER_ERROR", "details": "An error of the server's own.", "code": "error"})


class NewGame(NamedTuple):
    """A game requested by a viewer: `players` are (name, url) pairs, `setup` has the options given."""

    players: tuple[tuple[str, str], ...]
    setup: dict[str, Any]


def read_new_game(payload: Any) -> NewGame:
    """Read the game of a `NEW_GAME`. Raises BadMessage with `problems`, each `{message, path, type}`."""
    payload = {} if payload is None else payload
    if not isinstance(payload, dict):
        raise _bad(_problem("A game must be an object of setup and players", (), "object.base"))
    problems = [_missing(key) for key in ("setup", "players") if payload.get(key) is None]
    if problems:
        raise _bad(*problems)
    return NewGame(_players(payload["players"]), _setup(payload["setup"], REQUIRED, (*NUMBERS, POSITIONS), ("setup",)))


def read_setup(payload: Any) -> dict[str, Any]:
    """Read the options that a `GAME_SETUP_UPDATE` changes. Raises BadMessage like `read_new_game`."""
    setup = _setup(payload, (), CHANGEABLE, ())
    if not setup:
        raise _bad(_problem(f"A setup must have one of {', '.join(CHANGEABLE)}", (), "object.missing"))
    return setup


def read_watched(payload: Any) -> str:
    """Read the match's id of a `WATCH_GAME`. Raises BadMessage like `read_new_game`."""
    found = payload.get("id") if isinstance(payload, dict) else payload
    if not isinstance(found, str) or not found.isascii():
        # JSON may hold half of a surrogate pair, which cannot be sent to Redis
        raise _bad(_problem('"id" must be a string of ASCII', ("id",), "string.base"))
    return found


def started(match_id: str) -> Event:
    """The event that confirms a new game."""
    return "GAME_STARTED", {"id": match_id}


def told(state: Mapping[str, Any], match_id: str) -> list[Event]:
    """The state's events, which are those since the bots were last asked; `NEXT_TICK` gets the match's id."""
    events = []
    for name, body in state.get("events") or ():
        if name == "NEXT_TICK":
            body = {**body, "gameInfo": {"id": match_id, **body["gameInfo"]}}
        events.append((name, dict(body)))
    return events


def ended(state: Mapping[str, Any], match_id: str, urls: Mapping[str, str]) -> Event:
    """The end of a match. Scores appear under both of the original's names; players without a known url have none.

    Of a match that did not end by its rules, scores are the ticks that its players have lived.
    """
    living = ({"name": row["name"], "score": state["currentTick"]} for row in state.get("positions") or ())
    rows = state.get("scores") or [*state.get("lost", ()), *living]
    scores = [_score(row, urls) for row in rows]
    victor = state.get("victor")
    winner = next((row for row in scores if row["name"] == victor), None)
    body: dict[str, Any] = {"id": match_id, "result": "TIE" if winner is None else "WINNER_FOUND"}
    if winner is not None:
        body["winner"] = winner
    return ENDED, {**body, "scores": scores}


def refusal(error: BattlebotError, kind: str = INVALID) -> Event:
    """An `ERROR`: `{"error", "details", "code"}`, where details are a sentence or a list of `{message, path, type}`."""
    details = error.details.get("problems") or str(error)
    return "ERROR", {"error": kind, "details": details, "code": error.code}


def failed(reason: str) -> Event:
    """The `ERROR` sent before the end of a match that did not end by its rules; `reason` is the match's reason."""
    sentence = "The game could not go on, and counts for nobody."
    return "ERROR", {"error": "GAME_FAILED", "details": sentence, "code": reason}


def _score(row: Mapping[str, Any], urls: Mapping[str, str]) -> dict[str, Any]:
    name, score = row["name"], row["score"]
    url = {"url": urls[name]} if name in urls else {}
    return {"name": name, **url, "score": score, "highScore": score}


def _players(given: Any) -> tuple[tuple[str, str], ...]:
    if not isinstance(given, list):
        raise _bad(_problem('"players" must be an array', ("players",), "array.base"))
    if not 1 <= len(given) <= MOST_PLAYERS:
        raise _bad(_problem(f'"players" must have 1 to {MOST_PLAYERS} items', ("players",), "array.length"))
    found: list[tuple[str, str]] = []
    problems = []
    for index, row in enumerate(given):
        name, url = (row.get("name"), row.get("url")) if isinstance(row, dict) else (None, None)
        try:
            checked_label(name, '"name"')
        except BadName as error:
            problems.append(_problem(str(error), ("players", index, "name"), "string.base"))
        if not isinstance(url, str) or not url:
            problems.append(_problem('"url" must be a string', ("players", index, "url"), "string.base"))
        elif not url.lower().startswith(("http://", "https://")):
            # other kinds of bot addresses belong to other games
            sentence = '"url" must begin with http:// or https://'
            problems.append(_problem(sentence, ("players", index, "url"), "string.uri"))
        found.append((str(name), str(url)))
    if problems:
        raise _bad(*problems)
    return tuple(found)


def _setup(given: Any, required: tuple[str, ...], known: tuple[str, ...], path: tuple[str, ...]) -> dict[str, Any]:
    if not isinstance(given, dict):
        raise _bad(_problem('"setup" must be an object', path, "object.base"))
    problems = [_missing(key, path) for key in required if given.get(key) is None]
    setup: dict[str, Any] = {}
    for key in known:
        value = given.get(key)
        if value is None:
            continue
        setup[key] = _positions(value) if key == POSITIONS else _number(value)
        if setup[key] is None:
            problems.append(_problem(f'"{key}" must be an integer', (*path, key), "number.base"))
    if problems:
        raise _bad(*problems)
    return setup


def _positions(given: Any) -> Any:
    """Start positions, with numbers read like the setup's and without other keys; the game refuses what is wrong."""
    if not isinstance(given, list):
        return given
    # a message has room for so many that to look at all of them would hold up everybody
    if len(given) > MOST_PLAYERS:
        path = ("setup", POSITIONS)
        raise _bad(_problem(f'"{POSITIONS}" must have at most {MOST_PLAYERS} items', path, "array.max"))
    return [_position(row) if isinstance(row, dict) else row for row in given]


def _position(row: dict[str, Any]) -> dict[str, Any]:
    known = {key: row[key] for key in ("name", *AXES) if key in row}
    read = {axis: _number(known[axis]) for axis in AXES if axis in known}
    return {**known, **{axis: number for axis, number in read.items() if number is not None}}


def _number(value: Any) -> int | None:
    """An integer, also from a string or a float without fraction; the original accepts quoted numbers as well."""
    if isinstance(value, str) and value.isascii() and value.isdigit() and len(value) <= LONGEST_NUMBER:
        return int(value)
    if isinstance(value, float) and value.is_integer() and abs(value) < 10**LONGEST_NUMBER:
        return int(value)
    return value if type(value) is int else None


def bad_url(error: BadAddress, index: int) -> BadMessage:
    """The error for a player's url that the server may not call, as a single problem."""
    return _bad(_problem(str(error), ("players", index, "url"), "string.uri"))


def _missing(key: str, path: tuple[str, ...] = ()) -> dict[str, Any]:
    return _problem(f'"{key}" is required', (*path, key), "any.required")


def _problem(message: str, path: tuple[str | int, ...], kind: str) -> dict[str, Any]:
    return {"message": message, "path": list(path), "type": kind}


def _bad(*problems: dict[str, Any]) -> BadMessage:
    return BadMessage("; ".join(one["message"] for one in problems), problems=list(problems))
