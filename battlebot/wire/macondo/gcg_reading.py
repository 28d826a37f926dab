"""Reads GCG text into a history. Takes scores from the file as they are: the game checks whether they are right."""

from __future__ import annotations

import re
from typing import Any

from battlebot.errors import BadMessage
from battlebot.wire.macondo.gcg import RESULT, RESULTS, RULE, TURN_LOST, ends
from battlebot.wire.macondo.history import normal

Event = dict[str, Any]

PLAYER = re.compile(r"#player([12])\s+(\S+)(?:\s+(.*))?")
ENCODING = re.compile(rb"#character-encoding\s+(\S+)", re.IGNORECASE)
EVENT = re.compile(r">(\S+?):\s*(?:([A-Za-z?]*)\s+)?(\S.*?)\s+([+-]\d+)\s+([+-]?\d+)(?:\s.*)?")
PLACE = re.compile(r"(?:(\d{1,2})([A-Oa-o])|([A-Oa-o])(\d{1,2}))\s+(\S+)")
TILES = re.compile(r"[A-Za-z.]+")
MAX_BYTES = 1_000_000


def from_gcg(data: bytes | str) -> dict[str, Any]:
    """The history of a GCG file, in ISO 8859-1 unless its first line says UTF-8. Events have what the file says.

    Raises BadMessage, with the detail `line`, if it is not GCG.
    """
    reader = _Reader()
    for number, line in enumerate(_text(data).splitlines(), start=1):
        try:
            reader.read(line.strip())
        except ValueError as error:
            raise BadMessage(f"Line {number} is no GCG: {error}", line=number) from None
    return reader.history()


def _text(data: bytes | str) -> str:
    if isinstance(data, str):
        return data
    if len(data) > MAX_BYTES:
        raise BadMessage(f"A GCG file has at most {MAX_BYTES} bytes.", line=0)
    named = ENCODING.match(data.removeprefix(b"\xef\xbb\xbf"))
    encoding = "iso-8859-1" if named is None else named[1].decode("ascii", "replace").lower()
    if encoding not in ("utf-8", "utf8", "iso-8859-1"):
        raise BadMessage(f"Line 1 names the encoding {encoding[:40]}; known are UTF-8 and ISO-8859-1.", line=1)
    try:
        return data.decode("utf-8-sig" if encoding.startswith("utf") else encoding)
    except UnicodeDecodeError as error:
        raise BadMessage(f"The file is not in UTF-8, as it says ({error.reason}).", line=1) from None


