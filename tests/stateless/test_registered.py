"""Registered bots with a url: tested, matched with bots that wait, in contests, paused and resumed; over REST."""

from __future__ import annotations

import json
import urllib.error
import urllib.request
from collections.abc import Callable, Iterator
from contextlib import closing
from dataclasses import replace
from typing import Any

import pytest
from cluster import Cluster, Web, cluster, wait_for
from conductors import Conductor
from httpbots import Bots, OneAtATime, http_bots
from peer import Peer

from battlebot.arena.live.queue import Queues
from battlebot.arena.live.store import MatchStore
from battlebot.config import Settings
from battlebot.contests.service.organiser import Organiser
from battlebot.redisio.bus import Bus
from battlebot.redisio.connection import connect
from battlebot.rules.registry import discover
from battlebot.stateless.asking import Question
from battlebot.stateless.http.bots import HttpBots
from battlebot.stateless.http.guard import Guard
from battlebot.storage import Storage

Owned = Callable[..., tuple[int, Any]]


@pytest.fixture(scope="module")
def served(module_settings: Settings, tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Cluster, Web]]:
    """A web node, both kinds of worker, and beat, for all tests of a module."""
    with cluster(replace(module_settings, bot_loopback=True), tmp_path_factory.mktemp("served")) as parts:
        web = parts.web()
        parts.worker()
        parts.bots()
        parts.beat()
        web.wait_until_ready()
        yield parts, web


@pytest.fixture(scope="module")
def lasting() -> Iterator[Bots]:
    """Bots behind HTTP for all tests of a module: what is registered stays registered."""
    with http_bots() as made:
        yield made


@pytest.fixture
def owned(served: tuple[Cluster, Web]) -> Owned:
    """Asks for a bot as its owner: method, bot's credentials, body, what follows in the path."""
    _, web = served

    def ask(method: str, bot: dict[str, str], body: Any = None, rest: str = "") -> tuple[int, Any]:
        request = urllib.request.Request(
            f"{web.url}/bots/{bot['game']}/{bot['bot_id']}{rest}",
            None if body is None else json.dumps(body).encode(),
            {"Authorization": f"Bearer {bot['pass_hash']}", "Content-Type": "application/json"},
            method=method,
        )
        try:
            with urllib.request.urlopen(request, timeout=30) as answer:
                return answer.status, json.load(answer)
        except urllib.error.HTTPError as error:
            return error.code, json.load(error)

    return ask


def register(web: Web, bot_id: str, url: str, game: str = "numberwang", **more: Any) -> dict[str, str]:
    """Registers a bot with a url; its credentials."""
    status, answer = web.request(f"/bots/{game}", {"bot_id": bot_id, "url": url, **more})
    assert status == 201, answer
    return answer


def visit(web: Web, credentials: dict[str, str], **login: Any) -> dict[str, Any]:
    """Plays one match of numberwang over WebSocket; the final state."""
    with closing(Peer(web.address)) as peer:
        peer.log_in(credentials, **login)
        while True:
            state = peer.update()["state"]
            if state["complete"]:
                return dict(state)
            if state["nextPlayer"] == credentials["bot_id"]:
                peer.send({"n": 3})


def test_a_bot_that_waits_meets_one_that_is_always_there(served: tuple[Cluster, Web], lasting: Bots) -> None:
    """At once, by WebSocket against HTTP, to the end; and again. Its answer is a turn of the game."""
    _, web = served
    register(web, "ever-ready", lasting.url("counting"))
    visitor = web.register("visitor", "numberwang")
    for _ in range(2):
        final = visit(web, visitor)
        assert sorted(final["players"]) == ["ever-ready", "visitor"]
        assert final["reason"] == "complete"


def test_one_that_comes_later_meets_who_waits_already(served: tuple[Cluster, Web], lasting: Bots) -> None:
    """Nobody has to come for them to meet."""
    _, web = served
    early = web.register("early", "noughtsandcrosses")
    with closing(Peer(web.address)) as peer:
        peer.log_in(early)
        register(web, "later", lasting.url("marking"), "noughtsandcrosses")
        assert sorted(peer.update()["state"]["players"]) == ["early", "later"]


