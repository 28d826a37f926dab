"""Nobody is there to let a bot in, or to find that a node is dead: matches wait, and go on with their bots."""

from __future__ import annotations

import re
import time
from collections.abc import Iterator

import pytest
from cluster import Web, wait_for
from frail import SETTINGS, Frail, frail_house, play_out, ready
from peer import Peer
from standstill import standing_still
from switchboard import Switchboard

from battlebot.redisio import keys
from battlebot.redisio.connection import connect

PLAY = {"turn_timeout_ms": 5000, "node_timeout_s": 2.0, "node_grace_s": 8.0}
MISSED_S = 6.0  # a bot that is away for so long is out, or its match void
SLOWLY_S = 90.0  # for what waits until a part has started


@pytest.fixture(scope="module")
def frail(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Frail]:
    """Yields a module's stores, with a worker, beat, and a TCP node; each test has web nodes of its own."""
    with frail_house(tmp_path_factory.mktemp("frail"), **SETTINGS, **PLAY) as made:
        made.parts.worker()
        made.parts.beat()
        made.parts.tcp()
        wait_for(lambda: " ready." in made.parts.logs(), "the worker", SLOWLY_S)
        yield made


@pytest.fixture
def web(frail: Frail) -> Web:
    """The only web node, where one is left of the test before that: the other door is of no use to its bots."""
    [*others, node] = [node for node in frail.parts.nodes if node.child.alive] or [frail.parts.web()]
    for other in others:
        other.child.kill()
    wait_for(lambda: ready(node), "a ready server", SLOWLY_S)
    forget_the_dead(frail)
    return node


def forget_the_dead(frail: Frail) -> None:
    """Waits until those that the tests before have killed are found dead: they may hang, and bots have come to them."""
    with connect(frail.settings.redis_url) as client:
        # a web node, and the TCP node
        wait_for(lambda: client.zcard(keys.NODES) == 2, "the dead to be found", SLOWLY_S)
        client.hdel(keys.door("web"), "hung")


def hold(seconds: float) -> None:
    """Lets so much time pass: the disturbance is what is tested."""
    began_s = time.monotonic()
    wait_for(lambda: time.monotonic() - began_s > seconds)


def both(one: Peer, two: Peer) -> None:
    """Reads the next update of both, which is the same."""
    assert one.update()["state"] == two.update()["state"]


@pytest.mark.parametrize("off_turn_comes", [True, False], ids=["both come back", "one comes back"])
def test_bots_that_a_proxy_cut_off_just_before_the_server_stopped_play_on(
    frail: Frail, web: Web, meet: Switchboard, off_turn_comes: bool
) -> None:
    """As when a proxy is stopped first: who comes back when the server does has lost nothing; who does not, loses."""
    mover, other = meet.sit()
    for peer in (mover, other):
        peer.reset()
        left = f'"bot":"{peer.bot}","how":"broken","event":"match.left"'
        wait_for(lambda: left in frail.parts.logs(), "the server to notice")  # noqa: B023 - called at once
    web.child.kill()
    hold(MISSED_S)
    node = frail.parts.web()
    back = meet.login(mover.auth, web=node)
    update = back.update()
    assert update["match"]["id"] == mover.first["match"]["id"]
    assert update["match"]["remainingMs"] > 0
    if off_turn_comes:
        again = meet.login(other.auth, web=node)
        again.update()
        assert play_out(back, again, turns=0)["reason"] == "complete"
    else:
        back.send({"n": 1})
        back.update()
        end = back.final()
        assert (end["state"]["victor"], end["state"]["reason"]) == (mover.bot, "disconnect")


@pytest.mark.parametrize("how", ["killed", "stopped"])
def test_a_bot_whose_time_ends_just_after_the_only_node_does_is_not_missed(
    frail: Frail, web: Web, meet: Switchboard, how: str
) -> None:
    """Nobody could let it in any more, though no heartbeat has been missing for long, nor is while the node stops."""
    node = frail.parts.web(**PLAY | {"turn_timeout_ms": 1500})
    auths = [meet.auth(), meet.auth()]
    one, two = (meet.login(auth, web=node) for auth in auths)
    # it waits, and will not answer the node's close: the node takes its time to stop
    meet.login(meet.auth(), web=node)
    web.child.kill()
    mover, other = meet.seated(one, two)
    for peer in (mover, other):
        peer.reset()
        left = f'"bot":"{peer.bot}","how":"broken","event":"match.left"'
        wait_for(lambda: left in frail.parts.logs(), "the server to notice")  # noqa: B023 - called at once
    if how == "killed":
        node.child.kill()
    else:
        node.child.stop()
    # the sweep missed it two seconds after its time; an outage shows after five
    hold(4.3)
    node = frail.parts.web()
    for auth in auths:
        assert meet.login(auth, web=node).update()["match"]["id"] == mover.first["match"]["id"]


