"""A node's post: hands the letters of its mailbox, in their order, to whom they are for.

The order is that of the letters of one match, and of one place. What must wait, for a table that somebody holds or for
Redis, does so in the background, and has only later letters about the same match or place wait for it.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from inspect import signature

import orjson
import structlog

from battlebot.arena.live.mail import MAIL, Mail
from battlebot.arena.node.host import Host
from battlebot.arena.node.player import Player
from battlebot.arena.node.recovery import Recovery
from battlebot.arena.node.tables import Table
from battlebot.errors import Unavailable, UnreadableMatch
from battlebot.runtime.loglimit import LogLimit
from battlebot.runtime.postponed import Postponed
from battlebot.wire import closing

log = structlog.get_logger()


class Post:
    """Handles updates, and all other letters by their `do`.

    `letters`: handlers for those that the lobby and the door know. A handler is called with the fields of the letter
    that its parameters name, those with a default only if the letter has them; it must not wait.
    """

    def __init__(self, host: Host, recovery: Recovery, letters: Mapping[str, Callable[..., None]]) -> None:
        self._host = host
        self._tables = host.tables
        self._recovery = recovery
        handlers: dict[str, Callable[..., None]] = {
            "evict": self._evict,
            "nudge": self._nudge,
            "begun": self._begun,
            "abandoned": self._abandoned,
            "onward": self._onward,
            "rejoin": self._rejoin,
            **letters,
        }
        self._handlers = {do: (handler, tuple(signature(handler).parameters)) for do, handler in handlers.items()}
        self._postponed = Postponed()
        self._tells = LogLimit()

    def take(self, letter: bytes) -> None:
        """Handles a letter."""
        if letter.startswith(MAIL):
            mail = Mail.decode(letter)
            about = mail.match_id, mail.place
            if self._postponed.holds_up(*about) or not self._tells_at_once(mail):
                self._postponed.add(partial(self._update, mail), *about)
            return
        message = orjson.loads(letter)
        do = message["do"]
        if do in self._handlers:
            handler, fields = self._handlers[do]
            # of another version, which may write more into it or, where there is a default, less
            handler(**{field: message[field] for field in fields if field in message})
        elif self._tells(do):
            # of a later version, too: it is as if it were lost, as any letter may be
            log.warning("letter.unknown", do=do)

    def _tells_at_once(self, mail: Mail) -> bool:
        """Tells a player an update; returns False, having done nothing, if it must wait or nobody is there for it."""
        with self._tables.at_once(mail.match_id) as table:
            player = None if table is None else self._player_of(table, mail)
            if table is None or player is None:
                return False
            self._tell(table, player, mail)
        return True

    def _player_of(self, table: Table, mail: Mail) -> Player | None:
        player = self._tables.expected(mail.place) or table.players.get(mail.bot)
        return player if player is not None and player.place == mail.place else None

    def _update(self, mail: Mail) -> None:
        before = self._tables.elsewhere(mail.place, mail.match_id)
        if before is not None:
            # the other node was quicker: whoever ended the previous board is about to tell of it here
            with before.lock:
                pass
        with self._tables.at(mail.match_id) as table:
            player = self._player_of(table, mail)
            if player is not None:
                self._tell(table, player, mail)
            elif not mail.final:
                table.take(mail.document, mail.revision)
                self._host.leave(table, self._tables.departed(mail.bot, mail.place))

    def _tell(self, table: Table, player: Player, mail: Mail) -> None:
        table.take(mail.document, mail.revision)
        try:
            self._host.seat(table, player, mail.version)
            self._host.deliver_after_missed(table, player, mail)
            if not mail.final and table.revision > mail.revision:
                # the match went on before the letter was read, and this player was not seated to be told
                self._recovery.catch_up(table, player)
        except UnreadableMatch as error:
            self._host.send_away(table, error)

    def _nudge(self, match_id: str) -> None:
        self._postponed.add(partial(self._recovery.nudged, match_id), match_id)

    def _begun(self, match_id: str, place: str) -> None:
        self._postponed.add(partial(self._look_for, match_id, place), match_id, place)

    def _look_for(self, match_id: str, place: str) -> None:
        player = self._tables.expected(place)
        if player is not None:
            self._recovery.nudged(match_id, player)

    def _abandoned(self, match_id: str, bot: str, place: str) -> None:
        self._postponed.add(partial(self._host.empty, match_id, bot, place), match_id, place)

    def _onward(self, match_id: str, node: str, letter: str) -> None:
        self._postponed.add(partial(self._pass_on, match_id, node, letter.encode()), match_id)

    def _pass_on(self, match_id: str, node: str, letter: bytes) -> None:
        # whoever ended the match here holds its table until all have been told
        with self._tables.at(match_id):
            pass
        try:
            self._host.conductor.store.post(node, letter)
        except Unavailable as error:
            log.warning("letter.not_passed_on", match=match_id, error=str(error))

    def _rejoin(self) -> None:
        self._postponed.add_after_all(self._recovery.look_after_all)

    def _evict(self, place: str) -> None:
        self._postponed.add(partial(self._take_from, place), place)

    def _take_from(self, place: str) -> None:
        player = self._tables.seated(place)
        # while this waits for the lock, the next board of a series may begin
        while player is not None and (table := player.table) is not None:
            with table.lock:
                if player.table is table:
                    self._tables.unseat(table, player)
                    self._tables.drop_if_empty(table)
                    player.channel.close(closing.TAKEN_OVER)
