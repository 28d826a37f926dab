"""Bots that are waited for in vain: only while the contest runs, they could come, and somebody looks."""

from __future__ import annotations

from datetime import timedelta

import pytest
from hall import GAME, Hall

from battlebot.arena.live.cutoff import LONGEST_S, CutOff
from battlebot.arena.live.making import begin, new_match
from battlebot.arena.live.queue import BY_A_TASK, Ticket
from battlebot.redisio import keys
from battlebot.rules.registry import Registry


def looks(hall: Hall, seconds: int, alive: bool = True, attended: bool = False, every_s: int = 1) -> int:
    """Looks for so long, while a node lives or none does, attendance is taken or not; how many meetings closed."""
    closed = 0
    for _ in range(0, seconds, every_s):
        hall.pass_time(every_s, alive)
        if attended:
            hall.heartbeats.attended(hall.now_s, 0.0)
        closed += hall.look()
    return closed


def missed(hall: Hall) -> dict[str, float]:
    """Bot -> since when it is waited for, after the hall's clock began."""
    noted = hall.missing.noted(GAME, "cup", hall.contest().run)
    return {bot: wait.since_s - 1_800_000_000 for bot, wait in noted.items()}


def test_after_the_grace_an_absent_bot_has_lost(hall: Hall) -> None:
    """Not a second earlier; who is there has won."""
    hall.begin("ab", absentAfterS=10)
    hall.wait("a")
    assert looks(hall, 10) == 0
    assert missed(hall) == {"b": 1.0}
    assert looks(hall, 1) == 1
    assert hall.storage.meetings.of_contest(GAME, "cup")[0]["victor"] == "a"


def test_who_comes_back_has_the_whole_grace_again(hall: Hall) -> None:
    """Once it has waited for a while."""
    hall.begin("ab", absentAfterS=10)
    hall.wait("a")
    looks(hall, 9)
    hall.wait("b")
    looks(hall, 1)
    assert missed(hall) == {}
    hall.client.flushall()
    hall.wait("a")
    assert looks(hall, 10) == 0
    assert looks(hall, 1) == 1


@pytest.mark.parametrize("nap_s", [3, 30, 300])
def test_a_pause_is_nobodys_absence(hall: Hall, nap_s: int) -> None:
    """Of whatever length; afterwards everybody has the whole grace."""
    hall.begin("ab", absentAfterS=10)
    hall.wait("a")
    looks(hall, 9)
    hall.do("pause")
    hall.pass_time(nap_s)
    hall.do("resume")
    assert looks(hall, 10) == 0
    assert looks(hall, 1) == 1


def test_a_server_that_was_down_charges_nobody(hall: Hall) -> None:
    """Ten minutes in which no worker looked count as a moment; what was seen before them counts on."""
    hall.begin("ab", absentAfterS=20)
    hall.wait("a")
    looks(hall, 5)
    hall.pass_time(600)
    assert looks(hall, 10) == 0
    assert looks(hall, 10) == 1


def test_nobody_is_absent_while_the_game_is_removed(hall: Hall) -> None:
    """Nobody is let in to play it. When it is back, there is time to come, too."""
    hall.begin("ab", absentAfterS=10)
    hall.wait("a")
    games, hall.pairer.registry = hall.pairer.registry, Registry({})
    assert looks(hall, 30, every_s=5) == 0
    hall.pairer.registry = games
    assert looks(hall, 10) == 0
    assert looks(hall, 1) == 1


def test_nobody_is_absent_while_no_node_lives(hall: Hall) -> None:
    """Looks go on, also before the nodes are known to be away; afterwards bots have a grace, and then what was left."""
    hall.begin("ab", absentAfterS=10)
    hall.wait("a")
    looks(hall, 10)
    assert looks(hall, 20, alive=False) == 0
    # the heartbeat that ends the outage is one second old then
    assert looks(hall, 1 + 15) == 0
    assert looks(hall, 1) == 1


