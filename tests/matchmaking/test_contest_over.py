"""Players who wait in a contest that ends are told so, once for each way in which it ends."""

from __future__ import annotations

from dataclasses import replace

import pytest
from lobbies import bot_of, comes

from battlebot.arena.live.mail import over
from battlebot.arena.node.player import Player
from battlebot.matchmaking.lobby import LOOKED_AT, Lobby
from battlebot.wire.updates import contest_over


class Contests:
    """All of them are over, or none is."""

    def __init__(self) -> None:
        self.how: str | None = None

    def enter(self, game: str, contest: str, bot: str, address: str) -> str | None:
        return self.how

    def end(self, game: str, contest: str, how: str) -> None:
        self.how = how

    def reopen(self, game: str, contest: str) -> None:
        self.how = None

    def over(self, game: str, contest: str) -> str | None:
        return self.how


def waits(lobby: Lobby, bot: str, protocol: int = 2, contest: str = "cup") -> Player:
    """A player that waits there."""
    player = comes(bot, connection=bot, contest=contest)
    player.login = replace(player.login, protocol=protocol)
    lobby.enter(player)
    return player


def told(*players: Player) -> list[int]:
    """How many messages each was sent."""
    return [len(bot_of(player).told) for player in players]


def test_the_letter_and_the_look_tell_a_player_once(lobby: Lobby) -> None:
    """Whichever comes first: who ends a contest may be held up before it posts the letter."""
    lobby.contests = Contests()
    by_look = waits(lobby, "ada")
    for _ in range(LOOKED_AT):
        lobby.tick()
    assert told(by_look) == [0]
    lobby.contests.end("numberwang", "cup", "for-good")
    for _ in range(LOOKED_AT):
        lobby.tick()
    by_letter = waits(lobby, "bob")
    others = [waits(lobby, "old", protocol=1), waits(lobby, "eve", contest="")]
    assert told(by_look, by_letter, *others) == [1, 0, 0, 0]
    lobby.on_over("numberwang", "cup", "for-good")
    assert told(by_look, by_letter, *others) == [1, 1, 0, 0]
    for _ in range(LOOKED_AT):
        lobby.tick()
    assert told(by_look, by_letter, *others) == [1, 1, 0, 0]


@pytest.mark.parametrize("by_letter", [True, False])
def test_who_was_told_that_it_is_over_for_now_is_told_that_it_is_for_good(lobby: Lobby, by_letter: bool) -> None:
    """A match of others was taken back, and the contest cancelled; or its end has passed, of which no letter tells."""
    lobby.contests = Contests()
    player = waits(lobby, "ada")
    lobby.on_over("numberwang", "cup", "for-now")
    if by_letter:
        lobby.on_over("numberwang", "cup", "for-good")
    else:
        lobby.contests.end("numberwang", "cup", "for-good")
    for _ in range(LOOKED_AT):
        lobby.tick()
    assert bot_of(player).told == [contest_over("cup", how) for how in ("for-now", "for-good")]


def test_who_was_told_that_it_is_over_for_good_is_told_nothing_more(lobby: Lobby) -> None:
    """A letter that does not say how, or a look that began before the contest was cancelled, may come after that."""
    lobby.contests = Contests()
    player = waits(lobby, "ada")
    for how in ("for-good", "for-now", "for-good"):
        lobby.on_over("numberwang", "cup", how)
    assert bot_of(player).told == [contest_over("cup", "for-good")]


def test_who_waits_in_a_contest_that_was_opened_again_is_told_when_it_is_over_again(lobby: Lobby) -> None:
    """However it ends; while it goes on, nobody is told anything."""
    lobby.contests = Contests()
    player = waits(lobby, "ada")
    lobby.on_over("numberwang", "cup", "for-now")
    lobby.on_reopened("numberwang", "cup")
    for _ in range(LOOKED_AT):
        lobby.tick()
    assert told(player) == [1]
    lobby.on_over("numberwang", "cup", "for-now")
    for _ in range(LOOKED_AT):
        lobby.tick()
    assert bot_of(player).told == [contest_over("cup", "for-now")] * 2


@pytest.mark.parametrize("too_early", [True, False])
def test_who_missed_that_the_contest_goes_on_is_told_its_next_end(lobby: Lobby, too_early: bool) -> None:
    """The letter that it goes on was lost, or overtook the one that it was over: the look finds that it goes on."""
    contests = lobby.contests = Contests()
    player = waits(lobby, "ada")
    if too_early:
        lobby.on_reopened("numberwang", "cup")
    lobby.on_over("numberwang", "cup", "for-now")
    for contests.how in (None, "for-now"):
        for _ in range(LOOKED_AT):
            lobby.tick()
    assert bot_of(player).told == [contest_over("cup", "for-now")] * 2


def test_that_a_cancelled_contest_was_opened_again_before_is_told_too_late(lobby: Lobby) -> None:
    """Who takes back a match may be held up before it posts the letter, and another cancels the contest meanwhile."""
    contests = lobby.contests = Contests()
    player = waits(lobby, "ada")
    lobby.on_over("numberwang", "cup", "for-good")
    lobby.on_reopened("numberwang", "cup")
    contests.how = "for-good"
    for _ in range(LOOKED_AT):
        lobby.tick()
    assert bot_of(player).told == [contest_over("cup", "for-good")]


def test_a_letter_that_does_not_say_how_is_read(lobby: Lobby) -> None:
    """During an update, it is one of a node or worker of an earlier version."""
    lobby.contests = Contests()
    player = waits(lobby, "ada")
    post = lobby.arena.post(over=lobby.on_over)
    post.take(b'{"do": "over", "game": "numberwang", "contest": "cup"}')
    assert (told(player), lobby.contests.how) == ([1], "for-now")
    post.take(over("numberwang", "cup", "for-good"))
    assert lobby.contests.how == "for-good"


def test_who_is_told_while_it_comes_back_from_a_match_is_told_once(lobby: Lobby) -> None:
    """A tick looks at it before it has asked itself."""
    lobby.contests = Contests()
    lobby.contests.how = "for-now"
    player = waits(lobby, "ada")
    player.release()
    player.finished_matches = 1
    expect = lobby.arena.expect

    def then_the_ticks(one: Player) -> None:
        expect(one)
        for _ in range(LOOKED_AT):
            lobby.tick()

    lobby.arena.expect = then_the_ticks  # type: ignore[method-assign]
    lobby.enter(player)
    assert told(player) == [1]
