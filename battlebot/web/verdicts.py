"""How a match ended, in a sentence or two. Pure."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

# reason -> (where somebody won, where nobody did); the reasons are the referee's, a game may have its own
SENTENCES = {
    "complete": ("{victor} won by the rules of the game.", "A draw by the rules of the game."),
    "timeout": ("{victor} won: {losers} did not answer in time.", "A draw: no answer came in time."),
    "disconnect": ("{victor} won: {losers} left.", "A draw: all were gone at about the same time."),
    "invalid": ("{victor} won: {losers} made too many invalid turns.", "A draw: too many invalid turns."),
    "error": ("{victor} won: the match could not go on.", "A draw: the match could not go on."),
    "void": ("{victor} won, but the organiser took the match back.", "The organiser took the match back."),
    "length": ("{victor} won when the match grew too long.", "A draw: the match grew too long."),
}
FAULTS = {
    "bot": "The fault lies with the bot.",
    "network": "The fault lies with the network.",
    "server": "The fault lies with the server.",
}


def verdict(game: Mapping[str, Any]) -> str:
    """What the stored match's verdict says: who won and why, whose fault it was, whether it counts."""
    victor, reason, ours = game.get("victor"), str(game.get("reason")), game.get("match") or {}
    won, drawn = SENTENCES.get(reason, ("{victor} won ({reason}).", "A draw ({reason})."))
    losers = " and ".join(player for player in game["players"] if player != victor)
    # one pass, so that a name with braces in it stays what it is
    sentences = [(drawn if victor is None else won).format(victor=victor, losers=losers, reason=reason)]
    if ours.get("fault") in FAULTS:
        sentences.append(FAULTS[ours["fault"]])
    if ours.get("void"):
        sentences.append("The match counts for nobody.")
    return " ".join(sentences)
