"""Crossword: words laid on a board of 15 by 15 from hidden racks of seven tiles; words can be challenged.

Turns have the shape of the events: `{"type": "TILE_PLACEMENT_MOVE", "position": "8D", "played_tiles": "HELLO"}`,
`{"type": "EXCHANGE", "exchanged": "QV"}`, `{"type": "PASS"}`, `{"type": "CHALLENGE"}`. Rules: docs/games/crossword.md.
"""

from __future__ import annotations

from random import Random
from typing import Any

from games.crossword import lexicon
from games.crossword.board import (
    ALL_TILES,
    BLANK,
    EMPTY,
    RACK,
    SIZE,
    as_rack,
    at,
    position,
    with_tiles,
    without,
)
from games.crossword.ending import after_last_play, after_scoreless, won_by
from games.crossword.events import added, event
from games.crossword.page import picture
from games.crossword.plays import IllegalPlay, Play, read_play
from games.crossword.sight import seen_by, without_secrets
from games.crossword.tiles import drawn, put_back, with_rack

State = dict[str, Any]
Turn = dict[str, Any]

GAME = {
    "name": "crossword",
    "title": "Crossword",
    "players": (2, 2),
    "turnTimeoutMs": 10_000,
    "options": {
        "challengeRule": {
            "default": "DOUBLE",
            "choices": ("VOID", "SINGLE", "DOUBLE", "FIVE_POINT", "TEN_POINT", "TRIPLE"),
            "doc": "what a challenge that fails costs; VOID: only words of the list can be played",
        },
        "lexicon": {"default": "enable1", "choices": tuple(lexicon.names()), "doc": "the list of words"},
    },
    "exampleTurn": {"type": "PASS"},
}

TYPES = ("TILE_PLACEMENT_MOVE", "EXCHANGE", "PASS", "CHALLENGE")
SCORELESS_TURNS = 6
CHALLENGE_POINTS = {"SINGLE": 0, "FIVE_POINT": 5, "TEN_POINT": 10}


def initial_state(players: list[str], seed: int, options: dict[str, Any]) -> State:
    """An empty board, two racks drawn from a bag shuffled by the seed; the first player is on turn."""
    bag = list(ALL_TILES)
    Random(seed).shuffle(bag)  # noqa: S311 - the order must repeat itself for a seed
    state = {
        "players": players,
        "nextPlayer": players[0],
        "complete": False,
        "board": [EMPTY * SIZE] * SIZE,
        "scores": [0, 0],
        "racks": ["", ""],
        "bag": "".join(bag),
        "bagCount": len(bag),
        "challengeRule": options["challengeRule"],
        "lexicon": options["lexicon"],
        "playState": "PLAYING",
        "scorelessTurns": 0,
        "lastPlay": None,
        "events": [],
        "seed": seed,
    }
    return drawn(drawn(state, 0), 1)


def validate(state: State, turn: Turn) -> bool:
    """Returns whether the turn is of one of the four kinds and may be made now."""
    if state["complete"] or turn.get("player") != state["nextPlayer"]:
        return False
    return _problem(state, turn) is None


def explain(state: State, turn: Turn) -> str:
    """Returns why the mover's turn is not valid."""
    return _problem(state, turn) or "This is not a turn."


def reducer(state: State, turn: Turn) -> State:
    """Returns the state after the turn, with its events; tiles are drawn from the bag at once."""
    mover = _mover(state)
    kind = turn["type"]
    if kind == "CHALLENGE":
        return _challenged(state, mover)
    if kind == "PASS":
        after = {**added(state, event(state, "PASS", mover, rack=state["racks"][mover])), "lastPlay": None}
        if state["playState"] == "WAITING_FOR_FINAL_PASS":
            return after_last_play(after, 1 - mover)
        return _next(after, 1 - mover, scoreless=True)
    if kind == "EXCHANGE":
        return _next(_exchanged(state, mover, turn["exchanged"]), 1 - mover, scoreless=True)
    return _laid(state, mover, _play_of(state, turn), turn["played_tiles"])


def view(state: State, player: str | None) -> State:
    """A player sees its own rack and not the bag; once the match is over, everybody sees everything."""
    return seen_by(state, player)


def view_turn(turn: Turn, player: str) -> Turn:
    """Another player's turn without its rack and the tiles that it exchanged."""
    return without_secrets(turn)


def render(state: State) -> str:
    """The board with its rows and columns, the scores, and the number of tiles in the bag."""
    lines = [f"   {' '.join(chr(ord('A') + n) for n in range(SIZE))}"]
    lines += [f"{number:2} {' '.join(row)}" for number, row in enumerate(state["board"], 1)]
    pairs = zip(state["players"], state["scores"], strict=True)
    lines.append(", ".join(f"{name} {score}" for name, score in pairs) + f"; {state['bagCount']} in the bag")
    return "\n".join(lines)


def show(state: State) -> dict[str, Any]:
    """The board with its premium squares, racks, score sheet and events, for pages."""
    return picture(state)


def _mover(state: State) -> int:
    return int(state["players"].index(state["nextPlayer"]))


def _problem(state: State, turn: Turn) -> str | None:
    """Returns what is wrong with the mover's turn, as a sentence; None if nothing is."""
    kind = turn.get("type")
    if kind not in TYPES:
        return f'"type" must be one of {", ".join(TYPES)}.'
    if kind == "CHALLENGE":
        last = state["lastPlay"]
        if state["challengeRule"] == "VOID":
            return "Under the rule VOID there is nothing to challenge: only words of the list can be played."
        return None if last is not None else "There is no play that could be challenged."
    if kind == "PASS":
        return None
    if state["playState"] == "WAITING_FOR_FINAL_PASS":
        return "That was the match's last play: only PASS and CHALLENGE are left."
    return _problem_of_exchange(state, turn) if kind == "EXCHANGE" else _problem_of_play(state, turn)


