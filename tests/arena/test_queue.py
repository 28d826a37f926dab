"""The queue's scripts in a real Valkey: a bot waits, or takes others along; nobody is taken twice, nobody is lost."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor

import pytest
import redis
from records import GAMES

from battlebot.arena.live.making import begin, new_match
from battlebot.arena.live.queue import BY_A_TASK, Begun, Found, Manner, Queues, Taken, Ticket, Waits
from battlebot.arena.live.store import MatchStore
from battlebot.arena.places import STATELESS
from battlebot.config import Settings
from battlebot.redisio import keys
from battlebot.redisio.mutex import LOCK_MS, Locks, Mutex

GAME = "noughtsandcrosses"


@pytest.fixture
def queues(client: redis.Redis) -> Queues:
    """The queues."""
    return Queues(client)


def ticket(bot: str, number: int = 0, node: str = "n") -> Ticket:
    """A bot's ticket; the number tells its connections apart."""
    return Ticket(f"{node}/{bot}{number}.1", bot, 100.0 + number)


def others(found: Found) -> tuple[Ticket, ...]:
    """Those that were taken along."""
    assert isinstance(found, Taken)
    return found.others


def test_who_comes_second_takes_the_longest_waiting_along(queues: Queues) -> None:
    """Both are out of the queue then; a third waits."""
    assert queues.wait(GAME, ticket("a"), 1) == Waits()
    assert [other.bot for other in others(queues.wait(GAME, ticket("b"), 1))] == ["a"]
    assert queues.tickets(GAME) == []
    assert queues.wait(GAME, ticket("c"), 1) == Waits()


def test_a_bot_is_never_taken_by_itself(queues: Queues) -> None:
    """However many of its connections wait; another bot takes the one that waits longest."""
    for number in range(150):
        assert queues.wait(GAME, ticket("a", number), 1) == Waits()
    (other,) = others(queues.wait(GAME, ticket("b"), 1))
    assert other.place == ticket("a", 0).place


def test_by_name_who_was_met_least_recently_is_taken(queues: Queues, client: redis.Redis) -> None:
    """A stranger first; both remember it, for some days."""
    for number, bot in enumerate("cba"):
        queues.wait(GAME, ticket(bot, number), BY_A_TASK)
    client.zadd(keys.met(GAME, "d"), {"a": 1, "c": 2})
    assert [other.bot for other in others(queues.wait(GAME, ticket("d"), 1, Manner(by_name=True)))] == ["b"]
    for one, other in ("db", "bd"):
        assert client.zscore(keys.met(GAME, one), other) > 2
        assert client.ttl(keys.met(GAME, one)) > 0
    assert queues.names() == [GAME], "others still wait"
    queues.wait(GAME, ticket("b", 3), BY_A_TASK)
    assert [other.bot for other in others(queues.wait(GAME, ticket("d", 1), 1, Manner(by_name=True)))] == ["a"]


def test_by_name_a_stateless_bot_is_taken_only_if_no_other_waits(queues: Queues, client: redis.Redis) -> None:
    """Wherever it stands in the queue, and though the bot has met all others, and not this one."""
    client.zadd(keys.met(GAME, "d"), {"a": 1, "b": 2, "s": 3})
    for one in (ticket("b", 1), ticket("s", 2, node=STATELESS), ticket("a", 3), ticket("t", 4, node=STATELESS)):
        queues.wait(GAME, one, BY_A_TASK)
    taken = [others(queues.wait(GAME, ticket("d", number), 1, Manner(by_name=True))) for number in range(5, 9)]
    assert [other.bot for (other,) in taken] == ["a", "b", "t", "s"]


def beats(client: redis.Redis, node: str, at_ms: int) -> None:
    """A heartbeat of a node."""
    client.zadd(keys.NODES, {node: at_ms})


@pytest.fixture
def mailbox(client: redis.Redis) -> Callable[[str], redis.client.PubSub]:
    """`mailbox(node)` reads a node's mail until it is closed."""

    def read(node: str) -> redis.client.PubSub:
        made = client.pubsub()
        made.subscribe(keys.mailbox(node))
        assert made.get_message(timeout=10) is not None
        return made

    return read