def test_a_bot_that_leaves_again_after_an_outage_does_not_spoil_its_opponents_grace(
    frail: Frail, web: Web, meet: Switchboard
) -> None:
    """The node takes the match up when that bot is missed: the other one has still time, and the match is not void."""
    grace_s = 20.0  # there is time for a login before the turn's five seconds, however slow the machine
    first = frail.parts.web(**PLAY | {"node_grace_s": grace_s})
    mover, other = meet.sit(nodes=(first, first))
    # at once: the turn's time runs until the node gives the seats up
    for node in (first, web):
        node.child.ask_to_stop()
    for node in (first, web):
        node.child.stop()
    hold(grace_s + 1.0)
    node = frail.parts.web()
    back = meet.login(mover.auth, web=node)
    assert back.update()["match"]["id"] == mover.first["match"]["id"]
    back.reset()
    ended = f'"players":["{mover.bot}","{other.bot}"],"victor":"{other.bot}","reason":"disconnect","fault":"network"'
    wait_for(lambda: ended in frail.parts.logs(), "the end of who left")


def test_nobody_is_missed_while_a_node_that_has_started_knows_no_bots(
    frail: Frail, web: Web, meet: Switchboard
) -> None:
    """MongoDB is away, and Redis has no copies: the node lives, and yet nobody can come back."""
    mover, other = meet.sit()
    with frail.killed("mongod"):
        with connect(frail.settings.redis_url) as client:
            client.delete(*(keys.registration(peer.bot) for peer in (mover, other)))
        web.child.stop()
        node = frail.parts.web()
        hold(PLAY["node_grace_s"] + 5.0)
    for peer in (mover, other):
        back = meet.login(peer.auth, web=node)
        assert back.update()["match"]["id"] == mover.first["match"]["id"]


def test_the_only_node_stands_still_for_long(frail: Frail, web: Web, meet: Switchboard) -> None:
    """Its bots are connected all the time: while no node lives none is missed."""
    mover, other = meet.sit()
    with standing_still(web.child.pid):
        hold(PLAY["node_timeout_s"] + PLAY["node_grace_s"] + 3.0)
    mover.send({"n": 1})
    both(mover, other)
    assert play_out(other, mover)["reason"] == "complete"


def test_a_dead_node_is_found_while_mongodb_hangs(frail: Frail, web: Web, meet: Switchboard) -> None:
    """The bot comes back to the other node, which knows it; tasks that wait for MongoDB do not hold up the sweep."""
    # whoever comes last makes the match: the turn on which the dead node is found must not end before
    mortal = frail.parts.web(turn_timeout_ms=30_000)
    known = meet.auth()
    meet.login(known).reset()
    two, one = meet.login(meet.auth()), meet.login(known, web=mortal)
    mover, other = meet.seated(one, two)
    match_id = one.first["match"]["id"]
    with frail.paused("mongod"):
        # longer than it is remembered that a sweep was made
        for _ in range(12):
            hold(MISSED_S / 12)
            mover.send({"n": 0})
            both(mover, other)
            mover, other = other, mover
        mortal.child.kill()
        orphaned = f'"bot":"{one.bot}","event":"match.orphaned"'
        wait_for(lambda: orphaned in frail.parts.logs(), "the sweep to notice", MISSED_S + 10.0)
        back = meet.login(known)
        update = back.update()
        assert update["match"]["id"] == match_id
        mover, other = (back, other) if mover is one else (mover, back)
        assert play_out(mover, other)["reason"] == "complete"
    wait_for(lambda: ready(web), "a ready server")


def test_a_worker_that_starts_while_mongodb_is_away_sweeps(frail: Frail, web: Web) -> None:
    """Otherwise nothing would find the dead node, whose bots have no time to come back until it is found."""
    [worker, *_], mortal = frail.parts.children, frail.parts.web()
    started = re.search('"node":"([0-9a-f]+)","event":"node.started"', mortal.log.read_text())
    assert started is not None
    with frail.killed("mongod"):
        worker.kill()
        frail.parts.children[0] = frail.parts.worker()
        mortal.child.kill()
        dead = f'"node":"{started[1]}","event":"node.dead"'
        wait_for(lambda: dead in frail.parts.logs(), "the sweep to notice", SLOWLY_S)
    wait_for(lambda: ready(web), "a ready server")
