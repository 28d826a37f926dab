"""Between login and match: who meets whom outside contests, what is ignored, and when waiting is over."""

from __future__ import annotations

import time

import pytest
from cluster import Web
from peer import BINARY, CLOSE, PING, Peer, login_for
from switchboard import Switchboard

SETTINGS = {"waiting_timeout_s": 4.0, "relogin_free": 3, "relogin_delay_max_s": 0.4}
DELAYS_S = [0.05, 0.1, 0.2, 0.4, 0.4, 0.4, 0.4]  # of the replies after the free ones


def waits(peer: Peer) -> None:
    """Nothing comes to the peer for a moment."""
    with pytest.raises(TimeoutError):
        peer.any_frame(0.3)


def test_what_a_bot_sends_before_its_match_is_ignored(web: Web, meet: Switchboard) -> None:
    """Garbage and turns alike: no strike, no answer, and the match begins as any other."""
    one = meet.login(meet.auth())
    for text in ('{"n": 1}', "garbage", "[]", ""):
        one.send(text)
    one.frame(BINARY, b"\0")
    one.frame(PING, b"are they read?")
    waits(one)
    assert one.pongs == [b"are they read?"]
    two = meet.login(meet.auth())
    mover, _ = meet.seated(one, two)
    assert one.first["match"]["strikes"] == two.first["match"]["strikes"] == 0
    mover.send({"n": 1})
    assert one.update()["state"]["board"] == two.update()["state"]["board"] == {"n": 1}


def test_a_bot_is_never_matched_with_itself(web: Web, meet: Switchboard) -> None:
    """Two connections of one bot wait side by side; a third bot meets the one that waited longer."""
    auth = meet.auth()
    first, second = meet.login(auth), None
    meet.until_waiting(1)
    second = meet.login(auth)
    meet.until_waiting(2)
    waits(second)
    other = meet.login(meet.auth())
    meet.seated(first, other)
    assert sorted(first.first["state"]["players"]) == sorted([first.bot, other.bot])
    waits(second)


def test_bots_of_different_games_contests_and_of_none_do_not_meet(web: Web, meet: Switchboard) -> None:
    """Five that wait in five places."""
    places = [
        ("numberwang", None),
        ("connectfour", None),
        ("numberwang", "a"),
        ("numberwang", "b"),
        ("connectfour", "a"),
    ]
    peers = []
    for game, contest in places:
        peers.append(meet.login(meet.auth(game), login={"contest": contest} if contest else {}))
    for peer in peers:
        waits(peer)


def test_the_longest_waiting_is_matched_first(web: Web, meet: Switchboard) -> None:
    """Three connections of one bot wait; three others come, and meet them in the order of their coming."""
    auth = meet.auth()
    peers = []
    for number in (1, 2, 3):
        peers.append(meet.login(auth))
        meet.until_waiting(number)
    for peer in peers:
        other = meet.login(meet.auth())
        assert other.update()["match"]["id"] == peer.update()["match"]["id"]


def test_who_waits_too_long_alone_is_closed_with_a_code_and_a_reason(web: Web, meet: Switchboard) -> None:
    """Nothing is sent before the close frame: an original client indexes `state` in all it is sent."""
    peer = meet.login(meet.auth())
    began_s = time.monotonic()
    with pytest.raises(Exception, match="closed with 1000 nobody-came: "):
        peer.any_frame()
    assert time.monotonic() - began_s >= web.settings.waiting_timeout_s - 0.2


def test_a_bot_in_a_contest_goes_on_waiting(web: Web, meet: Switchboard) -> None:
    """Someone new may come: it is not closed with those outside contests, and was there before them."""
    in_contest = meet.login(meet.auth(), login={"contest": "lonely"})
    outside = meet.login(meet.auth())
    assert outside.closed().slug == "nobody-came"
    waits(in_contest)


def test_who_hung_up_while_it_waited_is_met_by_nobody(web: Web, meet: Switchboard) -> None:
    """Those who left with a goodbye and those who just were gone."""
    for leave in (Peer.close, Peer.reset):
        gone = meet.login(meet.auth())
        meet.until_waiting(1)
        leave(gone)
        meet.until_waiting(0)
    one, two = meet.login(meet.auth()), meet.login(meet.auth())
    meet.seated(one, two)
    assert sorted(one.first["state"]["players"]) == sorted([one.bot, two.bot])


def test_a_tight_loop_of_logins_is_slowed_down_and_never_refused(web: Web, meet: Switchboard) -> None:
    """Original clients reconnect without a pause: the reply waits longer and longer, and is OK each time."""
    auth = meet.auth()
    took = []
    for _ in range(10):
        peer = meet()
        began_s = time.monotonic()
        assert peer.log_in(auth)["authentication"] == "OK"
        took.append(time.monotonic() - began_s)
        peer.frame(CLOSE, b"\x03\xe8")
        assert peer.closed().code == 1000
    assert min(took[:3]) < web.settings.relogin_delay_max_s
    assert all(one_s >= delay_s for one_s, delay_s in zip(took[3:], DELAYS_S, strict=True))


def test_a_bot_that_plays_is_not_slowed_down(web: Web, meet: Switchboard) -> None:
    """Ten matches one after another, a connection each, as in a contest."""
    one, two = meet.auth(), meet.auth()
    took = []
    for _ in range(10):
        began_s = time.monotonic()
        a, b = meet.login(one), meet.login(two)
        took.append(time.monotonic() - began_s)
        mover, _ = meet.seated(a, b)
        mover.send({"n": 10})
        for peer in (a, b):
            peer.final()
            peer.close()
    assert min(took[6:]) < web.settings.relogin_delay_max_s


def test_other_bots_of_the_address_are_not_slowed_down(web: Web, meet: Switchboard) -> None:
    """Behind one address there may be a whole course."""
    auth = meet.auth()
    for _ in range(7):
        meet.login(auth).close()
    took = []
    for other in [meet.auth() for _ in range(4)]:
        began_s = time.monotonic()
        meet.login(other)
        took.append(time.monotonic() - began_s)
    assert min(took) < web.settings.relogin_delay_max_s


def test_who_hangs_up_while_its_match_is_made_has_left_by_itself(web: Web, meet: Switchboard) -> None:
    """The server has not lost its place: whoever meets it must not wait for it as for one that the server lost."""
    for round_ in range(60):
        leaver = meet.login(meet.auth())
        comer = meet()
        comer.send(login_for(meet.auth(), comer.message()["salt"]))
        # a moment earlier or later, so that some of them hit the moment
        time.sleep(round_ % 12 / 4000)
        leaver.reset()
        comer.message()
        comer.reset()
        meet.until_waiting(0)
    assert "unknown-place" not in web.log.read_text()