def test_nobody_is_absent_for_nodes_that_were_away_between_two_looks(hall: Hall) -> None:
    """Twice, the second time while bots were still to come back; all else counts, also between slow looks."""
    hall.absences.most_s = 1000.0
    hall.begin("ab", absentAfterS=20)
    hall.wait("a")
    hall.look()
    for seconds, alive in ((10, True), (60, False), (5, True), (60, False), (5, True)):
        hall.pass_time(seconds, alive)
    assert hall.look() == 0
    # the heartbeats that ended the outages were five seconds late
    hall.pass_time(5 + 19)
    assert hall.look() == 0
    hall.pass_time(1)
    assert hall.look() == 1


def test_nobody_is_absent_where_no_node_is_known(hall: Hall) -> None:
    """Redis was emptied while they were away; the time counts when one is back."""
    hall.begin("ab", absentAfterS=10)
    hall.client.flushall()
    hall.wait("a")
    assert looks(hall, 20, alive=False) == 0
    # when in the last second it came back is not known
    assert looks(hall, 9) == 0
    assert looks(hall, 1) == 1


def test_a_slow_sweep_charges_what_it_may_and_stalls_nothing(hall: Hall) -> None:
    """It looks every minute: each time counts five seconds."""
    hall.begin("ab", absentAfterS=20)
    hall.wait("a")
    closed = 0
    for _ in range(6):
        hall.pass_time(60)
        closed += hall.look()
    assert closed == 1


def test_a_contest_that_goes_on_again_has_forgotten_who_was_missing(hall: Hall) -> None:
    """It was finished while a bot was missed; a match of it is taken back, and the bot is waited for from then on."""
    hall.begin("abc", absentAfterS=10)
    (match,) = hall.play("ab")
    looks(hall, 10)
    assert "c" in missed(hall)
    hall.do("finish")
    hall.void(match)
    assert hall.contest().state == "running"
    assert missed(hall) == {}
    hall.wait("ab")
    assert looks(hall, 10) == 0


def test_nobody_is_absent_in_a_contest_that_changed_since_the_look(hall: Hall) -> None:
    """It was paused after it had been read: its meetings stay to be played."""
    hall.begin("ab", absentAfterS=1)
    looks(hall, 1)
    before = hall.contest()
    hall.do("pause")
    hall.pass_time(5)
    assert hall.absences.look_at(before) == 0
    assert hall.meetings() == []


def test_time_counts_up_to_when_the_door_was_last_known_to_be_open(hall: Hall) -> None:
    """A node lives, and cannot let bots in, or drains: whether that is an outage will show."""
    hall.begin("ab", absentAfterS=10)
    hall.wait("a")
    looks(hall, 9)

    def waited() -> float:
        return hall.missing.noted(GAME, "cup", hall.contest().run)["b"].seconds

    before_s = waited()
    for seconds in range(1, 5):
        hall.now_s += 1.0
        hall.heartbeats.send("node", hall.now_s, first=False, ago_s=float(seconds))
        assert hall.look() == 0
    assert waited() == before_s
    hall.pass_time(2)
    assert hall.look() == 0
    assert waited() == before_s, "it was an outage"


def test_a_stateless_bot_is_missed_only_while_attendance_is_taken(hall: Hall) -> None:
    """Whatever its door may be; afterwards it has the grace of an outage, and then what was left."""
    hall.begin("ab", stateless="b", absentAfterS=10)
    hall.wait("a")
    assert looks(hall, 30, every_s=5) == 0, "it has never been taken"
    assert looks(hall, 6, attended=True) == 0
    assert looks(hall, 60, every_s=5) == 0, "it is no longer taken"
    assert looks(hall, 15 + 4, alive=False, attended=True) == 0
    assert looks(hall, 1, alive=False, attended=True) == 1
    assert hall.storage.meetings.of_contest(GAME, "cup")[0]["victor"] == "a"


def test_a_stateless_bot_is_not_missed_while_it_is_asked_in_as_many_matches_as_it_may_be(hall: Hall) -> None:
    """Nobody can bring it in, whoever holds it there: its time stands, and goes on when there is a place."""
    hall.begin("ab", stateless="b", absentAfterS=10)
    hall.wait("a")
    assert looks(hall, 6, attended=True) == 0
    full = [f"match{number}" for number in range(hall.settings.bot_matches)]
    hall.client.sadd(keys.asked_at("http://127.0.0.1:9/"), *full)
    assert looks(hall, 30, attended=True, every_s=5) == 0
    hall.client.srem(keys.asked_at("http://127.0.0.1:9/"), full[0])
    assert looks(hall, 4, attended=True) == 0
    assert looks(hall, 2, attended=True) == 1


