"""What can be seen of a contest whose game has changed since it was made."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from hall import GAME, Hall
from records import GAMES

from battlebot.rules.registry import Registry


def test_why_says_that_the_games_code_fails_where_it_keeps_all_matches_from_beginning(hall: Hall) -> None:
    """Whatever it raises, the question is answered."""

    def leaving(options: Any) -> str | None:
        raise SystemExit(1)

    hall.begin("ab")
    hall.wait("ab")
    game, lookout = GAMES[GAME], hall.lookout()
    lookout.registry = Registry({GAME: replace(game, rules=replace(game.rules, check_options=leaving))})
    told = lookout.why(hall.contest(), "a")
    assert (told["code"], told["sentence"].rpartition(": ")[2]) == ("no-match-begins", "its code fails (SystemExit).")
