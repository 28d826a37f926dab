"""Bots over a real NATS server against bots over real WebSockets: the original's cases, each rule, each failure."""

from __future__ import annotations

import json
import re
import urllib.request
from collections.abc import Callable, Iterator
from contextlib import closing, suppress
from dataclasses import replace
from functools import partial
from itertools import count
from pathlib import Path
from threading import Event
from typing import Any

import pytest
from cluster import START_S, Cluster, Web, cluster, free_port, wait_for
from desk import Desk, organiser_of
from natsbots import PASS, NatsBot, Script, nats_server, wait_until_listening
from peer import Message, Peer, new_name

from battlebot.arena.live.store import MatchStore
from battlebot.client.samples.crossword.generator import all_plays
from battlebot.client.samples.crossword.wordgraph import graph_of
from battlebot.config import Settings
from battlebot.redisio.connection import connect
from battlebot.wire.macondo import macondo_pb2
from games.crossword.board import as_rack, with_tiles

SETTINGS = {"turn_timeout_ms": 15_000}
RULES = ("SINGLE", "DOUBLE", "FIVE_POINT", "TEN_POINT", "TRIPLE")
LOSS, BONUS = "UNSUCCESSFUL_CHALLENGE_TURN_LOSS", "CHALLENGE_BONUS"
KINDS = macondo_pb2.GameEvent.Type

numbers = count(1)