def test_a_connected_bot_plays_battlecube_against_one_behind_http(served: tuple[Cluster, Web], lasting: Bots) -> None:
    """All at once: state in, tasks out; what the other plans it is not told before it has answered itself."""
    _, web = served
    register(web, "stone", lasting.url("good"), "battlecube")
    walker = web.register("walker", "battlecube")
    with closing(Peer(web.address)) as peer:
        peer.log_in(walker)
        answered = -1
        while not (state := (update := peer.update())["state"])["complete"]:
            assert update.get("turn", {}).get("player", "walker") == "walker"
            if "walker" in state["waitingFor"] and state["currentTick"] > answered:
                answered = state["currentTick"]
                x = {row["name"]: row["x"] for row in state["positions"]}
                # away from the other, so that they never crash
                peer.send({"tasks": [{"task": "MOVE", "direction": "+X" if x["walker"] > x["stone"] else "-X"}]})
    assert (state["victor"], state["lost"][0]["cause"]) == ("stone", "Player moved out of bounds")


def test_two_that_are_always_there_leave_each_other_alone(served: tuple[Cluster, Web], lasting: Bots) -> None:
    """Outside contests somebody must come for them."""
    parts, web = served
    for name in ("one-of-two", "two-of-two"):
        register(web, name, lasting.url("good"), "battlecube")
    queues = Queues(connect(parts.settings.redis_url))
    wait_for(lambda: {ticket.bot for ticket in queues.tickets("battlecube")} >= {"one-of-two", "two-of-two"}, "tickets")
    played = web.request("/games/battlecube")[1] + web.request("/games/battlecube/live")[1]["matches"]
    assert not [match for match in played if set(match["players"]) == {"one-of-two", "two-of-two"}]


REFUSED = [
    ("failing", "bad-status"),
    ("moved", "redirect"),
    ("garbled", "bad-json"),
    ("lying", "invalid-turn"),
    ("dying", "cut-off"),
]


@pytest.mark.parametrize(("behaviour", "code"), REFUSED)
def test_a_bot_that_fails_its_test_is_not_registered(
    served: tuple[Cluster, Web], lasting: Bots, behaviour: str, code: str
) -> None:
    """What became of the test request is said; the name stays free."""
    _, web = served
    body = {"bot_id": f"tested-{behaviour}", "url": lasting.url(behaviour)}
    status, answer = web.request("/bots/battlecube", body)
    assert (status, answer["code"], answer["field"], answer["test"]["code"]) == (400, "unanswered-test", "url", code)
    assert answer["test"]["question"]["currentPlayer"]["name"] == body["bot_id"]
    register(web, body["bot_id"], lasting.url("good"), "battlecube", available=False)


URLS: list[Any] = ["http://10.0.0.1/", "http://169.254.169.254/latest/meta-data", "ftp://bots.example/", "bots", "", 7]


@pytest.mark.parametrize("url", URLS)
def test_an_address_that_may_not_be_asked_is_not_registered(served: tuple[Cluster, Web], url: Any) -> None:
    """Private ones, other schemes, what is none."""
    _, web = served
    status, answer = web.request("/bots/battlecube", {"bot_id": "nowhere", "url": url})
    assert (status, answer["field"]) == (400, "url")


def test_an_owner_sees_how_the_bot_is_doing(served: tuple[Cluster, Web], lasting: Bots, owned: Owned) -> None:
    """Its url, its last test, times; never its password."""
    _, web = served
    bot = register(web, "watched", lasting.url("counting"))
    status, about = owned("GET", bot)
    assert (status, about["state"], about["url"], about["lastTest"]["ok"]) == (200, "ready", bot_url(lasting), True)
    assert bot["pass_hash"] not in json.dumps(about)
    assert owned("POST", bot, rest="/test")[1]["ok"] is True


def test_only_the_owner_sees_it(served: tuple[Cluster, Web], lasting: Bots, owned: Owned) -> None:
    """Without the password, with another's, and of a bot that is not there: all alike."""
    _, web = served
    bot = register(web, "private", lasting.url("counting"))
    other = web.register("curious", "numberwang")
    with pytest.raises(urllib.error.HTTPError) as refused:
        urllib.request.urlopen(f"{web.url}/bots/numberwang/private", timeout=30)
    assert (refused.value.code, refused.value.headers["WWW-Authenticate"]) == (401, 'Bearer realm="battlebot"')
    assert owned("GET", {**bot, "pass_hash": other["pass_hash"]})[0] == 401
    assert owned("PATCH", {**bot, "pass_hash": other["pass_hash"]}, {"available": False})[0] == 401
    assert owned("POST", {**bot, "pass_hash": "0" * 64}, rest="/test")[0] == 401
    assert owned("GET", {**bot, "bot_id": "nobody"})[0] == 401
    assert owned("GET", other)[1]["state"] == "connects"


