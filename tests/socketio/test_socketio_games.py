"""Games over socket.io: begun, followed, changed, left, refused; by viewers of both generations, over two nodes."""

from __future__ import annotations

import sys
import time
from contextlib import ExitStack
from itertools import pairwise
from typing import Any

import pytest
import requests
import websocket
from cluster import LIMIT_S, Cluster, Web, wait_for
from httpbots import Bots
from viewers import NOOP_GAME, VIEWERS, Original, Today, Viewer, game

from battlebot.arena.live.making import new_match
from battlebot.arena.live.store import Beginning, MatchStore
from battlebot.redisio.connection import connect
from battlebot.referee.replay import check_match
from battlebot.rules.registry import discover
from battlebot.storage import Storage

Nodes = tuple[Web, Web]


def check_told(got: list[tuple[str, Any]], ticks: int, urls: dict[str, str]) -> None:
    """GAME_STARTED, each tick once and in order, GAME_ENDED with all scores under both names."""
    names = [name for name, _ in got]
    assert (names[0], names[-1]) == ("GAME_STARTED", "GAME_ENDED")
    game_id = got[0][1]["id"]
    seen = [body for name, body in got if name == "NEXT_TICK"]
    assert [body["gameInfo"]["currentTick"] for body in seen] == list(range(ticks))
    assert {body["gameInfo"]["id"] for body in seen} == {game_id}
    for body in seen:
        assert set(body["gameInfo"]) == {"id", "edgeLength", "numOfTasksPerTick", "numOfBotsInPlay", "currentTick"}
        assert all(set(row) == {"name", "x", "y", "z"} for row in body["players"])
    end = got[-1][1]
    assert end["id"] == game_id
    assert {row["name"]: row["url"] for row in end["scores"]} == urls
    assert all(row["score"] == row["highScore"] for row in end["scores"])


@pytest.mark.parametrize("kind", VIEWERS)
def test_a_game_is_told_from_its_start_to_its_end(nodes: Nodes, bots: Bots, kind: str) -> None:
    """A tie of two that do nothing, then a winner; the very same events for every client and transport."""
    good, lying = bots.url("good"), bots.url("lying")
    with VIEWERS[kind](nodes[0]) as viewer:
        got = viewer.play(game(good, good))
        check_told(got, 6, {"a": good, "b": good})
        assert [name for name, _ in got].count("PLAYER_DID_NOTHING") == 12
        assert (got[-1][1]["result"], "winner" in got[-1][1]) == ("TIE", False)
        assert [row["score"] for row in got[-1][1]["scores"]] == [6, 6]
        got = viewer.play(game(good, lying))
        check_told(got, 1, {"a": good, "b": lying})
        (lost,) = [body for name, body in got if name == "PLAYER_LOST"]
        assert (lost["name"], lost["cause"]["error"]) == ("b", "VALIDATION_ERROR")
        end = got[-1][1]
        assert end["result"] == "WINNER_FOUND"
        assert end["winner"] == {"name": "a", "url": good, "score": 1, "highScore": 1}
        assert [row["name"] for row in end["scores"]] == ["b", "a"]


@pytest.mark.parametrize("kind", VIEWERS)
def test_no_event_of_a_fast_game_is_left_out(nodes: Nodes, bots: Bots, kind: str) -> None:
    """A hundred ticks of four bots as fast as they answer: 501 events and the end, each once, also by polling."""
    good = bots.url("good")
    with VIEWERS[kind](nodes[0]) as viewer:
        got = viewer.play(game(good, good, good, good, maxNumOfTicks=100))
        check_told(got, 100, dict.fromkeys("abcd", good))
        assert len(got) == 1 + 100 * 5 + 1