@pytest.fixture(scope="module")
def served(
    nats_url: str, module_settings: Settings, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[tuple[Cluster, Web]]:
    """A web node, both kinds of worker, and beat."""
    settings = replace(module_settings, nats_url=nats_url, sweep_interval_s=0.3, **SETTINGS)
    with cluster(settings, tmp_path_factory.mktemp("served")) as parts:
        web = parts.web()
        parts.worker()
        parts.bots()
        parts.beat()
        web.wait_until_ready()
        yield parts, web


class Table:
    """A bot over NATS and one over WebSocket at a match, the latter on turn; `told` is its last update."""

    def __init__(self, bot: NatsBot, peer: Peer, script: Script, credentials: dict[str, str]) -> None:
        self.bot, self.peer, self.script, self.credentials = bot, peer, script, credentials
        self.told = self._until_asked(peer.update())
        self.match = self.told["match"]["id"]

    @property
    def state(self) -> dict[str, Any]:
        """As the WebSocket bot sees it."""
        return dict(self.told["state"])

    @property
    def own(self) -> int:
        """The WebSocket bot's index."""
        return int(self.state["players"].index(self.peer.bot))

    def does(
        self, turn: dict[str, Any], *answers: Any, meanwhile: Callable[[], None] = lambda: None
    ) -> list[dict[str, Any]]:
        """The WebSocket bot makes a turn, the other one what is said; answers the events since.

        `meanwhile` is called once the turn is sent.
        """
        before = len(self.state["events"])
        self.script.next = list(answers)
        self.peer.send(turn)
        meanwhile()
        self.told = self._until_asked(self.peer.update())
        return list(self.state["events"][before:])

    def _until_asked(self, update: Message) -> Message:
        while not update["state"]["complete"] and update["state"]["nextPlayer"] != self.peer.bot:
            update = self.peer.update()
        return update


Sit = Callable[..., Table]


@pytest.fixture
def sit(served: tuple[Cluster, Web], nats_url: str) -> Iterator[Sit]:
    """`sit(rule, publishes)`: two new bots at a match under that rule, which no other bot joins."""
    parts, web = served
    made: list[Any] = []
    store = MatchStore(connect(parts.settings.redis_url))

    def seat(rule: str = "DOUBLE", publishes: bool = False) -> Table:
        script, subject = Script(), f"test.bot{next(numbers)}"
        bot = NatsBot(nats_url, subject, publishes)
        bot.plan = script
        names = [new_name("nats"), new_name("socket")]
        status, credentials = web.request("/bots/crossword", {"bot_id": names[0], "url": bot.address})
        assert status == 201
        auth = web.register(names[1], "crossword")
        contest = new_name("cup")
        desk = Desk(web, organiser_of(parts.settings, new_name("organiser")), contest, "crossword")
        desk.create(format="round-robin", meetings=1, entrants=names, options={"challengeRule": rule})
        desk.ask("POST", f"/{contest}/start")
        peer = Peer(web.address)
        made.extend((bot, peer))
        assert peer.log_in(auth, contest=contest)["authentication"] == "OK"
        table = Table(bot, peer, script, credentials)
        # one rack in some eighty makes no word
        return table if all(map(_makes_a_word, store.load(table.match).state["racks"])) else seat(rule, publishes)

    yield seat
    for one in made:
        with suppress(Exception):
            one.close()


def _makes_a_word(rack: str) -> bool:
    return bool(all_plays(graph_of("enable1"), ["." * 15] * 15, rack, thrifty=True))


def word_of(rack: str, board: list[str]) -> dict[str, Any]:
    """The best play of words of the list. Raises ValueError where there is none."""
    best = max(all_plays(graph_of("enable1"), board, rack, thrifty=True))
    return {"type": "TILE_PLACEMENT_MOVE", "position": best.position, "played_tiles": best.tiles}


def play_in(history: Any) -> dict[str, Any]:
    """The best play of the first or the second turn of a match. Raises ValueError where there is none."""
    board = ["." * 15] * 15
    for event in history.events:
        (row, column), down = ((event.row, event.column), event.direction == macondo_pb2.GameEvent.VERTICAL)
        cells = [(row + n, column) if down else (row, column + n) for n in range(len(event.played_tiles))]
        board = with_tiles(board, dict(zip(cells, event.played_tiles, strict=True)))
    return word_of(rack_in(history), board)


def phony_of(rack: str) -> dict[str, Any]:
    """The first play of a match, of two tiles that are no word."""
    tiles = rack.replace("?", "")
    pairs = (one + two for at, one in enumerate(tiles) for two in tiles[:at] + tiles[at + 1 :])
    pair = next(pair for pair in pairs if pair not in graph_of("enable1"))
    return {"type": "TILE_PLACEMENT_MOVE", "position": "8G", "played_tiles": pair}


def rack_in(history: Any) -> str:
    """The rack that a bot is sent: one, its own."""
    (rack,) = [rack for rack in history.last_known_racks if rack]
    return str(rack)


def kinds(events: list[dict[str, Any]]) -> list[str]:
    """Their types."""
    return [event["type"] for event in events]


@pytest.mark.parametrize("publishes", [False, True], ids=["by reply", "published"])
def test_a_bot_moves_exchanges_and_passes(sit: Sit, publishes: bool) -> None:
    """The original's cases 1 to 3, from the bot over NATS, answered either way; each answer counts once."""
    table = sit(publishes=publishes)
    events = table.does(PASS, lambda history: word_of(rack_in(history), ["." * 15] * 15))
    assert kinds(events) == ["PASS", "TILE_PLACEMENT_MOVE"]
    assert table.state["scores"][1 - table.own] == events[1]["score"] > 0
    events = table.does(PASS, lambda history: {"type": "EXCHANGE", "exchanged": rack_in(history)[:3]})
    assert kinds(events) == ["PASS", "EXCHANGE"]
    assert (events[1]["num_tiles_from_rack"], "exchanged" in events[1]) == (3, False)
    assert kinds(table.does(PASS, PASS)) == ["PASS", "PASS"]
    # the bot hears that its answer has come a moment after the other one has seen it, or sends it again until it does
    answers = len(table.bot.asked) if publishes else 0
    wait_for(lambda: table.bot.acknowledged == answers, "the acknowledgements")


def test_the_bot_is_sent_the_history_that_ends_with_its_turn(sit: Sit) -> None:
    """The cases 1 to 3 from the other side: every event, its own rack alone, no tiles of the other's but those laid."""
    table = sit()
    rack = table.state["racks"][table.own]
    table.does(word_of(rack, table.state["board"]))
    moved = table.bot.asked[-1]
    table.does({"type": "EXCHANGE", "exchanged": table.state["racks"][table.own][:2]})
    exchanged = table.bot.asked[-1]
    table.does(PASS)
    passed = table.bot.asked[-1]
    for history, kind in ((moved, "TILE_PLACEMENT_MOVE"), (exchanged, "EXCHANGE"), (passed, "PASS")):
        last = history.events[-1]
        assert (KINDS.Name(last.type), last.player_index) == (kind, table.own)
        assert (sorted(last.rack), last.exchanged) == (sorted(as_rack(last.played_tiles.replace(".", ""))), "")
        assert [bool(rack) for rack in history.last_known_racks] == [table.own == 1, table.own == 0]
        assert (history.uid, history.lexicon, history.challenge_rule) == (moved.uid, "enable1", 2)
        assert re.fullmatch("[0-9a-f]{64}", history.uid)
        assert [player.nickname for player in history.players] == table.state["players"]
    assert len(passed.events) == len(table.state["events"]) - 1
    assert moved.events[-1].played_tiles


# rule -> the event of a challenge in vain, and what the challenged bot gains by it
IN_VAIN = {
    "SINGLE": (BONUS, 0),
    "DOUBLE": (LOSS, 0),
    "FIVE_POINT": (BONUS, 5),
    "TEN_POINT": (BONUS, 10),
    "TRIPLE": (LOSS, 0),
}


@pytest.mark.parametrize("rule", RULES)
def test_the_bot_over_nats_challenges(sit: Sit, rule: str) -> None:
    """Case 4: a phony is taken back and the bot is on turn again; then a word stands, at the rule's price."""
    table = sit(rule)
    events = table.does(phony_of(table.state["racks"][table.own]), {"type": "CHALLENGE"}, PASS)
    assert kinds(events) == ["TILE_PLACEMENT_MOVE", "PHONY_TILES_RETURNED", "PASS"]
    score = table.state["scores"][table.own]
    assert score == 0
    word = word_of(table.state["racks"][table.own], table.state["board"])
    events = table.does(word, {"type": "CHALLENGE"}, PASS)
    kind, bonus = IN_VAIN[rule]
    assert kinds(events)[:2] == ["TILE_PLACEMENT_MOVE", kind]
    assert table.state["scores"][table.own] == events[0]["score"] + bonus
    if rule == "TRIPLE":
        assert (table.state["complete"], table.state["victor"]) == (True, table.peer.bot)
    elif rule == "DOUBLE":
        assert kinds(events)[2:] == []
    else:
        assert kinds(events)[2:] == ["PASS"]


@pytest.mark.parametrize("rule", RULES)
def test_the_bot_over_nats_is_challenged(sit: Sit, rule: str) -> None:
    """It need not respond: it is sent the history with what became of it, when it is on turn again."""
    table = sit(rule)
    table.does(PASS, lambda history: phony_of(rack_in(history)))
    events = table.does({"type": "CHALLENGE"})
    assert kinds(events) == ["PHONY_TILES_RETURNED"]
    events = table.does(PASS, lambda history: word_of(rack_in(history), ["." * 15] * 15))
    score = events[1]["score"]
    kind, bonus = IN_VAIN[rule]
    events = table.does({"type": "CHALLENGE"}, PASS)
    assert kinds(events) == ([kind, "PASS"] if rule == "DOUBLE" else [kind])
    assert table.state["scores"][1 - table.own] == score + bonus
    if rule == "TRIPLE":
        assert (table.state["complete"], table.state["victor"]) == (True, table.state["players"][1 - table.own])
        return
    table.does(PASS)
    told = [KINDS.Name(event.type) for event in table.bot.asked[-1].events]
    assert {"PHONY_TILES_RETURNED", kind} <= set(told)


def owners_log(web: Web, table: Table) -> list[dict[str, Any]]:
    """The last failures of the bot over NATS, as its owner sees them."""
    credentials = table.credentials
    request = urllib.request.Request(
        f"{web.url}/bots/crossword/{credentials['bot_id']}",
        headers={"Authorization": f"Bearer {credentials['pass_hash']}"},
    )
    with urllib.request.urlopen(request, timeout=30) as answer:
        return list(json.load(answer)["failures"])


WRONG: dict[str, tuple[Any, str]] = {
    "an error": ("no move found", "The bot says: no move found"),
    "garbage": (b"\xff\xff hello", "no BotResponse"),
    "nothing in it": (b"", "neither a move nor an error"),
    "tiles it does not hold": ({"type": "EXCHANGE", "exchanged": "QQQQ"}, "rack does not hold"),
    "a play apart": ({"type": "TILE_PLACEMENT_MOVE", "position": "1A", "played_tiles": "ab"}, "hold|centre"),
    "no turn of a player": ({"type": "END_RACK_PTS"}, "must be one of"),
    "a huge answer": (b"\x12" + b"\xff\xff\x0f" + b"x" * 262_143, "bytes"),
}


@pytest.mark.parametrize("name", WRONG)
def test_an_answer_that_does_not_count_forfeits(served: tuple[Cluster, Web], sit: Sit, name: str) -> None:
    """The reason is in the record and in the owner's log; the opponent has won, and is told so."""
    _, web = served
    answer, why = WRONG[name]
    table = sit()
    table.does(PASS, answer)
    assert (table.state["complete"], table.state["victor"], table.state["reason"]) == (True, table.peer.bot, "invalid")
    path = f"/games/crossword/{table.match}"
    wait_for(lambda: web.request(path)[0] == 200, "the archive")
    evidence = json.dumps(web.request(path)[1]["match"]["evidence"])
    assert re.search(why, evidence), evidence
    assert table.told["code"] == "opponent-failed"
    assert "it has lost" in table.told["error"]

    def noted() -> bool:
        return any(re.search(why, failure["error"]) for failure in owners_log(web, table))

    wait_for(noted, "the reason in the owner's log")


def test_no_answer_in_time_forfeits(nats_url: str, sit: Sit) -> None:
    """A bot that is gone from its subject has two seconds to be back; then it has lost."""
    table = sit()
    table.bot.close()
    table.does(PASS)
    assert (table.state["victor"], table.state["complete"]) == (table.peer.bot, True)


def test_a_bot_that_is_restarted_meanwhile_loses_nothing(nats_url: str, sit: Sit) -> None:
    """It is asked again as soon as it listens."""
    table = sit()
    table.bot.close()
    back: list[NatsBot] = []
    table.peer.send(PASS)
    back.append(NatsBot(nats_url, table.bot.subject))
    table.told = table._until_asked(table.peer.update())
    assert kinds(table.state["events"])[-2:] == ["PASS", "PASS"]
    back[0].close()


def test_a_lost_worker_asks_again_and_the_answer_counts_once(served: tuple[Cluster, Web], sit: Sit) -> None:
    """The worker is killed while the bot thinks; another one asks; the first answer comes as well."""
    parts, _ = served
    table = sit(publishes=True)
    asked_before = len(table.bot.asked)
    version = table.told["match"]["version"]
    worker = next(child for child in parts.children if child.program.name == "bots" and child.alive)

    killed = Event()

    def killing(history: Any) -> Any:
        worker.kill()
        killed.set()
        return PASS

    def another() -> None:
        assert killed.wait(30), "the bot is not asked"
        # here, for it is killed with the thread that starts it
        parts.bots()

    events = table.does(PASS, killing, meanwhile=another)
    assert kinds(events) == ["PASS", "PASS"]
    assert table.told["match"]["version"] == version + 2
    assert len(table.bot.asked) >= asked_before + 1


def test_answers_that_come_again_at_the_next_question_lose_nothing(served: tuple[Cluster, Web], nats_url: str) -> None:
    """Each bot publishes what it answered last before it answers a question, and again while the other one thinks."""
    parts, web = served
    names = [new_name("loud"), new_name("loud")]
    bots: list[NatsBot] = []
    last: dict[str, Any] = {}
    wordless: list[str] = []

    def plan(bot: NatsBot, history: Any) -> Any:
        for uid, late in list(last.items()):
            bot.publish(uid, late)
        last[history.uid] = PASS
        if len(history.events) < 2:
            try:
                last[history.uid] = play_in(history)
            except ValueError:
                wordless.append(history.uid)
        return last[history.uid]

    for name in names:
        bots.append(NatsBot(nats_url, f"test.bot{next(numbers)}", publishes=True))
        assert web.request("/bots/crossword", {"bot_id": name, "url": bots[-1].address})[0] == 201
        bots[-1].plan = partial(plan, bots[-1])
    organiser = organiser_of(parts.settings, new_name("organiser"))

    def played() -> dict[str, Any]:
        wordless.clear()
        contest = new_name("cup")
        desk = Desk(web, organiser, contest, "crossword")
        desk.create(format="round-robin", meetings=1, entrants=names)
        desk.ask("POST", f"/{contest}/start")
        path = f"/games/crossword/contest/{contest}"
        (game,) = wait_for(lambda: web.request(path)[1]["games"], "the end of the match", 120.0)
        # one rack in some eighty makes no word
        return played() if wordless else dict(game)

    game = played()
    turns = ["TILE_PLACEMENT_MOVE"] * 2 + ["PASS"] * 6 + ["END_RACK_PENALTY"] * 2
    assert (game["reason"], kinds(game["events"])) == ("complete", turns), game["match"]
    # one that comes as a round of acknowledgements is full has to be sent again
    wait_for(lambda: not any(bot.unacknowledged for bot in bots), "the acknowledgements")
    for bot in bots:
        bot.close()


def test_what_was_published_before_a_restart_is_acknowledged_before_anybody_is_asked(
    module_settings: Settings, tmp_path: Path
) -> None:
    """The worker connects by itself, also to a NATS that comes later."""
    port = free_port()
    with cluster(replace(module_settings, nats_url=f"nats://127.0.0.1:{port}"), tmp_path) as parts:
        parts.bots()
        wait_for(lambda: " ready." in parts.logs(), "the worker", START_S)
        with nats_server(port) as url:
            wait_until_listening(url)
            with closing(NatsBot(url, "test.restarted", publishes=True)) as bot:
                bot.publish("of-before", PASS)
                assert bot.acknowledged == 1


@pytest.mark.parametrize(
    "subject", ["", "a b", "a.*", ">", "bot.publish_event.x", "_INBOX.x", "_INBOX_me.x", "a..b", "$SYS.x", "x" * 70]
)
def test_a_subject_that_is_not_a_bots_to_have_is_refused(served: tuple[Cluster, Web], subject: str) -> None:
    """With a sentence; nobody is asked there."""
    status, answer = served[1].request("/bots/crossword", {"bot_id": "nowhere", "url": f"nats://{subject}"})
    assert (status, answer["code"]) == (400, "bad-address")


def test_other_games_are_not_asked_over_nats(served: tuple[Cluster, Web], nats_url: str) -> None:
    """Their words are not in the messages."""
    bot = NatsBot(nats_url, "test.other-game")
    status, answer = served[1].request("/bots/numberwang", {"bot_id": "other-game", "url": bot.address})
    assert (status, answer["test"]["code"], bot.asked) == (400, "bad-game", [])
    bot.close()
