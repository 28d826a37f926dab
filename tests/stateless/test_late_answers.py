"""What bots publish late, twice or to the wrong question, over a real nats-server: acknowledged, and nobody's loss."""

from __future__ import annotations

import re
import threading
from collections.abc import Callable, Iterator
from typing import Any

import pytest
from cluster import wait_for
from natsbots import PASS, NatsBot

from battlebot.stateless.asking import Question, Reply
from battlebot.stateless.nats.acknowledger import MOST
from battlebot.stateless.nats.bots import NatsBots
from battlebot.stateless.nats.line import NatsLine
from battlebot.stateless.nats.openquestion import UNSURE_S
from battlebot.stateless.nats.uids import Uids
from games import crossword

PLAY = {"type": "TILE_PLACEMENT_MOVE", "position": "8H", "played_tiles": "CAT"}
OTHER = {"type": "EXCHANGE", "exchanged": "Q"}
PHONY = {**PLAY, "played_tiles": "XQ"}
CHALLENGE = {"type": "CHALLENGE"}
RACKS = ["CATSXQZ", "DOGREEN"]
UIDS = Uids("sixteen letters and more")
MOST_BYTES = 65_536

Ask = Callable[..., Reply]


def state_after(*turns: dict[str, Any]) -> dict[str, Any]:
    """The state of a match of a and b, whose racks are known, after these turns."""
    state = crossword.initial_state(["a", "b"], 7, {"challengeRule": "DOUBLE", "lexicon": "enable1"})
    state["racks"] = list(RACKS)
    for turn in turns:
        assert crossword.validate(state, {**turn, "player": state["nextPlayer"]})
        state = crossword.reducer(state, {**turn, "player": state["nextPlayer"]})
    return state


@pytest.fixture
def ask(line: NatsLine) -> Ask:
    """`ask(bot, *turns, limit_s)`: what became of the question to whoever is on turn after these turns."""
    bots = NatsBots(line, UIDS, MOST_BYTES)

    def asked(bot: NatsBot, *turns: dict[str, Any], limit_s: float = 10.0) -> Reply:
        state = state_after(*turns)
        mover = state["nextPlayer"]
        content = {"state": crossword.view(state, mover)}

        def is_turn(turn: Any) -> bool:
            return crossword.validate(state, {**turn, "player": mover})

        return bots.ask(Question(bot.address, "crossword", "m1", mover, content, limit_s, is_turn))

    return asked


Bots = Callable[..., NatsBot]


@pytest.fixture
def bots(nats_url: str) -> Iterator[Bots]:
    """`bots(subject, ...)` is a bot, which is gone after the test."""
    made: list[NatsBot] = []

    def bot(*arguments: Any, **options: Any) -> NatsBot:
        made.append(NatsBot(nats_url, *arguments, **options))
        return made[-1]

    yield bot
    for one in made:
        one.close()


# what was answered before, what the opponent did then, and the answer to come
REPEATED: dict[str, tuple[tuple[dict[str, Any], ...], dict[str, Any], dict[str, Any]]] = {
    "a play": ((PLAY, PASS), PLAY, OTHER),
    "an exchange": (({"type": "EXCHANGE", "exchanged": "QXZ"}, PASS), {"type": "EXCHANGE", "exchanged": "QXZ"}, PASS),
    "a challenge": (({**PLAY, "played_tiles": "XQ"}, CHALLENGE), CHALLENGE, PASS),
    "a pass": ((PASS, PASS), PASS, PLAY),
    "a phony that was taken back, before a challenge": (
        (PHONY, CHALLENGE, {**PHONY, "played_tiles": "DG"}, CHALLENGE),
        {**PHONY, "rack": RACKS[0]},
        PLAY,
    ),
    "a phony that was taken back, before a pass that is meant again": (
        (PASS, PASS, PHONY, CHALLENGE, PASS),
        {**PHONY, "rack": RACKS[0]},
        PASS,
    ),
}


@pytest.mark.parametrize("name", REPEATED)
def test_an_answer_that_comes_again_is_not_taken_for_the_next(name: str, bots: Bots, ask: Ask) -> None:
    """It is acknowledged, so that its publisher stops; what the bot answers then counts, by reply and published."""
    before, again, answer = REPEATED[name]
    for publishes in (False, True):
        bot = bots(f"late.{publishes}", publishes)

        def plan(history: Any, bot: NatsBot = bot) -> Any:
            bot.publish(history.uid, again)
            return answer

        bot.plan = plan
        assert ask(bot, *before).value == answer
        wait_for(lambda bot=bot, sent=1 + publishes: bot.acknowledged == sent, "the acknowledgements")


def test_a_pass_that_is_meant_again_counts(bots: Bots, ask: Ask) -> None:
    """After a moment in which another answer could have come, that is not charged to the bot."""
    bot = bots("late.passes", True)
    reply = ask(bot, PASS, PASS)
    assert reply.value == PASS
    assert reply.thinking_s < UNSURE_S
    assert bot.acknowledged == 1


def test_a_pass_that_is_meant_again_counts_also_shortly_before_the_limit(bots: Bots, ask: Ask) -> None:
    """It came in time."""
    bot = bots("late.hurry", True)
    assert ask(bot, PASS, PASS, limit_s=0.9 * UNSURE_S).value == PASS