def _problem_of_exchange(state: State, turn: Turn) -> str | None:
    tiles = turn.get("exchanged")
    if not isinstance(tiles, str) or not 1 <= len(tiles) <= RACK:
        return '"exchanged" must be a text of 1 to 7 tiles.'
    if state["bagCount"] < RACK:
        return "An exchange needs seven tiles in the bag."
    held = without(state["racks"][_mover(state)], tiles)
    return None if held is not None else f'The rack does not hold these tiles (a blank is "{BLANK}").'


def _problem_of_play(state: State, turn: Turn) -> str | None:
    if not isinstance(turn.get("position"), str) or not isinstance(turn.get("played_tiles"), str):
        return 'A play has a "position" and "played_tiles", both texts.'
    try:
        play = _play_of(state, turn)
    except IllegalPlay as error:
        return str(error)
    if state["challengeRule"] == "VOID":
        phonies = _phonies(state, play.words)
        if phonies:
            return f"No word of the list: {', '.join(phonies)}."
    return None


def _play_of(state: State, turn: Turn) -> Play:
    rack = state["racks"][_mover(state)]
    return read_play(state["board"], rack, turn["position"], turn["played_tiles"])


def _phonies(state: State, words: tuple[str, ...] | list[str]) -> list[str]:
    known = lexicon.load(state["lexicon"])
    return [word for word in words if word not in known]


def _next(state: State, player: int, scoreless: bool) -> State:
    """Gives the turn to a player, or ends the match after six scoreless turns in a row."""
    count = state["scorelessTurns"] + 1 if scoreless else 0
    after = {**state, "scorelessTurns": count, "nextPlayer": state["players"][player]}
    return after_scoreless(after) if count >= SCORELESS_TURNS else after


def _exchanged(state: State, mover: int, tiles: str) -> State:
    rack = state["racks"][mover]
    told = event(state, "EXCHANGE", mover, rack=rack, exchanged=tiles, num_tiles_from_rack=len(tiles))
    kept = with_rack(added(state, told), mover, without(rack, tiles) or "")
    return {**put_back(drawn(kept, mover), tiles), "lastPlay": None}


def _laid(state: State, mover: int, play: Play, played_tiles: str) -> State:
    rack, tiles = state["racks"][mover], "".join(play.tiles.values())
    told = event(
        state,
        "TILE_PLACEMENT_MOVE",
        mover,
        rack=rack,
        position=position(play.start, play.down),
        row=play.start[0],
        column=play.start[1],
        direction="VERTICAL" if play.down else "HORIZONTAL",
        played_tiles=played_tiles,
        score=play.score,
        is_bingo=play.is_bingo,
        words_formed=list(play.words),
        num_tiles_from_rack=len(tiles),
    )
    last = {
        "player": mover,
        "words": list(play.words),
        "cells": [list(cell) for cell in play.tiles],
        "scorelessTurns": state["scorelessTurns"],
    }
    after = with_rack(added(state, told), mover, without(rack, as_rack(tiles)) or "")
    after = drawn({**after, "board": with_tiles(state["board"], play.tiles), "lastPlay": last}, mover)
    count = state["scorelessTurns"] + 1 if play.score == 0 else 0
    if after["racks"][mover] and count < SCORELESS_TURNS:
        return _next(after, 1 - mover, scoreless=play.score == 0)
    if state["challengeRule"] == "VOID":
        return after_last_play(after, mover)
    return {
        **after,
        "scorelessTurns": count,
        "nextPlayer": state["players"][1 - mover],
        "playState": "WAITING_FOR_FINAL_PASS",
    }


def _challenged(state: State, challenger: int) -> State:
    """Looks up the words of the last play. Either way it cannot be challenged again."""
    last = state["lastPlay"]
    if _phonies(state, last["words"]):
        return _returned({**state, "lastPlay": None}, challenger, last)
    state, rule = {**state, "lastPlay": None}, state["challengeRule"]
    if rule in CHALLENGE_POINTS:
        after = added(state, event(state, "CHALLENGE_BONUS", 1 - challenger, bonus=CHALLENGE_POINTS[rule]))
    else:
        told = event(state, "UNSUCCESSFUL_CHALLENGE_TURN_LOSS", challenger, rack=state["racks"][challenger])
        after = added(state, told)
    if rule == "TRIPLE":
        return won_by(after, 1 - challenger)
    if state["playState"] == "WAITING_FOR_FINAL_PASS":
        return after_last_play(after, 1 - challenger)
    return _next(after, 1 - challenger, scoreless=True) if rule == "DOUBLE" else after


def _returned(state: State, challenger: int, last: dict[str, Any]) -> State:
    """Returns the tiles to the rack, and those drawn for them to the bag; the play counts as a scoreless turn."""
    phony = state["events"][-1]
    told = event(
        state,
        "PHONY_TILES_RETURNED",
        1 - challenger,
        rack=phony["rack"],
        position=phony["position"],
        played_tiles=phony["played_tiles"],
        lost_score=phony["score"],
    )
    tiles = {(row, column): at(state["board"], (row, column)) for row, column in last["cells"]}
    kept = without(phony["rack"], as_rack("".join(tiles.values())))
    new = without(state["racks"][1 - challenger], kept or "")
    after = put_back(with_rack(added(state, told), 1 - challenger, phony["rack"]), new or "")
    after |= {
        "board": with_tiles(state["board"], dict.fromkeys(tiles, EMPTY)),
        "playState": "PLAYING",
        "scorelessTurns": last["scorelessTurns"],
    }
    return _next(after, challenger, scoreless=True)