def test_who_waits_at_a_node_that_may_be_dead_is_left_out(
    queues: Queues, client: redis.Redis, mailbox: Callable[[str], redis.client.PubSub]
) -> None:
    """Its bot is at another node by now, perhaps; who would have taken it along looks again."""
    queues.wait(GAME, ticket("a", node="dying"), 1)
    beats(client, "dying", 7_000)
    beats(client, "n", 20_000)
    with mailbox("n"):
        assert queues.wait(GAME, ticket("b"), 1) == Waits(left_out=True)
        assert [waiting.bot for waiting in queues.offered(GAME)] == ["b"]
        queues.wait(GAME, ticket("a"), 1)
        assert [waiting.bot for waiting in queues.tickets(GAME)] == ["a"], "that of the dying node"
        # however late its heartbeats are: a slow node's bots must not wait for ever
        with mailbox("dying"):
            assert [waiting.bot for waiting in queues.offered(GAME)] == ["a"]
            assert others(queues.wait(GAME, ticket("c"), 1))[0].place == ticket("a", node="dying").place


def test_who_waits_while_a_pairing_is_under_way_leaves_it_a_wish_and_asks_for_no_other(
    queues: Queues, client: redis.Redis
) -> None:
    """The pairing sees the wish once it has released its lock, and looks again."""
    name = keys.queue_name(GAME, "cup")
    seen: list[int] = []

    def pair() -> int:
        if not seen:
            assert queues.wait(name, ticket("b"), BY_A_TASK) == Waits()
            assert client.pttl(keys.asked(f"pair:{name}")) > LOCK_MS / 2, "it lasts as long as the lock"
        seen.append(len(queues.tickets(name)))
        return 1

    assert queues.wait(name, ticket("a"), BY_A_TASK) == Waits(), "nobody is there to be paired with"
    assert Mutex(Locks(client), f"pair:{name}").run(pair) == 2
    assert seen == [2, 2]
    assert queues.wait(name, ticket("c"), BY_A_TASK) == Waits(ask_pairing=True)


def test_of_many_that_come_at_once_each_is_in_one_pair(queues: Queues) -> None:
    """200 bots, one call each: 100 pairs, and nobody waits; no call is made in vain."""
    with ThreadPoolExecutor(16) as pool:
        answers = list(pool.map(lambda index: (index, queues.wait(GAME, ticket(f"bot{index}"), 1)), range(200)))
    pairs = [(f"bot{index}", answer.others[0].bot) for index, answer in answers if isinstance(answer, Taken)]
    assert len(pairs) == 100
    assert max(Counter(bot for pair in pairs for bot in pair).values()) == 1
    assert queues.tickets(GAME) == []


def test_a_held_ticket_is_not_put_back_until_who_holds_it_is_dead(queues: Queues, client: redis.Redis) -> None:
    """Its node says that it still waits: no, while the match is being made; yes, when the mark has gone."""
    queues.wait(GAME, ticket("a"), 1)
    queues.wait(GAME, ticket("b"), 1)
    assert queues.wait_again(GAME, [ticket("a")]) == [(None, False, False)]
    assert queues.tickets(GAME) == []
    assert 0 < client.pttl(keys.ticket(ticket("a").text)) <= 5000
    client.delete(keys.ticket(ticket("a").text))
    assert queues.wait_again(GAME, [ticket("a")]) == [(None, False, True)]
    assert [waiting.bot for waiting in queues.tickets(GAME)] == ["a"]


@pytest.mark.parametrize("lost", [keys.queue(GAME), keys.QUEUES])
def test_what_redis_has_lost_of_a_queue_is_there_again_when_its_bots_say_that_they_wait(
    lost: str, queues: Queues, client: redis.Redis
) -> None:
    """The tickets, or the name of the queue; of each is told whether its ticket was lost."""
    tickets = [ticket("a"), ticket("b")]
    for one in tickets:
        queues.wait(GAME, one, BY_A_TASK)
    assert queues.wait_again(GAME, tickets) == [(None, False, False)] * 2
    client.delete(lost)
    assert queues.wait_again(GAME, tickets) == [(None, False, lost != keys.QUEUES)] * 2
    assert queues.names() == [GAME]
    assert queues.tickets(GAME) == tickets