class _Reader:
    """The content read so far. `read` raises ValueError, which says what is wrong with the line."""

    def __init__(self) -> None:
        self.players: dict[int, dict[str, str]] = {}
        self.fields: dict[str, Any] = {}
        self.events: list[Event] = []
        self.racks: dict[int, str] = {}
        self.complete = True
        self.result: int | None = None

    def history(self) -> dict[str, Any]:
        """The history read so far. Raises BadMessage if the file does not name two players."""
        if set(self.players) != {1, 2}:
            raise BadMessage("A GCG file names two players.", line=0)
        history = {"version": 2, "players": [self.players[1], self.players[2]], **self.fields}
        bonuses = {event["bonus"] for event in self.events if event.get("bonus")}
        guess = "FIVE_POINT" if 5 in bonuses else "TEN_POINT" if bonuses else "SINGLE"
        history |= {"challenge_rule": history.get("challenge_rule", guess), "events": self.events}
        if self.racks:
            history["last_known_racks"] = [self.racks.get(1, ""), self.racks.get(2, "")]
        if self.complete and (self.result is not None or ends(self.events)):
            scores = [self._score(player) for player in (0, 1)]
            winner = -1 if scores[0] == scores[1] else scores.index(max(scores))
            winner = winner if self.result is None else self.result
            history |= {"play_state": "GAME_OVER", "final_scores": scores, "winner": winner}
        return normal(history)

    def _score(self, player: int) -> int:
        own = [event["cumulative"] for event in self.events if event["player_index"] == player]
        return own[-1] if own else 0

    def read(self, line: str) -> None:
        """Read the next line of the file."""
        if line.startswith(">"):
            self.events.append(self._event(line))
        elif line.startswith("#"):
            self._pragma(line)
        elif line and self.events:
            self._note(line)  # a note of several lines

    def _pragma(self, line: str) -> None:
        word, _, rest = line[1:].partition(" ")
        found = PLAYER.fullmatch(line)
        if found is not None:
            number, nick = int(found[1]), found[2]
            if nick in (player["nickname"] for player in self.players.values()):
                raise ValueError("both players have one nickname")
            self.players[number] = {"nickname": nick, "real_name": found[3] or nick}
        elif word in ("title", "description", "lexicon"):
            self.fields[word] = rest.strip()
        elif word == "id":
            self.fields |= dict(zip(("id_auth", "uid"), rest.split(), strict=False))
        elif word in ("rack1", "rack2"):
            self.racks[int(word[-1])] = rest.strip()
        elif word == "incomplete":
            self.complete = False
        elif word == "note":
            self._note(rest.strip())

    def _note(self, note: str) -> None:
        if not self.events:
            if note.startswith(RULE):
                self.fields["challenge_rule"] = note.removeprefix(RULE)
            elif note.startswith(RESULT) and note.removeprefix(RESULT) in RESULTS:
                self.result = (0, 1, -1)[RESULTS.index(note.removeprefix(RESULT))]
        elif note == TURN_LOST and self.events[-1]["type"] == "PASS":
            self.events[-1]["type"] = "UNSUCCESSFUL_CHALLENGE_TURN_LOSS"
        else:
            event = self.events[-1]
            event["note"] = "\n".join([*([event["note"]] if "note" in event else []), note])

    def _event(self, line: str) -> Event:
        found = EVENT.fullmatch(line)
        if found is None:
            raise ValueError("an event is `>NICK: RACK PLAY +POINTS TOTAL`")
        nick, rack, what, points, total = found.groups()
        index = next((n - 1 for n, player in self.players.items() if player["nickname"] == nick), None)
        if index is None:
            raise ValueError(f"there is no player {nick[:40]}")
        event: Event = {"player_index": index, "rack": rack or "", "cumulative": int(total)}
        return event | self._fields(event, what, int(points))

    def _fields(self, event: Event, what: str, points: int) -> Event:
        if what == "--":
            if not self.events or self.events[-1]["type"] != "TILE_PLACEMENT_MOVE":
                raise ValueError("there is no play that could be taken back")
            taken = {name: self.events[-1][name] for name in ("position", "played_tiles")}
            return {"type": "PHONY_TILES_RETURNED", "lost_score": -points, **taken}
        if what.startswith("(") and what.endswith(")"):
            return _in_brackets(event, what[1:-1], points)
        if what.startswith("-"):
            return _given_back(what[1:])
        return _play(what, points)


def _in_brackets(event: Event, inside: str, points: int) -> Event:
    if inside == "challenge":
        return {"type": "CHALLENGE_BONUS", "bonus": points}
    if inside == "time":
        return {"type": "TIME_PENALTY", "lost_score": -points}
    if not re.fullmatch(r"[A-Z?]*", inside):
        raise ValueError("what stands in brackets is (challenge), (time) or a rack")
    # a penalty has the rack in front, even if the rack counts nothing
    if points < 0 or event["rack"]:
        return {"type": "END_RACK_PENALTY", "rack": inside, "lost_score": -points}
    return {"type": "END_RACK_PTS", "rack": inside, "end_rack_points": points}


def _given_back(tiles: str) -> Event:
    if not tiles:
        return {"type": "PASS"}
    if tiles.isdecimal():
        return {"type": "EXCHANGE", "num_tiles_from_rack": int(tiles)}
    if not re.fullmatch(r"[A-Z?]+", tiles):
        raise ValueError("an exchange is `-TILES` or `-5`")
    return {"type": "EXCHANGE", "exchanged": tiles, "num_tiles_from_rack": len(tiles)}


def _play(what: str, points: int) -> Event:
    found = PLACE.fullmatch(what)
    # some programs write the tiles that a play runs through in brackets
    tiles = found and re.sub(r"\([^)]*\)", lambda through: "." * (len(through[0]) - 2), found[5])
    if found is None or tiles is None or not TILES.fullmatch(tiles):
        raise ValueError("a play is like `8D HELLO` or `D8 HE..O`")
    down = found[1] is None
    row, column = (found[4], found[3]) if down else (found[1], found[2])
    if not 1 <= int(row) <= 15:
        raise ValueError("rows are 1 to 15")
    return {
        "type": "TILE_PLACEMENT_MOVE",
        "position": f"{column.upper()}{int(row)}" if down else f"{int(row)}{column.upper()}",
        "row": int(row) - 1,
        "column": ord(column.upper()) - ord("A"),
        "direction": "VERTICAL" if down else "HORIZONTAL",
        "played_tiles": tiles,
        "score": points,
    }
