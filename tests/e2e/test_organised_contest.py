"""A contest as an organiser runs it over REST: scheduled, started and ended by the clock, corrected, published."""

from __future__ import annotations

import csv
import io
import json
from collections import Counter
from datetime import UTC, datetime, timedelta

import pytest
from cluster import Cluster, Web, wait_for
from desk import Desk, differences, organiser_of
from original_client import OriginalClient
from peer import CLOSE, Closed, Message, Peer
from test_contests import first_free, playing

BOTS = ["ann", "bob", "cid", "ghost"]


@pytest.fixture(scope="module")
def nodes(town: Cluster) -> list[Web]:
    """Returns two web nodes."""
    return [town.web(), town.web()]


@pytest.fixture(scope="module")
def token(town: Cluster) -> str:
    """Returns an organiser's."""
    return organiser_of(town.settings)


@pytest.fixture(scope="module")
def working(town: Cluster, nodes: list[Web]) -> Web:
    """Returns one of the nodes, with a worker and beat, which are not there before."""
    town.worker()
    town.beat(sweep_interval_s=0.3)
    return nodes[0]


def test_who_waits_in_a_contest_is_told_that_it_is_over(nodes: list[Web], token: str) -> None:
    """Finished or cancelled; nobody pairs them."""
    for action in ("finish", "cancel"):
        check_told(nodes, Desk(nodes[0], token, action), action)


def check_told(nodes: list[Web], desk: Desk, action: str) -> None:
    """At every node, once; an original client, which knows no notices, is told nothing, and stays connected as well.

    So is a bot that comes to a node that knew the contest before.
    """
    cup = desk.contest
    desk.create()
    desk.ask("POST", f"/{cup}/start")
    peers = []
    for number, (node, protocol) in enumerate(zip([*nodes, nodes[1]], (2, 2, 1), strict=True)):
        auth = nodes[0].register(f"{cup}{number}")
        peers.append(Peer(node.address))
        assert peers[-1].log_in(auth, contest=cup, protocol=protocol)["authentication"] == "OK"
    desk.ask("DELETE", f"/{cup}") if action == "cancel" else desk.ask("POST", f"/{cup}/finish")
    begins = {
        "cancel": "no match begins there any more",
        "finish": "only a match that is to be played again begins there",
    }
    sentence = f"The contest '{cup}' is over: {begins[action]}."
    for peer in peers[:2]:
        assert peer.message() == {"notice": sentence, "code": "over"}
    again = Peer(nodes[1].address)
    assert again.log_in(auth, contest=cup, protocol=2)["authentication"] == "OK"
    assert again.message() == {"notice": sentence, "code": "over"}
    for peer in peers:
        peer.frame(CLOSE, b"")
        with pytest.raises(Closed):
            peer.message()


def check_agreement(desk: Desk, games: int) -> None:
    """Ranking, crosstable, meetings, progress and both exports tell the same."""
    rows = desk.ranking()
    shown = desk.ask("GET", "/cup")
    table = {row["bot_id"]: row["against"] for row in desk.ask("GET", "/cup/crosstable")["rows"]}
    pairs = desk.ask("GET", "/cup/meetings")["pairs"]
    exported = [json.loads(line) for line in desk.text("GET", "/cup/export.ndjson").splitlines()]
    listed = list(csv.DictReader(io.StringIO(desk.text("GET", "/cup/export.csv"))))
    assert len(exported) == games
    assert [row["match"] for row in listed] == [game["_id"] for game in exported]
    assert all(game["turns"] and not game["match"]["void"] for game in exported)
    for bot, row in rows.items():
        for name in ("wins", "draws", "losses"):
            assert row[name] == sum(cell[name] for cell in table[bot].values())
        won = sum(game["victor"] == bot for game in exported)
        won += sum(one["state"] == "absent" and one["victor"] == bot for pair in pairs for one in pair["meetings"])
        assert row["wins"] == won
        assert row["absent"] <= row["losses"]
    assert sum(pair["played"] for pair in pairs) == games
    over = sum(pair["played"] + pair["absent"] for pair in pairs)
    assert (shown["progress"]["played"], shown["progress"]["planned"], shown["progress"]["live"]) == (over, over, 0)
    assert sum(row["played"] for row in rows.values()) == 2 * over


