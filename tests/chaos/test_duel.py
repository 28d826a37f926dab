"""The short run of `chaos.duel`; and its accountant, which must find what is amiss."""

from __future__ import annotations

import copy
import secrets
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from battlebot.config import Settings
from chaos.accounts import Books, problems
from chaos.duel import run

NOON = datetime(2026, 11, 21, 12, tzinfo=UTC)


@pytest.mark.timeout(300)
def test_every_board_is_accounted_for_whoever_comes_and_goes(settings: Settings, tmp_path: Path) -> None:
    """Ten players for fifteen seconds over two nodes; `make duel` plays for ten minutes."""
    seed = secrets.randbits(32)
    report = run(settings, tmp_path, 15.0, players=10, seed=seed)
    assert report["problems"] == [], f"seed {seed}"
    # else nothing was shown
    assert report["boards"] >= 20, report
    assert report["did"]["left"] >= 10


def game(number: int, players: list[str], series: str, board: int, **changes: Any) -> dict[str, Any]:
    """A board that its first player has won by its ninth move."""
    moves = [[n // 2, n % 2] for n in range(9)]
    return {
        "_id": f"{number:024x}",
        "players": players,
        "victor": players[0],
        "reason": "complete",
        "startTime": NOON + timedelta(minutes=number),
        "moves": moves,
        "turns": [{"x": x, "y": y, "player": players[n % 2]} for n, (x, y) in enumerate(moves)],
        "match": {
            "seq": number,
            "void": False,
            "fault": "none",
            "evidence": {},
            "endTime": NOON + timedelta(minutes=number, seconds=30),
            "series": {"id": series, "board": board, "boards": 2, "number": number},
        },
        **changes,
    }


def diary(name: str, games: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """What a player of these boards has noted."""
    entries: list[dict[str, Any]] = []
    for one in games:
        about = {"board": one["match"]["series"]["number"], "at_s": one["startTime"].timestamp() + 1}
        for n, turn in enumerate(one["turns"]):
            if turn["player"] == name:
                entries.append({**about, "what": "asked", "moves": one["moves"][:n]})
                entries.append({**about, "what": "moved", "n": n, "move": one["moves"][n]})
        entries.append({**about, "what": "win" if one["victor"] == name else "lose", "moves": one["moves"]})
    return entries


@pytest.fixture
def books() -> Books:
    """A pairing as it should be."""
    games = [game(1, ["a", "b"], "s", 1), game(2, ["b", "a"], "s", 2)]
    second = 30 / (1 + 10 ** (-30 / 400))
    elo = {"a": 1215 - second, "b": 1185 + second}
    ratings = [{"bot_id": name, "elo": elo[name], "wins": 1, "matches": 2} for name in "ab"]
    return Books(games, {name: diary(name, games) for name in "ab"}, ratings, {"online": []})


def test_what_adds_up_is_no_problem(books: Books) -> None:
    """Two boards, each of which its first player has won."""
    assert problems(books) == []


def lost_by(reason: str) -> Callable[[Books], None]:
    """The first board ended by that instead, its loser having done nothing; four moves in."""

    def change(books: Books) -> None:
        one = books.games[0]
        one |= {"reason": reason, "moves": one["moves"][:4], "turns": one["turns"][:4]}
        for entries in books.diaries.values():
            for entry in entries:
                if entry["board"] == 1 and len(entry.get("moves", [])) > 4:
                    entry["moves"] = entry["moves"][:4]

    return change


AMISS: dict[str, Callable[[Books], Any]] = {
    "still holds": lambda books: books.leftovers.update(online=["a"]),
    "have the number": lambda books: books.games[1]["match"]["series"].update(number=1),
    "which is nowhere": lambda books: books.games.pop(),
    "is void": lambda books: books.games[0]["match"].update(void=True),
    "its moves are not its turns": lambda books: books.games[0]["turns"].pop(),
    "ended by timeout with fives": lambda books: books.games[0].update(reason="timeout"),
    "five in a row at": lambda books: books.games[0].update(victor="b"),
    "has not sent": lambda books: books.diaries["a"].pop(1),  # type: ignore[attr-defined]
    "was told ['win'] instead of ['lose']": lambda books: books.diaries["b"][8].update(what="win"),
    "was told [] instead of ['win']": lambda books: books.diaries["a"].pop(10),  # type: ignore[attr-defined]
    "lost by timeout, and does not know why": lost_by("timeout"),
    "lost by invalid, and does not know why": lost_by("invalid"),
    "lost by disconnect, and has not left": lost_by("disconnect"),
    "'strange'": lambda books: books.diaries["a"].append({"what": "strange", "at_s": 0}),  # type: ignore[attr-defined]
    "told other moves": lambda books: books.diaries["a"][2].update(moves=[[0, 0], [9, 9]]),
    "has 1 boards": lambda books: books.games[1]["match"]["series"].update(id="t"),
    "not changed its first mover": lambda books: books.games[1].update(players=["a", "b"]),
    "is rated": lambda books: books.ratings[0].update(elo=1200.0),
    "began after board": lambda books: books.games[0].update(startTime=NOON + timedelta(hours=1)),
}


@pytest.mark.parametrize("sentence", sorted(AMISS))
def test_what_is_amiss_is_found(books: Books, sentence: str) -> None:
    """Each by its sentence."""
    changed = copy.deepcopy(books)
    AMISS[sentence](changed)
    assert any(sentence in found for found in problems(changed)), problems(changed)
