"""The store's scripts in a real Valkey: begun once, committed once, ended once, whoever races."""

from __future__ import annotations

import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor

import orjson
import pytest
import redis
from cluster import wait_for
from msgspec import to_builtins
from msgspec.structs import replace

from battlebot.arena.live.calls import decode_match, encode_match
from battlebot.arena.live.mail import Mail
from battlebot.arena.live.making import begin, beginning, new_match
from battlebot.arena.live.queue import BY_A_TASK, Queues, Seats, Ticket, Waits
from battlebot.arena.live.store import TOGETHER, MatchStore
from battlebot.arena.places import STATELESS_PLACE
from battlebot.config import Settings
from battlebot.errors import Conflict, UnknownMatch
from battlebot.redisio import keys
from battlebot.referee.events import Failed, Joined, Left, Turned
from battlebot.referee.match import Match
from battlebot.referee.step import step
from battlebot.rules.registry import Registry

LONGEST_NODE_TIMEOUT_S = Settings.__dataclass_fields__["node_timeout_s"].metadata["high"]


def turn_of(bot: str, match: Match) -> Turned:
    """A numberwang turn."""
    return Turned(bot, {"n": 0, "from": match.revision}, 0.1)


def test_a_match_is_stored_as_the_document_it_is(begun: Callable[..., Match], registry: Registry) -> None:
    """Before and after a turn; what is read is what was written."""
    match = begun("noughtsandcrosses")
    turn = {"mark": "X", "space": [1, 1]}
    after = step(registry["noughtsandcrosses"], match, Turned(match.state["nextPlayer"], turn, 0.1), 1001.0).match
    for one in (match, after):
        assert orjson.loads(encode_match(one)) == orjson.loads(orjson.dumps(to_builtins(one)))
        assert decode_match(encode_match(one)) == one


def test_a_match_that_another_version_stored_is_read() -> None:
    """These fields every version has written: what came later must have a default. An unknown one is left out."""
    seat = {"bot": "a", "place": "node/1", "remaining_s": 3.0}
    verdict = {"victor": "a", "reason": "complete", "fault": "none"}
    document = {
        "id": "1",
        "game": "numberwang",
        "contest": None,
        "seats": [seat, {**seat, "bot": "b", "later": 1}],
        "state": {"players": ["a", "b"]},
        "limits": {},
        "options": {},
        "seed": 7,
        "started_s": 1000.0,
        "later": {"more": True},
    }
    series = {"id": "s", "board": 1, "boards": 2, "number": 5}
    match = decode_match(orjson.dumps({**document, "verdict": verdict, "series": series}))
    assert ([one.bot for one in match.seats], match.seed) == (["a", "b"], 7)
    assert match.series is not None
    assert match.series.number == 5
    assert match.verdict is not None
    assert match.verdict.victor == "a"
    assert decode_match(orjson.dumps(document)).verdict is None


@pytest.mark.parametrize("value", [{1}, {1: 2}, 2**70, b"x", "\ud800", object()], ids=lambda one: type(one).__name__)
def test_a_state_that_is_no_json_is_not_made_into_some(value: object, begun: Callable[..., Match]) -> None:
    """What would be stored must be what bots are told, and they cannot be told this."""
    match = begun("numberwang")
    with pytest.raises(TypeError):
        encode_match(replace(match, state={**match.state, "odd": value}))


@pytest.mark.parametrize("rated", [True, False])
def test_a_match_that_is_not_rated_keeps_no_stateless_bot_from_others(
    store: MatchStore, registry: Registry, settings: Settings, rated: bool
) -> None:
    """Whoever knows a bot's address may name it in battles of his own, which never end."""
    game, url = registry["numberwang"], "http://bots.example/"
    seats = [(bot, STATELESS_PLACE) for bot in "ab"]
    match = new_match(game, seats, settings, 1000.0, addresses=dict.fromkeys("ab", url), rated=rated)
    assert begin(store, game, match, game.name)
    assert store.addresses.busy([url]) == {url: int(rated)}
    store.commit(store.draft(match, step(game, match, Failed("over"), 1001.0).match, [], []))
    assert store.addresses.busy([url]) == {url: 0}


def test_a_match_occupies_an_address_as_long_as_one_of_its_bots_is_asked_there(
    store: MatchStore, registry: Registry, settings: Settings, client: redis.Redis
) -> None:
    """Stateless bots may come to their seats themselves; the end then finds no address in the match."""
    game, url = registry["noughtsandcrosses"], "http://bots.example/"
    match = new_match(
        game, [(bot, STATELESS_PLACE) for bot in "ab"], settings, 1000.0, addresses=dict.fromkeys("ab", url)
    )
    assert begin(store, game, match, game.name)
    assert client.ttl(keys.asked_at(url)) > 0
    for bot, left in (("a", 1), ("b", 0)):
        joined = step(game, match, Joined(bot, f"web-1/{bot}/1"), 1001.0).match
        store.commit(store.draft(match, joined, [], []))
        match = joined
        assert store.addresses.busy([url]) == {url: left}
    store.commit(store.draft(match, step(game, match, Failed("over"), 1002.0).match, [], []))
    assert store.addresses.busy([url]) == {url: 0}


