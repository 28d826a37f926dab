"""Redis hangs, or is gone and comes back: nobody loses by it, and what needs only MongoDB is answered meanwhile."""

from __future__ import annotations

import time
import urllib.request
from pathlib import Path

import pytest
from cluster import Tcp, Web, wait_for
from desk import Desk
from frail import Frail, play_out, ready
from peer import CLOSE, Closed, new_name
from switchboard import Switchboard
from tcp_peer import Pair, TcpPeer

from battlebot.embedded.process import Child
from battlebot.redisio.connection import connect
from battlebot.redisio.tasklists import TaskLists
from battlebot.storage import Storage
from tasks.celeryapp import make_celery

# longer than a turn's clock (4 s); paused, longer than our patience with one call to Redis (5 s)
PLAY = {"turn_timeout_ms": 4000}
AWAY_S = {"paused": 6.0, "killed": 4.5, "full": 4.5, "demoted": 4.5, "busy": 5.0}

# twice that patience, as a call may have to wait for others' to end, and some time of a busy machine
TURNED_AWAY_S = 13.0


@pytest.fixture(scope="module")
def door(frail: Frail) -> Tcp:
    """A TCP node."""
    return frail.parts.tcp(turn_timeout_ms=3000)


@pytest.fixture
def asking(frail: Frail) -> Child:
    """A worker that asks bots; the next one where a test has stopped it."""
    [child] = [one for one in frail.parts.children if one.program.name == "bots" and one.alive] or [frail.parts.bots()]
    return child


@pytest.mark.parametrize("how", AWAY_S)
def test_matches_stand_still_and_go_on(frail: Frail, web: Web, meet: Switchboard, how: str) -> None:
    """A bot that moved, and one that won by its turn: both are told when Redis is back, and nobody has lost time."""
    moved, ending = meet.sit(), meet.sit()
    parts = [child for child in frail.parts.children if child.alive]
    with getattr(frail, how)("valkey"):
        began_s = time.monotonic()
        moved[0].send({"n": 1})
        ending[0].send({"n": 100})
        wait_for(lambda: "writes" in web.request("/readyz")[1]["since"], "the node to notice")
        _what_needs_only_mongodb_is_answered(web, how)
        wait_for(lambda: time.monotonic() - began_s > AWAY_S[how])
    assert [moved[seat].update()["state"]["board"] for seat in (0, 1)] == [{"n": 1}, {"n": 1}]
    final = play_out(moved[1], moved[0])
    assert (final["reason"], final["complete"]) == ("complete", True)
    assert [seat.final()["state"]["reason"] for seat in ending] == ["complete", "complete"]
    wait_for(lambda: ready(web), "a ready server")
    recorded = wait_for(lambda: [row for row in web.request("/games/numberwang")[1] if moved[0].bot in row["players"]])
    assert recorded[0]["match"]["fault"] == "none"
    assert all(child.alive for child in parts), "worker and beat live on"
    assert frail.errors() == []


def _what_needs_only_mongodb_is_answered(web: Web, how: str) -> None:
    assert web.request("/healthz")[0] == 200
    status, body = web.request("/readyz")
    assert (status, body["mongodb"], body["disk"]) == (503, "ok", "ok")
    assert web.request("/bots/numberwang", {"bot_id": new_name()})[0] == 201
    for path in ("/bots/numberwang", "/games/numberwang", "/games/numberwang/ratings", "/games/numberwang/contests"):
        assert web.request(path)[0] == 200, path
    assert ("Live matches cannot be shown" in _page(web, "/")) == (how in ("paused", "killed", "busy"))


def _page(web: Web, path: str) -> str:
    with urllib.request.urlopen(web.url + path, timeout=20) as answer:
        return answer.read().decode()


def test_the_page_of_a_match_says_what_is_away(frail: Frail, web: Web, meet: Switchboard) -> None:
    """Not the database: while that alone is away, matches go on."""
    mover, other = meet.sit()
    path = f"/web/numberwang/matches/{mover.first['match']['id']}"
    assert 'class="stale"' not in _page(web, path)
    with frail.killed("valkey"):
        page = _page(web, path)
    assert "Live matches cannot be reached at the moment" in page
    assert "The database cannot" not in page
    wait_for(lambda: ready(web), "a ready server")
    play_out(mover, other)


