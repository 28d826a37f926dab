"""Any events in any order: a match always has a deadline or a verdict, and misbehaving never pays."""

from __future__ import annotations

from random import Random
from typing import Any

from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, precondition, rule
from matches import LIMITS, NOUGHTS, NUMBERWANG, Play, a_game_that_goes_on, a_simultaneous_game, replayed

from battlebot.referee.events import Failed, Joined, Left, Orphaned, Outage, Overdue, TimedOut
from battlebot.referee.step import MAX_NUDGES
from battlebot.rules.contract import Game

BOTS = ("a", "b")
END = ("complete", "victor", "reason")

bots = st.sampled_from(BOTS)
# exact in binary, so that the sums below are too
moments = st.sampled_from([0.0, 0.0, 0.125, 0.25, 0.5, 0.75])
seconds = moments | st.sampled_from([1.0, 2.5, 3.0, 5.0, 16.0])
rubbish = st.dictionaries(
    st.sampled_from(["n", "mark", "space", "player", "time", "valid", "version", "x"]),
    st.sampled_from([None, True, "X", -1, 0, 10, 1.0, "a", [1, 1], [[]], {}]),
    max_size=4,
)


class AnyOrder(RuleBasedStateMachine):
    """One match; `good` are the bots that have done nothing wrong until now, whatever was done to them."""

    game: Game

    def __init__(self) -> None:
        super().__init__()
        self.play = Play(self.game, BOTS, max_turns=20)
        self.good = set(BOTS)
        self.places = 1

    @property
    def over(self) -> bool:
        """Whether there is a verdict."""
        return self.play.match.verdict is not None

    @rule(
        turns=st.lists(
            st.tuples(bots, st.integers(0, 999), st.sampled_from([0, 0, 0.25, 1]), st.booleans()), max_size=6
        )
    )
    def play_on(self, turns: list[tuple[str, int, float, bool]]) -> None:
        """Legal turns, in time, from seats that are not empty: nothing else are good bots' turns."""
        for bot, number, part, versioned in turns:
            awaited = self.game.awaited(self.play.match.state)
            mover = bot if bot in awaited else next(iter(awaited), bot)
            seat = self.play.seat(mover)
            if self.over or seat.place is None:
                return
            turn = legal_turn(self.play.match.state, mover, number)
            if versioned:
                turn["version"] = self.play.match.version
            version = self.play.match.version
            self.play.turn(mover, seat.remaining_s * part, **turn)
            assert self.play.match.version == version + 1
            assert {update.bot for update in self.play.last.updates} == set(BOTS)

    @rule(bot=bots, turn=st.none() | rubbish, thinking_s=moments)
    def sends_rubbish(self, bot: str, turn: dict[str, Any] | None, thinking_s: float) -> None:
        """Anything at all, at any time; some of it happens to be a turn."""
        over, strikes, before = self.over, self.play.seat(bot).strikes, self.play.match
        if turn is None:
            self.play.garbage(bot, thinking_s)
        else:
            self.play.turn(bot, thinking_s, **turn)
        if over or self.play.last.recorded is not None:
            return
        if self.play.match is not before:
            self.good.discard(bot)
            assert self.play.seat(bot).strikes == strikes + 1 or self.over
        self.never_wins(bot)

    @rule(bot=bots, back=st.integers(1, 40), n=st.integers(0, 3))
    def sends_an_old_turn(self, bot: str, back: int, n: int) -> None:
        """Stale turns are nobody's strike and nobody's turn."""
        question = self.play.seat(bot).question
        asked = bot in self.play.game.awaited(self.play.match.state)
        version = (question if asked else self.play.match.version) - back
        if self.over or version < 0:
            return
        before = self.play.match
        self.play.turn(bot, 0.0, n=n, version=version)
        assert self.play.match is before
        assert len(self.play.last.updates) == 1

    @rule(bot=bots, n=st.integers(0, 9))
    def repeats_its_last_turn(self, bot: str, n: int) -> None:
        """As often as it likes, whatever happened since."""
        mine = [row["turn"] for row in self.play.recorded if row["turn"]["player"] == bot]
        if self.over or not mine or type(mine[-1].get("version")) is not int:
            return
        asked = bot in self.play.game.awaited(self.play.match.state)
        if not 0 <= mine[-1]["version"] < (self.play.seat(bot).question if asked else self.play.match.version):
            return
        before = self.play.match
        self.play.turn(bot, 0.0, **mine[-1])
        assert self.play.match is before
        (update,) = self.play.last.updates
        assert update.turn is not None
        assert update.turn["valid"] is True

    @precondition(lambda self: self.play.match.version > 2)
    @rule(bot=bots, thinking_s=seconds, old=st.integers(0, 1))
    def clock_runs_out(self, bot: str, thinking_s: float, old: int) -> None:
        """Or is said to."""
        over, seat, version = self.over, self.play.seat(bot), self.play.match.version
        self.play.event(TimedOut(bot, self.play.seat(bot).question - old, thinking_s), thinking_s)
        if self.play.match.version > version:
            # out, though the match goes on
            self.good.discard(bot)
        if not over and self.over:
            assert thinking_s >= seat.remaining_s
            self.good.discard(bot)
            self.never_wins(bot)

    @rule(bot=bots, clean=st.booleans(), thinking_s=moments, stale=st.booleans())
    def leaves(self, bot: str, clean: bool, thinking_s: float, stale: bool) -> None:
        """Its connection is gone, or an older one of its is."""
        place = self.play.seat(bot).place
        if place is None or stale:
            place = f"{bot}/0"
        else:
            self.good.discard(bot)
        self.play.event(Left(bot, place, clean, thinking_s), thinking_s)

    @precondition(lambda self: self.play.match.version > 1)
    @rule(bot=bots)
    def loses_its_node(self, bot: str) -> None:
        """Not its doing."""
        place = self.play.seat(bot).place
        self.play.event(Orphaned(bot, place or f"{bot}/0"))

    @rule(bot=bots, away_s=moments)
    def comes(self, bot: str, away_s: float) -> None:
        """Back, or with a second connection."""
        self.places += 1
        over, left_s = self.over, self.play.seat(bot).remaining_s
        self.play.event(Joined(bot, f"{bot}/{self.places}"), away_s)
        assert over or self.play.seat(bot).remaining_s <= left_s

    @precondition(lambda self: self.play.match.version > 2)
    @rule(away_s=seconds, back_s=moments, leaver=st.none() | bots, part=st.sampled_from([0.0, 0.25, 1.0]))
    def server_is_away(self, away_s: float, back_s: float, leaver: str | None, part: float) -> None:
        """For a time, and is back since; it may be told in parts, and twice. Who leaves meanwhile is noticed later."""
        since_s, until_s = self.play.now_s, self.play.now_s + away_s
        place = None if leaver is None else self.play.seat(leaver).place
        if leaver is not None and place is not None:
            self.good.discard(leaver)
            self.play.event(Left(leaver, place, clean=False, at_s=since_s + part * away_s), away_s + back_s)
        self.play.event(Outage(since_s, until_s), since_s + away_s + back_s - self.play.now_s)
        before = self.play.match
        self.play.event(Outage(since_s, until_s))
        assert self.play.match is before

    @rule(passed_s=seconds)
    def somebody_looks(self, passed_s: float) -> None:
        """The sweep, early or late."""
        self.play.event(Overdue(), passed_s)

    @precondition(lambda self: self.play.match.version > 12)
    @rule()
    def server_gives_up(self) -> None:
        """It is nobody's loss."""
        self.play.event(Failed("chaos"))

    def never_wins(self, bot: str) -> None:
        """What this bot has just done was no way to win, nor to a draw, unless the other was out before it."""
        if self.over:
            other = "b" if bot == "a" else "a"
            victor, reason, _ = self.play.verdict()
            both_out = victor is None and reason == "complete" and other not in self.good
            assert victor == other or both_out

    @invariant()
    def a_good_bot_loses_only_by_the_game(self) -> None:
        """And the server's fault is no one's loss."""
        if not self.over:
            return
        victor, reason, fault = self.play.verdict()
        for bot in self.good:
            assert victor in (bot, None) or reason == "complete"
        if fault == "server":
            assert victor is None
        if reason in ("invalid", "timeout"):
            assert self.play.match.verdict is not None
            assert self.play.match.verdict.evidence["bot"] != victor
            assert victor is not None

    @invariant()
    def the_recorded_turns_replay_to_the_state(self) -> None:
        """But for how it ended, where the game did not end it."""
        state, played = replayed(self.play, BOTS), self.play.match.state
        if self.over and self.play.verdict()[1] != "complete":
            state, played = without_end(state), without_end(played)
        assert state == played
        assert self.play.match.version == len(self.play.recorded)

    def teardown(self) -> None:
        """Left alone, every match ends within so many looks, each at its time."""
        for _ in range(MAX_NUDGES + 2):
            if self.over:
                break
            due_s = self.play.match.due_s
            assert due_s is not None
            assert due_s - self.play.now_s <= LIMITS.node_grace_s
            self.play.event(Overdue(), max(0.0, due_s - self.play.now_s))
        assert self.over
        self.a_good_bot_loses_only_by_the_game()