@pytest.mark.parametrize("kind", VIEWERS)
def test_a_game_of_as_many_as_can_play_begins(nodes: Nodes, bots: Bots, kind: str) -> None:
    """With long names, long URLs and start positions: a message of far more than 16 kB."""
    names = [f"{'é' * 61}{number:02}" for number in range(64)]
    players = [{"name": name, "url": f"{bots.url('good')}/{'p' * 70}"} for name in names]
    positions = [{"name": name, "x": number % 20, "y": number // 20, "z": 0} for number, name in enumerate(names)]
    with VIEWERS[kind](nodes[0]) as viewer:
        setup = {"maxNumOfTicks": 1, "edgeLength": 20, "playerStartPositions": positions}
        got = viewer.play({"setup": setup, "players": players})
        assert len(got[-1][1]["scores"]) == 64


def test_who_comes_late_is_told_what_has_been_at_once(nodes: Nodes, bots: Bots) -> None:
    """Viewers of every kind, after ten ticks of four: more than a client that polls takes in one answer."""
    slow = bots.url("slow")
    with ExitStack() as stack:
        first = stack.enter_context(Original(nodes[0]))
        first.say("NEW_GAME", game(slow, slow, slow, slow, maxNumOfTicks=14))
        first.until("NEXT_TICK", 10)
        viewers = [stack.enter_context(make(nodes[1])) for make in VIEWERS.values()]
        for viewer in viewers:
            viewer.say("WATCH_GAME", {"id": first.bodies("GAME_STARTED")[0]["id"]})
        first.until("GAME_ENDED")
        for viewer in viewers:
            viewer.until("GAME_ENDED")
            assert viewer.names() == first.names()


BAD: list[tuple[str, Any, str]] = [
    ("nothing", None, '"setup"'),
    ("no object", [1], ""),
    ("no setup", {"players": [{"name": "a", "url": "http://127.0.0.1:1/"}]}, '"setup" is required'),
    ("setup is null", {"setup": None, "players": []}, '"setup" is required'),
    ("no players", {"setup": {"maxNumOfTicks": 3, "edgeLength": 3}}, '"players" is required'),
    ("nobody", {**game(), "players": []}, "1 to 64"),
    ("no name", {**game(), "players": [{"url": "http://127.0.0.1:1/"}]}, '"name"'),
    ("no url", {**game(), "players": [{"name": "a"}]}, '"url" must be a string'),
    ("two of a name", {**game(), "players": [{"name": "a", "url": "http://127.0.0.1:1/"}] * 2}, "unique"),
    ("too small", game(*["http://127.0.0.1:1/"] * 8, edgeLength=1), "Too many players for the selected game area size"),
    ("no such scheme", game("ftp://127.0.0.1/"), "http"),
    ("no number", game("http://127.0.0.1:1/", edgeLength="wide"), '"edgeLength" must be an integer'),
    ("out of bounds", game("http://127.0.0.1:1/", maxNumOfTicks=0), "maxNumOfTicks"),
    (
        "positions of others",
        game("http://127.0.0.1:1/", playerStartPositions=[{"name": "x", "x": 0, "y": 0, "z": 0}]),
        "There are no player start positions for all players in the game",
    ),
]


@pytest.mark.parametrize("old", [True, False], ids=["original", "today"])
def test_a_game_that_cannot_be_is_refused_with_a_sentence(nodes: Nodes, old: bool) -> None:
    """Each row: what is sent, what the details say; the viewer is still there, and may say something else."""
    for what, payload, said in BAD:
        with Original(nodes[0]) if old else Today(nodes[0], "websocket") as viewer:
            viewer.say("NEW_GAME", payload)
            error = viewer.until("ERROR")
            assert error["error"] == "INVALID_GAME_CONFIGURATION", what
            assert said in str(error["details"]), what
            assert error["code"], what
            if isinstance(error["details"], list):
                assert all(set(row) == {"message", "path", "type"} for row in error["details"])
            viewer.say("GAME_SETUP_UPDATE", {"speed": 1})
            assert viewer.until("ERROR", 2)["error"] == "NO_GAME_RUNNING", what


@pytest.mark.parametrize("kind", VIEWERS)
@pytest.mark.parametrize(
    ("levels", "told"),
    [(14, "must be a list"), (15, "too deeply"), (900, "too deeply"), (990, "too deeply"), (20_000, "too deeply")],
)
def test_a_game_that_is_nested_too_deeply_is_refused_like_any_other(
    nodes: Nodes, kind: str, levels: int, told: str
) -> None:
    """However deep, and whether it can be decoded or not; the viewer is still there."""
    setup = f'{{"maxNumOfTicks":1,"edgeLength":5,"playerStartPositions":{"[" * levels}{"]" * levels}}}'
    with VIEWERS[kind](nodes[0]) as viewer:
        viewer.send(f'2["NEW_GAME",{{"setup":{setup},"players":[{{"name":"a","url":"http://127.0.0.1:1/"}}]}}]')
        error = viewer.until("ERROR")
        assert error["error"] == "INVALID_GAME_CONFIGURATION"
        assert told in error["details"]
        viewer.say("GAME_SETUP_UPDATE", {"speed": 1})
        assert viewer.until("ERROR", 2)["error"] == "NO_GAME_RUNNING"


def test_one_socket_runs_one_game_at_a_time(nodes: Nodes, bots: Bots) -> None:
    """A second is refused by a code of its own; when the first is over there may be another."""
    with Today(nodes[0]) as viewer:
        viewer.say("NEW_GAME", game(bots.url("slow"), maxNumOfTicks=5))
        viewer.say("NEW_GAME", game(bots.url("good")))
        assert viewer.until("ERROR")["error"] == "GAME_ALREADY_RUNNING"
        viewer.until("GAME_ENDED")
        assert len(viewer.bodies("GAME_STARTED")) == 1
        viewer.play(game(bots.url("good")))
        viewer.got.clear()
        viewer.say("GAME_SETUP_UPDATE", {"edgeLength": 4})
        assert viewer.until("ERROR")["error"] == "NO_GAME_RUNNING"


def test_the_setup_changes_with_the_next_sequence(nodes: Nodes, bots: Bots) -> None:
    """A larger cube, two tasks at a time; what cannot be is refused, and changes nothing."""
    with Original(nodes[0]) as viewer:
        viewer.say("NEW_GAME", game(bots.url("slow"), bots.url("slow"), maxNumOfTicks=10))
        viewer.until("NEXT_TICK")
        for number, setup in enumerate([{}, {"edgeLength": 1}, {"edgeLength": 1000}, {"speed": "x"}, None], start=1):
            viewer.say("GAME_SETUP_UPDATE", setup)
            assert viewer.until("ERROR", number)["error"] == "INVALID_GAME_CONFIGURATION", setup
        viewer.say("GAME_SETUP_UPDATE", {"edgeLength": 9, "numOfTasksPerTick": 2, "maxNumOfTicks": 3})
        viewer.until("GAME_ENDED")
        sizes = [body["gameInfo"]["edgeLength"] for body in viewer.bodies("NEXT_TICK")]
        assert sizes[0] == 6
        assert sizes[-1] == 9
        assert sorted(sizes) == sizes
        assert viewer.bodies("NEXT_TICK")[-1]["gameInfo"]["numOfTasksPerTick"] == 2
        assert len(sizes) == 10


def test_of_many_setups_in_a_row_the_last_one_counts(nodes: Nodes, bots: Bots) -> None:
    """As while a slider is dragged: none is refused; and the next game begins with its own setup."""
    with Original(nodes[0]) as viewer:
        viewer.say("NEW_GAME", game(bots.url("good"), bots.url("good"), speed=100, maxNumOfTicks=60))
        viewer.until("NEXT_TICK")
        for size in range(30, 10, -1):
            viewer.say("GAME_SETUP_UPDATE", {"edgeLength": size})
        viewer.say("GAME_SETUP_UPDATE", {"speed": 70})
        viewer.until("GAME_ENDED")
        assert viewer.bodies("NEXT_TICK")[-1]["gameInfo"]["edgeLength"] == 11
        viewer.play(game(bots.url("good"), bots.url("good")))
        assert {body["gameInfo"]["edgeLength"] for body in viewer.bodies("NEXT_TICK")} == {6}
        assert viewer.bodies("ERROR") == []


def test_events_that_come_too_fast_are_refused(nodes: Nodes) -> None:
    """Except for changes of a setup; afterwards the viewer is heard again."""
    with Original(nodes[0]) as viewer:
        for _ in range(12):
            viewer.say("WATCH_GAME", "0" * 24)
        viewer.until("ERROR", 12)
        assert [body["error"] for body in viewer.bodies("ERROR")].count("TOO_MANY_EVENTS") >= 1


def test_a_setup_that_comes_in_the_pause_is_that_of_the_sequence_about_to_begin(
    parts: Cluster, nodes: Nodes, bots: Bots
) -> None:
    """No bot has been asked yet: the tick is told once, as it is played, and each bot is asked in it once."""
    asked: list[dict[str, Any]] = []
    bots.keep = asked.append
    with Original(nodes[0]) as viewer:
        viewer.say("NEW_GAME", game(bots.url("good"), bots.url("good"), speed=3000, maxNumOfTicks=3))
        viewer.until("PLAYER_DID_NOTHING", 2)
        viewer.say("GAME_SETUP_UPDATE", {"edgeLength": 9})
        viewer.say("GAME_SETUP_UPDATE", {"speed": 0})
        viewer.until("GAME_ENDED")
    ticks = [body["gameInfo"] for body in viewer.bodies("NEXT_TICK")]
    assert [(info["currentTick"], info["edgeLength"]) for info in ticks] == [(0, 6), (1, 9), (2, 9)]
    info = [question["gameInfo"] for question in asked]
    assert [(one["currentTick"], one["edgeLength"]) for one in info] == [(0, 6)] * 2 + [(1, 9)] * 2 + [(2, 9)] * 2
    for question in asked[2:]:
        (told,) = [
            body
            for body in viewer.bodies("NEXT_TICK")
            if body["gameInfo"]["currentTick"] == question["gameInfo"]["currentTick"]
        ]
        assert question["players"] == told["players"]
    storage = Storage(parts.settings)
    game_id = viewer.bodies("GAME_STARTED")[0]["id"]
    stored = wait_for(lambda: storage.games.find(game_id), "the stored match")
    storage.close()
    assert check_match(discover()["battlecube"], stored) == []


def test_who_leaves_ends_nothing_and_others_may_watch_at_any_node(parts: Cluster, nodes: Nodes, bots: Bots) -> None:
    """Watched from its beginning at the other node, without the urls; stored, and shown at its page."""
    with Today(nodes[0]) as viewer:
        viewer.say("NEW_GAME", game(bots.url("slow"), bots.url("good"), maxNumOfTicks=8))
        game_id = viewer.until("GAME_STARTED")["id"]
        viewer.until("NEXT_TICK")
    with Original(nodes[1]) as other:
        other.say("WATCH_GAME", {"id": game_id})
        end = other.until("GAME_ENDED")
        ticks = [body["gameInfo"]["currentTick"] for body in other.bodies("NEXT_TICK")]
        assert ticks == list(range(8))
        assert "http" not in str(end)
        other.say("WATCH_GAME", {"id": "0" * 24})
        assert other.until("ERROR")["code"] == "unknown-match"
    storage = Storage(parts.settings)
    stored = wait_for(lambda: storage.games.find(game_id), "the stored match")
    assert stored["players"] == ["a", "b"]
    storage.close()
    page = requests.get(f"{nodes[1].url}/web/battlecube/matches/{game_id}", timeout=10)
    assert page.status_code == 200
    assert bots.url("slow") not in page.text


def test_a_match_of_another_game_cannot_be_watched(parts: Cluster, nodes: Nodes) -> None:
    """Its events are none of a battle: to tell them would fail."""
    seats = [("a", "nobody/1.1"), ("b", "nobody/2.1")]
    match = new_match(discover()["crossword"], seats, parts.settings, time.time())
    client = connect(parts.settings.redis_url)
    assert MatchStore(client).begin(Beginning(match, [], []), "crossword")
    client.close()
    with Original(nodes[0]) as viewer:
        viewer.say("WATCH_GAME", match.id)
        assert viewer.until("ERROR")["code"] == "unknown-match"
        assert viewer.names() == ["ERROR"]


def test_a_node_that_stops_sends_its_viewers_away_and_their_games_go_on(
    parts: Cluster, nodes: Nodes, bots: Bots
) -> None:
    """By the end of their connections: after a DISCONNECT of socket.io (41), genuine clients would not come again.

    The node is gone soon after.
    """
    web = parts.web()
    with ExitStack() as stack:
        viewer, other = stack.enter_context(Original(web)), stack.enter_context(Original(nodes[0]))
        idle = [stack.enter_context(make(web)) for make in VIEWERS.values()]
        viewer.say("NEW_GAME", game(bots.url("slow"), bots.url("slow"), maxNumOfTicks=8))
        game_id = viewer.until("GAME_STARTED")["id"]
        began = time.monotonic()
        web.child.stop()
        assert time.monotonic() - began < 15
        for one in (viewer, *idle):
            assert one.ended.wait(LIMIT_S)
            assert (one.packets[-1], "41" in one.packets) == ("1", False), one
        other.say("WATCH_GAME", game_id)
        assert len(other.until("GAME_ENDED")["scores"]) == 2


class Timed(Original):
    """Notes when each tick came: on a busy machine the test learns of it later than its reader."""

    def __init__(self, web: Web) -> None:
        self.at_s: list[float] = []
        super().__init__(web)

    def hear(self, name: str, body: Any) -> None:
        if name == "NEXT_TICK":
            self.at_s.append(time.monotonic())
        super().hear(name, body)


def test_ticks_pass_at_the_games_speed(nodes: Nodes, bots: Bots) -> None:
    """Also within a sequence, of which all is known at once: 100 ms lie between two ticks, more or less."""
    with Timed(nodes[0]) as viewer:
        setup = {"speed": 100, "numOfTasksPerTick": 3, "maxNumOfTicks": 31}
        viewer.say("NEW_GAME", game(bots.url("good"), bots.url("good"), **setup))
        viewer.until("GAME_ENDED")
    assert viewer.at_s[-1] - viewer.at_s[0] >= 2.0
    # what a busy machine holds up comes at once, too, but not one in three
    gaps_s = [later_s - sooner_s for sooner_s, later_s in pairwise(viewer.at_s)]
    assert sum(gap_s < 0.05 for gap_s in gaps_s) < len(gaps_s) / 4, gaps_s


def test_the_end_is_told_a_tick_later_than_the_last_tick(nodes: Nodes, bots: Bots) -> None:
    """The original waits after each tick before it looks whether the game is over."""
    with Timed(nodes[0]) as viewer:
        viewer.say("NEW_GAME", game(bots.url("good"), bots.url("good"), speed=1500, maxNumOfTicks=2))
        viewer.until("GAME_ENDED")
    assert time.monotonic() - viewer.at_s[1] >= 1.0


def test_players_may_have_any_name_that_can_be_seen(nodes: Nodes, bots: Bots) -> None:
    """In the original they may, as long as no two have the same."""
    names = ["my bot / x", "$a.b", "ça, а"]
    players = [{"name": name, "url": bots.url("good")} for name in names]
    with Original(nodes[0]) as viewer:
        viewer.say("NEW_GAME", {"setup": NOOP_GAME, "players": players})
        assert [row["name"] for row in viewer.until("GAME_ENDED")["scores"]] == names


def test_whatever_a_client_sends_it_harms_only_itself(parts: Cluster, nodes: Nodes, bots: Bots) -> None:
    """Events that are none, names of the server's own, other namespaces, binary, garbage: others are served."""
    with Original(nodes[0]) as healthy:
        for hostile in (
            *(
                '42["connect",{}]',
                '42["disconnect"]',
                '42["NEW_GAME"]',
                '42["x"]',
                "42[]",
                "42{}",
                "42nonsense",
                "40/a,",
            ),
            *(
                "42" + "[" * 5000,
                '451-["NEW_GAME",{"_placeholder":true,"num":0}]',
                "4",
                "9",
                "",
                "5",
                "1",
                "44",
                "41/a,",
            ),
        ):
            viewer = Original(nodes[0])
            viewer.ws.send(hostile)
            viewer.ws.send("42" + '["GAME_SETUP_UPDATE", {}]')
            viewer.close()
        viewer = Original(nodes[0])
        viewer.ws.send_binary(b"\x00" * 100)
        viewer.close()
        for body in ("", "x", "99999999:4", "1:4" * 100, "\x00\x01\xff4", "-1:4", "2:40" * 17):
            hello = requests.get(f"{nodes[0].url}/socket.io/?EIO=3&transport=polling&b64=1", timeout=10)
            sid = hello.text.split('"sid":')[1].split('"')[1]
            answer = requests.post(
                f"{nodes[0].url}/socket.io/?EIO=3&transport=polling&sid={sid}", data=body.encode(), timeout=10
            )
            assert answer.status_code in (200, 400)
        for query in (
            "",
            "EIO=5&transport=polling",
            "EIO=4&transport=none",
            "EIO=4&transport=polling&sid=x",
            "EIO=3&sid=x",
        ):
            assert requests.get(f"{nodes[0].url}/socket.io/?{query}", timeout=10).status_code == 400
        healthy.ping()
        wait_for(lambda: healthy.pongs, "a pong")
        healthy.play(game(bots.url("good")))
    assert "Traceback" not in parts.logs()


# Python 3.14 goes by the room on the stack: it reads all that fits into a packet, and finds no JSON in it
TOO_DEEP_TO_READ = ["4" + "[" * 60_000] if sys.version_info < (3, 14) else []
UNDECODABLE = {"3": ("b4AAAAA", "b", *TOO_DEEP_TO_READ), "4": ("", "/", "b4AAAAA", "4" + "[" * 5000)}


@pytest.fixture(scope="module")
def narrow(parts: Cluster) -> Web:
    """Returns a web node that has room for one session of an address."""
    return parts.web(max_streams_per_address=1)


@pytest.mark.parametrize("eio", UNDECODABLE)
def test_a_packet_that_cannot_be_decoded_ends_its_session(parts: Cluster, narrow: Web, eio: str) -> None:
    """By WebSocket: its address has room for another one at once, and nothing is logged as an error."""
    url = f"ws://{narrow.address}/socket.io/?EIO={eio}&transport=websocket"
    for packet in UNDECODABLE[eio]:
        ws = websocket.create_connection(url, timeout=LIMIT_S)
        assert ws.recv().startswith("0{")
        ws.send(packet)
        while ws.recv():
            pass
        ws.close()
    assert "Traceback" not in parts.logs()


def test_an_id_that_is_no_text_is_refused(nodes: Nodes) -> None:
    """JSON may hold half of a surrogate pair."""
    with Original(nodes[0]) as viewer:
        viewer.ws.send('42["WATCH_GAME",{"id":"\\ud800"}]')
        assert viewer.until("ERROR")["error"] == "INVALID_GAME_CONFIGURATION"


def test_pages_of_other_origins_are_refused_unless_allowed(parts: Cluster, nodes: Nodes) -> None:
    """As at the other doors, and before a session is held; one that the operator names may read what it polls."""
    elsewhere = {"Origin": "http://evil.example"}
    with pytest.raises(Exception):  # noqa: B017, PT011 - whatever the client makes of a 403
        Today(nodes[0], "websocket", headers=elsewhere)
    friendly = parts.web(origins="https://viewer.example", max_streams_per_address=4)
    # no Origin comes with what a page only has loaded, as an image
    loaded = [{"Sec-Fetch-Site": site} for site in ("cross-site", "same-site")]
    for path in ("/socket.io/", "/socket.io"):
        for poll in (f"{path}?EIO={eio}&transport=polling" for eio in (3, 4)):
            for headers in (elsewhere, {"Origin": "null"}, *loaded):
                answer = requests.get(f"{friendly.url}{poll}", headers=headers, timeout=10)
                assert (answer.status_code, answer.json()["code"]) == (403, "wrong-origin")
                assert "Access-Control-Allow-Credentials" not in answer.headers
    poll = "/socket.io/?EIO=4&transport=polling"
    sid = requests.get(f"{friendly.url}{poll}", timeout=10).text.split('"sid":')[1].split('"')[1]
    assert requests.post(f"{friendly.url}{poll}&sid={sid}", data="40", headers=elsewhere, timeout=10).status_code == 403
    # its own pages: browsers send no Origin when they poll them by GET
    for headers in ({"Sec-Fetch-Site": "same-origin"}, {"Origin": friendly.url}):
        assert requests.get(f"{friendly.url}{poll}", headers=headers, timeout=10).status_code == 200
    there = {"Origin": "https://viewer.example", "Sec-Fetch-Site": "cross-site"}
    answer = requests.get(f"{friendly.url}{poll}", headers=there, timeout=10)
    assert answer.headers["Access-Control-Allow-Origin"] == "https://viewer.example"
    assert answer.headers["Access-Control-Allow-Credentials"] == "true"
    assert requests.options(f"{friendly.url}{poll}", headers=there, timeout=10).status_code == 200


def test_pages_of_this_machine_may_watch_where_only_it_can_reach_the_server(parts: Cluster, nodes: Nodes) -> None:
    """The original's client comes from another port. A public server refuses it, as every server does at its API."""
    poll, page = "/socket.io/?EIO=3&transport=polling&b64=1", {"Origin": "http://localhost:8080"}

    def polled(web: Web) -> tuple[str | None, int]:
        answer = requests.get(f"{web.url}{poll}", headers={**page, "Sec-Fetch-Site": "same-site"}, timeout=10)
        if answer.status_code == 200:
            sid = answer.text.split('"sid":')[1].split('"')[1]
            answer = requests.post(f"{web.url}{poll}&sid={sid}", data="1:2", headers=page, timeout=10)
        return answer.headers.get("Access-Control-Allow-Credentials"), answer.status_code

    assert polled(nodes[0]) == ("true", 200)
    own = f"{nodes[0].ws}socket.io/?EIO=3&transport=websocket"
    websocket.create_connection(own, timeout=10, origin=page["Origin"]).close()
    registration = requests.post(f"{nodes[0].url}/bots/battlecube", json={"bot_id": "x"}, headers=page, timeout=10)
    assert registration.status_code == 403
    assert polled(parts.web(host="0.0.0.0")) == (None, 403)


def test_an_address_holds_so_many_sessions(parts: Cluster) -> None:
    """No more connect until one of them goes."""
    web = parts.web(max_streams_per_address=5)
    viewers: list[Viewer] = [Original(web) for _ in range(5)]
    with pytest.raises(Exception):  # noqa: B017, PT011 - refused, in one way or another
        Original(web)
    # also who opens a connection and says nothing over it
    assert requests.get(f"{web.url}/socket.io/?EIO=4&transport=polling", timeout=10).status_code == 401
    for viewer in viewers:
        viewer.close()
    wait_for(lambda: _can_come(web), "a place that is free again")


class Batch(Original):
    """The original's "Run 100 games": asks for the next game when one ends, within the same moment."""

    def __init__(self, web: Web, wanted: Any, games: int) -> None:
        self.wanted, self.left = wanted, games
        super().__init__(web)

    def hear(self, name: str, body: Any) -> None:
        super().hear(name, body)
        if name == "GAME_ENDED" and self.left > 1:
            self.left -= 1
            self.say("NEW_GAME", self.wanted)


def test_a_batch_of_games_runs_to_its_end(nodes: Nodes, bots: Bots) -> None:
    """Each asked for when the one before has ended, faster than other events may come: none is refused."""
    wanted = game(bots.url("good"), maxNumOfTicks=1)
    with Batch(nodes[0], wanted, games=25) as viewer:
        viewer.say("NEW_GAME", wanted)
        viewer.until("GAME_ENDED", 25)
        assert viewer.bodies("ERROR") == []
        assert len({body["id"] for body in viewer.bodies("GAME_STARTED")}) == 25


def test_games_wait_until_their_address_may_begin_one(parts: Cluster, bots: Bots) -> None:
    """Two may begin in three seconds. Those of a batch wait, and so does the first one of who comes meanwhile."""
    web = parts.web("tests.socketio.short_minutes_wsgi", games_per_minute=2)
    wanted, began_s = game(bots.url("good"), maxNumOfTicks=1), time.monotonic()
    with Batch(web, wanted, games=6) as batch, Original(web) as viewer:
        batch.say("NEW_GAME", wanted)
        batch.until("GAME_ENDED", 2)
        viewer.say("NEW_GAME", wanted)
        viewer.until("GAME_ENDED")
        batch.until("GAME_ENDED", 6)
        assert [batch.bodies("ERROR"), viewer.bodies("ERROR")] == [[], []]
    assert time.monotonic() - began_s > 5, "seven games begin in four times three seconds"


def _can_come(web: Web) -> bool:
    try:
        Original(web).close()
    except Exception:
        return False
    return True