def test_who_cannot_wait_is_told_so(frail: Frail, web: Web, meet: Switchboard) -> None:
    """A login is closed with a code; what asks for live matches answers 503 with one, and when to try again."""
    auth = meet.auth()
    frail_contest(frail, "numberwang", "autumn")
    with frail.killed("valkey"):
        late = meet()
        late.log_in(auth)
        closed = late.closed()
        assert (closed.code, closed.slug) == (1011, "unavailable")
        status, body = web.request("/games/numberwang/contests/autumn/why?bot=nobody")
        assert (status, body["code"]) == (503, "unavailable")
    wait_for(lambda: ready(web), "a ready server")
    play_out(*meet.sit())
    assert frail.errors() == []


def test_a_worker_that_has_tasks_in_hand_when_redis_dies_gives_them_up(frail: Frail, web: Web) -> None:
    """It cannot put them back over a connection that is gone, and says no more than that it is; sweeps ask again."""
    celery, lists = make_celery(frail.settings), TaskLists(connect(frail.settings.redis_url))
    before = frail.parts.logs().count("broker.away")

    def all_hands_are_full() -> bool:
        celery.send_task("tasks.ratings.rebuild", args=("numberwang",))
        return lists.length(9) > 2

    with frail.paused("mongod"):
        wait_for(all_hands_are_full, "tasks that wait for one another")
        with frail.killed("valkey"):
            wait_for(lambda: frail.parts.logs().count("broker.away") > before, "the worker to notice")
    wait_for(lambda: ready(web), "a ready server")
    wait_for(lambda: lists.length(9) == 0, "an empty queue")
    assert frail.errors() == []


@pytest.mark.parametrize("lost", ["all connections", "the pings' connection"])
def test_a_worker_that_asks_bots_says_in_a_line_that_it_hears_no_pings(
    frail: Frail, web: Web, asking: Child, lost: str
) -> None:
    """And hears them again when Redis is back, once each."""
    celery, client = make_celery(frail.settings), connect(frail.settings.redis_url)
    before = frail.parts.logs().count("worker.deaf_to_pings")

    def answers_pings() -> bool:
        return sum(name.startswith("bots") for answer in celery.control.ping(timeout=1.0) for name in answer) == 1

    def is_deaf() -> bool:
        return frail.parts.logs().count("worker.deaf_to_pings") > before

    wait_for(answers_pings, "the worker that asks bots")
    if lost == "all connections":
        with frail.killed("valkey"):
            wait_for(is_deaf, "the line")
    else:
        client.client_kill_filter(_type="pubsub")
        wait_for(is_deaf, "the line")
    wait_for(answers_pings, "the worker that asks bots")
    wait_for(lambda: ready(web), "a ready server")
    assert asking.alive
    assert frail.errors() == []


@pytest.mark.parametrize("lost", ["pubsub", "normal"])
def test_a_redis_that_cannot_be_written_to_is_a_line_of_each_part(
    frail: Frail, web: Web, asking: Child, meet: Switchboard, lost: str
) -> None:
    """Also where a connection is lost meanwhile: a worker that asks bots says once that it hears no pings."""
    celery, client = make_celery(frail.settings), connect(frail.settings.redis_url)
    log, auth = Path(asking.program.log or ""), meet.auth()
    before = log.read_text()

    def answers_pings() -> bool:
        return sum(name.startswith("bots") for answer in celery.control.ping(timeout=1.0) for name in answer) == 1

    def tries() -> int:
        return log.read_text().removeprefix(before).count("Connection to broker lost")

    wait_for(answers_pings, "the worker that asks bots")
    with frail.unwritable("valkey"):
        client.client_kill_filter(_type=lost, skipme=True)
        wait_for(lambda: tries() > 2, "some tries")
        late = meet()
        late.log_in(auth)
        closed = late.closed()
        assert (closed.code, closed.slug) == (1011, "unavailable")
    assert log.read_text().removeprefix(before).count("worker.deaf_to_pings") <= 1
    wait_for(answers_pings, "the worker that asks bots")
    wait_for(lambda: ready(web), "a ready server")
    asking.ask_to_stop()
    wait_for(lambda: not asking.alive, "the worker's end")
    assert asking.status() == "exit status 0"
    assert frail.errors() == []