def test_a_contest_is_scheduled_played_corrected_and_published(town: Cluster, working: Web, token: str) -> None:
    """Round-robin of four, one of whom never comes; a match is taken back and replayed; at last one withdraws."""
    desk = Desk(working, token)
    auths = {bot: working.register(bot) for bot in BOTS}
    starts = (datetime.now(UTC) + timedelta(seconds=2)).isoformat()
    desk.ask(
        "POST",
        "",
        {
            "name": "cup",
            "format": "round-robin",
            "entrants": BOTS,
            "meetings": 2,
            "startsAt": starts,
            "absentAfterS": 5,
        },
    )
    clients = [OriginalClient(working.ws, auths[bot], first_free(bot), "cup", limit_s=600) for bot in BOTS[:3]]
    with playing(clients):
        assert desk.ask("GET", "/cup/why?bot=ann")["code"] in ("scheduled", "playing", "pairing-soon", "all-busy")
        wait_for(lambda: desk.finished(), "the end of the contest", 90)
        rows = desk.ranking()
        assert [row["played"] for row in rows.values()] == [6] * 4
        assert (rows["ghost"]["absent"], rows["ghost"]["losses"]) == (6, 6)
        for pair in desk.ask("GET", "/cup/meetings")["pairs"]:
            assert (pair["played"] + pair["absent"], pair["left"]) == (2, 0)
            assert len({one["first"] for one in pair["meetings"]}) == 2
        check_agreement(desk, 6)
        match_id = json.loads(desk.text("GET", "/cup/export.ndjson").splitlines()[0])["_id"]
        voided = desk.ask("POST", f"/cup/games/{match_id}/void", {"reason": "the referee slept"})
        assert voided["contest"]["state"] == "running"
        wait_for(lambda: desk.finished() and len(desk.listed()) == 6, "the match to be replayed", 60)
        assert match_id not in {row["match"] for row in desk.listed()}
        check_agreement(desk, 6)
    withdraw(desk)
    actions = Counter(row["action"] for row in desk.ask("GET", "/cup/audit"))
    assert actions["start"] == 1
    assert (actions["finish"], actions["reopen"], actions["void"]) == (3, 2, 2)
    assert desk.ask("GET", "/cup/audit")[-2]["by"] == "clock"
    assert differences(town.settings) == []
    assert desk.token not in town.logs()
    assert "Traceback" not in town.logs()


def withdraw(desk: Desk) -> None:
    """A match is taken back when nobody is there any more; one of its bots withdraws, so that it is never replayed."""
    game = json.loads(desk.text("GET", "/cup/export.ndjson").splitlines()[-1])
    desk.ask("POST", f"/cup/games/{game['_id']}/void", {"reason": "once more"})
    assert desk.ask("PATCH", "/cup", {"absentAfterS": 86_400})["absentAfterS"] == 86_400
    why = desk.ask("GET", f"/cup/why?bot={game['players'][0]}")
    assert (why["code"], why["left"]) == ("not-connected", [game["players"][1]])
    assert desk.ask("DELETE", f"/cup/entrants/{game['players'][0]}")["withdrawn"] == [game["players"][0]]
    wait_for(lambda: desk.finished(), "the end of the contest without it", 30)
    check_agreement(desk, 5)


def test_who_plays_in_a_contest_as_it_ends_is_told_when_its_match_is_over(working: Web, token: str) -> None:
    """If it keeps its connection, and so waits there for another."""
    desk = Desk(working, token, "ending")
    desk.create()
    desk.ask("POST", "/ending/start")
    peers = [Peer(working.address) for _ in range(2)]
    for number, peer in enumerate(peers):
        peer.log_in(working.register(f"bot{number}"), contest="ending", protocol=2, session="keep")
    for peer in peers:
        peer.update()
    desk.ask("DELETE", "/ending")
    for peer in peers:
        assert peer.final()["state"]["reason"] == "void"
        assert "no match begins there any more" in peer.message()["notice"]


def test_who_waits_in_a_contest_that_ends_twice_is_told_how_it_ended_at_last(working: Web, token: str) -> None:
    """Finished, opened again by a match of others that is taken back, and cancelled."""
    desk = Desk(working, token, "twice")
    desk.create()
    desk.ask("POST", "/twice/start")
    auths = {bot: working.register(bot) for bot in ("fay", "gus", "eve")}
    clients = [OriginalClient(working.ws, auths[bot], first_free(bot), "twice", limit_s=60) for bot in ("fay", "gus")]
    with playing(clients):
        wait_for(desk.listed, "a match")
    waits = Peer(working.address)
    desk.ask("POST", "/twice/finish")
    waits.log_in(auths["eve"], contest="twice", protocol=2)
    assert "only a match that is to be played again begins there" in waits.message()["notice"]
    match_id = desk.listed()[0]["match"]
    assert desk.ask("POST", f"/twice/games/{match_id}/void", {"reason": "a cable"})["contest"]["state"] == "running"
    desk.ask("DELETE", "/twice")
    assert "no match begins there any more" in waits.message()["notice"]


def test_who_plays_in_a_contest_that_is_opened_again_is_not_told_that_it_is_over(
    working: Web, nodes: list[Web], token: str
) -> None:
    """A node that learned of its end learns that it goes on, also where nobody waits in it meanwhile."""
    desk = Desk(working, token, "again", game="numberwang")
    desk.create(turnTimeoutMs=60_000)
    desk.ask("POST", "/again/start")
    peers = {}
    for bot, node in zip(("hal", "ida"), nodes, strict=True):
        peers[bot] = Peer(node.address)
        auth = nodes[0].register(bot, "numberwang")
        peers[bot].log_in(auth, contest="again", protocol=2, session="keep")

    def played(n: int) -> Message:
        """The update of a turn, as the last of its readers saw it."""
        for peer in peers.values():
            update = peer.update()
        if not update["state"]["complete"]:
            peers[update["state"]["nextPlayer"]].send({"n": n})
        return update

    first = played(10)["match"]["id"]
    assert played(0)["state"]["complete"]
    assert played(1)["match"]["id"] != first
    desk.ask("POST", "/again/finish")
    assert desk.ask("POST", f"/again/games/{first}/void", {"reason": "a cable"})["contest"]["state"] == "running"
    for n in (1, -1, 1, 10):
        played(n)
    assert played(0)["state"]["complete"]
    assert not played(0)["state"]["board"]["n"], "no notice, but the next match"
