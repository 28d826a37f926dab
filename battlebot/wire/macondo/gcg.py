"""Writes histories as GCG text, the usual format for crossword matches: one line per event.

After John Chew's description of the format (poslfit.com/scrabble/gcg).
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping
from typing import Any

Event = Mapping[str, Any]

# the format has no line for a turn lost by an unsuccessful challenge: it is written as a pass with this note
TURN_LOST = "challenged in vain"
# what the format has no line for before the events is written as notes, `key: value`
RULE = "challenge rule: "
RESULT = "result: "
RESULTS = ("player1 won", "player2 won", "a draw")  # by `winner`: 0, 1, -1


def to_gcg(history: Mapping[str, Any]) -> str:
    """The text of a match with all its events; a match that is not over is marked as incomplete."""
    nicks = nicknames([player["nickname"] for player in history["players"]])
    lines = ["#character-encoding UTF-8"]
    for number, (nick, player) in enumerate(zip(nicks, history["players"], strict=True), start=1):
        lines.append(f"#player{number} {nick} {_one_line(player.get('real_name') or nick)}")
    lines += [f"#{name} {_one_line(history[name])}" for name in ("title", "description") if history.get(name)]
    if history.get("uid"):
        lines.append(f"#id {history.get('id_auth') or 'unknown'} {history['uid']}")
    if history.get("lexicon"):
        lines.append(f"#lexicon {_one_line(history['lexicon'])}")
    if history.get("play_state") != "GAME_OVER":
        lines.append("#incomplete")
    lines.append(f"#note {RULE}{history.get('challenge_rule', 'VOID')}")
    if history.get("play_state") == "GAME_OVER" and not ends(history.get("events", ())):
        # it ended by a challenge under TRIPLE, or was broken off
        lines.append(f"#note {RESULT}{RESULTS[history.get('winner', 0)]}")
    for event in history.get("events", ()):
        lines += _lines(event, nicks[event.get("player_index", 0)])
    return "\n".join(lines) + "\n"


def ends(events: Iterable[Event]) -> bool:
    """Whether the events themselves show that the match is over: the remaining racks have been counted."""
    return any(str(event.get("type", "")).startswith("END_RACK") for event in events)


def nicknames(names: list[str]) -> list[str]:
    """The names as the format allows them: without white space, colons and control characters, all different."""
    nicks: list[str] = []
    for name in names:
        nick = re.sub(r"[\s:\x00-\x1f]+", "_", name) or "_"
        while nick in nicks:
            nick += "_"
        nicks.append(nick)
    return nicks


def _lines(event: Event, nick: str) -> list[str]:
    kind = event.get("type", "TILE_PLACEMENT_MOVE")
    what, points = WRITTEN[kind](event)
    rack = "" if kind == "END_RACK_PTS" else event.get("rack", "")
    lines = [f">{nick}: {rack} {what} {points} {event.get('cumulative', 0)}"]
    notes = [TURN_LOST] if kind == "UNSUCCESSFUL_CHALLENGE_TURN_LOSS" else []
    notes += [_one_line(event["note"])] if event.get("note") else []
    return [*(line.replace(":  ", ": ") for line in lines), *(f"#note {note}" for note in notes)]


def _one_line(text: str) -> str:
    return " ".join(str(text).split())


def _gained(event: Event, name: str) -> str:
    return f"{event.get(name, 0):+d}"


def _lost(event: Event) -> str:
    # readers expect the minus even for 0, as for a phony of two blanks
    return f"-{event.get('lost_score', 0)}"


# type -> the text between the rack and the points, and the points
WRITTEN: dict[str, Callable[[Event], tuple[str, str]]] = {
    "TILE_PLACEMENT_MOVE": lambda event: (f"{event['position']} {event['played_tiles']}", _gained(event, "score")),
    "PHONY_TILES_RETURNED": lambda event: ("--", _lost(event)),
    "PASS": lambda event: ("-", "+0"),
    "UNSUCCESSFUL_CHALLENGE_TURN_LOSS": lambda event: ("-", "+0"),
    "CHALLENGE_BONUS": lambda event: ("(challenge)", _gained(event, "bonus")),
    "EXCHANGE": lambda event: (f"-{event.get('exchanged') or event.get('num_tiles_from_rack', 0)}", "+0"),
    "END_RACK_PTS": lambda event: (f"({event.get('rack', '')})", _gained(event, "end_rack_points")),
    "TIME_PENALTY": lambda event: ("(time)", _lost(event)),
    "END_RACK_PENALTY": lambda event: (f"({event.get('rack', '')})", _lost(event)),
}
