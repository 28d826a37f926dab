"""A match that ended by an error in its game's code: the traceback is in the log, once, and nowhere else."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import orjson
import pytest
from conductors import Conductor
from records import entries

from battlebot.arena.live.archiving import game_document
from battlebot.arena.live.finished import Ended
from battlebot.arena.live.store import MatchStore
from battlebot.config import Settings
from battlebot.logs import configure_logs
from battlebot.referee.events import Turned, Voided
from battlebot.referee.match import Match, Reason
from battlebot.referee.replay import check_match
from battlebot.rules.registry import Registry
from battlebot.runtime.loglimit import LogLimit
from battlebot.storage import Storage

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


def test_a_slow_game_is_named_in_the_log(
    begun: Callable[..., Match],
    store: MatchStore,
    registry: Registry,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Once, with the match: meanwhile its node does nothing else."""
    monkeypatch.setattr("battlebot.arena.live.conduct.may_tell", LogLimit())
    configure_logs(Settings(log_format="json"))
    match, conductor = begun(GAME), Conductor(registry, store, "n1", now_s=lambda: 1001.0)
    conductor.draft(match, [Turned("ada", LEGAL, 0.5)])
    assert capsys.readouterr().err == ""
    monkeypatch.setattr("battlebot.arena.live.conduct.SLOW_S", 0.0)
    for _ in range(2):
        conductor.draft(match, [Turned("ada", LEGAL, 0.5)])
    (slow,) = [orjson.loads(line) for line in capsys.readouterr().err.splitlines()]
    assert (slow["event"], slow["level"], slow["match"], slow["game"]) == ("game.slow", "warning", match.id, GAME)


UNSTORABLE = {
    "integer beyond int64": 2**63,
    "integer beyond 64 bits": 10**30,
    "half of a surrogate pair": "\ud800",
    "NUL in a key": {"a\0": 1},
    "what the driver reads as a reference": {"$ref": "a", "$id": 1},
    "lists in lists in lists": json.loads("[" * 200 + "]" * 200),
}


def adding(registry: Registry, turns: int, added: dict[str, Any]) -> Registry:
    """Returns the games, of which one adds to its state from that many turns on, and is over after two."""
    game = registry[GAME]

    def reducer(state: dict[str, Any], turn: dict[str, Any]) -> dict[str, Any]:
        after = game.reducer(state, turn)
        count = state.get("count", 0) + 1
        if count == 2:
            after |= {"complete": True, "victor": None, "reason": "complete"}
        return {**after, "count": count, **(added if count >= turns else {})}

    return Registry({GAME: replace(game, rules=replace(game.rules, reducer=reducer))})


@pytest.mark.parametrize("turns", [1, 2])
@pytest.mark.parametrize("value", UNSTORABLE.values(), ids=list(UNSTORABLE))
def test_a_state_that_cannot_be_stored_is_the_games_error(
    value: Any, turns: int, begun: Callable[..., Match], store: MatchStore, registry: Registry, storage: Storage
) -> None:
    """Bots are told so, and what is left can be stored: whether the state was so only at the end, or before as well."""
    games = adding(registry, turns, {"x": [value]})
    conductor = Conductor(games, store, "n1", now_s=lambda: 1001.0)
    match = conductor.conduct(begun(GAME), Turned("ada", LEGAL, 0.5)).match
    if match.verdict is None:
        answer = conductor.conduct(match, Turned("bob", {"mark": "O", "space": [0, 0]}, 0.5))
        match = answer.match
        assert {json.loads(update.text)["state"]["reason"] for update in answer.updates} == {"error"}
    assert match.verdict is not None
    assert (match.verdict.reason, match.verdict.fault) == ("error", "server")
    rows = entries(store, match.id)
    assert len(rows) == match.version
    assert storage.archive.store([game_document(Ended(store.load(match.id), 1_001_000_000, rows))]) == [match.id]
    stored = storage.games.find(match.id)
    assert stored is not None
    assert (stored["players"], stored["reason"], stored["match"]["void"]) == (["ada", "bob"], "error", True)
    assert check_match(games[GAME], stored) == []


def test_a_match_taken_back_in_such_a_state_was_taken_back(
    begun: Callable[..., Match], store: MatchStore, registry: Registry
) -> None:
    """The organiser's word counts; the record keeps what can be kept."""
    conductor = Conductor(adding(registry, 1, {"x": 2**63}), store, "n1", now_s=lambda: 1001.0)
    match = conductor.conduct(begun(GAME), Turned("ada", LEGAL, 0.5)).match
    assert match.verdict is None
    match = conductor.conduct(match, Voided("no more")).match
    assert match.verdict is not None
    assert match.verdict.reason is Reason.VOID
    assert "x" not in match.state


