"""A stored match replays to what it holds; whatever is changed in it is found."""

from __future__ import annotations

from collections.abc import Callable
from copy import deepcopy
from random import Random
from typing import Any

import pytest
from matches import GAMES, NUMBERWANG, START_S, Play, a_simultaneous_game, raising, with_rules
from records import record, won

from battlebot.referee.events import Failed, GaveUp, Left, Orphaned, Overdue, Reconfigured, TimedOut, Voided
from battlebot.referee.replay import check_match, states
from battlebot.rules.contract import RESERVED_OF_A_STATE

Stored = dict[str, Any]


def stored(play: Play) -> Stored:
    """The finished match as the archive stores it."""
    return record(play.match, play.recorded)


def at_random(play: Play, seed: int, choose: Callable[[dict[str, Any], Random], Stored]) -> None:
    """Plays to the end; turns that are not valid are not sent."""
    random = Random(seed)
    while play.match.verdict is None:
        bot = play.game.awaited(play.match.state)[0]
        turn = choose(play.match.state, random)
        if play.game.validate(play.match.state, {**turn, "player": bot}):
            play.turn(bot, random.choice([0.0, 0.25, 1.3]), **turn)


CHOICES: dict[str, Callable[[dict[str, Any], Random], Stored]] = {
    "numberwang": lambda state, random: {"n": random.choice([1, -2, 0.1, 3.7])},
    "noughtsandcrosses": lambda state, random: {
        "mark": "X" if state["marks"]["X"] == state["nextPlayer"] else "O",
        "space": [random.randrange(3), random.randrange(3)],
    },
    "connectfour": lambda state, random: {"column": random.randrange(7), "why": "é"},
}


@pytest.mark.parametrize("game", CHOICES)
@pytest.mark.parametrize("seed", range(10))
def test_what_was_played_by_the_rules_replays(game: str, seed: int) -> None:
    """Random matches to their end, draws among them."""
    play = Play(GAMES[game])
    at_random(play, seed, CHOICES[game])
    assert check_match(play.game, stored(play)) == []


def test_a_simultaneous_match_replays() -> None:
    """In the order in which the turns came."""
    play = Play(a_simultaneous_game(), ("a", "b", "c"))
    for bot, n in [("c", 1), ("a", 1), ("b", 1), ("b", 2), ("a", 1), ("c", 1)]:
        play.turn(bot, n=n)
    assert check_match(play.game, stored(play)) == []


def test_a_match_that_went_on_without_some_replays() -> None:
    """Who gave up, and what was changed meanwhile, is in the record; neither can be taken for the other."""
    play = Play(GAMES["battlecube"], ("a", "b", "c"))
    noop = [{"task": "NOOP"}]
    play.turn("a", tasks=noop, forfeit="mine")
    play.event(Reconfigured({"edgeLength": 9}))
    play.event(GaveUp("b", 0, "timeout", "no answer"))
    play.turn("c", tasks=noop)
    play.turn("a", tasks=[{"task": "MOVE", "direction": "+X"}])
    play.event(TimedOut("c", play.seat("c").question, 5.0), 5.0)
    assert play.verdict() == ("a", "complete", "none")
    record = stored(play)
    assert (record["match"]["forfeit"], record["match"]["reconfigured"]) == ([3, 6], [2])
    assert [state["currentTick"] for state in states(play.game, record)] == [0, 0, 0, 0, 1, 1, 2]
    assert list(states(play.game, record))[-1] == play.match.state
    assert check_match(play.game, record) == []
    del record["match"]["forfeit"]
    assert check_match(play.game, record) != []


def strikes(play: Play) -> None:
    """Three of the same bot."""
    for _ in range(3):
        play.turn("b", n="x")


def test_who_is_out_is_charged_for_the_time_that_it_had() -> None:
    """By its clock, by being away: the server's share is not what a bot did not use."""
    play = Play(GAMES["battlecube"], ("a", "b", "c"))
    stay = {"tasks": [{"task": "NOOP"}]}
    play.turn("a", 1.0, **stay)
    play.event(TimedOut("b", 0, 3.01), 2.01)
    play.turn("c", 0.5, **stay)
    play.turn("c", 0.5, **stay)
    play.event(Left("a", "a/1", clean=True, thinking_s=1.0), 0.5)
    play.event(Overdue(), 2.0)
    assert play.verdict() == ("c", "complete", "none")
    found = stored(play)
    assert found["match"]["forfeit"] == [2, 5]
    assert found["match"]["clocks"] == [1000.0, 3010.0, 500.0, 500.0, 3000.0]
    assert found["match"]["serverMs"] == [0.0, 0.0, 3010.0, 0.0, 0.0]
    assert check_match(play.game, found) == []


