"""Why a bot is not playing, by a table; and what a format will have for it later."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from battlebot.contests.formats import format_named
from battlebot.contests.formats.matching import matching
from battlebot.contests.formats.situation import Met, Situation
from battlebot.contests.why import Look, comes_later, why

RUNNING: dict[str, Any] = {"bot": "me", "state": "running"}
REASONS = [
    ({"registered": False, "entrant": False}, "not-registered", "No bot 'me' is registered for the game."),
    ({"entrant": False}, "not-an-entrant", "me has not entered the contest."),
    ({"withdrawn": True, "state": "finished"}, "withdrawn", "me was withdrawn from the contest."),
    ({"match": "m1", "left": ["a"]}, "playing", "me is playing: match m1."),
    ({"match": "m1", "state": "paused"}, "playing", "me is playing: match m1."),
    ({"state": "scheduled"}, "scheduled", "The contest has not begun: its organiser has yet to start it."),
    ({"state": "scheduled", "starts": "noon"}, "scheduled", "The contest has not begun: it starts at noon."),
    ({"state": "paused", "left": ["a"]}, "paused", "The contest is paused."),
    ({"state": "finished"}, "over", "The contest is finished."),
    ({"state": "cancelled"}, "over", "The contest is cancelled."),
    ({}, "nobody-left", "me has nobody left to meet."),
    ({"later": True}, "waiting-for-round", "me has played what there is of its round; others have not."),
    ({"obstacle": "why not."}, "nobody-left", "me has nobody left to meet."),
    ({"obstacle": "why not.", "left": ["a"]}, "no-match-begins", "No match of the contest can begin: why not."),
    ({"left": ["a"], "later": True}, "not-connected", "me is not connected; it has yet to meet a."),
    ({"left": ["a"], "since": "noon"}, "not-connected", "me has not been there since noon; it has yet to meet a."),
    (
        {"left": ["a"], "full": True, "since": "noon"},
        "address-full",
        "me is asked in as many other matches at its URL as it may be at a time.",
    ),
    (
        {"left": ["a"], "full": True, "waiting": {"me", "a"}},
        "pairing-soon",
        "me and a wait; they are paired in a moment.",
    ),
    (
        {"left": ["a", "b"], "waiting": {"me", "b"}, "resting": {"b": "noon"}},
        "resting",
        "me and b wait, but their last matches ended by the server's fault: the next one begins after noon.",
    ),
    (
        {"left": ["a", "b"], "waiting": {"me", "a", "b"}, "resting": {"b": "noon"}},
        "pairing-soon",
        "me and a wait; they are paired in a moment.",
    ),
    ({"left": ["a", "b"], "waiting": {"me", "b"}}, "pairing-soon", "me and b wait; they are paired in a moment."),
    (
        {"left": ["a", "b"], "waiting": {"me", "x"}, "playing": {"b"}},
        "all-busy",
        "Whomever me has yet to meet is playing or away: a, b.",
    ),
    (
        {"left": list("abc"), "waiting": {"me"}},
        "all-away",
        "Whomever me has yet to meet is not connected: a, b, c.",
    ),
    (
        {"left": ["a", "b", "c"], "waiting": {"me", "a"}, "playing": {"c"}, "together": True},
        "all-busy",
        "me waits for who is to be in its battle: b, c.",
    ),
    (
        {"left": ["a", "b"], "waiting": {"me", "a"}, "playing": {"a"}, "together": True},
        "all-away",
        "me waits for who is to be in its battle: b.",
    ),
    (
        {"left": ["a", "b"], "waiting": {"me", "a", "b"}, "together": True},
        "pairing-soon",
        "me and a, b wait; they are paired in a moment.",
    ),
    (
        {"left": list("abcde"), "waiting": {"me"}, "playing": {"x"}},
        "all-away",
        "Whomever me has yet to meet is not connected: a, b, c and 2 more.",
    ),
]


@pytest.mark.parametrize(("given", "code", "sentence"), REASONS, ids=[row[1] for row in REASONS])
def test_the_first_reason_that_holds(given: dict[str, Any], code: str, sentence: str) -> None:
    """Of what the bot is, of the contest, of the others."""
    assert why(Look(**{**RUNNING, **given})) == (code, sentence)


def played(*rows: tuple[int, int, str, str, str | None]) -> tuple[Met, ...]:
    """Meetings `(round, n, first, second, victor)`."""
    return tuple(Met(number, n, first, second, "played", victor) for number, n, first, second, victor in rows)


LATER = [
    pytest.param("swiss", {"rounds": 2}, 1, played((1, 1, "a", "b", "a")), "a", True, id="swiss: its round is played"),
    pytest.param("swiss", {"rounds": 1}, 1, played((1, 1, "a", "b", "a")), "a", False, id="swiss: it was the last"),
    pytest.param("knockout", {}, 1, played((1, 1, "a", "d", "a")), "a", True, id="knockout: the other pair plays"),
    pytest.param("knockout", {}, 1, played((1, 1, "a", "d", "a")), "d", False, id="knockout: it is out"),
    pytest.param(
        "knockout",
        {},
        1,
        (*played((1, 1, "a", "d", "d")), Met(1, 1, "b", "c", "open", None)),
        "d",
        True,
        id="knockout: it waits for who wins",
    ),
    pytest.param("gauntlet", {}, 1, played((1, 1, "a", "b", "a")), "b", False, id="gauntlet: it met the champion"),
    pytest.param(
        "round-robin",
        {},
        1,
        played((1, 1, "a", "b", "a"), (2, 1, "a", "c", None), (3, 1, "d", "a", "d")),
        "a",
        False,
        id="round-robin: it has met everybody",
    ),
]


@pytest.mark.parametrize(("name", "config", "meetings", "met", "bot", "later"), LATER)
def test_what_comes_later(
    name: str, config: dict[str, Any], meetings: int, met: tuple[Met, ...], bot: str, later: bool
) -> None:
    """Nothing is due for the bot now; the format is asked how it would go on."""
    form = format_named(name)
    entrants = ("a", "b", "c", "d")
    config = form.checked_config(config, entrants, meetings)
    situation = Situation(entrants, frozenset(), meetings, config, met)
    assert not [one for one in form.due(situation) if bot in (one.first, one.second)]
    assert comes_later(form, situation, bot) is later


def test_a_round_of_a_swiss_contest_is_not_paired_to_know_what_comes_later() -> None:
    """That would take a web node as long as the worker: a second for 500 bots, and again after each result."""
    form = format_named("swiss")
    entrants = tuple("abcde")
    situation = Situation(entrants, frozenset(), 1, {"rounds": 2}, ())
    met = tuple(Met(one.round, one.n, *one.bots, "played", one.first) for one in form.due(situation))
    under_way = replace(situation, met=(met[0], replace(met[1], state="open", victor=None)))
    before = matching.cache_info().misses
    assert comes_later(form, under_way, met[0].first)
    assert matching.cache_info().misses == before
    last = replace(situation, met=met)
    sits_out = set(entrants).difference(*(one.bots for one in form.due(last)))
    assert [comes_later(form, last, bot) for bot in sits_out] == [False]


def test_who_has_met_everybody_only_sits_out_the_other_rounds() -> None:
    """Though there are some: of five bots one has a bye in each."""
    rounds = [("a", "b", "c", "d"), ("a", "c", "d", "e"), ("a", "d", "b", "e"), ("a", "e", "b", "c")]
    rows = [(number, 1, *two, two[0]) for number, bots in enumerate(rounds, start=1) for two in (bots[:2], bots[2:])]
    met = played(*rows)
    situation = Situation(tuple("abcde"), frozenset(), 1, {"rounds": 5}, (*met[:-1], replace(met[-1], state="open")))
    assert [comes_later(format_named("swiss"), situation, bot) for bot in "ad"] == [False, True]


def test_a_knockout_is_not_played_on_to_know_whether_a_bot_is_out(monkeypatch: pytest.MonkeyPatch) -> None:
    """Whoever looks at the page of a contest of thousands would cost a web node seconds of computing."""
    form = format_named("knockout")
    monkeypatch.setattr(type(form), "due", lambda *_: pytest.fail("the contest is played on"))
    situation = Situation(tuple("abcd"), frozenset(), 1, {}, played((1, 1, "a", "d", "a")))
    assert [comes_later(form, situation, bot) for bot in "ad"] == [True, False]