def test_a_queue_is_one_until_its_last_bot_has_left(queues: Queues) -> None:
    """A sweep looks for those of dead nodes in queues that are known."""
    for bot in "ab":
        queues.wait(GAME, ticket(bot), BY_A_TASK)
    for bot, left in (("a", [GAME]), ("b", [])):
        assert queues.leave(GAME, ticket(bot))
        assert queues.names() == left
    assert not queues.leave(GAME, ticket("b"))


@pytest.mark.parametrize("third", ["", "c"], ids=["nobody else waits", "another waits"])
def test_a_queue_is_none_once_its_last_bots_have_a_match(
    queues: Queues, client: redis.Redis, settings: Settings, third: str
) -> None:
    """Also if their nodes still say that they wait, as the letters are under way: no sweep must ask for its pairing."""
    name, tickets = f"{GAME}/cup", [ticket("a"), ticket("b")]
    for one in tickets:
        queues.wait(name, one, BY_A_TASK)
    for bot in third:
        queues.wait(name, ticket(bot), BY_A_TASK)
    assert queues.names() == [name]
    seats = [(one.bot, one.place) for one in tickets]
    match = new_match(GAMES[GAME], seats, settings, 1_800_000_000.0, contest="cup")
    assert begin(MatchStore(client), GAMES[GAME], match, name)
    left = [name] if third else []
    assert queues.names() == left
    assert queues.wait_again(name, tickets) == [(match.id, False, False)] * 2
    assert queues.names() == left


def test_of_many_that_wait_who_has_an_empty_seat_is_told(queues: Queues, client: redis.Redis) -> None:
    """Only that one: there is nothing new for the others."""
    tickets = [ticket("a"), ticket("b"), ticket("c")]
    for one in tickets:
        queues.wait(GAME, one, BY_A_TASK)
    client.sadd(keys.empty_seats("b"), "its match")
    assert queues.wait_again(GAME, tickets) == [(None, False, False), (None, True, False), (None, False, False)]


def test_a_match_begins_with_held_tickets_and_only_for_their_holder(
    queues: Queues, client: redis.Redis, settings: Settings
) -> None:
    """Another cannot begin with them; the holder can, once; then the tickets tell their match."""
    game, store = GAMES[GAME], MatchStore(client)
    queues.wait(GAME, ticket("a"), 1)
    queues.wait(GAME, ticket("b"), 1)
    match = new_match(game, [("a", ticket("a").place), ("b", ticket("b").place)], settings, 1000.0)
    assert not begin(store, game, match, GAME)
    assert not begin(store, game, match, GAME, holder=ticket("a").text)
    assert begin(store, game, match, GAME, holder=ticket("b").text)
    assert queues.wait_again(GAME, [ticket("a"), ticket("b")]) == [(match.id, False, False), (match.id, False, False)]
    assert queues.wait(GAME, ticket("a"), 1) == Begun(match.id)


def test_tickets_that_are_held_for_a_match_at_a_full_address_are_freed(
    queues: Queues, client: redis.Redis, settings: Settings
) -> None:
    """Those who wait at nodes are put back by these, at once."""
    game, store = GAMES[GAME], MatchStore(client)
    asked, connected, newcomer, url = ticket("a", node=STATELESS), ticket("b"), ticket("c"), "http://bots.example/"
    queues.wait(GAME, asked, BY_A_TASK)
    queues.wait(GAME, connected, BY_A_TASK)
    assert isinstance(queues.wait(GAME, newcomer, 2), Taken)
    client.sadd(keys.asked_at(url), "another match")
    seats = [(one.bot, one.place) for one in (asked, connected, newcomer)]
    match = new_match(game, seats[:2], settings, 1000.0, addresses={"a": url})
    assert not begin(store, game, match, GAME, holder=newcomer.text, most={url: 1})
    answers = queues.wait_again(GAME, [asked, connected])
    assert answers == [(None, False, True)] * 2
    assert begin(store, game, match, GAME, most={url: 2})


def test_a_dead_nodes_tickets_are_dropped_from_every_queue(queues: Queues) -> None:
    """Those of other nodes stay."""
    queues.wait(GAME, ticket("a", node="dead"), 1)
    queues.wait("numberwang", ticket("b", node="dead"), 1)
    queues.wait("connectfour", ticket("c", node="alive"), 1)
    queues.drop_node("dead")
    assert [waiting.bot for name in queues.names() for waiting in queues.tickets(name)] == ["c"]
