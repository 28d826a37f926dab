"""Registers bots, checks their logins, changes their credentials: sealed at rest, handed out once, at registration."""

from __future__ import annotations

import secrets
import threading
from collections import OrderedDict
from collections.abc import Callable, Collection, Mapping, Sequence, Set
from contextlib import suppress
from functools import partial
from typing import Any

import structlog

from battlebot.arena.names.copies import Copies
from battlebot.arena.names.lookalikes import likeness, mark, marks
from battlebot.arena.names.takingback import TakingBack
from battlebot.errors import DiskFull, LoginFailed, NameTaken, SettingError, Unavailable, UnknownBot
from battlebot.redisio.connection import held
from battlebot.runtime.background import in_background
from battlebot.runtime.batcher import Batcher
from battlebot.runtime.cooperative import cooperatively
from battlebot.storage import Storage
from battlebot.storage.bots import Bots
from battlebot.storage.vault import Vault
from battlebot.wire.login import Login, hash_fits, new_secret

log = structlog.get_logger()

AWAY = "away"  # in a copy that stands for a document: why MongoDB was not asked
REMEMBERED = 100_000  # bots whose logins need no database; what has changed, `Renewals` tells


class Directory:
    """Registrations and login checks, over the collection `bots`."""

    def __init__(
        self,
        storage: Storage,
        vault: Vault,
        used_names: Callable[[str], Collection[str]],
        copies: Copies,
        hold_s: float = 8.0,
    ) -> None:
        """`used_names(bot_id)`: names at the TCP door that nobody else may register now, as `Presence` returns them.

        `hold_s`: how long a login waits for an absent MongoDB.
        """
        self._bots = storage.bots
        self._taking_back = TakingBack(storage.bots)
        self._used_names = used_names
        self._vault = vault
        self._hold_s = hold_s
        self._copies = copies
        self._marking = threading.Lock()
        self._marked: tuple[Collection[str], Set[bytes]] = ((), frozenset())
        self._looked_up = Batcher(self._look_up)
        self._remembered: OrderedDict[str, tuple[str, str]] = OrderedDict()
        # compared with an unknown bot's hash, so that its check takes as long as a known bot's
        self._nobody = ("", new_secret())

    def register(self, game: str, bot_id: str, owner: str, **stateless: Any) -> str:
        """Stores the bot and returns its new pass_hash: 64 hex digits. `stateless`: what only such a bot has.

        Raises NameTaken, also for a name that looks like a registered one or like that of a passwordless player who is
        online, and for that of one whose match is live; DiskFull; Unavailable: the name is free again after a while.
        """
        self._check_unused(bot_id)
        pass_hash = new_secret()
        sealed = self._vault.seal(pass_hash)
        try:
            self._bots.register(game, bot_id, owner, sealed, likeness(bot_id), **stateless)
            self._recheck_unused(bot_id, sealed)
        except DiskFull:
            raise
        except Unavailable:
            # the bot may be there all the same, with a pass_hash that nobody knows
            self._taking_back.add(bot_id, sealed)
            raise
        return pass_hash

    def _recheck_unused(self, bot_id: str, sealed: bytes) -> None:
        """A player who was let in before the bot was stored knew of no bot, and would play as this one."""
        try:
            self._check_unused(bot_id)
        except NameTaken:
            self._bots.take_back(bot_id, sealed)
            raise

    def _check_unused(self, bot_id: str) -> None:
        try:
            used = self._used_names(bot_id)
        except Unavailable as error:
            # if the name is in use, its player has to log in before its next match
            log.warning("name.not_compared", bot=bot_id, error=str(error))
            return
        if mark(bot_id) in self._marks_of(used):
            raise NameTaken(
                f"The name {bot_id!r}, or one that looks like it, is in use at the TCP door until its player leaves.",
                field="bot_id",
            )

    def _marks_of(self, used: Collection[str]) -> Set[bytes]:
        # there may be as many players as connections, with names that take long to compare, and hundreds who were
        # given the same names at the same moment
        with self._marking:
            if self._marked[0] is not used:
                self._marked = used, frozenset(found for name in cooperatively(used) for found in marks(name))
            return self._marked[1]

    def check_owner(self, game: str, bot_id: str, pass_hash: str) -> None:
        """Checks a bot's game and pass_hash. Raises LoginFailed if either is not right, Unavailable."""
        given = pass_hash.encode()
        if self._find(bot_id, game, lambda known: secrets.compare_digest(given, known.encode())) is None:
            raise LoginFailed("The bot, its game or its pass_hash is not right.")

    def renew(self, bot_id: str, pass_hash: str, given: str) -> None:
        """Gives a registered bot another pass_hash, as `renewed` does; other nodes learn it within seconds.

        Raises UnknownBot, LoginFailed; Unavailable: it may have been changed all the same.
        """
        try:
            document = renewed(self._bots, self._vault, bot_id, pass_hash, given)
        except SettingError as error:
            raise self._unreadable(bot_id, error) from error
        self._remembered.pop(bot_id, None)
        # MongoDB may be gone before the nodes look
        in_background(self._copy, [document])
        log.info("bot.renewed", bot=bot_id)

    def learn(self, documents: Sequence[Mapping[str, Any]]) -> dict[str, str]:
        """Takes these documents of the collection `bots` for right, as their pass_hash was changed.

        Returns bot -> pass_hash; without those that no key of this node opens, who cannot log in here.
        """
        known = {}
        for row in cooperatively(documents):
            self._remembered.pop(row["_id"], None)
            with suppress(Unavailable):
                known[row["_id"]] = self._opened(row["_id"], row["sealed_pass_hash"])
        return known

    def registered(self, names: Collection[str]) -> bool:
        """Returns whether one of these is, or looks like, a registered bot's name. Raises Unavailable."""

        def found(name: str) -> bool:
            return name in self._remembered or self._bots.looks_taken(likeness(name))

        return any(held(partial(found, name), self._hold_s) for name in names)

    def check(self, login: Login, salt: str) -> Callable[[str, str], bool]:
        """Checks a login's bot, game and hash. Raises LoginFailed if one is not right, Unavailable.

        Returns a function that tells whether a `login_hash`, as the answer to a `salt`, is right for this bot, too.
        """
        pass_hash = self._find(login.bot_id, login.game, lambda known: hash_fits(login.login_hash, known, salt))
        if pass_hash is None:
            raise LoginFailed("The bot, its game or its login_hash is not right.")
        return lambda given, its_salt: hash_fits(given, pass_hash, its_salt)

    def _find(self, bot_id: str, game: str, fits: Callable[[str], bool]) -> str | None:
        """Returns the bot's pass_hash if it is for this game and `fits(pass_hash)`, else None. Raises Unavailable.

        At once if no key of this node opens its credentials: waiting gives it none, but another node may have it.
        """
        known = self._remembered.get(bot_id)
        if known is not None and fits(known[1]) and known[0] == game:
            self._remembered.move_to_end(bot_id)
            return known[1]
        # it is not what this node remembers, but may have been changed at another one
        pass_hash = self._looked_for(bot_id, game, fits, copied=True)
        if pass_hash is None:
            return None
        # only now that somebody has its pass_hash: until that is given out, a registration may be taken back
        self._remembered[bot_id] = game, pass_hash
        if len(self._remembered) > REMEMBERED:
            self._remembered.popitem(last=False)
        return pass_hash

    def _looked_for(self, bot_id: str, game: str, fits: Callable[[str], bool], copied: bool) -> str | None:
        """Like `_find`, but asks MongoDB; while that is away, the copies, if they may be `copied`."""
        row = held(partial(self._row, bot_id, copied), self._hold_s)
        found, pass_hash = self._nobody if row is None else (row["game"], self._opened(bot_id, row["sealed_pass_hash"]))
        if fits(pass_hash) and found == game:
            return pass_hash
        if row is not None and AWAY in row and found == game:
            # only MongoDB knows whether it has been changed since it was copied
            return self._looked_for(bot_id, game, fits, copied=False)
        return None

    def _row(self, bot_id: str, copied: bool) -> Mapping[str, Any] | None:
        found = self._looked_up.ask(bot_id)
        if isinstance(found, str):
            raise Unavailable(found)
        if found is not None and AWAY in found and not copied:
            raise Unavailable(found[AWAY])
        return found

    def _look_up(self, bot_ids: Sequence[str]) -> Sequence[Mapping[str, Any] | str | None]:
        """While MongoDB is away, a bot that any node has lately looked up is let in all the same.

        Otherwise a bot in a match could come back at those nodes only that know it, and be kept out by the others.

        Returns for others what is wrong, which copies say by `AWAY`. Not the error, whose traceback holds who asked:
        they would stay in memory until the collector runs.
        """
        try:
            found = self._bots.find_all(bot_ids)
        except Unavailable as error:
            return [{**copy, AWAY: str(error)} if copy else str(error) for copy in self._copies.of(bot_ids)]
        # a login does not wait for it: if Redis hangs, it is turned away, and that soon
        in_background(self._copy, [row for row in found if row is not None])
        return found

    def _copy(self, documents: Sequence[Mapping[str, Any]]) -> None:
        try:
            self._copies.keep(documents)
        except Unavailable as error:
            log.warning("registrations.not_copied", error=str(error))

    def _opened(self, bot_id: str, sealed: bytes) -> str:
        try:
            return self._vault.open(sealed)
        except SettingError as error:
            raise self._unreadable(bot_id, error) from error

    @staticmethod
    def _unreadable(bot_id: str, error: SettingError) -> Unavailable:
        log.error("credentials.unreadable", bot=bot_id, error=str(error))
        return Unavailable("This server cannot check the password of this bot now.")


def renewed(bots: Bots, vault: Vault, bot_id: str, pass_hash: str, given: str | None = None) -> dict[str, Any]:
    """Gives a registered bot another pass_hash, of 64 hex digits, if it has `given`; None: whatever it has.

    Returns its document with the new one. Raises UnknownBot, LoginFailed, SettingError if the vault does not open what
    it has; Unavailable: it may have been changed all the same.
    """
    row = bots.find(bot_id)
    if row is None:
        raise UnknownBot(f"There is no bot {bot_id!r}.")
    known = vault.open(row["sealed_pass_hash"])
    if given is not None and not secrets.compare_digest(given.encode(), known.encode()):
        raise LoginFailed("The bot, its game or its pass_hash is not right.")
    sealed = vault.seal(pass_hash)
    if not bots.renew(bot_id, sealed, row["sealed_pass_hash"]):
        raise LoginFailed("The bot's pass_hash has just been changed.")
    return {**row, "sealed_pass_hash": sealed}
