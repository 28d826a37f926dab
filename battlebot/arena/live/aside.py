"""Matches that the server cannot go on with, nor store: set aside in Redis, for a person to look at."""

from __future__ import annotations

import structlog

from battlebot.arena.live.mail import nudge
from battlebot.arena.live.seats import seatings
from battlebot.arena.live.store import MatchStore
from battlebot.errors import Unavailable
from battlebot.redisio import keys
from battlebot.redisio.scripts import Script, Scripts

log = structlog.get_logger()

ASIDE = Script("battlebot.arena.live", "aside.lua")
LISTS = (keys.FINISHED, keys.DEADLINES, keys.ASKING)


def set_aside(store: MatchStore, match_id: str) -> None:
    """Takes a match away from those who might go on with it: its document and its turns are kept under other keys.

    To all others it is lost. It holds its bots up no more, as far as it can be read who they are: of others, empty
    seats are offered for a day. A contest's meeting is left to the contests' sweep, which gives up those of matches
    that are not there. Raises Unavailable.
    """
    seating = seatings(store, [match_id]).get(match_id)
    script_keys = [keys.match(match_id), keys.turns(match_id), keys.match_aside(match_id), keys.turns_aside(match_id)]
    script_keys += [keys.SET_ASIDE, *LISTS]
    for seat in seating.seats if seating is not None else ():
        script_keys += [keys.empty_seats(seat.bot), keys.playing(seat.bot)]
        if seat.address is not None:
            script_keys.append(keys.asked_at(seat.address))
    Scripts(store.client).run(ASIDE, script_keys, [match_id, len(LISTS)])
    for node in seating.nodes if seating is not None else ():
        try:
            # those who sit there at a node that could read it learn that it is lost
            store.post(node, nudge(match_id))
        except Unavailable as error:
            log.warning("letter.not_sent", match=match_id, node=node, error=str(error))
