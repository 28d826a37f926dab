"""MongoDB hangs, or is gone and comes back: matches go on, pages say what is stale, programs get a coded 503."""

from __future__ import annotations

import time
import urllib.error
import urllib.request
from concurrent.futures import ThreadPoolExecutor

import pytest
import redis
from cluster import Tcp, Web, wait_for
from frail import Frail, play_out, ready
from peer import login_for, new_name
from switchboard import Switchboard
from tcp_peer import Pair, TcpPeer

from battlebot.arena.live.heartbeats import Heartbeats
from battlebot.arena.live.turnedaway import Knock, TurnedAwayAnywhere
from battlebot.arena.places import WEB
from battlebot.redisio.connection import connect
from battlebot.wire.login import Login, hash_fits

AWAY_S = 5.0  # a bot that leaves on its turn
PLAY = {"turn_timeout_ms": 20_000}  # longer than any look at a page takes


def look(web: Web, path: str) -> tuple[int, str]:
    """Status and text of a page."""
    try:
        with urllib.request.urlopen(web.url + path, timeout=30) as answer:
            return answer.status, answer.read().decode()
    except urllib.error.HTTPError as error:
        return error.code, error.read().decode()


def turned_away(client: redis.Redis, auth: dict[str, str]) -> tuple[tuple[float, float], ...]:
    """When logins of this bot came that the server turned away, and when it did."""
    knock = Knock(Login("numberwang", auth["bot_id"], ""))
    return TurnedAwayAnywhere(client).attempts(knock, lambda given, salt: hash_fits(given, auth["pass_hash"], salt))


@pytest.mark.parametrize("how", ["killed", "paused"])
def test_matches_go_on_and_are_archived_afterwards(frail: Frail, web: Web, meet: Switchboard, how: str) -> None:
    """One that had begun, and one that begins meanwhile between bots that the node has seen before."""
    begun = meet.sit()
    known = meet.sit()
    play_out(*known)
    unknown = meet.auth()
    live = f"/web/numberwang/matches/{begun[0].first['match']['id']}"  # type: ignore[attr-defined]
    assert look(web, "/")[0] == 200
    turn = f"/web/numberwang/matches/{known[0].first['match']['id']}/turns/0"  # type: ignore[attr-defined]
    wait_for(lambda: look(web, turn)[0] == 200, "the archived match's page")
    player, other = (f"/web/numberwang/player?name={peer.bot}" for peer in known)
    assert look(web, player)[0] == 200
    wait_for(lambda: ready(web), "a ready server")
    with getattr(frail, how)("mongod"):
        wait_for(lambda: "mongodb" in web.request("/readyz")[1]["since"], "the node to notice")
        stranger = meet()
        stranger.send(login_for(unknown, stranger.message()["salt"]))
        one, two = (meet.login(peer.auth) for peer in known)  # type: ignore[attr-defined]
        later = play_out(*meet.seated(one, two))
        assert play_out(*begun)["reason"] == later["reason"] == "complete"
        _pages_say_what_is_stale(web, live)
        status, page = look(web, player)
        assert (status, "This page is shown as it was at" in page) == (200, True)
        assert [look(web, path)[0] for path in (turn, other)] == [503, 503]
        _programs_are_told(web)
        # not "failed": its login may be right, and an original client would not try again
        closed = stranger.closed()
        assert (closed.code, closed.slug) == (1011, "unavailable")
        with connect(frail.settings.redis_url) as client:
            wait_for(lambda: turned_away(client, unknown), "all nodes to know that it was kept out")
            assert turned_away(client, begun[0].auth) == ()  # type: ignore[attr-defined]
    wait_for(lambda: ready(web), "a ready server")
    bots = {begun[0].bot, known[0].bot}

    def archived() -> int:
        return sum(bool(bots & set(row["players"])) for row in web.request("/games/numberwang")[1])

    wait_for(lambda: archived() == 3, "all three matches in the record")
    assert "cannot be reached" not in look(web, "/")[1]
    assert all(child.alive for child in frail.parts.children)
    assert frail.errors() == []


def test_who_comes_back_while_it_is_away_has_had_its_time(frail: Frail, meet: Switchboard) -> None:
    """Its node knows it and lets it in: the clock of a bot that leaves on its turn does not stand still."""
    known = meet.sit()
    play_out(*known)
    client = connect(frail.settings.redis_url)

    def lasts() -> bool:
        return any(one.lasts for one in Heartbeats(client).shown(WEB, time.time()).outages)

    wait_for(lambda: not lasts(), "the end of any outage before")
    with frail.paused("mongod"):
        wait_for(lasts, "the outage")
        one, two = (meet.login(peer.auth) for peer in known)  # type: ignore[attr-defined]
        mover, other = meet.seated(one, two)
        left_s = time.monotonic()
        mover.reset()
        auth = next(peer.auth for peer in known if peer.bot == mover.bot)  # type: ignore[attr-defined]
        # for a contest that its node cannot look up: nothing kept it out of its match
        astray = meet()
        astray.send({**login_for(auth, astray.message()["salt"]), "contest": new_name("contest")})
        assert astray.closed().slug == "unavailable"
        wait_for(lambda: time.monotonic() - left_s > AWAY_S, "the bot to have been away")
        back = meet.login(auth)
        seen = back.update()["match"]
        assert 0 < seen["remainingMs"] < seen["turnTimeoutMs"] - AWAY_S * 1000 / 2
        assert play_out(back, other)["reason"] == "complete"
    client.close()
    wait_for(lambda: ready(meet.web), "a ready server")


