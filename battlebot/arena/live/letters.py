"""Which letters go with a commit to the nodes of other seats. What a letter looks like is in `mail`. No I/O."""

from __future__ import annotations

import msgspec

from battlebot.arena.live.calls import Publication, encode_match
from battlebot.arena.live.mail import Mail, eviction, onward
from battlebot.arena.places import STATELESS, connection_at, is_stateless, node_of
from battlebot.redisio import keys
from battlebot.referee.advance import Step
from battlebot.referee.match import Match
from battlebot.wire.updates import Update


class Letters:
    """Those of a node, which tells its own seats itself; "": of a worker, which has none."""

    def __init__(self, node: str) -> None:
        # prefixes of places that get no letters: this node's own, and those of stateless bots
        self._silent = (connection_at(node, ""), connection_at(STATELESS, ""))

    def of(self, before: Match, answer: Step) -> list[Publication]:
        """Returns the updates for the seats of other nodes, and who has lost its seat there to another connection."""
        letters = self._updates(answer)
        for old, new in zip(before.seats, answer.match.seats, strict=True):
            if old.place == new.place or old.address is not None:
                continue
            if old.place is not None and new.place is not None:
                letters.append((keys.mailbox(node_of(old.place)), eviction(old.place)))
        return letters

    def _updates(self, answer: Step) -> list[Publication]:
        letters: list[Publication] = []
        document = b""
        for update in answer.updates:
            place = update.place
            if place is not None and not place.startswith(self._silent):
                document = document or encode_match(answer.match)
                letters.append((keys.mailbox(node_of(place)), Mail.of(place, update, document).encode()))
        return letters

    def of_board_after(self, match: Match, follows: Step) -> list[Publication]:
        """Returns the updates for the beginning of the board that follows `match`.

        A question goes round by the other player's node, which tells its player first how `match` ended (duel-arena).
        """
        round_by = {update.bot: way_round(follows, update) for update in follows.updates}
        straight = tuple(update for update in follows.updates if round_by[update.bot] is None)
        letters = self._updates(msgspec.structs.replace(follows, updates=straight))
        for update in follows.updates:
            node = round_by[update.bot]
            if node is not None and update.place is not None:
                mail = Mail.of(update.place, update, encode_match(follows.match))
                letters.append((keys.mailbox(node), onward(match.id, node_of(update.place), mail)))
        return letters


def way_round(beginning: Step, update: Update) -> str | None:
    """Returns the node by which the question that begins a board goes, if another player is at another node; else None.

    None, too, if the update asks nothing, or if one of the two is stateless: it has no node, and is told no end.
    """
    if not update.asks or update.place is None:
        return None
    places = [other.place for other in beginning.updates if other.place is not None]
    if any(map(is_stateless, places)):
        return None
    own = node_of(update.place)
    nodes = map(node_of, places)
    return next((node for node in nodes if node != own), None)