@pytest.mark.parametrize(("moved_s", "closed"), [(-5.0, 0), (5.0, 1)])
def test_a_stateless_bot_that_moves_to_a_full_address_while_the_contest_runs_is_missed(
    hall: Hall, moved_s: float, closed: int
) -> None:
    """Its owner could have filled it, with matches of other bots; who was there before is not charged for them."""
    hall.begin("ab", stateless="b", absentAfterS=10)
    since = hall.contest().runs_since
    assert since is not None
    hall.storage.bots.change("b", {"asked_since": since + timedelta(seconds=moved_s)})
    hall.wait("a")
    hall.client.sadd(keys.asked_at("http://127.0.0.1:9/"), *map(str, range(hall.settings.bot_matches)))
    assert looks(hall, 30, attended=True, every_s=5) == closed


def test_a_bot_that_was_made_unavailable_is_missed_though_other_bots_fill_its_address(hall: Hall) -> None:
    """It is not asked there any more, and can come only by itself: a contest must not wait for the others' matches."""
    hall.begin("ab", stateless="b", absentAfterS=10)
    hall.storage.bots.change("b", {"available": False})
    hall.wait("a")
    full = [f"match{number}" for number in range(hall.settings.bot_matches)]
    hall.client.sadd(keys.asked_at("http://127.0.0.1:9/"), *full)
    assert looks(hall, 10) == 0
    assert hall.lookout().why(hall.contest(), "b")["code"] == "not-connected"
    assert looks(hall, 1) == 1


def test_other_bots_are_missed_while_no_attendance_is_taken(hall: Hall) -> None:
    """They come in at their own door, and meet one another."""
    hall.begin("abc", stateless="b", absentAfterS=10)
    hall.wait("a")
    assert looks(hall, 30, every_s=5) == 1
    (row,) = hall.storage.meetings.of_contest(GAME, "cup")
    assert (set(row["bots"]), row["victor"]) == ({"a", "c"}, "a")


def test_attendance_taken_with_slow_sweeps_is_taken_all_the_time(hall: Hall) -> None:
    """It comes every twenty seconds, as often as it should."""
    hall.absences.most_s = 60.0
    hall.begin("ab", stateless="b", absentAfterS=55)
    hall.wait("a")
    closed = []
    for _ in range(4):
        hall.pass_time(20)
        hall.heartbeats.attended(hall.now_s, 60.0)
        closed.append(hall.look())
    assert closed == [0, 0, 0, 1]


def hang(hall: Hall) -> None:
    """The node of `b` hangs while another lives, and is found dead."""
    hall.heartbeats.send("hung", hall.now_s, first=False)
    hall.pass_time(10)
    hall.sweep()


@pytest.fixture
def cut(hall: Hall) -> Hall:
    """`a` waits, and `b` at a node that hung and was taken for dead."""
    hall.begin("ab", absentAfterS=10)
    hall.wait("a")
    hall.wait("b", node="hung")
    hang(hall)
    assert [ticket.bot for ticket in hall.queues.tickets(f"{GAME}/cup")] == ["a"]
    return hall


def test_who_sits_at_a_node_that_hangs_is_missed_as_if_gone_only_after_a_while(cut: Hall) -> None:
    """The node may be gone for good, and the bot with it: the contest waits no longer for it than that."""
    assert looks(cut, int(LONGEST_S), every_s=5) + looks(cut, 9) == 0
    assert looks(cut, 1) == 1


def test_who_does_not_come_back_with_its_node_is_missed_after_the_grace(cut: Hall) -> None:
    """It left while the node hung: from the first heartbeat it has as long as after an outage."""
    looks(cut, 60, every_s=5)
    cut.heartbeats.send("hung", cut.now_s, first=False)
    assert looks(cut, 1 + 15 + 9) == 0
    assert looks(cut, 1) == 1


