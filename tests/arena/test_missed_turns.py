"""What a player missed while it had no seat, or while Redis was silent: it is told, once, when it sits again."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager

import pytest
import redis
from cluster import wait_for
from conductors import Conductor
from players import login_of, player_of
from seated import Bot, Node, other_plays, refused
from structlog.testing import capture_logs

from battlebot.arena.live.calls import encode_match
from battlebot.arena.live.mail import Mail
from battlebot.errors import Unavailable
from battlebot.redisio import keys
from battlebot.referee.events import Turned
from battlebot.referee.match import Match
from battlebot.referee.telling import update_for


def test_who_is_not_on_turn_is_not_told_again_how_it_stands(node: Node, match: Match) -> None:
    """It knows that version, whatever became of its seat meanwhile."""
    node.read_letter(match)
    node.arena.turned(node.ada, {"n": 1}, time.monotonic())
    node.empty_seat(match)
    node.arena.look_after_all()
    assert node.seat(match).place == "n1/1.1"
    assert [told["match"]["version"] for told in node.bot.told] == [0, 1]


@pytest.mark.parametrize("seat_is_empty", [False, True])
def test_who_missed_one_turn_is_told_it(node: Node, match: Match, seat_is_empty: bool) -> None:
    """As both bots are told each turn."""
    node.read_letter(match)
    node.arena.turned(node.ada, {"n": 1}, time.monotonic())
    other_plays(node, match)
    if seat_is_empty:
        node.empty_seat(match)
    node.arena.look_after(match.id)
    assert [told["match"]["version"] for told in node.bot.told] == [0, 1, 2]
    assert node.bot.told[2]["turn"]["n"] == 2


@pytest.fixture
def no_turns(client: redis.Redis, monkeypatch: pytest.MonkeyPatch) -> Callable[[], AbstractContextManager[list[str]]]:
    """For a while Redis falls silent when it is asked for turns; what was asked."""

    @contextmanager
    def silence() -> Iterator[list[str]]:
        asked: list[str] = []

        def lrange(key: str, *_: object) -> None:
            asked.append(key)
            refused()

        with monkeypatch.context() as silent:
            silent.setattr(client, "lrange", lrange)
            yield asked

    return silence


Silence = Callable[[], AbstractContextManager[list[str]]]


def test_who_missed_one_turn_is_told_it_though_redis_is_silent_meanwhile(
    node: Node, match: Match, no_turns: Silence
) -> None:
    """It was just asked for the match, and answered: who looks asks again, and nothing is told without its turn."""
    node.read_letter(match)
    node.arena.turned(node.ada, {"n": 1}, time.monotonic())
    other_plays(node, match)
    with no_turns(), pytest.raises(Unavailable):
        node.arena.look_after(match.id)
    assert [told["match"]["version"] for told in node.bot.told] == [0, 1]
    node.arena.look_after(match.id)
    assert [told["match"]["version"] for told in node.bot.told] == [0, 1, 2]
    assert node.bot.told[2]["turn"]["n"] == 2


@pytest.mark.parametrize("over", [False, True])
def test_who_sits_again_is_told_the_turn_that_it_missed_though_redis_is_silent_meanwhile(
    node: Node, match: Match, no_turns: Silence, over: bool
) -> None:
    """The seat is its own at once, and the node looks again until it can tell it; of a match that is over as well."""
    node.timers.start()
    node.read_letter(match)
    node.arena.turned(node.ada, {"n": 1}, time.monotonic())
    node.empty_seat(match)
    other_plays(node, match, -20 if over else 2)
    with no_turns() as asked:
        node.arena.look_after_all()
        wait_for(lambda: len(asked) >= 2, "another look")
        assert [told["match"]["version"] for told in node.bot.told] == [0, 1]
        assert over or node.seat(match).place == "n1/1.1"
    wait_for(lambda: len(node.bot.told) == 3, "the turn")
    assert node.bot.told[2]["turn"]["n"] == (-20 if over else 2)
    assert node.bot.told[2]["state"]["complete"] is over


@pytest.mark.parametrize("over", [False, True])
def test_who_resumes_is_told_what_it_missed_though_redis_is_silent_meanwhile(
    node: Node, match: Match, no_turns: Silence, over: bool
) -> None:
    """It has its seat at once, and the node looks again until it can tell it all that was played since."""
    node.timers.start()
    node.read_letter(match)
    node.arena.turned(node.ada, {"n": 1}, time.monotonic())
    node.arena.left(node.ada, False, "broken")
    other_plays(node, match, -20 if over else 2)
    bot = Bot()
    back = player_of(login_of("ada", resume=match.id, version=0, protocol=2), bot, "2")
    back.new_place("n1", time.time())
    node.arena.expect(back)
    with no_turns() as asked:
        assert node.arena.join(back, match.id)
        wait_for(lambda: len(asked) >= 2, "another look")
        assert bot.told == []
    wait_for(lambda: bot.told, "the state")
    assert [turn["n"] for turn in bot.told[0]["missed"]] == [1, -20 if over else 2]
    assert bot.told[0]["state"]["complete"] is over


@pytest.mark.parametrize("number", [2, -20])
@pytest.mark.parametrize("by_letter", [False, True])
def test_who_resumes_is_told_what_it_missed_though_the_match_goes_on_before_another_look(
    node: Node, match: Match, no_turns: Silence, by_letter: bool, number: int
) -> None:
    """The first that it is told has all, whoever plays meanwhile, here or at another node."""
    node.read_letter(match)
    node.arena.turned(node.ada, {"n": 1}, time.monotonic())
    node.arena.left(node.ada, False, "broken")
    bot = Bot()
    back = player_of(login_of("ada", resume=match.id, version=0, protocol=2), bot, "2")
    back.new_place("n1", time.time())
    node.arena.expect(back)
    with no_turns():
        assert node.arena.join(back, match.id)
    if by_letter:
        other_plays(node, match, number)
        after = node.store.load(match.id)
        update = update_for(node.registry[match.game], after, after.seats[0])
        node.arena.post().take(Mail.of(back.place, update, encode_match(after)).encode())
    else:
        other = player_of(login_of("bob"), Bot(), "3")
        other.new_place("n1", time.time())
        assert node.arena.join(other, match.id)
        node.arena.turned(other, {"n": number}, time.monotonic())
    node.timers.start()
    wait_for(lambda: bot.told, "the state")
    assert [turn["n"] for turn in bot.told[0]["missed"]] == [1, number]
    assert bot.told[0]["state"]["complete"] is (number < 0)


@pytest.mark.parametrize(("size", "told"), [(20, 5), (30_000, 3), (70_000, 1)])
def test_who_resumes_is_told_the_newest_of_long_turns(node: Node, match: Match, size: int, told: int) -> None:
    """Each login may ask for them, and what each is told may wait unread."""
    conductor = Conductor(node.registry, node.store, "n2")
    for number in range(5):
        turn = {"n": 1, "number": number, "own": "x" * size}
        conductor.conduct(node.store.load(match.id), Turned(("ada", "bob")[number % 2], turn, 0.1))
    node.arena.left(node.ada, False, "broken")
    bot = Bot()
    back = player_of(login_of("ada", resume=match.id, version=0, protocol=2), bot, "2")
    back.new_place("n1", time.time())
    node.arena.expect(back)
    assert node.arena.join(back, match.id)
    wait_for(lambda: bot.told, "the state")
    assert [turn["number"] for turn in bot.told[0]["missed"]] == [0, 1, 2, 3, 4][-told:]


def test_who_resumes_is_told_an_end_that_is_stored_while_redis_is_silent(
    node: Node, match: Match, client: redis.Redis, no_turns: Silence
) -> None:
    """And has been retired when the node looks again: nothing was lost."""
    node.read_letter(match)
    node.arena.turned(node.ada, {"n": 1}, time.monotonic())
    node.arena.left(node.ada, False, "broken")
    other_plays(node, match, -20)
    bot = Bot()
    back = player_of(login_of("ada", resume=match.id, version=0, protocol=2), bot, "2")
    back.new_place("n1", time.time())
    node.arena.expect(back)
    with no_turns():
        assert node.arena.join(back, match.id)
    client.delete(keys.match(match.id))
    with capture_logs() as logs:
        node.timers.start()
        wait_for(lambda: bot.told, "the end")
    assert bot.told[0]["state"]["complete"] is True
    # other tests' nodes may still tell of their matches
    assert [one for one in logs if (one["event"], one.get("match")) == ("match.lost", match.id)] == []
    assert bot.closed == []


def test_who_resumes_a_match_that_another_connection_played_to_its_end_comes_again_if_redis_is_silent(
    node: Node, match: Match, no_turns: Silence
) -> None:
    """The seat is not its own: no look would tell it."""
    node.read_letter(match)
    node.arena.turned(node.ada, {"n": 1}, time.monotonic())
    other_plays(node, match, -20)
    back = player_of(login_of("ada", resume=match.id, version=0, protocol=2), Bot(), "2")
    back.new_place("n1", time.time())
    node.arena.expect(back)
    with no_turns(), pytest.raises(Unavailable):
        node.arena.join(back, match.id)


def test_who_is_told_the_beginning_late_is_told_the_turn_after_it_though_redis_is_silent_meanwhile(
    node: Node, begun: Callable[..., Match], no_turns: Silence
) -> None:
    """Its letter lay unread while the other bot of its node moved. Who reads letters does not wait for Redis."""
    bot = Bot()
    bob = node.comes("bob", "2", bot)
    match = begun("numberwang", bob=bob.place, now_s=time.time())
    node.timers.start()
    node.read_letter(match)
    node.arena.turned(node.ada, {"n": 1}, time.monotonic())
    with no_turns() as asked:
        node.read_letter(match, seat=1)
        wait_for(lambda: len(asked) >= 2, "another look")
        assert [told["match"]["version"] for told in bot.told] == [0]
    wait_for(lambda: len(bot.told) == 2, "the turn")
    assert bot.told[1]["turn"]["n"] == 1


def test_who_missed_one_turn_of_a_game_with_secrets_is_told_what_it_may_see(
    node: Node, begun: Callable[..., Match]
) -> None:
    """Not the tiles that its opponent has put back."""
    match = begun("crossword", now_s=time.time())
    node.read_letter(match)
    node.arena.turned(node.ada, {"type": "PASS"}, time.monotonic())
    rack = match.state["racks"][1]
    other = Conductor(node.registry, node.store, "n2")
    other.conduct(node.store.load(match.id), Turned("bob", {"type": "EXCHANGE", "exchanged": rack[:2]}, 0.1))
    node.arena.look_after(match.id)
    assert [told["match"]["version"] for told in node.bot.told] == [0, 1, 2]
    turn = node.bot.told[2]["turn"]
    assert (turn["player"], turn["type"], turn.keys() & {"exchanged", "rack"}) == ("bob", "EXCHANGE", set())


def test_who_missed_a_turn_of_a_game_in_which_all_move_at_once_is_not_told_it(
    node: Node, begun: Callable[..., Match]
) -> None:
    """It is still to move itself, and knows nothing of the other's tasks before."""
    match = begun("battlecube", now_s=time.time())
    node.read_letter(match)
    tasks = [{"task": "NOOP"}] * match.state["numOfTasksPerTick"]
    Conductor(node.registry, node.store, "n2").conduct(node.store.load(match.id), Turned("bob", {"tasks": tasks}, 0.1))
    assert node.store.load(match.id).version == 1
    node.arena.look_after(match.id)
    assert not [told for told in node.bot.told if "turn" in told]
