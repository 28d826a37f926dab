"""The sentences that say how a match ended."""

from __future__ import annotations

import itertools
from typing import Any

import pytest

from battlebot.api.verdicts import WAYS, named, verdict
from battlebot.referee.match import Fault, Reason
from battlebot.wire import closing

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


@pytest.mark.parametrize(
    ("evidence", "sentence"),
    [
        ({"sentence": "{victor} was withdrawn"}, "The match was taken back: {victor} was withdrawn."),
        ({"sentence": "A wrong board."}, "The match was taken back: A wrong board."),
        ({}, "The match was taken back."),
    ],
)
def test_of_a_match_that_was_taken_back_it_is_said_why(evidence: dict[str, Any], sentence: str) -> None:
    """An organiser's word, the withdrawal of a bot, or the end of the contest."""
    match = {"fault": "none", "void": True, "evidence": evidence}
    game = {"players": ["a", "b"], "victor": None, "reason": "void", "match": match}
    assert verdict(game) == f"{sentence} The match counts for nobody."


ABSENT = {"absent": ["b"], "how": {"b": "goodbye"}, "awayMs": {"b": 3001}, "allowedMs": {"b": 3000}}
PROOFS: list[tuple[str, str, dict[str, Any], str]] = [
    (
        "timeout",
        "bot",
        {"bot": "b", "thinkingMs": 3010, "leftMs": 3000, "limitMs": 3000},
        "The fault lies with the bot: b took 3,010 ms and had 3,000 ms left for this turn.",
    ),
    (
        "timeout",
        "bot",
        {"bot": "b", "thinkingMs": 3010, "leftMs": 3000, "limitMs": 3000, "unread": True},
        "The fault lies with the bot: b took 3,010 ms without reading what it was sent and had 3,000 ms left for this"
        " turn.",
    ),
    (
        "invalid",
        "bot",
        {"bot": "b", "strikes": 3, "code": "invalid-turn", "sentence": "The space is taken."},
        "The fault lies with the bot: b sent 3 invalid turns; of the last: The space is taken.",
    ),
    (
        "invalid",
        "bot",
        {"bot": "b", "strikes": 1, "code": "invalid-turn", "sentence": "The space is taken."},
        "The fault lies with the bot: b sent an invalid turn: The space is taken.",
    ),
    (
        "invalid",
        "bot",
        {"bot": "b", "thinkingMs": 9, "limitMs": 3000, "code": "invalid-turn", "sentence": "The rack is another."},
        "The fault lies with the bot: b answered with what is not a valid turn: The rack is another.",
    ),
    (
        "invalid",
        "bot",
        {"bot": "b", "thinkingMs": 9, "limitMs": 3000, "code": "no-answer", "sentence": "The bot says: no idea"},
        "The fault lies with the bot: The bot says: no idea.",
    ),
    (
        "disconnect",
        "bot",
        ABSENT,
        "The fault lies with the bot: b was gone for 3,001 ms and had 3,000 ms to come back (it said goodbye).",
    ),
    (
        "error",
        "server",
        {**ABSENT, "how": {"b": "node-dead"}},
        "The fault lies with the server: b was gone for 3,001 ms and had 3,000 ms to come back (its node died).",
    ),
    (
        "disconnect",
        "bot",
        {**ABSENT, "how": {"b": "restart"}, "elsewhere": ["b"]},
        "The fault lies with the bot: b was gone for 3,001 ms and had 3,000 ms to come back (its node restarted, and"
        " it was connected elsewhere instead of coming back).",
    ),
    (
        "disconnect",
        "network",
        {"absent": ["a", "b"], "emptiedBy": {}},
        "The fault lies with the network: a was gone (its connection ended) and b was gone (its connection ended).",
    ),
    (
        "error",
        "server",
        {"error": "ZeroDivisionError", "event": "Turned"},
        "The fault lies with the server: the game's own code failed (ZeroDivisionError).",
    ),
    (
        "error",
        "server",
        {"error": "an error of the server's own (KeyError)"},
        "The fault lies with the server: an error of the server's own (KeyError).",
    ),
    ("error", "server", {"error": "Redis lost it."}, "The fault lies with the server: Redis lost it."),
    (
        "error",
        "server",
        {"nudges": 6},
        "The fault lies with the server: nothing happened although the match was looked at 6 times.",
    ),
    ("complete", "none", {"turns": 9}, ""),
]


@pytest.mark.parametrize(("reason", "fault", "evidence", "sentence"), PROOFS)
def test_a_fault_is_told_with_what_proves_it(reason: str, fault: str, evidence: dict[str, Any], sentence: str) -> None:
    """The times and numbers of the evidence, in one sentence after the verdict's own."""
    game = {"players": ["a", "b"], "victor": None, "reason": reason, "match": {"fault": fault, "evidence": evidence}}
    assert verdict(game).partition(". ")[2] == sentence


def test_a_bot_that_is_asked_has_one_answer_and_no_strikes() -> None:
    """Its verdict counts no invalid turns."""
    match = {"fault": "bot", "evidence": {"bot": "b", "limitMs": 3000, "code": "invalid-turn", "sentence": "No."}}
    game = {"players": ["a", "b"], "victor": "a", "reason": "invalid", "match": match}
    assert verdict(game).startswith("a won: b gave no answer that counts. ")


MANY: list[tuple[str | None, str, dict[str, int], str]] = [
    (
        "b",
        "complete",
        {"a": 2, "b": 1, "c": 2, "d": 4},
        "b won by the rules of the game. The order: 1. b; 2. a and c; 4. d.",
    ),
    (
        None,
        "complete",
        {"a": 1, "b": 3, "c": 1, "d": 3},
        "a and c share the first place by the rules of the game. The order: 1. a and c; 3. b and d.",
    ),
    (None, "complete", dict.fromkeys("abcd", 1), "A draw by the rules of the game."),
    (
        None,
        "timeout",
        {"a": 1, "b": 1, "c": 4, "d": 1},
        "a, b and d share the first place: the others did not answer in time. The order: 1. a, b and d; 4. c.",
    ),
]


@pytest.mark.parametrize(("victor", "reason", "places", "sentence"), MANY)
def test_of_many_the_order_is_told(victor: str | None, reason: str, places: dict[str, int], sentence: str) -> None:
    """Who shares a place is named together."""
    game = {"players": list("abcd"), "victor": victor, "reason": reason, "match": {"places": places, "fault": "none"}}
    assert verdict(game) == sentence


def test_of_64_the_first_are_named() -> None:
    """The sentence stays one that can be read."""
    bots = [f"bot{index}" for index in range(64)]
    places = {bot: 1 if index < 20 else index + 1 for index, bot in enumerate(bots)}
    sentence = verdict({"players": bots, "victor": None, "reason": "complete", "match": {"places": places}})
    assert sentence.startswith("bot0, bot1, bot2, bot3, bot4, bot5, bot6, bot7 and 12 more share the first place")
    assert len(sentence) < 500
    assert named(list("abcdefgh")) == "a, b, c, d, e, f, g and h"


def test_every_way_in_which_we_end_a_connection_is_told_in_words() -> None:
    """The slugs of the close frames that can end a seat, and those of the arena."""
    slugs = {value.slug for value in vars(closing).values() if isinstance(value, closing.Closing)}
    seatless = {"", "login-failed", "nobody-came", "taken-over", "too-many-connections"}
    assert slugs - seatless <= WAYS.keys()


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
