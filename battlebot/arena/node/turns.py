"""The usual way of a turn: turns that come while Redis works on others are refereed, committed and told together.

An unusual turn, for example one that Redis has refused or not answered, goes through `Host.conduct` like other events,
in a greenlet of its own. The table's lock is lent to a turn from its arrival until all players have been told.
"""

from __future__ import annotations

from collections.abc import Callable

import msgspec
import structlog

from battlebot.arena.live.conduct import Draft
from battlebot.arena.live.store import Commit, commit_command
from battlebot.arena.node.host import Host
from battlebot.arena.node.player import Player
from battlebot.arena.node.tables import Table
from battlebot.errors import Unavailable
from battlebot.redisio.transactions import TransactionConnection
from battlebot.referee.events import Turned
from battlebot.referee.match import Match
from battlebot.runtime.gate import Gate, in_greenlet
from battlebot.wire import closing

log = structlog.get_logger()

CONNECTIONS = 3  # groups that may be under way at a time: while Redis works on two, the third is refereed
MOST = 100  # turns per group: while they are refereed, nobody else is served


class Offer(msgspec.Struct, frozen=True):
    """A turn that waits for its group. `failed(error)` is called if it is unknown whether it was committed."""

    table: Table
    player: Player
    event: Turned
    failed: Callable[[Unavailable], None]


class Turns:
    """Commits turns in groups. `new_connection` makes the connections on which they are committed."""

    def __init__(self, host: Host, new_connection: Callable[[], TransactionConnection]) -> None:
        self._host = host
        self._new_connection = new_connection
        self._waiting: list[Offer] = []
        self._idle: list[Gate] = []
        self._connections = 0
        self._called = False  # a connection is on its way to take the waiting turns

    def take(self, table: Table, player: Player, event: Turned, failed: Callable[[Unavailable], None]) -> bool:
        """Takes a player's turn for a group; returns False if the table is busy or its match not usual.

        Does not wait.
        """
        if not table.lock.lend():
            return False
        match = table.readable()
        if match is None or not is_usual(match):
            table.lock.give_back()
            return False
        self._waiting.append(Offer(table, player, event, failed))
        self._call()
        return True

    def _call(self) -> None:
        """Wakes or starts a connection for the waiting turns, unless all are busy: each looks again when it is done."""
        if self._called:
            return
        if self._idle:
            self._called = True
            self._idle.pop().release()
        elif self._connections < CONNECTIONS:
            self._called = True
            self._connections += 1
            in_greenlet(self._work, self._new_connection())

    def _work(self, connection: TransactionConnection) -> None:
        while True:
            self._called = False
            group, self._waiting = self._waiting[:MOST], self._waiting[MOST:]
            if self._waiting:
                self._call()
            if group:
                self._conduct(group, connection)
            if not self._waiting:
                gate = Gate()
                self._idle.append(gate)
                gate.acquire()

    def _conduct(self, group: list[Offer], connection: TransactionConnection) -> None:
        rest = [drafted for offer in group if (drafted := self._drafted(offer)) is not None]
        answers = _answers([commit for _, _, commit in rest], connection) if rest else []
        for (offer, draft, _), answer in zip(rest, answers, strict=True):
            match answer:
                case [1, ask_archive]:
                    self._settle(offer, draft, bool(ask_archive))
                case _:
                    self._by_itself(offer, draft)

    def _drafted(self, offer: Offer) -> tuple[Offer, Draft, Commit] | None:
        """Returns the offer with its draft and what commits it.

        None if there is nothing to commit or drafting failed, which is then handled.
        """
        try:
            draft = self._host.conductor.draft(offer.table.newest(), [offer.event])
        except Exception:
            self._by_itself(offer, None)
            return None
        if draft.commit is not None:
            return offer, draft, draft.commit
        self._settle(offer, draft, ask_archive=False)
        return None

    def _settle(self, offer: Offer, draft: Draft, ask_archive: bool) -> None:
        try:
            self._host.settle(offer.table, draft, ask_archive, offer.event)
        except Exception:
            log.exception("turn.failed", match=offer.table.match_id, bot=offer.player.bot)
            offer.player.channel.close(closing.SERVER_ERROR)
        finally:
            offer.table.lock.give_back()

    def _by_itself(self, offer: Offer, draft: Draft | None) -> None:
        in_greenlet(self._conduct_one, offer, draft)

    def _conduct_one(self, offer: Offer, draft: Draft | None) -> None:
        with offer.table.lock.keep():
            try:
                self._host.conduct(offer.table, offer.event, draft)
            except Unavailable as error:
                # so that the bot is asked again if the turn was not committed
                offer.player.stop_clock()
                offer.failed(error)
            except Exception:
                log.exception("turn.failed", match=offer.table.match_id, bot=offer.player.bot)
                offer.player.channel.close(closing.SERVER_ERROR)


def _answers(commits: list[Commit], connection: TransactionConnection) -> list[object]:
    """Makes the commits in one call of the script; returns its answer to each, or None for all if it is unknown."""
    [answers] = connection.answers([commit_command(commits)])
    return answers if isinstance(answers, list) and len(answers) == len(commits) else [None] * len(commits)


def is_usual(match: Match) -> bool:
    """Returns whether a turn waits for nothing but its commit.

    That is, if connected bots have all seats, no board follows, and no node has died since the last turn.
    """
    if match.verdict is not None or match.series is not None or match.wary:
        return False
    for seat in match.seats:  # noqa: SIM110  # at every turn: a generator would cost twice as much
        if seat.place is None or seat.address is not None:
            return False
    return True
