"""Crossword between two bots over real WebSockets: hidden tiles, challenges under each rule, and a killed server."""

from __future__ import annotations

import json
import urllib.request
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest
from cluster import LIMIT_S, Cluster, Web, wait_for
from desk import Desk, organiser_of
from histories import from_gcg
from peer import Message, Peer
from switchboard import Seats, Switchboard

from battlebot.client import Credentials, run
from battlebot.client.samples.crossword.challenger import Challenger
from battlebot.client.samples.crossword.generator import all_plays
from battlebot.client.samples.crossword.greedy import Greedy
from battlebot.client.samples.crossword.wordgraph import graph_of
from battlebot.config import Settings
from games.crossword.replay import replay

# long enough for a bot to come back under load, and for a dead node to be noticed in time
SETTINGS = {"turn_timeout_ms": 20_000, "node_timeout_s": 2.0, "node_grace_s": 20.0, "sweep_interval_s": 0.3}

LOSS, BONUS = "UNSUCCESSFUL_CHALLENGE_TURN_LOSS", "CHALLENGE_BONUS"
# rule -> the event of a challenge in vain, what the challenged bot gains, who is on turn then
IN_VAIN = {
    "SINGLE": (BONUS, 0, "challenger"),
    "DOUBLE": (LOSS, 0, "challenged"),
    "FIVE_POINT": (BONUS, 5, "challenger"),
    "TEN_POINT": (BONUS, 10, "challenger"),
    "TRIPLE": (LOSS, 0, None),
}


def rack_of(peer: Peer, state: dict[str, Any]) -> str:
    """The bot's tiles; it sees no others."""
    racks = dict(zip(state["players"], state["racks"], strict=True))
    assert [name for name, rack in racks.items() if rack] == [peer.bot]
    return str(racks[peer.bot])


def word(peer: Peer, state: dict[str, Any]) -> dict[str, str]:
    """A legal play of words that are in the list."""
    plays = all_plays(graph_of("enable1"), state["board"], rack_of(peer, state))
    if not plays:
        return {"type": "EXCHANGE", "exchanged": rack_of(peer, state)}
    best = max(plays)
    return {"type": "TILE_PLACEMENT_MOVE", "position": best.position, "played_tiles": best.tiles}


def phony(peer: Peer, state: dict[str, Any]) -> dict[str, str]:
    """The first play of a match, of two tiles that are no word."""
    tiles = rack_of(peer, state).replace("?", "")
    pairs = (one + two for at, one in enumerate(tiles) for two in tiles[:at] + tiles[at + 1 :])
    pair = next(pair for pair in pairs if pair not in graph_of("enable1"))
    return {"type": "TILE_PLACEMENT_MOVE", "position": "8G", "played_tiles": pair}


def both(one: Peer, two: Peer) -> tuple[Message, Message]:
    """The next updates of both; what they may both know is the same."""
    updates = one.update(), two.update()
    public = [
        {key: update["state"][key] for key in ("board", "scores", "nextPlayer", "lastPlay")} for update in updates
    ]
    assert public[0] == public[1]
    return updates


def sent(mover: Peer, other: Peer, turn: dict[str, str]) -> tuple[Message, Message]:
    """The updates of both after a valid turn."""
    mover.send(turn)
    own, others = both(mover, other)
    assert own["turn"]["valid"] is True
    return own, others


def worded(mover: Peer, other: Peer, state: dict[str, Any]) -> tuple[Peer, Peer, Message, Message]:
    """Turns until a word lies on the board: who laid it, who did not, and their updates."""
    while True:
        turn = word(mover, state)
        own, others = sent(mover, other, turn)
        if turn["type"] == "TILE_PLACEMENT_MOVE":
            return mover, other, own, others
        mover, other, state = other, mover, others["state"]