def without_end(state: dict[str, Any]) -> dict[str, Any]:
    """The state without how it ended."""
    return {key: value for key, value in state.items() if key not in END}


def legal_turn(state: dict[str, Any], bot: str, number: int) -> dict[str, Any]:
    """A turn that the bot may make; `number` chooses which."""
    if "named" in state:
        return {"n": number % 3}
    if "marks" not in state:
        return {"n": Random(number).choice([0] * 9 + [1, -1, 2.5, 9])}
    free = [[row, column] for row in range(3) for column in range(3) if not state["board"][row][column]]
    return {"mark": "X" if state["marks"]["X"] == bot else "O", "space": free[number % len(free)]}


class AnyOrderOfNumberwang(AnyOrder):
    """Long matches, floats."""

    game = NUMBERWANG


class AnyOrderOfNoughts(AnyOrder):
    """Short matches, a board."""

    game = NOUGHTS


class AnyOrderOfLargest(AnyOrder):
    """Both are asked at once."""

    game = a_simultaneous_game()


class AnyOrderWithoutWhoIsOut(AnyOrder):
    """The match goes on when a bot is out."""

    game = a_game_that_goes_on()


TestNumberwang = AnyOrderOfNumberwang.TestCase
TestNoughts = AnyOrderOfNoughts.TestCase
TestLargest = AnyOrderOfLargest.TestCase
TestWithoutWhoIsOut = AnyOrderWithoutWhoIsOut.TestCase
TestNumberwang.settings = TestNoughts.settings = TestLargest.settings = TestWithoutWhoIsOut.settings = settings(
    max_examples=80, stateful_step_count=40, deadline=None, suppress_health_check=[HealthCheck.too_slow]
)
