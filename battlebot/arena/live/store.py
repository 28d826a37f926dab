"""Live matches in Redis: begun, committed with an optimistic revision, read. No rules of play here."""

from __future__ import annotations

import itertools
import secrets
from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress
from functools import partial
from typing import Any

import msgspec
import orjson
import redis

from battlebot.arena.live.addresses import Addresses
from battlebot.arena.live.calls import (
    Beginning,
    Call,
    Part,
    Publication,
    begin_call,
    commit_call,
    commits_call,
    decode_match,
    decode_part,
)
from battlebot.errors import Conflict, UnknownMatch, UnreadableMatch
from battlebot.redisio import keys
from battlebot.redisio.connection import held, of_each, redis_errors, texts, time_s
from battlebot.redisio.scripts import Script, Scripts
from battlebot.redisio.transactions import Command
from battlebot.referee.match import Match
from battlebot.runtime.cooperative import cooperatively

COMMIT = Script("battlebot.arena.live", "commit.lua")
BEGIN = Script("battlebot.arena.live", "begin.lua")
NUMBER = Script("battlebot.arena.live", "number.lua")

CLAIMED_S = 300  # longer than anybody is held back for a match that has ended
ODD_MS = 60_000  # no lease on asking is given for so long
TRIED_S = 3600  # how long it is remembered what a node was about to do; its bots come back sooner, or never
TOGETHER = 50  # most matches begun in one round trip; Redis serves nobody else meanwhile
READ_TOGETHER = 20  # matches of a list: they may be large


class Commit(msgspec.Struct, frozen=True):
    """One match's part of a `commit.lua` call, which replaces it by its next revision; idempotent."""

    match_id: str
    call: Call

    def done(self, answer: Any) -> bool:
        """Reads from the script's answer whether the archive must be asked for now. Raises Conflict, UnknownMatch."""
        done, detail = answer
        if done:
            return bool(detail)
        if detail == b"":
            raise UnknownMatch(f"The match {self.match_id} is not in Redis any more.")
        raise Conflict(f"The match {self.match_id} is at revision {int(detail)}.")


def commit_command(commits: Iterable[Commit]) -> Command:
    """Returns the command for commits of different matches; its answer is a list of what each `Commit.done` takes."""
    return COMMIT.command(*commits_call(commit.call for commit in commits))