ENDS: dict[str, Callable[[Play], object]] = {
    "giving up": lambda play: play.event(GaveUp("b", 1, "timeout", "no answer within 5000 ms")),
    "no answer that counts": lambda play: play.event(GaveUp("b", 1, "invalid", "no JSON")),
    "a time-out": lambda play: play.event(TimedOut("b", 1, 3.0), 3.0),
    "a time-out while nothing is read": lambda play: play.event(TimedOut("b", 1, 3.0, unread=True), 3.0),
    "a turn too late": lambda play: play.turn("b", 3.5, n=1),
    "strikes": strikes,
    "a bot that left": lambda play: (play.event(Left("b", "b/1", True, 0.0, "goodbye")), play.event(Overdue(), 3.0)),
    "both left": lambda play: (
        play.event(Left("a", "a/1", True)),
        play.event(Left("b", "b/1", False, 1.0)),
        play.event(Overdue(), 3.0),
    ),
    "a dead node": lambda play: (play.event(Orphaned("a", "a/1", "node-dead")), play.event(Overdue(), 15.0)),
    "a failure": lambda play: play.event(Failed("x")),
    "an organiser": lambda play: play.event(Voided("x")),
}


@pytest.mark.parametrize("end", ENDS)
def test_whatever_ended_a_match_it_replays(end: str) -> None:
    """After a first turn; the state is that of its turns, with the end written into it."""
    play = Play()
    play.turn("a", n=1)
    ENDS[end](play)
    assert check_match(NUMBERWANG, stored(play)) == []


def test_a_match_that_grew_too_long_replays() -> None:
    """A draw by nobody's fault."""
    play = Play(max_turns=4)
    for bot in "abab":
        play.turn(bot, n=0)
    assert check_match(NUMBERWANG, stored(play)) == []


def changed(*path: Any, to: Any) -> Callable[[Stored], None]:
    """A change of one value in a record; `del` removes it."""

    def change(found: Stored) -> None:
        inner: Any = found
        for key in path[:-1]:
            inner = inner[key]
        inner[path[-1]] = to

    return change


FORGERIES: dict[str, tuple[Callable[[Stored], object], str]] = {
    "another number": (changed("turns", 0, "n", to=3), "state"),
    "a turn less": (lambda found: found["turns"].pop(1), "turns"),
    "a turn twice": (lambda found: found["turns"].insert(1, found["turns"][0]), "out-of-turn"),
    "turns in another order": (lambda found: found["turns"].append(found["turns"].pop(0)), "out-of-turn"),
    "a turn after the end": (lambda found: found["turns"].append({"n": 1, "player": "b", "time": 1}), "after-the-end"),
    "an invalid turn": (changed("turns", 1, "n", to="x"), "invalid-turn"),
    "a stranger's turn": (changed("turns", 1, "player", to="c"), "out-of-turn"),
    "another board": (changed("board", "n", to=99), "state"),
    "a float for an integer": (changed("board", "n", to=12.0), "state"),
    "a key of the state missing": (lambda found: found.pop("board"), "state"),
    "a key too many": (changed("secret", to=1), "state"),
    "another victor": (changed("victor", to="b"), "victor"),
    "no victor": (changed("victor", to=None), "victor"),
    "a victor who did not play": (changed("victor", to="z"), "victor"),
    "another reason": (changed("reason", to="timeout"), "reason"),
    "a fault that does not fit": (changed("match", "fault", to="bot"), "fault"),
    "a reason that does not exist": (changed("reason", to="weather"), "incomplete"),
    "another version": (changed("match", "version", to=4), "turns"),
    "times missing": (changed("match", "clocks", to=[1.0]), "times"),
    "the server's share missing": (changed("match", "serverMs", to=[]), "times"),
    "a turn that took too long": (changed("match", "clocks", 1, to=3002.0), "clock"),
    "a turn that took less than no time": (changed("match", "clocks", 1, to=-0.5), "clock"),
    "a turn before the beginning": (changed("turns", 0, "time", to=int(START_S * 1000) - 3000), "times"),
    "a turn of yesterday": (changed("turns", 1, "time", to=86_400_000), "times"),
    "a turn at no time": (changed("turns", 1, "time", to="noon"), "times"),
    "no evidence": (changed("match", "evidence", to=None), "incomplete"),
    "no strikes": (changed("match", "strikes", to="none"), "incomplete"),
    "a number that is none": (changed("match", "seq", to="7"), "incomplete"),
    "a version with a point": (changed("match", "version", to=3.0), "incomplete"),
    "true for a number": (changed("match", "seq", to=True), "incomplete"),
    "a beginning that is none": (changed("startTime", to="noon"), "incomplete"),
    "turns that are none": (changed("turns", to=None), "incomplete"),
    "void without a reason": (changed("match", "void", to=True), "void"),
    "nothing about it": (lambda found: found.pop("match"), "incomplete"),
    "other players": (changed("players", to=["b", "a"]), "out-of-turn"),
    "no evidence of where it began": (lambda found: found["match"].pop("seed"), "incomplete"),
}