def test_at_an_address_as_many_matches_begin_as_bots_may_be_asked_in_there(
    store: MatchStore, registry: Registry, settings: Settings
) -> None:
    """Whoever races; another begins when one is over. Unrated ones begin besides, and one that has begun stays so."""
    game, url = registry["numberwang"], "http://bots.example/"
    seats = [(bot, STATELESS_PLACE) for bot in "ab"]

    def made(rated: bool = True) -> Match:
        return new_match(game, seats, settings, 1000.0, addresses=dict.fromkeys("ab", url), rated=rated)

    def begins(match: Match) -> bool:
        return begin(store, game, match, game.name, most={url: 3})

    matches = [made() for _ in range(12)]
    with ThreadPoolExecutor(8) as pool:
        begun = list(pool.map(begins, matches))
    assert begun.count(True) == store.addresses.busy([url])[url] == 3
    assert begins(made(rated=False))
    first, other = matches[begun.index(True)], matches[begun.index(False)]
    assert begins(first)
    assert not begins(other)
    store.commit(store.draft(first, step(game, first, Failed("over"), 1001.0).match, [], []))
    assert begins(other)
    assert not begins(made())


def test_of_concurrent_commits_exactly_one_a_revision_is_done(
    store: MatchStore, begun: Callable[..., Match], registry: Registry
) -> None:
    """Eight threads commit turns as they can: the record holds each revision's turn once, in order."""
    match_id = begun("numberwang").id
    committed: list[int] = []
    together = threading.Barrier(8)

    def commit_some(_: int) -> None:
        together.wait()
        done = 0
        while done < 20:
            match = store.load(match_id)
            answer = step(registry["numberwang"], match, turn_of(match.state["nextPlayer"], match), 1001.0)
            try:
                store.commit(store.draft(match, answer.match, [answer.recorded], []))
            except Conflict:
                continue
            committed.append(match.revision)
            done += 1

    with ThreadPoolExecutor(8) as pool:
        list(pool.map(commit_some, range(8)))
    turns = [orjson.loads(row) for row in store.client.lrange(keys.turns(match_id), 0, -1)]
    assert [row["turn"]["from"] for row in turns] == list(range(160))
    assert sorted(committed) == list(range(160))
    assert store.load(match_id).version == 160


def test_a_commit_on_an_old_revision_is_a_conflict_and_changes_nothing(
    store: MatchStore, begun: Callable[..., Match], registry: Registry
) -> None:
    """The loser of a race finds the match as the winner left it."""
    match = begun("numberwang")
    first = step(registry["numberwang"], match, turn_of("ada", match), 1001.0)
    second = step(registry["numberwang"], match, Turned("ada", {"n": 5}, 0.1), 1001.0)
    store.commit(store.draft(match, first.match, [first.recorded], []))
    with pytest.raises(Conflict):
        store.commit(store.draft(match, second.match, [second.recorded], []))
    assert store.load(match.id) == first.match
    assert store.client.llen(keys.turns(match.id)) == 1


def test_a_commit_whose_answer_was_lost_is_not_done_twice(
    settings: Settings, store: MatchStore, begun: Callable[..., Match], registry: Registry
) -> None:
    """The connection breaks after the script ran: sent again, it is recognised by its token."""
    match = begun("numberwang")
    answer = step(registry["numberwang"], match, turn_of("ada", match), 1001.0)
    real, broken = store._scripts.run, []

    def run_and_lose_the_first_answer(*arguments: object) -> object:
        result = real(*arguments)  # type: ignore[arg-type]
        if not broken:
            broken.append(result)
            from battlebot.errors import Unavailable

            raise Unavailable("the answer was lost")
        return result

    store._scripts.run = run_and_lose_the_first_answer  # type: ignore[method-assign, assignment]
    store.commit(store.draft(match, answer.match, [answer.recorded], []))
    assert store.client.llen(keys.turns(match.id)) == 1
    assert store.load(match.id).revision == 1


def test_a_match_that_redis_lost_is_unknown(
    store: MatchStore, begun: Callable[..., Match], registry: Registry, client: redis.Redis
) -> None:
    """Not a conflict, which would be tried again for ever."""
    match = begun("numberwang")
    answer = step(registry["numberwang"], match, turn_of("ada", match), 1001.0)
    client.flushall()
    with pytest.raises(UnknownMatch):
        store.commit(store.draft(match, answer.match, [answer.recorded], []))
    with pytest.raises(UnknownMatch):
        store.load(match.id)
    assert store.load_many([match.id]) == {}