def test_who_has_a_seat_in_a_contest_comes_back_at_a_node_that_does_not_know_it(
    frail: Frail, web: Web, meet: Switchboard
) -> None:
    """By Redis alone. Its clock has run until it came; others are not let in there until the contest can be read."""
    unaware = frail.parts.web(**PLAY)
    contest = {"contest": new_name("contest")}
    idle = meet.auth()
    known = [meet.auth(), meet.auth()]
    mover, other = meet.seated(*(meet.login(auth, login=contest) for auth in known))
    auth = next(auth for auth in known if auth["bot_id"] == mover.bot)
    meet.login(idle, login=contest).close()
    with frail.paused("mongod"):
        wait_for(lambda: all("mongodb" in node.request("/readyz")[1]["since"] for node in (web, unaware)), "the outage")
        left_s = time.monotonic()
        mover.reset()
        stranger = meet(web=unaware)
        stranger.send({**login_for(idle, stranger.message()["salt"]), **contest})
        wait_for(lambda: time.monotonic() - left_s > AWAY_S, "the bot to have been away")
        back = meet.login(auth, web=unaware, login=contest)
        seen = back.update()["match"]
        assert 0 < seen["remainingMs"] < seen["turnTimeoutMs"] - AWAY_S * 1000 / 2
        assert stranger.closed().slug == "unavailable"
        assert play_out(back, other)["reason"] == "complete"
    wait_for(lambda: ready(web) and ready(unaware), "ready nodes")
    assert frail.errors() == []


@pytest.fixture(scope="module")
def door(frail: Frail) -> Tcp:
    """A TCP node."""
    return frail.parts.tcp()


@pytest.mark.parametrize("how", ["killed", "paused"])
def test_a_player_of_the_tcp_door_waits_for_its_next_opponent_until_it_is_back(
    frail: Frail, door: Tcp, how: str
) -> None:
    """Both boards are played to their end meanwhile. Whether its name is still free is known only then."""
    before = door.log.read_text().count("waiting.put_off")
    table = Pair(*(TcpPeer(door.address).enter() for _ in range(2))).begin()
    leaver = TcpPeer(door.address).enter()
    with getattr(frail, how)("mongod"):
        table.over()
        for peer in (leaver, table.one, table.two):
            peer.find()
        wait_for(lambda: door.log.read_text().count("waiting.put_off") == before + 3, "the node to notice")
        leaver.reset()
    table.begin()
    for peer in (table.one, table.two):
        peer.leave()
    assert frail.errors() == []


def test_a_mongodb_that_is_no_primary_is_away(frail: Frail, web: Web, meet: Switchboard) -> None:
    """As in a fail-over: it answers questions, but takes no writes. What ends meanwhile is archived afterwards."""
    begun = meet.sit()
    with frail.demoted("mongod"):
        wait_for(lambda: "mongodb" in web.request("/readyz")[1]["since"], "the node to notice")
        assert play_out(*begun)["reason"] == "complete"
        status, body = web.request("/bots/numberwang", {"bot_id": new_name()})
        assert (status, body["code"]) == (503, "unavailable")
    wait_for(lambda: ready(web), "a ready server")
    played = (begun[0].bot, begun[1].bot)
    wait_for(lambda: [row for row in web.request("/games/numberwang")[1] if sorted(row["players"]) == sorted(played)])
    assert all(child.alive for child in frail.parts.children)
    assert frail.errors() == []


def _pages_say_what_is_stale(web: Web, match: str) -> None:
    seen, unseen, board = look(web, "/"), look(web, "/web/connectfour"), look(web, match)
    assert [status for status, _ in (seen, unseen, board)] == [200, 200, 200]
    assert "This page is shown as it was at" in seen[1]
    assert "is left out of this page" in unseen[1]
    assert "Contests cannot be shown" in unseen[1]
    status, page = look(web, "/web/numberwang/contests/nobody-has-seen-it")
    assert (status, "<h1>Service Unavailable</h1>" in page) == (503, True)


def _programs_are_told(web: Web) -> None:
    assert web.request("/healthz")[0] == 200
    with ThreadPoolExecutor() as pool:
        registered = pool.submit(web.request, "/bots/numberwang", {"bot_id": new_name()})
        with pytest.raises(urllib.error.HTTPError) as refused:
            urllib.request.urlopen(f"{web.url}/games/numberwang", timeout=30)
        status, body = registered.result()
    assert refused.value.code == 503
    assert refused.value.headers["Retry-After"]
    assert (status, body["code"]) == (503, "unavailable")