@pytest.mark.parametrize("forgery", FORGERIES)
def test_what_was_changed_is_found(forgery: str) -> None:
    """By its code; the record itself is left as it is."""
    change, code = FORGERIES[forgery]
    found = won()
    assert check_match(NUMBERWANG, found) == []
    found["board"] = dict(found["board"])
    change(found)
    before = deepcopy(found)
    assert code in {one["code"] for one in check_match(NUMBERWANG, found)}
    assert found == before


CLAIMS: dict[str, tuple[str, Callable[[Stored], object], str]] = {
    "who ran out of time was not to move": ("a time-out", changed("match", "evidence", "bot", to="a"), "evidence"),
    "there was time left": ("a time-out", changed("match", "evidence", "thinkingMs", to=2999), "evidence"),
    "who ran out of time has won": ("a time-out", changed("victor", to="b"), "victor"),
    "a stranger has won": ("a time-out", changed("victor", to="z"), "victor"),
    "two strikes are not three": ("strikes", changed("match", "strikes", "b", to=2), "evidence"),
    "who was invalid has won": ("strikes", changed("victor", to="b"), "victor"),
    "nobody was gone": ("a bot that left", changed("match", "evidence", "emptiedBy", to={}), "evidence"),
    "it was back in time": ("a bot that left", changed("match", "evidence", "awayMs", "b", to=2000), "evidence"),
    "who was gone has won": ("a bot that left", changed("victor", to="b"), "victor"),
    "a server's fault has a winner": ("a dead node", changed("victor", to="a"), "victor"),
    "a server's fault counts": ("a dead node", changed("match", "void", to=False), "void"),
    "the bot's fault was the server's": ("a failure", changed("match", "fault", to="bot"), "fault"),
}


@pytest.mark.parametrize("claim", CLAIMS)
def test_a_verdict_that_its_evidence_does_not_bear_is_found(claim: str) -> None:
    """Each end has its own proof."""
    end, change, code = CLAIMS[claim]
    play = Play()
    play.turn("a", n=1)
    ENDS[end](play)
    found = deepcopy(stored(play))
    change(found)
    assert code in {one["code"] for one in check_match(NUMBERWANG, found)}


@pytest.mark.parametrize("name", sorted(RESERVED_OF_A_STATE))
def test_a_key_of_the_state_that_the_record_cannot_hold_is_found(name: str) -> None:
    """The archive has put its own there."""

    def reducer(state: Stored, turn: Stored) -> Stored:
        return {**NUMBERWANG.reducer(state, turn), name: "first to ten"}

    play = Play(with_rules(NUMBERWANG, reducer=reducer))
    play.turn("a", n=10)
    (found,) = check_match(play.game, stored(play))
    assert (found["code"], f"final state's {name} is not in the record" in found["sentence"]) == ("state", True)


def test_what_is_stored_beside_a_final_state_is_what_no_game_may_use() -> None:
    """Neither more nor less."""
    play = Play()
    play.turn("a", n=10)
    beside = stored(play).keys() - play.match.state.keys()
    assert beside == RESERVED_OF_A_STATE


def test_rules_that_fail_are_told_and_not_raised() -> None:
    """The game is another by now."""
    found = won()
    assert [one["code"] for one in check_match(GAMES["noughtsandcrosses"], found)] == ["invalid-turn"]
    assert [one["code"] for one in check_match(with_rules(NUMBERWANG, reducer=raising), found)] == ["game-error"]
    del found["turns"][0]["player"]
    assert [one["code"] for one in check_match(NUMBERWANG, found)] == ["incomplete"]


def test_rules_that_begin_no_such_match_any_more_are_told_and_not_raised() -> None:
    """An option is gone, or the code for it fails: the other matches of a contest are to be checked all the same."""
    found = won()
    for error in (ZeroDivisionError, KeyError, ValueError):

        def fails(*_: Any, error: type[Exception] = error) -> Any:
            raise error("goal")

        (failed,) = check_match(with_rules(NUMBERWANG, initial_state=fails), found)
        assert (failed["code"], error.__name__ in failed["sentence"]) == ("game-error", True)
    found["match"]["options"] = {"goal": 20}
    (gone,) = check_match(NUMBERWANG, found)
    assert (gone["code"], "no option 'goal'" in gone["sentence"]) == ("game-error", True)