def test_the_log_says_what_cannot_be_stored(
    begun: Callable[..., Match], store: MatchStore, registry: Registry, capsys: pytest.CaptureFixture[str]
) -> None:
    """As for every failure of a game's code."""
    conductor = Conductor(adding(registry, 2, {"x": 2**63}), store, "n1", now_s=lambda: 1001.0)
    match = conductor.conduct(begun(GAME), Turned("ada", LEGAL, 0.5)).match
    configure_logs(Settings(log_format="json"))
    conductor.conduct(match, Turned("bob", {"mark": "O", "space": [0, 0]}, 0.5))
    failed, ended = (orjson.loads(line) for line in capsys.readouterr().err.splitlines())
    assert (failed["event"], failed["level"]) == ("match.failed", "error")
    assert "the game's state has an integer of more than 64 bits" in failed["exception"]
    assert ended["evidence"]["error"].startswith("the game's state has an integer of more than 64 bits")


def test_a_game_that_spoils_the_state_it_was_given_ends_its_match_all_the_same(
    begun: Callable[..., Match], store: MatchStore, registry: Registry
) -> None:
    """What it put there cannot be written any more, with whatever event: nobody could ever commit an end."""

    def reducer(state: dict[str, Any], turn: dict[str, Any]) -> dict[str, Any]:
        state["spoilt"] = {1}
        raise ValueError

    game = registry[GAME]
    games = Registry({GAME: replace(game, rules=replace(game.rules, reducer=reducer))})
    match = begun(GAME)
    Conductor(games, store, "n1", now_s=lambda: 1001.0).conduct(match, Turned("ada", LEGAL, 0.5))
    over = store.load(match.id)
    assert over.verdict is not None
    assert over.verdict.void
    assert over.state["players"] == [seat.bot for seat in match.seats]


@pytest.mark.parametrize("turns", [1, 2])
def test_a_state_too_large_to_be_stored_is_the_games_error(
    turns: int, begun: Callable[..., Match], store: MatchStore, registry: Registry, storage: Storage
) -> None:
    """In the middle or at the end, before anybody is told: a victory would be set aside, and count nowhere."""
    conductor = Conductor(adding(registry, turns, {"x": "x" * 20_000_000}), store, "n1", now_s=lambda: 1001.0)
    match = begun(GAME)
    for bot, mark, row in (("ada", "X", 1), ("bob", "O", 0))[:turns]:
        answer = conductor.conduct(match, Turned(bot, {"mark": mark, "space": [row, row]}, 0.5))
        match = answer.match
    assert match.verdict is not None
    assert match.verdict.void
    assert match.verdict.evidence["error"].startswith("the game's state has 20,000,")
    assert {json.loads(update.text)["state"]["reason"] for update in answer.updates} == {"error"}
    rows = entries(store, match.id)
    assert len(rows) == match.version == turns - 1
    assert storage.archive.store([game_document(Ended(store.load(match.id), 1_001_000_000, rows))]) == [match.id]


@pytest.mark.parametrize("values", [[1] * 999_800, ["x" * 48] * 98_000], ids=["numbers", "texts"])
def test_a_state_that_is_just_small_enough_can_be_stored_with_any_record(
    values: list[Any], begun: Callable[..., Match], store: MatchStore, registry: Registry, storage: Storage
) -> None:
    """Short integers take six times as much in MongoDB; the turns do not come on top. Nor does how the match ends."""
    match = (
        Conductor(adding(registry, 1, {"x": values}), store, "n1", now_s=lambda: 1001.0)
        .conduct(begun(GAME), Turned("ada", LEGAL, 0.5))
        .match
    )
    assert match.verdict is None
    over = Conductor(registry, store, "n1", now_s=lambda: 1001.0).conduct(match, Turned("bob", {}, 999.0)).match
    assert over.verdict is not None
    assert over.verdict.reason is Reason.TIMEOUT
    long = [{"turn": {"player": "ada", "time": 1, "x": [1] * 450_000}, "thinkingMs": 1.0}] * 3
    assert storage.archive.store([game_document(Ended(store.load(match.id), 1_001_000_000, long))]) == [match.id]
    stored = storage.games.find(match.id)
    assert stored is not None
    assert (stored["turns"], stored["match"]["clocks"]) == ([row["turn"] for row in long], [1.0] * 3)
    assert len(stored["x"]) == len(values)