@pytest.mark.parametrize("node", ["n", "hung"])
def test_who_has_come_back_is_missed_as_everybody_when_it_leaves(cut: Hall, node: str) -> None:
    """To any node, however short it was there."""
    looks(cut, 60, every_s=5)
    cut.heartbeats.send("hung", cut.now_s, first=False)
    cut.wait("b", node=node)
    looks(cut, 1)
    cut.client.delete(keys.queue(f"{GAME}/cup"))
    cut.wait("a")
    assert looks(cut, 10) == 0
    assert looks(cut, 1) == 1


def test_a_ticket_that_is_about_to_be_taken_away_is_no_sign_of_the_bot(hall: Hall) -> None:
    """A look comes between the note that it is cut off and the end of its ticket."""
    hall.begin("ab", absentAfterS=10)
    hall.wait("a")
    hall.wait("b", node="hung")
    CutOff(hall.client, hall.heartbeats).note("hung", {f"{GAME}/cup": ["b"]}, hall.now_s)
    looks(hall, 1)
    hall.queues.drop_node("hung")
    assert looks(hall, 60, every_s=5) == 0


def test_who_lost_its_seat_with_its_node_is_not_missed_either(hall: Hall) -> None:
    """Its match became void, and is to be played again."""
    hall.begin("ab", absentAfterS=10)
    hall.wait("a")
    hall.wait("b", node="hung")
    (match,) = hall.pair()
    hang(hall)
    assert [seat.place for seat in hall.live()[0].seats if seat.bot == "b"] == [None]
    looks(hall, 1)
    hall.void(match.id)
    hall.wait("a")
    assert looks(hall, 60, every_s=5) == 0


def test_who_hangs_with_its_node_is_not_missed_though_its_match_ends_before_the_node_is_dead(hall: Hall) -> None:
    """It has neither ticket nor seat any more when the node is taken for dead."""
    hall.begin("ab", absentAfterS=10)
    hall.wait("a")
    hall.wait("b", node="hung")
    (match,) = hall.pair()
    hall.heartbeats.send("hung", hall.now_s, first=False)
    hall.pass_time(3)
    hall.sweep()
    assert [seat.place for seat in hall.live()[0].seats if seat.bot == "b"] != [None], "not dead yet"
    hall.void(match.id)
    hall.wait("a")
    hall.pass_time(10)
    hall.sweep()
    assert looks(hall, 60, every_s=5) == 0


def test_who_sits_at_a_node_of_a_door_that_was_shut_for_long_is_noted_when_the_node_is_found_dead(hall: Hall) -> None:
    """Not all the time before: the door was shut, and nobody was missed."""
    hall.begin("ab", absentAfterS=10)
    hall.wait("a")
    hall.wait("b", node="hung")
    hall.heartbeats.send("hung", hall.now_s, first=False)
    hall.pass_time(LONGEST_S + 10, alive=False)
    hall.sweep()
    assert not hall.client.exists(keys.cut_off(f"{GAME}/cup"))
    hall.pass_time(10)
    hall.sweep()
    assert hall.client.hkeys(keys.cut_off(f"{GAME}/cup")) == [b"b"]


def test_a_look_reads_the_matches_of_its_contest_alone(hall: Hall) -> None:
    """There may be thousands of others."""
    hall.begin("abcd")
    hall.wait("abcd")
    hall.pair()
    seats = [("x", "n/90"), ("y", "n/91")]
    for bot, place in seats:
        hall.queues.wait(GAME, Ticket(place, bot, 100.0), BY_A_TASK)
    game = hall.conductor.registry[GAME]
    assert begin(hall.store, game, new_match(game, seats, hall.settings, hall.now_s), GAME)
    hall.client.config_resetstat()
    hall.look()
    assert hall.client.info("commandstats")["cmdstat_hget"]["calls"] == 2


def test_who_has_ended_its_match_and_gone_is_missed_though_that_is_not_archived(hall: Hall) -> None:
    """Its meeting is still open then; it has others."""
    hall.begin("abc", absentAfterS=10)
    hall.wait("ab")
    (match,) = hall.pair()
    looks(hall, 1)
    assert missed(hall).keys() == {"c"}
    hall.end(match)
    hall.wait("a")
    looks(hall, 1)
    assert missed(hall).keys() == {"b", "c"}