def test_an_owner_changes_the_url_and_the_readiness(served: tuple[Cluster, Web], lasting: Bots, owned: Owned) -> None:
    """Another url is tested first, and not taken if it fails."""
    _, web = served
    bot = register(web, "moving", lasting.url("counting"))
    assert owned("PATCH", bot, {"url": lasting.url("failing")})[0] == 400
    assert owned("GET", bot)[1]["url"] == lasting.url("counting")
    assert owned("PATCH", bot, {"url": lasting.url("counting/2"), "available": False})[1]["state"] == "off"
    about = owned("GET", bot)[1]
    assert (about["url"], about["available"]) == (lasting.url("counting/2"), False)


def test_they_play_in_a_contest_that_lists_them(served: tuple[Cluster, Web], lasting: Bots) -> None:
    """Three of them, every pair twice, without anybody who connects."""
    parts, web = served
    names = ["cup-a", "cup-b", "cup-c"]
    for name in names:
        register(web, name, lasting.url("counting"))
    storage = Storage(parts.settings)
    client, registry = connect(parts.settings.redis_url), discover()
    conductor = Conductor(registry, MatchStore(client))
    organiser = Organiser(storage, conductor, Bus(client), lambda *_: None, lambda *_: None)
    fields = {"name": "cup", "format": "round-robin", "entrants": names, "meetings": 2}
    organiser.create("numberwang", fields, "ann")
    organiser.transition("start", "numberwang", "cup", "ann")

    def finished() -> bool:
        return organiser.contest("numberwang", "cup").state == "finished"

    wait_for(finished, "the end of the contest", 60.0)
    rows = web.request("/games/numberwang/contest/cup")[1]["bots"]
    assert {row["bot_id"]: row["played"] for row in rows} == dict.fromkeys(names, 4)


def test_a_url_that_fails_again_and_again_is_paused(served: tuple[Cluster, Web], lasting: Bots, owned: Owned) -> None:
    """It is said so; the owner's test that it passes brings it back."""
    _, web = served
    lasting.broken.clear()
    bot = register(web, "wavering", lasting.url("wavering"), "connectfour")
    visitor = web.register("patient", "connectfour")
    lasting.broken.set()
    for _ in range(5):
        with closing(Peer(web.address)) as peer:
            peer.log_in(visitor)
            while not (state := peer.update()["state"])["complete"]:
                if state["nextPlayer"] == "patient":
                    peer.send({"column": 3})
            assert (state["victor"], state["reason"]) == ("patient", "invalid")
    about = wait_for(lambda: (got := owned("GET", bot)[1])["state"] == "paused" and got, "the pause")
    assert about["failuresInARow"] >= 5
    assert "tested again" in about["error"]
    assert {failure["code"] for failure in about["failures"]} == {"bad-status"}
    assert "status is 500" in about["failures"][0]["error"]
    assert owned("POST", bot, rest="/test")[1]["code"] == "bad-status"
    lasting.broken.clear()
    assert owned("POST", bot, rest="/test")[1]["ok"]
    assert owned("GET", bot)[1]["state"] == "ready"


def bot_url(bots: Bots) -> str:
    """Where the counting bot is."""
    return bots.url("counting")


def test_a_test_leaves_no_connection_behind(served: tuple[Cluster, Web], owned: Owned) -> None:
    """A bot that serves one connection at a time is asked by another process right after it was registered."""
    _, web = served
    with http_bots(OneAtATime) as bots:
        bot = register(web, "alone", bots.url("marking"), "noughtsandcrosses")
        assert owned("PATCH", bot, {"available": False})[0] == 200
        by = HttpBots(Guard(loopback=True), 65_536, 16)
        content = bots.questions["marking"]
        assert by.ask(Question(bots.url("marking"), bot["game"], "match", "alone", content, 5.0)).failure is None
