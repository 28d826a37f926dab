"""The turns that a player is told with an update because it has missed them. What is missing of them is left out."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import orjson
from msgspec.structs import replace

from battlebot.arena.live.conduct import Conductor
from battlebot.arena.node.player import Player
from battlebot.referee.match import Match
from battlebot.rules.contract import Game
from battlebot.wire.updates import Update

MOST_MISSED = 100  # most turns that a returning bot is told; the state includes all of them
# of these turns, not counting the newest: with the keys of the bots' own each may have 16 kB, for every login
MOST_BYTES = 65_536


def with_missed(conductor: Conductor, player: Player, update: Update, match: Match) -> Update:
    """Returns the update, with the turns that the player has missed. Raises Unavailable; then call it again."""
    return _with_turn(conductor, player, _with_all_since(conductor, player, update, match), match)


def _with_all_since(conductor: Conductor, player: Player, update: Update, match: Match) -> Update:
    """Returns the update, with what was played since the version that a bot which has come back says it has seen.

    Only the first update that it is told of the match has that.
    """
    seen = player.seen_of(update.match_id)
    if seen is None:
        return update
    first = max(seen, update.version - MOST_MISSED)
    missed = conductor.store.turns(update.match_id, first, update.version)
    player.seen_version = None
    if missed is None:
        return update
    game = conductor.registry[match.game]
    return replace(update, missed=tuple(_as_seen(game, update, turn) for turn in _newest(missed)))


def _newest(turns: Sequence[dict[str, Any]]) -> Sequence[dict[str, Any]]:
    first, left = len(turns) - 1, MOST_BYTES
    while first > 0 and (left := left - len(orjson.dumps(turns[first - 1]))) >= 0:
        first -= 1
    return turns[max(0, first) :]


def _with_turn(conductor: Conductor, player: Player, update: Update, match: Match) -> Update:
    """Returns the update, with the turn that led to it if that turn is all that a seated player has missed.

    The other players got it with the turn, too. In a simultaneous game there is no such turn.
    """
    game = conductor.registry[match.game]
    before = update.version - 1
    if game.simultaneous or player.known_version != before or before < 0 or not update.repeats:
        return update
    turns = conductor.store.turns(match.id, before, update.version)
    if not turns:
        return update
    return replace(update, turn=_as_seen(game, update, turns[0]))


def _as_seen(game: Game, update: Update, turn: dict[str, Any]) -> dict[str, Any]:
    """Returns a turn as the update's bot may see it: all of it once the match is over."""
    return turn if update.final else game.view_turn(turn, update.bot)