def test_a_ticket_is_taken_for_one_match_only(
    client: redis.Redis, store: MatchStore, registry: Registry, settings: Settings
) -> None:
    """Many matches want the same waiting bot: one begins, and the others' bots go on waiting."""
    game, queues = registry["noughtsandcrosses"], Queues(client)
    queues.wait(game.name, Ticket("n/0.1", "wanted", 1.0), BY_A_TASK)
    for index in range(8):
        queues.wait(game.name, Ticket(f"n/{index + 1}.1", f"bot{index}", 2.0), BY_A_TASK)

    def want(index: int) -> bool:
        seats = [("wanted", "n/0.1"), (f"bot{index}", f"n/{index + 1}.1")]
        return begin(store, game, new_match(game, seats, settings, 1000.0), game.name)

    with ThreadPoolExecutor(8) as pool:
        begun = list(pool.map(want, range(8)))
    assert begun.count(True) == 1
    assert len(queues.tickets(game.name)) == 7
    assert len(store.live_ids()) == 1


def test_of_matches_that_begin_together_each_stands_or_falls_by_itself(
    client: redis.Redis, store: MatchStore, registry: Registry, settings: Settings
) -> None:
    """More than travel in one round trip, and Redis has forgotten the script; the bot of one waits no more."""
    game, queues = registry["noughtsandcrosses"], Queues(client)
    matches = []
    for index in range(TOGETHER + 10):
        seats = [(f"a{index}", f"n/a{index}"), (f"b{index}", f"n/b{index}")]
        for bot, place in seats:
            queues.wait(game.name, Ticket(place, bot, 1.0), BY_A_TASK)
        matches.append(new_match(game, seats, settings, 1000.0))
    queues.leave(game.name, Ticket("n/b3", "b3", 1.0))
    client.script_flush()
    begun = store.begin_all([beginning(game, match) for match in matches], game.name, 0)
    assert [index for index, done in enumerate(begun) if not done] == [3]
    assert set(store.live_ids()) == {match.id for match in matches} - {matches[3].id}
    assert [ticket.bot for ticket in queues.tickets(game.name)] == ["a3"]
    again = store.begin_all([beginning(game, matches[0])], game.name, not_after_ms=1)
    assert again == [True], "it has begun already, whatever the hour"
    assert store.begin_all([beginning(game, matches[3])], game.name, not_after_ms=1) == [False]


@pytest.mark.parametrize("game", ["gomoku", "numberwang"])
def test_who_is_asked_is_told_last_that_the_match_begins(game: str, registry: Registry, settings: Settings) -> None:
    """duel-arena: the game starts for both players before one of them is asked."""
    match = new_match(registry[game], [("ada", "n1/1.1"), ("bob", "n2/1.1")], settings, 1000.0)
    letters = [Mail.decode(letter) for _, letter in beginning(registry[game], match).publications if letter != b"begun"]
    assert [letter.asks for letter in letters] == [False, True]
    assert {letter.bot for letter in letters} == {"ada", "bob"}


def test_an_empty_seat_is_found_until_it_is_taken_or_the_match_is_over(
    store: MatchStore, begun: Callable[..., Match], registry: Registry, client: redis.Redis
) -> None:
    """A bot that comes back is led to it by `wait`."""
    match = begun()
    left = step(registry["noughtsandcrosses"], match, Left("bob", "n2/1.1", clean=False), 1001.0)
    store.commit(store.draft(match, left.match, [], []))
    queues = Queues(client)
    again = Ticket("n3/1.1", "bob", 1.0)
    assert queues.wait("noughtsandcrosses", again, 1) == Seats((match.id,))
    assert client.ttl(keys.empty_seats("bob")) > 0
    assert queues.tickets("noughtsandcrosses") == []
    over = replace(left.match, revision=2, due_s=None)
    store.commit(store.draft(left.match, replace(over, verdict=_verdict()), [], []))
    assert queues.wait("noughtsandcrosses", again, 1) == Waits()


def _verdict() -> object:
    from battlebot.referee.match import Fault, Reason, Verdict

    return Verdict(None, Reason.COMPLETE, Fault.NONE)


def test_the_numbers_of_boards_grow_whoever_asks_and_whatever_is_lost(store: MatchStore) -> None:
    """Each is larger than all before it, of four that ask at once and after Redis has lost everything."""
    with ThreadPoolExecutor(4) as pool:
        columns = list(pool.map(lambda _: [store.next_number() for _ in range(5)], range(4)))
    assert all(column == sorted(column) for column in columns)
    numbers = sorted(number for column in columns for number in column)
    assert len(set(numbers)) == 20
    assert numbers[-1] < 2**31  # bots in typed languages read it into 32 bits

    def is_larger() -> bool:
        store.client.flushall()
        return store.next_number() > numbers[-1]

    # once as many tenths of a second have passed as there were numbers: real boards are slower
    wait_for(is_larger, "a larger number")


def test_one_connection_of_a_bot_claims_to_tell_it_the_end(store: MatchStore, client: redis.Redis) -> None:
    """It may claim it again, as the answer may be lost; another match's end is claimed by itself."""
    assert [store.claim_end("m1", "ada", place) for place in ("n1/1.1", "n1/2.1", "n1/1.1")] == [True, False, True]
    assert store.claim_end("m1", "bob", "n1/2.1")
    assert store.claim_end("m2", "ada", "n1/2.1")
    # a lobby holds a bot back for three times its node timeout after it has seen the end
    assert 3 * LONGEST_NODE_TIMEOUT_S < client.ttl(keys.end_claimed("m1", "ada")) <= 300