class MatchStore:
    """All access to the keys of live matches. Every method raises Unavailable when Redis does not answer.

    `hold_s`: for how many seconds a commit is retried before it fails; a bot's clock stands still meanwhile.
    """

    def __init__(self, client: redis.Redis, scripts: Scripts | None = None, hold_s: float = 30.0) -> None:
        self.client = client
        self.addresses = Addresses(client)
        self._scripts = scripts or Scripts(client)
        self._hold_s = hold_s
        # no two commits have the same token, whatever process makes them
        self._tokens = map(f"{secrets.token_hex(8)}.{{:x}}".format, itertools.count())

    def begin(self, one: Beginning, queue: str, holder: str = "") -> bool:
        """Begins the match if each of its tickets waits in the queue or is held by the ticket `holder`.

        Otherwise changes nothing and returns False. Also returns False if a bot that is found by name plays already, or
        a stateless one is asked at its address in as many matches as it may be; then the held tickets are freed.
        """
        call = begin_call(one, queue, holder, 0)
        return bool(held(lambda: self._scripts.run(BEGIN, *call), min(self._hold_s, 5.0)))

    def begin_all(self, beginnings: Sequence[Beginning], queue: str, not_after_ms: int) -> list[bool]:
        """Like `begin`, for each; they are sent together, and each succeeds or fails by itself.

        After `not_after_ms` on Redis's clock (0: no limit) none begins.
        """
        begun: list[bool] = []
        for at in range(0, len(beginnings), TOGETHER):
            calls = [begin_call(one, queue, "", not_after_ms) for one in beginnings[at : at + TOGETHER]]
            answers = held(partial(self._scripts.run_all, BEGIN, calls), min(self._hold_s, 5.0))
            begun += map(bool, answers)
        return begun

    def draft(
        self,
        before: Match,
        after: Match,
        turns: Sequence[dict[str, Any]],
        publications: Sequence[Publication],
        follows: Match | None = None,
    ) -> Commit:
        """Returns the commit that replaces `before` by `after`, without making it. Does not ask Redis.

        `turns` are appended to the record. `follows` is a match that begins with the end of this one.
        Raises TypeError if the game's state is not JSON, or too large to be stored.
        """
        return Commit(after.id, commit_call(before, after, turns, publications, follows, next(self._tokens)))

    def commit(self, commit: Commit) -> bool:
        """Makes a commit, in one round trip. Returns whether the archive must be asked for now.

        Raises Conflict if Redis has another revision than `before` (reload, step again), UnknownMatch if it has none.
        """
        call = commits_call([commit.call])
        [answer] = held(lambda: self._scripts.run(COMMIT, *call), self._hold_s)
        return commit.done(answer)

    def begin_try(self, match_id: str, node: str) -> str | None:
        """Notes that the node is about to answer an event of the match; returns one that was before, and is not done.

        If that node is gone, it has died of it. Waits for Redis as long as `commit` does; raises Unavailable.
        """
        return self._of_try(lambda: self.client.set(keys.tried(match_id), node, ex=TRIED_S, get=True))

    def tried(self, match_id: str) -> str | None:
        """Returns what `begin_try` would, and notes nothing."""
        return self._of_try(lambda: self.client.get(keys.tried(match_id)))

    def end_try(self, match_id: str) -> None:
        """Takes back what `begin_try` noted. Waits for Redis as long as `commit` does; raises Unavailable."""
        self._of_try(lambda: self.client.delete(keys.tried(match_id)))

    def _of_try(self, ask: Callable[[], Any]) -> str | None:
        def asked() -> Any:
            with redis_errors():
                return ask()

        node = held(asked, self._hold_s)
        return str(node.decode()) if isinstance(node, bytes) else None

    def post(self, node: str, letter: bytes) -> None:
        """Sends a node a letter, which it reads after all earlier letters."""
        with redis_errors():
            self.client.publish(keys.mailbox(node), letter)

    def next_number(self) -> int:
        """Returns a number for a board, larger than all before."""
        return int(held(lambda: self._scripts.run(NUMBER, [keys.NUMBERS], []), self._hold_s))

    def load(self, match_id: str) -> Match:
        """Returns the match as it stands in Redis. Raises UnknownMatch, UnreadableMatch."""
        return decode_match(self._document(match_id))

    def part(self, match_id: str, kind: type[Part]) -> Part:
        """Returns as much of the match as a struct of this `kind` has. Raises UnknownMatch, UnreadableMatch.

        Of a large state much less is made than by `load`: that takes a node tens of milliseconds.
        """
        return decode_part(self._document(match_id), kind)

    def _document(self, match_id: str) -> bytes:
        with redis_errors():
            document: Any = self.client.hget(keys.match(match_id), "doc")
        if document is None:
            raise UnknownMatch(f"There is no live match {match_id}.")
        return document

    def reload(self, match_id: str) -> Match:
        """Like `load`, retried for as long as a commit is: for a commit that is made again after a Conflict."""
        return held(lambda: self.load(match_id), self._hold_s)

    def claim_end(self, match_id: str, bot: str, place: str) -> bool:
        """Returns whether the connection at `place` is the one, of all that wait, to tell its bot the match's end."""
        key = keys.end_claimed(match_id, bot)
        with redis_errors():
            claimed = self.client.set(key, place, nx=True, ex=CLAIMED_S)
            return bool(claimed) or self.client.get(key) == place.encode()

    def turns(self, match_id: str, first: int, end: int) -> list[dict[str, Any]] | None:
        """Returns the valid turns that answered a match's versions from `first` to before `end`, as bots are told them.

        Returns None if they are no longer there: the match has been archived.
        """
        if first >= end:
            return []
        with redis_errors():
            rows: Any = self.client.lrange(keys.turns(match_id), first, end - 1)
        turns = [{**orjson.loads(row)["turn"], "valid": True} for row in rows]
        return turns if len(turns) == end - first else None

    def progress(self, match_id: str, first: int, most: int) -> tuple[bool, int, list[dict[str, Any]]]:
        """Returns whether a match is over, how many entries its record has, and `most` of them from number `first` on.

        Does not read the match itself, which may be large. Raises UnknownMatch.
        """
        with redis_errors():
            pipeline = self.client.pipeline(transaction=False)
            pipeline.hmget(keys.match(match_id), "rev", "seq")
            pipeline.llen(keys.turns(match_id))
            pipeline.lrange(keys.turns(match_id), first, first + most - 1)
            (revision, seq), count, rows = pipeline.execute()
        if revision is None:
            raise UnknownMatch(f"There is no live match {match_id}.")
        # entries may have been added after they were counted
        return seq is not None, count, [orjson.loads(row) for row in rows[: max(0, count - first)]]

    def within(self, match_ids: Sequence[str], most_bytes: int) -> list[str]:
        """Returns as many of the matches, the first before others, as have documents of `most_bytes` together.

        Half of that is for those that take no more than their share of it: few large ones displace no small ones.
        """
        sizes = of_each(self.client, match_ids, lambda pipeline, one: pipeline.hstrlen(keys.match(one), "doc"))
        half = most_bytes // 2
        fitting, left = [], half
        for match_id, size in zip(match_ids, sizes, strict=True):
            if size * len(sizes) <= half:
                fitting.append(match_id)
            elif size <= left:
                fitting.append(match_id)
                left -= size
        return fitting

    def load_many(self, match_ids: Sequence[str]) -> dict[str, Match]:
        """Returns id -> match, for those that Redis holds and that can be read. Others run in between."""
        matches = {}
        firsts = range(0, len(match_ids), READ_TOGETHER)
        parts = (self.documents(match_ids[at : at + READ_TOGETHER]) for at in firsts)
        for match_id, document in cooperatively(itertools.chain.from_iterable(parts)):
            # whoever looks at many is not the one who must look after this: the sweep tells of it
            with suppress(UnreadableMatch):
                matches[match_id] = decode_match(document)
        return matches

    def documents(self, match_ids: Sequence[str]) -> list[tuple[str, bytes]]:
        """Returns (id, document) for those of the matches that Redis holds, read in one round trip."""
        documents = of_each(self.client, match_ids, lambda pipeline, one: pipeline.hget(keys.match(one), "doc"))
        return [(one, document) for one, document in zip(match_ids, documents, strict=True) if document is not None]

    def held(self, match_ids: Sequence[str]) -> set[str]:
        """Returns those of the matches that Redis holds, live or ended; one that was set aside is not held."""
        there = of_each(self.client, match_ids, lambda pipeline, one: pipeline.exists(keys.match(one)))
        return {match_id for match_id, is_there in zip(match_ids, there, strict=True) if is_there}

    def now_ms(self) -> int:
        """Returns the time on Redis's clock, in ms since the epoch."""
        return int(time_s(self.client) * 1000)

    def live_ids(self) -> list[str]:
        """Returns the ids of all live matches, the most urgent first."""
        with redis_errors():
            return texts(self.client.zrange(keys.DEADLINES, 0, -1))

    def overdue_ids(self, now_s: float) -> list[str]:
        """Returns the ids of the live matches whose `due_s` is not after `now_s`."""
        with redis_errors():
            return texts(self.client.zrangebyscore(keys.DEADLINES, "-inf", int(now_s * 1000)))

    def unasked_ids(self, now_ms: int) -> list[str]:
        """Returns the ids of the matches whose asking lease has ended, on Redis's clock, because the worker died.

        Also those whose lease would last for more than `ODD_MS`: that clock was set back. A living worker renews it.
        """
        with redis_errors():
            ended = texts(self.client.zrangebyscore(keys.ASKING, "-inf", now_ms))
            return ended + texts(self.client.zrangebyscore(keys.ASKING, now_ms + ODD_MS, "+inf"))
