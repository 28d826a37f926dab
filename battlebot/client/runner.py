"""`run`: connects a bot, and reconnects it. What happens over one connection is in `player`."""

from __future__ import annotations

import logging
import ssl
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path

from battlebot.client.address import parse_address
from battlebot.client.arguments import check_arguments
from battlebot.client.backoff import HEALTHY_S, Backoff
from battlebot.client.bot import Bot, Result, as_bot
from battlebot.client.connection import OPEN_IN_MATCH_S, OPEN_TIMEOUT_S, PASSING, Connection
from battlebot.client.credentials import Credentials
from battlebot.client.errors import ConnectionLost, LoginFailed, Refused
from battlebot.client.player import Plan, Player

log = logging.getLogger("battlebot.client")

TRY_LATER_S = 2.0
NORMAL = 1000
RESTART = "restart"
TRY_LATER = PASSING | {"too-many-connections"}
FINAL_CODES = frozenset({1003, 1007, 1008, 1009})  # the server rejects what the bot sent, and would do so again
PASSING_SLUGS = frozenset({"rate", "slow-reader", "silent"})  # exceptions: a new connection may do better


def run(
    bot: Bot | type[Bot],
    host: str,
    game: str,
    contest: str | None = None,
    *,
    credentials: Credentials | str | Path = "auth.json",
    matches: int | None = None,
    protocol: int = 2,
    keep: bool = True,
    idle_timeout_s: float | None = None,
    tls: ssl.SSLContext | None = None,
) -> list[Result]:
    """Connect a bot and play. Returns the results when it ends: after `matches`, after `idle_timeout_s`, or by Ctrl-C.

    With `keep` the bot plays match after match over one connection. Without it, it plays one match; or, in a contest
    or with `matches`, one per connection. `idle_timeout_s` is how long to go without a match. `credentials` may be the
    auth file's path. `protocol=1` speaks like the original clients. `tls` replaces the system's certificates, for a
    server with its own. Raises what `choose` raises, ClientError if going on is of no use (see
    `battlebot.client.errors`), TypeError if `bot` cannot play or an argument is of another type, and ValueError for any
    other `protocol`.
    """
    check_arguments(host=host, game=game, contest=contest, matches=matches, keep=keep, tls=tls)
    check_arguments(idle_timeout_s=idle_timeout_s)
    if not isinstance(credentials, Credentials):
        check_arguments(credentials=credentials)
        credentials = Credentials.load(credentials)
    credentials.check(game)
    if protocol not in (1, 2):
        raise ValueError(f"protocol must be 1 or 2, not {protocol!r}.")
    address = parse_address(host)
    bot = as_bot(bot)
    bot.bot_id, bot.game, bot.contest = credentials.bot_id, game, contest
    player = Player(bot, Plan(contest, matches, protocol, keep and protocol >= 2, idle_timeout_s))
    backoff = Backoff()
    try:
        while not player.done():
            began_s = time.monotonic()
            within_s = OPEN_IN_MATCH_S if backoff.is_urgent(player.in_match) else OPEN_TIMEOUT_S
            lost = _connect(player, partial(Connection, address, tls, within_s), credentials)
            if player.heard or time.monotonic() - began_s > HEALTHY_S:
                backoff.reset()
            if lost is not None and lost.close_code == NORMAL and player.one_match:
                log.info("the server closed the connection: %s", lost.reason or "no reason given")
                break
            wait_s = max(0.0, min(wait_after(lost, backoff, player.in_match), player.idle_left_s()))
            if lost is not None:
                log.warning("%s; connecting again in %.1f s", lost, wait_s)
            if not player.done():
                time.sleep(wait_s)
    except LoginFailed as failed:
        if credentials.hostname in ("", address.netloc):
            raise
        sentence = f"{failed.sentence} The bot was registered at {credentials.hostname}, this is {address.netloc}."
        raise LoginFailed(failed.code, sentence) from None
    except KeyboardInterrupt:
        log.info("stopped after %d matches", len(player.results))
    return player.results


def wait_after(lost: ConnectionLost | None, backoff: Backoff, in_match: bool = False) -> float:
    """Seconds before the next connection. `lost`: None if the last one ended as planned. `in_match`: a match goes on.

    Raises Refused (or LoginFailed) if the server would close a new connection for the same reason. The slugs at the
    beginning of close reasons, `slug: sentence`, are those of the protocol page; an unknown one goes by its close code.
    """
    if lost is None or lost.slug == RESTART:
        return backoff.soon_s(in_match)
    if lost.slug in TRY_LATER:
        return backoff.next_s(TRY_LATER_S, in_match)
    if lost.close_code in FINAL_CODES and lost.slug not in PASSING_SLUGS:
        kind = LoginFailed if lost.slug == "login-failed" else Refused
        sentence = lost.reason.removeprefix(f"{lost.slug}: ")
        raise kind(lost.slug, f"The server closed the connection: {sentence or lost.close_code}.")
    return backoff.next_s(in_match=in_match)


def _connect(player: Player, connect: Callable[[], Connection], credentials: Credentials) -> ConnectionLost | None:
    """Run one connection from start to end; return how it was lost, or None if it ended as planned."""
    player.heard = False
    try:
        with connect() as connection:
            connection.login(credentials, player.login_extras())
            log.info("%s is connected and waits for a match of %s", credentials.bot_id, credentials.game)
            player.converse(connection)
    except ConnectionLost as lost:
        return lost
    return None
