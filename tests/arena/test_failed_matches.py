"""A match that ended by an error in its game's code: the traceback is in the log, once, and nowhere else."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import orjson
import pytest

from battlebot.arena.live.archiving import game_document
from battlebot.arena.live.conduct import Conductor
from battlebot.arena.live.finished import Ended
from battlebot.arena.live.store import MatchStore
from battlebot.config import Settings
from battlebot.logs import configure_logs
from battlebot.referee.events import Turned
from battlebot.referee.match import Match
from battlebot.rules.registry import Registry

pytestmark = pytest.mark.usefixtures("logs_as_before")

GAME = "noughtsandcrosses"
LEGAL = {"mark": "X", "space": [1, 1]}


def mistaken_reducer(state: dict[str, Any], turn: dict[str, Any]) -> dict[str, Any]:
    """A game's function with a mistake, and a local variable that nobody may see."""
    hidden = "rack: " + "QZ"
    return {"hidden": hidden, **state["boards"]}


def broken(registry: Registry) -> Registry:
    """The games, of which one has a mistake."""
    game = registry[GAME]
    return Registry({GAME: replace(game, rules=replace(game.rules, reducer=mistaken_reducer))})


def test_the_traceback_is_in_the_log_and_nowhere_else(
    begun: Callable[..., Match], store: MatchStore, registry: Registry, capsys: pytest.CaptureFixture[str]
) -> None:
    """With the game's function and line, without values of its variables; bots and the archive hear the class alone."""
    match = begun(GAME)
    conductor = Conductor(broken(registry), store, "n1", now_s=lambda: 1001.0)
    configure_logs(Settings(log_format="json"))
    answer = conductor.conduct(match, Turned("ada", LEGAL, 0.5))
    events = [orjson.loads(line) for line in capsys.readouterr().err.splitlines()]
    failed, ended = (one for one in events if one["event"] in ("match.failed", "match.ended"))
    assert (failed["level"], failed["match"], failed["game"]) == ("error", match.id, GAME)
    assert "in mistaken_reducer" in failed["exception"]
    assert failed["exception"].endswith("KeyError: 'boards'")
    assert "rack: QZ" not in json.dumps(events)
    assert ended["evidence"] == {"error": "KeyError", "event": "Turned"}
    told = [update.text for update in answer.updates]
    stored = json.dumps(game_document(Ended(store.load(match.id), 1_000_000, [])), default=str)
    assert len(told) == 2
    for shown in (*told, stored):
        assert "boards" not in shown
        assert "mistaken_reducer" not in shown


def test_a_match_that_ends_otherwise_has_not_failed(
    begun: Callable[..., Match], store: MatchStore, registry: Registry, capsys: pytest.CaptureFixture[str]
) -> None:
    """A bot that is out of time is no error."""
    match = begun(GAME)
    configure_logs(Settings(log_format="json"))
    Conductor(registry, store, "n1", now_s=lambda: 1001.0).conduct(match, Turned("ada", LEGAL, 999.0))
    events = [orjson.loads(line)["event"] for line in capsys.readouterr().err.splitlines()]
    assert events == ["match.ended"]
