"""The load generator's own rules: what they let pass, and that they notice a server that is wrong."""

from __future__ import annotations

from typing import Any

import pytest

pytest.importorskip("picows")

from bench.load.player import Player
from bench.load.rules import Rules, rules_of
from bench.load.tally import Tally, percentiles_ms

PLAYERS = ["ann", "bob"]


class Told(Player):
    """A player without a connection: it is handed messages."""

    def __init__(self, rules: Rules) -> None:
        self.tally = Tally()
        super().__init__(self.tally, rules, {"game": "numberwang", "bot_id": "ann", "pass_hash": ""})
        self._take = self._on_update

    def _send(self, message: dict[str, Any]) -> None:
        pass

    def hears(self, *messages: dict[str, Any]) -> list[str]:
        """What it finds wrong with them."""
        for message in messages:
            self._take(message)
        return self.tally.examples


def _update(version: int, next_player: str, n: float = 0, turn: dict[str, Any] | None = None) -> dict[str, Any]:
    state = {"players": PLAYERS, "nextPlayer": next_player, "complete": False, "board": {"n": n}}
    message = {"state": state, "match": {"id": "m", "version": version}}
    return message if turn is None else {**message, "turn": turn}


def _turn(player: str, valid: bool = True, n: float = 0) -> dict[str, Any]:
    return {"n": n, "player": player, "time": 1, "valid": valid}


BEGIN = _update(0, "ann")


@pytest.mark.parametrize(
    ("messages", "right"),
    [
        pytest.param([BEGIN, _update(1, "bob", 0, _turn("ann"))], True, id="a turn is acknowledged"),
        pytest.param([_update(0, "bob")], False, id="the second player begins"),
        pytest.param([BEGIN, BEGIN], True, id="a bot is told again how its match stands"),
        pytest.param([BEGIN, *[_update(1, "bob", 0, _turn("ann"))] * 2], False, id="a turn comes twice"),
        pytest.param([BEGIN, _update(1, "ann")], False, id="a version comes without its turn"),
        pytest.param([BEGIN, _update(2, "bob", 0, _turn("ann"))], False, id="a version is left out"),
        pytest.param([BEGIN, _update(1, "bob", 1, _turn("ann"))], False, id="the state does not follow"),
        pytest.param([BEGIN, _update(1, "bob", 1, _turn("ann", n=1))], False, id="another turn is acknowledged"),
        pytest.param([BEGIN, _update(1, "ann", 0, _turn("bob"))], False, id="the wrong player is said to have moved"),
        pytest.param([BEGIN, _update(0, "ann", 0, _turn("ann", False))], False, id="a valid turn is refused"),
    ],
)
def test_a_player_notices_a_server_that_is_wrong(messages: list[dict[str, Any]], right: bool) -> None:
    """Of each sequence of updates it says whether it is what the protocol page promises."""
    assert (Told(rules_of("numberwang")).hears(*messages) == []) is right


@pytest.mark.parametrize("game", ["numberwang", "noughtsandcrosses"])
def test_the_rules_lead_a_match_to_its_end(game: str) -> None:
    """A match of chosen turns ends with a victor's key and a reason, and changes no earlier state."""
    rules = rules_of(game)
    rules.ending = True
    state = rules.first(PLAYERS)
    for _ in range(9):
        if not state["complete"]:
            before = repr(state)
            after = rules.after(state, rules.choose(state))
            assert repr(state) == before
            state = after
    assert state["complete"]
    assert state["reason"] == "complete"
    assert "victor" in state


def test_two_bots_that_saw_different_ends_are_found_out() -> None:
    """Both bots of a match must be told the same end."""
    tally = Tally()
    tally.ended("m", 5, {"victor": "ann"})
    tally.ended("m", 5, {"victor": "bob"})
    assert tally.wrong == 1


def test_percentiles_are_milliseconds() -> None:
    """Of a hundred times the median and the 99th."""
    times = Tally().turn_s
    times.extend(number / 1000 for number in range(1, 101))
    assert percentiles_ms(times) == {"p50": 50.0, "p99": 99.0, "max": 100.0}
