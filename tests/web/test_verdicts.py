"""The sentences that say how a match ended."""

from __future__ import annotations

import itertools

import pytest

from battlebot.referee.match import Fault, Reason
from battlebot.web.verdicts import verdict

CASES = [
    ("a", "complete", "none", False, "a won by the rules of the game."),
    (None, "complete", "none", False, "A draw by the rules of the game."),
    ("b", "timeout", "bot", False, "b won: a did not answer in time. The fault lies with the bot."),
    ("a", "disconnect", "network", False, "a won: b left. The fault lies with the network."),
    ("a", "invalid", "bot", False, "a won: b made too many invalid turns. The fault lies with the bot."),
    (
        None,
        "error",
        "server",
        True,
        "A draw: the match could not go on. The fault lies with the server. The match counts for nobody.",
    ),
    ("a", "a joke", "none", False, "a won (a joke)."),
]


@pytest.mark.parametrize(("victor", "reason", "fault", "void", "sentence"), CASES)
def test_a_verdict_reads_so(victor: str | None, reason: str, fault: str, void: bool, sentence: str) -> None:
    """Who won and why, whose fault it was, whether it counts."""
    game = {"players": ["a", "b"], "victor": victor, "reason": reason, "match": {"fault": fault, "void": void}}
    assert verdict(game) == sentence


@pytest.mark.parametrize(("reason", "fault", "victor"), [*itertools.product(Reason, Fault, ["a", None])])
def test_every_verdict_of_the_referee_has_sentences(reason: Reason, fault: Fault, victor: str | None) -> None:
    """None falls back to the bare reason in brackets."""
    game = {"players": ["a", "b"], "victor": victor, "reason": reason.value, "match": {"fault": fault.value}}
    assert "(" not in verdict(game)
    assert ("fault" in verdict(game)) == (fault is not Fault.NONE)


def test_a_name_with_braces_stays_what_it_is() -> None:
    """Names are no templates."""
    game = {"players": ["{losers}", "{0}"], "victor": "{losers}", "reason": "disconnect"}
    assert verdict(game) == "{losers} won: {0} left."