def test_who_comes_back_while_redis_hangs_is_not_charged_for_it(frail: Frail, web: Web, meet: Switchboard) -> None:
    """On turn, and turned away for longer than a turn may take: the time in which it was not let in is not its own.

    All who come are turned away soon, however many they are.
    """
    mover, other = meet.sit()
    mover.reset()
    left = f'"match":"{mover.first["match"]["id"]}","bot":"{mover.bot}","how":"broken","event":"match.left"'
    wait_for(lambda: left in frail.parts.logs(), "the server to notice")
    auths = [mover.auth, *(meet.auth() for _ in range(2))]
    with frail.paused("valkey"):
        began_s, late = time.monotonic(), [meet() for _ in auths]
        for peer, auth in zip(late, auths, strict=True):
            peer.log_in(auth)
        assert [peer.closed().slug for peer in late] == ["unavailable"] * 3
        assert time.monotonic() - began_s < TURNED_AWAY_S
    back = meet.login(mover.auth, web=web)
    update = back.update()
    assert update["match"]["id"] == mover.first["match"]["id"]
    assert update["match"]["remainingMs"] > 0
    assert play_out(back, other)["reason"] == "complete"
    wait_for(lambda: ready(web), "a ready server")


def test_who_comes_back_to_the_tcp_door_while_redis_hangs_is_not_charged_for_it(
    frail: Frail, web: Web, door: Tcp
) -> None:
    """As at the WebSocket door; there it is turned away without a word."""
    table = Pair(*(TcpPeer(door.address).enter() for _ in range(2))).begin()
    mover, other = table.mover, table.other
    mover.reset()
    left = f'"bot":"{mover.name}","how":"broken","event":"match.left"'
    wait_for(lambda: left in frail.parts.logs(), "the server to notice")
    with frail.paused("valkey"):
        began_s, late = time.monotonic(), [TcpPeer(door.address) for _ in range(3)]
        for peer, name in zip(late, (mover.name, new_name(), new_name()), strict=True):
            peer.send({"username": name})
        assert all(peer.ended() for peer in late)
        assert time.monotonic() - began_s < TURNED_AWAY_S
    back = TcpPeer(door.address)
    back.send({"username": mover.name})
    assert back.read() == {"status": "ok"}
    question = back.event("get_move")
    back.move(question, 3, 3)
    assert other.event("get_move")["board"]["_moves"] == [[3, 3]]
    for peer in (back, other):
        peer.leave()
    wait_for(lambda: ready(web), "a ready server")


@pytest.mark.parametrize("how", ["paused", "killed"])
def test_who_asks_for_an_opponent_while_redis_is_away_stays_connected_and_gets_one(
    frail: Frail, door: Tcp, how: str
) -> None:
    """A client of the original would not come back. Who comes meanwhile is turned away, and the log says so."""
    one, two, leaver = (TcpPeer(door.address).enter() for _ in range(3))
    before = door.log.read_text()
    with getattr(frail, how)("valkey"):
        for peer in (leaver, one, two):
            peer.find()
        for peer in (leaver, one, two):
            put_off(door, peer)
        leaver.reset()
        late = TcpPeer(door.address)
        late.send({"username": new_name()})
        assert late.ended()
    wait_for(lambda: "tcp.turned_away" in door.log.read_text().removeprefix(before))
    assert one.event("starting_game")["against"] == two.name
    assert two.event("starting_game")["against"] == one.name
    for peer in (one, two):
        peer.leave()


def test_who_waits_in_a_contest_that_ends_meanwhile_is_told(frail: Frail, web: Web, meet: Switchboard) -> None:
    """When Redis is back, and once: the letter that says so is lost."""
    storage = Storage(frail.settings)
    desk = Desk(web, storage.tokens.create("organiser"), game="numberwang")
    storage.close()
    desk.create()
    desk.ask("POST", "/cup/start")
    notified, original = (meet.login(meet.auth(), login={"contest": "cup", **more}) for more in ({"protocol": 2}, {}))
    with frail.killed("valkey"):
        desk.ask("POST", "/cup/finish")
    assert notified.message()["code"] == "over"
    for peer in (notified, original):
        peer.frame(CLOSE, b"")
        with pytest.raises(Closed):
            peer.message()
    wait_for(lambda: ready(web), "a ready server")
    assert frail.errors() == []


def put_off(node: Tcp, peer: TcpPeer) -> None:
    """Waits until the node has noticed that it cannot have the player wait."""
    line = f'"bot":"{peer.name}"'
    wait_for(lambda: any("waiting.put_off" in text and line in text for text in node.log.read_text().splitlines()))


def frail_contest(frail: Frail, game: str, name: str) -> None:
    """Opens a contest."""
    storage = Storage(frail.settings)
    storage.contests.open(game, name, 5)
    storage.close()