@pytest.fixture(scope="module")
def contests(workers: Web, module_settings: Settings) -> dict[str, str]:
    """A running contest of crossword for each rule, by the rule."""
    token = organiser_of(module_settings)
    named = {rule: f"under-{rule}" for rule in ("VOID", *IN_VAIN)}
    for rule, name in named.items():
        desk = Desk(workers, token, name, "crossword")
        desk.create(format="open", options={"challengeRule": rule})
        desk.ask("POST", f"/{name}/start")
    return named


@pytest.fixture
def table(contests: dict[str, str], meet: Switchboard) -> Callable[[str], Seats]:
    """`table(rule)`: two bots at a match under that rule, the one on turn first."""
    return lambda rule: meet.sit("crossword", login={"contest": contests[rule]})


def test_nobody_is_told_the_others_tiles(workers: Web, meet: Switchboard) -> None:
    """Not in states, echoes or pages while the match goes on; all of it in the record."""
    mover, other = meet.sit("crossword")
    match = mover.first["match"]["id"]
    given = rack_of(mover, mover.first["state"])
    own, others = sent(mover, other, {"type": "EXCHANGE", "exchanged": given[:3]})
    assert own["turn"]["exchanged"] == own["state"]["events"][0]["exchanged"] == given[:3]
    assert "exchanged" not in others["turn"]
    assert not {"exchanged", "rack"} & others["state"]["events"][0].keys()
    assert not {"bag", "seed"} & {*own["state"], *others["state"]}
    with urllib.request.urlopen(f"{workers.url}/web/crossword/matches/{match}/events", timeout=LIMIT_S) as stream:
        line = next(line for line in stream if line.startswith(b"data: "))
    seen = json.loads(line[6:])["state"]
    assert seen["racks"] == ["", ""]
    assert not {"bag", "seed"} & seen.keys()
    for peer in (other, mover, other, mover, other):
        peer.send({"type": "PASS"})
        both(mover, other)
    record = meet.web.request
    wait_for(lambda: record(f"/games/crossword/{match}")[0] == 200, "the archive")
    stored = record(f"/games/crossword/{match}")[1]
    assert stored["turns"][0]["exchanged"] == given[:3]
    assert stored["events"][0]["rack"] == given


def test_a_bot_that_resumes_is_not_told_what_was_hidden(workers: Web, meet: Switchboard) -> None:
    """The turns that it missed come as they were echoed."""
    mover, other = meet.sit("crossword")
    other.reset()
    rack = rack_of(mover, mover.first["state"])
    mover.send({"type": "EXCHANGE", "exchanged": rack[0], "comment": "mine"})
    assert mover.update()["turn"]["valid"] is True
    login = {"protocol": 2, "resume": other.first["match"]["id"], "version": 0}
    missed = meet.login(other.auth, login=login).update()["missed"]
    assert [(turn["type"], turn["comment"], "exchanged" in turn) for turn in missed] == [("EXCHANGE", "mine", False)]


@pytest.mark.parametrize("rule", IN_VAIN)
def test_a_challenge_in_vain_has_its_price(table: Callable[[str], Seats], rule: str) -> None:
    """Both bots are told the event; the play stays; TRIPLE ends the match, whatever the scores."""
    kind, bonus, on_turn = IN_VAIN[rule]
    mover, other = table(rule)
    mover, other, own, _ = worded(mover, other, mover.first["state"])
    board, player = own["state"]["board"], own["state"]["players"].index(mover.bot)
    score = own["state"]["scores"][player]
    _, told = sent(other, mover, {"type": "CHALLENGE"})
    state = told["state"]
    assert state["events"][-1]["type"] == kind
    assert state["events"][-1].get("bonus", 0) == bonus
    assert (state["board"], state["scores"][player]) == (board, score + bonus)
    if on_turn is None:
        assert (state["complete"], state["victor"]) == (True, mover.bot)
        assert {mover.closed().code, other.closed().code} == {1000}
    else:
        assert state["nextPlayer"] == (other if on_turn == "challenger" else mover).bot


