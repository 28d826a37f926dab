"""Three invalid turns lose, whatever kind they are; the third's own update comes before the final ones."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from matches import Play

from battlebot.referee.events import Turned

KINDS: dict[str, Callable[[Play, str], object]] = {
    "not valid": lambda play, bot: play.turn(bot, 0.1, n="x"),
    "no object": lambda play, bot: play.garbage(bot, 0.1),
    "empty": lambda play, bot: play.turn(bot, 0.1),
    "from the future": lambda play, bot: play.turn(bot, 0.1, n=1, version=99),
}
CODES = {
    "not valid": "invalid-turn",
    "no object": "bad-message",
    "empty": "invalid-turn",
    "from the future": "bad-version",
}


@pytest.mark.parametrize("bot", ["a", "b"], ids=["on turn", "out of turn"])
@pytest.mark.parametrize("third", KINDS)
@pytest.mark.parametrize("first", KINDS)
def test_three_of_any_kind_lose(first: str, third: str, bot: str) -> None:
    """On turn or out of turn; a frame that is not a JSON object counts too."""
    play = Play()
    other = "b" if bot == "a" else "a"
    for number, kind in enumerate((first, third, third), start=1):
        KINDS[kind](play, bot)
        told = play.last.updates[0]
        assert (told.bot, told.strikes, told.final) == (bot, number, False)
        assert told.turn is not None
        assert told.turn["valid"] is False
        assert told.code == CODES[kind]
    assert play.verdict() == (other, "invalid", "bot")
    assert play.match.verdict is not None
    evidence = {"bot": bot, "version": 0, "strikes": 3, "code": CODES[third], "sentence": told.error}
    assert play.match.verdict.evidence == evidence


def test_an_out_of_turn_turn_is_an_invalid_one_even_if_it_were_legal() -> None:
    """Protocol page, Disqualifications."""
    play = Play()
    for _ in range(3):
        play.turn("b", n=1)
    assert play.verdict() == ("a", "invalid", "bot")
    assert play.match.state["board"] == {"n": 0}


def test_the_third_strikes_update_comes_first_and_the_final_has_no_turn() -> None:
    """The one with `valid: false` shows the state as it was; then everybody is told the end."""
    play = Play()
    for _ in range(3):
        play.turn("a", n="x")
    (who, own), (first, final_a), (second, final_b) = play.messages()
    assert (who, first, second) == ("a", "a", "b")
    assert own["turn"]["valid"] is False
    assert own["state"]["complete"] is False
    assert "victor" not in own["state"]
    assert not play.last.updates[0].asks
    assert own["match"]["fault"] == "bot"
    for final in (final_a, final_b):
        assert "turn" not in final
        assert final["state"].items() >= {"complete": True, "victor": "b", "reason": "invalid"}.items()
        assert final["match"]["fault"] == "bot"


def test_strikes_are_counted_over_the_whole_match() -> None:
    """Valid turns between them forgive nothing."""
    play = Play()
    for _ in range(2):
        play.turn("a", n="x")
        play.turn("a", n=0)
        play.turn("b", n=0)
    play.turn("a", n=0)
    assert play.seat("a").strikes == 2
    play.turn("a", n=0)
    assert play.verdict() == ("b", "invalid", "bot")


def test_each_bot_has_its_own_strikes() -> None:
    """And is told its own."""
    play = Play()
    for bot in "abab":
        play.garbage(bot)
    assert play.match.verdict is None
    assert [seat.strikes for seat in play.match.seats] == [2, 2]
    play.turn("a", n=0)
    assert [message["match"]["strikes"] for _, message in play.messages()] == [2, 2]


@pytest.mark.parametrize("allowed", [1, 2, 5])
def test_how_many_lose_is_a_limit_of_the_match(allowed: int) -> None:
    """`BATTLEBOT_MAX_STRIKES`."""
    play = Play(max_strikes=allowed)
    for _ in range(allowed):
        assert play.match.verdict is None
        play.garbage("b")
    assert play.verdict() == ("a", "invalid", "bot")


def test_no_json_object_is_echoed_as_an_empty_turn() -> None:
    """There is nothing of the bot's to give back; it is told what is wrong."""
    play = Play()
    play.garbage("a")
    ((_, message),) = play.messages()
    assert message["turn"].keys() == {"player", "time", "valid"}
    assert message["error"] == "A turn must be one JSON object."


def test_who_is_forgiven_nothing_has_lost_by_its_first_invalid_turn() -> None:
    """Whatever strikes are left."""
    play = Play()
    play.event(Turned("a", {"n": "x"}, 0.5, unforgiving=True))
    assert play.verdict() == ("b", "invalid", "bot")
    assert (play.seat("a").strikes, play.seat("a").remaining_s) == (1, 2.5)


def test_what_could_not_be_read_is_refused_in_the_words_of_its_door() -> None:
    """Or in our own, if it has none."""
    play = Play()
    for refusal in ("The message was too long.", None):
        play.event(Turned("a", None, 0.1, refusal))
        ((_, message),) = play.messages()
        assert message["code"] == "bad-message"
        assert message["error"] == (refusal or "A turn must be one JSON object.")