def test_a_bot_that_only_repeats_itself_is_late(bots: Bots, ask: Ask) -> None:
    """Its owner is told of what it published."""
    bot = bots("late.parrot", True)
    bot.plan = lambda history: PLAY
    failure = ask(bot, PLAY, PASS, limit_s=2.0).failure
    assert failure is not None
    assert (failure.code, failure.late, bot.acknowledged) == ("timeout", True, 1)
    assert "an earlier turn again" in failure.sentence


def test_what_is_too_big_for_an_answer_is_not_looked_into(bots: Bots, ask: Ask) -> None:
    """Though it be an earlier turn again."""
    bot = bots("late.big", True)
    bot.plan = lambda history: {**PLAY, "words_formed": [""] * MOST_BYTES}
    failure = ask(bot, PLAY, PASS).failure
    assert failure is not None
    assert failure.code == "too-big"


def test_who_publishes_without_end_is_not_read_any_more(bots: Bots, ask: Ask) -> None:
    """Each message is acknowledged; then only a reply counts."""
    bot = bots("late.flood", replies=True)

    def plan(history: Any) -> Any:
        for said in [PLAY] * MOST + [OTHER]:
            bot.publish(history.uid, said)
        return PASS

    bot.plan = plan
    assert ask(bot, PLAY, PASS).value == PASS
    assert bot.acknowledged == MOST + 1


def test_an_answer_that_is_wrong_and_was_never_given_is_an_answer(bots: Bots, ask: Ask) -> None:
    """Only what was a turn before is left aside: a bot that errs is told at once."""
    bot = bots("late.wrong", True)
    bot.plan = lambda history: {**PLAY, "position": "1A"}
    assert ask(bot, PLAY, PASS).value == {**PLAY, "position": "1A"}


def test_a_bot_that_sends_each_answer_in_all_ways_answers_each_question_once(bots: Bots, ask: Ask) -> None:
    """By reply and published twice; what is left over of one question does not answer the next."""
    bot = bots("late.thrice", True, times=2, replies=True)
    answers = iter([PLAY, OTHER, PASS])
    bot.plan = lambda history: next(answers)
    assert ask(bot).value == PLAY
    assert ask(bot, PLAY, PASS).value == OTHER
    assert ask(bot, PLAY, PASS, OTHER, PASS).value == PASS
    wait_for(lambda: bot.acknowledged == 6, "the acknowledgements")


@pytest.mark.parametrize("said", [PLAY, PASS, {**PASS, "rack": RACKS[0]}, {**OTHER, "exchanged": "ZZZ"}])
def test_two_bots_of_a_match_do_not_answer_for_each_other(said: dict[str, Any], bots: Bots, ask: Ask) -> None:
    """What the first one publishes while the second one thinks is acknowledged, and nobody's answer: valid or not."""
    first, second = bots("late.first", True), bots("late.second", True)
    first.plan = lambda history: PLAY
    assert ask(first).value == PLAY

    def plan(history: Any) -> Any:
        for known in (first.asked[-1].uid, "m1"):
            first.publish(known, said)
        return CHALLENGE

    second.plan = plan
    assert ask(second, PLAY).value == CHALLENGE
    assert first.acknowledged == 3


def test_what_a_bot_is_called_by_is_its_secret(bots: Bots, ask: Ask) -> None:
    """One uid for all its questions in a match, another for its opponent's, and none of them the match's id."""
    first, second = bots("late.one"), bots("late.two")
    for bot, before in ((first, ()), (second, (PASS,)), (first, (PASS, PASS)), (second, (PASS, PASS, PASS))):
        ask(bot, *before)
    known = [{history.uid for history in bot.asked} for bot in (first, second)]
    assert known == [{UIDS.of("m1", "a")}, {UIDS.of("m1", "b")}]
    assert known[0] != known[1]


def test_reply_subjects_cannot_be_guessed(bots: Bots, ask: Ask) -> None:
    """32 random hexadecimal digits for each question."""
    bot = bots("late.inbox")
    for _ in range(3):
        ask(bot)
    assert all(re.fullmatch(r"_INBOX\.[0-9a-f]{32}", subject) for subject in bot.replied_to), bot.replied_to
    assert len(set(bot.replied_to)) == 3


def test_a_second_answer_of_another_kind_to_the_question_before_is_told_by_its_rack(bots: Bots, ask: Ask) -> None:
    """As a bot gives that draws lots and was asked twice, because a worker died."""
    bot = bots("late.dice", True)

    def plan(history: Any) -> Any:
        bot.publish(history.uid, {**OTHER, "rack": RACKS[0]})
        return PASS

    bot.plan = plan
    assert ask(bot, PLAY, PASS).value == PASS


def test_what_is_published_to_no_question_is_acknowledged(bots: Bots, ask: Ask) -> None:
    """Before the question, out of turn, and for a match that is over; what is asked afterwards is not touched by it."""
    bot = bots("late.early")
    bot.plan = lambda history: OTHER
    assert ask(bot).value == OTHER
    for uid in (UIDS.of("m1", "a"), "over"):
        bot.publish(uid, PLAY)
    assert ask(bot).value == OTHER
    assert bot.acknowledged == 2


def test_an_answer_for_another_match_answers_nothing_here(bots: Bots, ask: Ask) -> None:
    """Two matches of one bot at a time: its answers are told apart by the match."""
    bot = bots("late.two", True)
    published = threading.Event()

    def plan(history: Any) -> Any:
        bot.publish(UIDS.of("m2", "a"), PLAY)
        published.set()
        return OTHER

    bot.plan = plan
    assert ask(bot).value == OTHER
    assert published.is_set()