@pytest.mark.parametrize("rule", IN_VAIN)
def test_a_challenge_that_succeeds_takes_the_play_back(table: Callable[[str], Seats], rule: str) -> None:
    """The bot has its tiles again, the challenger is on turn and plays."""
    mover, other = table(rule)
    before = rack_of(mover, mover.first["state"])
    own, _ = sent(mover, other, phony(mover, mover.first["state"]))
    assert own["state"]["lastPlay"]["words"]
    told, mine = sent(other, mover, {"type": "CHALLENGE"})
    state = mine["state"]
    assert state["events"][-1]["type"] == "PHONY_TILES_RETURNED"
    assert (sorted(rack_of(mover, state)), state["scores"]) == (sorted(before), [0, 0])
    assert "".join(state["board"]).strip(".") == ""
    assert state["nextPlayer"] == other.bot
    sent(other, mover, word(other, told["state"]))


def test_under_void_a_phony_is_a_strike_and_nothing_can_be_challenged(table: Callable[[str], Seats]) -> None:
    """With the sentence why; three strikes lose, as in every game."""
    mover, other = table("VOID")
    mover.send(phony(mover, mover.first["state"]))
    update = mover.update()
    assert (update["turn"]["valid"], update["match"]["strikes"]) == (False, 1)
    mover, other, _, others = worded(mover, other, mover.first["state"])
    assert others["state"]["nextPlayer"] == other.bot
    other.send({"type": "CHALLENGE"})
    assert other.update()["turn"]["valid"] is False


def test_the_sample_bots_play_each_other(workers: Web, meet: Switchboard) -> None:
    """Greedy and the challenger by the SDK, to the end by the rules: no strike, and phonies that were challenged."""

    def play(bot: Any) -> Any:
        auth = meet.auth("crossword")
        credentials = Credentials(auth["game"], auth["bot_id"], auth["pass_hash"])
        return run(bot, workers.address, "crossword", credentials=credentials, matches=1)

    with ThreadPoolExecutor(2) as pool:
        (first,), (second,) = pool.map(play, (Greedy(), Challenger(phonies=0.6, seed=1)))
    assert (first.match, first.reason) == (second.match, "complete")
    path = f"/games/crossword/{first.match}"
    wait_for(lambda: workers.request(path)[0] == 200, "the archive")
    stored = workers.request(path)[1]
    assert stored["match"]["strikes"] == {}
    assert "PHONY_TILES_RETURNED" in {event["type"] for event in stored["events"]}


def test_a_pending_challenge_survives_the_death_of_the_whole_server(
    servers: Cluster, workers: Web, meet: Switchboard
) -> None:
    """The only node is killed after a play; over the same stores another one judges the challenge."""
    mortal, late = servers.web(**SETTINGS), servers.web(**SETTINGS)
    mover, other = meet.sit("crossword", nodes=(mortal, mortal))
    match = mover.first["match"]["id"]
    own, _ = sent(mover, other, phony(mover, mover.first["state"]))
    last = own["state"]["lastPlay"]
    mortal.child.kill()
    extras = {"protocol": 2, "resume": match}
    back = [meet.login(peer.auth, web=late, login=extras) for peer in (mover, other)]
    seen = [peer.update()["state"] for peer in back]
    assert [state["lastPlay"] for state in seen] == [last, last]
    _, told = sent(back[1], back[0], {"type": "CHALLENGE"})
    assert told["state"]["events"][-1]["type"] == "PHONY_TILES_RETURNED"
    for turn in range(5):
        sent(back[(turn + 1) % 2], back[turn % 2], {"type": "PASS"})
    path = f"/games/crossword/{match}"
    wait_for(lambda: workers.request(path)[0] == 200, "the archive")
    stored = workers.request(path)[1]
    with urllib.request.urlopen(f"{workers.url}{path}/export.gcg", timeout=LIMIT_S) as answer:
        events = from_gcg(answer.read())["events"]
    assert list(replay(events).scores) == stored["scores"]
    assert [event["type"] for event in events] == [event["type"] for event in stored["events"]]
