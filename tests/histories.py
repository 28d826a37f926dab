"""Reads histories back, from protobuf and from GCG text: our own, and files that other programs wrote.

Takes scores as they are: the game checks whether they are right. Fails the test at a line that is no GCG.
"""

from __future__ import annotations

import re
from typing import Any

from google.protobuf.json_format import MessageToDict

from battlebot.wire.macondo import macondo_pb2
from battlebot.wire.macondo.gcg import RESULT, RESULTS, RULE, TURN_LOST, ends
from battlebot.wire.macondo.history import normal

Event = dict[str, Any]

PLAYER = re.compile(r"#player([12])\s+(\S+)(?:\s+(.*))?")
EVENT = re.compile(r">(\S+?):\s*(?:([A-Za-z?]*)\s+)?(\S.*?)\s+([+-]\d+)\s+([+-]?\d+)(?:\s.*)?")
PLACE = re.compile(r"(?:(\d{1,2})([A-Oa-o])|([A-Oa-o])(\d{1,2}))\s+(\S+)")
TILES = re.compile(r"[A-Za-z.]+")


def from_protobuf(data: bytes) -> dict[str, Any]:
    """The history that these bytes of a GameHistory are."""
    message = macondo_pb2.GameHistory.FromString(data)
    return normal(MessageToDict(message, preserving_proto_field_name=True))


def from_gcg(text: bytes | str) -> dict[str, Any]:
    """The history of a GCG text. Events have what the text says."""
    reader = _Reader()
    for line in (text if isinstance(text, str) else text.decode()).splitlines():
        reader.read(line.strip())
    return reader.history()


class _Reader:
    """The content read so far."""

    def __init__(self) -> None:
        self.players: dict[int, dict[str, str]] = {}
        self.fields: dict[str, Any] = {}
        self.events: list[Event] = []
        self.racks: dict[int, str] = {}
        self.complete = True
        self.result: int | None = None

    def history(self) -> dict[str, Any]:
        """The history read so far."""
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
            self.players[int(found[1])] = {"nickname": found[2], "real_name": found[3] or found[2]}
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
        assert found is not None, line
        nick, rack, what, points, total = found.groups()
        [index] = [number - 1 for number, player in self.players.items() if player["nickname"] == nick]
        event: Event = {"player_index": index, "rack": rack or "", "cumulative": int(total)}
        return event | self._fields(event, what, int(points))

    def _fields(self, event: Event, what: str, points: int) -> Event:
        if what == "--":
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
    assert re.fullmatch(r"[A-Z?]*", inside), inside
    # a penalty has the rack in front, even if the rack counts nothing
    if points < 0 or event["rack"]:
        return {"type": "END_RACK_PENALTY", "rack": inside, "lost_score": -points}
    return {"type": "END_RACK_PTS", "rack": inside, "end_rack_points": points}


def _given_back(tiles: str) -> Event:
    if not tiles:
        return {"type": "PASS"}
    if tiles.isdecimal():
        return {"type": "EXCHANGE", "num_tiles_from_rack": int(tiles)}
    assert re.fullmatch(r"[A-Z?]+", tiles), tiles
    return {"type": "EXCHANGE", "exchanged": tiles, "num_tiles_from_rack": len(tiles)}


def _play(what: str, points: int) -> Event:
    found = PLACE.fullmatch(what)
    # some programs write the tiles that a play runs through in brackets
    assert found is not None, what
    tiles = re.sub(r"\([^)]*\)", lambda through: "." * (len(through[0]) - 2), found[5])
    assert TILES.fullmatch(tiles), what
    down = found[1] is None
    row, column = (found[4], found[3]) if down else (found[1], found[2])
    assert 1 <= int(row) <= 15, what
    return {
        "type": "TILE_PLACEMENT_MOVE",
        "position": f"{column.upper()}{int(row)}" if down else f"{int(row)}{column.upper()}",
        "row": int(row) - 1,
        "column": ord(column.upper()) - ord("A"),
        "direction": "VERTICAL" if down else "HORIZONTAL",
        "played_tiles": tiles,
        "score": points,
    }
