"""What the scripts that begin and commit matches are called with, and the document in which a match is kept. No I/O."""

from __future__ import annotations

import time
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import msgspec
import orjson
from msgspec.structs import replace

from battlebot.arena import keys
from battlebot.arena.scripts import Argument
from battlebot.referee.match import Match

# longer than any message is on its way; no longer than a match is there after its end, which a ticket would wait for
TICKET_MARK_S = 60
NOTHING = ("", "", "")  # for `_following` where no match follows

_DOCUMENT = msgspec.json.Decoder(Match)

Publication = tuple[str, bytes]
Call = tuple[Sequence[str], Sequence[Argument]]


@dataclass(frozen=True, slots=True)
class Beginning:
    """A match to be begun: with the tickets of its bots, and what is told to whom."""

    match: Match
    tickets: Sequence[str]
    publications: Iterable[Publication]


def encode_match(match: Match) -> bytes:
    """The match as JSON. Raises TypeError where the game has made a state that is none."""
    # orjson, as for what bots are told: msgspec alone would make JSON of sets and other things, too
    state: Any = msgspec.Raw(orjson.dumps(match.state))
    return msgspec.json.encode(replace(match, state=state))


def decode_match(document: bytes | str) -> Match:
    """The match that `encode_match` wrote."""
    return _DOCUMENT.decode(document)


def begin_call(one: Beginning, queue: str, holder: str, not_after_ms: int) -> Call:
    """Keys and arguments of `begin.lua`: as `MatchStore.begin` of that match."""
    match = one.match
    assert match.due_s is not None
    script_keys = [keys.queue(queue), keys.match(match.id), keys.DEADLINES, keys.QUEUES]
    script_keys += [keys.ticket(ticket) for ticket in one.tickets]
    sets = _found_by(match)
    names = len(match.series.by_name) if match.series is not None else 0
    script_keys += sets
    arguments: list[Argument] = [match.id, encode_match(match), int(match.due_s * 1000), TICKET_MARK_S]
    arguments += [holder, queue, not_after_ms, len(sets), keys.newest(""), names, *one.tickets]
    for channel, message in one.publications:
        arguments += [channel, message]
    return script_keys, arguments


def commit_call(
    before: Match,
    after: Match,
    turns: Sequence[dict[str, Any]],
    publications: Sequence[Publication],
    follows: Match | None,
    token: str,
) -> Call:
    """A match's own keys and arguments of `commit.lua`: as `MatchStore.draft`. No two commits have the same `token`.

    Raises TypeError where the game has made a state that is not JSON.
    """
    changes = _changes(before, after, follows)
    own, its_turns = _match_keys(after.id)
    script_keys = [own, its_turns, own if follows is None else keys.match(follows.id)]
    arguments: list[Argument] = [
        after.id,
        before.revision,
        token,
        encode_match(after),
        "" if after.due_s is None else int(after.due_s * 1000),
        *(NOTHING if follows is None else _following(follows)),
        len(turns),
        len(changes),
        len(publications),
        *map(orjson.dumps, turns),
    ]
    for name, change in changes:
        script_keys.append(name)
        arguments.append(change)
    for channel, message in publications:
        arguments += [channel, message]
    return script_keys, arguments


def together(calls: Iterable[Call]) -> Call:
    """Keys and arguments of `commit.lua` for commits of several matches, each by `commit_call`."""
    script_keys: list[str] = [keys.DEADLINES, keys.FINISHED, keys.END_SEQUENCE, keys.ARCHIVE_ASKED]
    arguments: list[Argument] = [int(time.time() * 1_000_000)]
    for its_keys, its_arguments in calls:
        script_keys += its_keys
        arguments += its_arguments
    return script_keys, arguments


@lru_cache(maxsize=10_000)
def _match_keys(match_id: str) -> tuple[str, str]:
    return keys.match(match_id), keys.turns(match_id)


def _changes(before: Match, after: Match, follows: Match | None) -> list[tuple[str, str]]:
    """Sets of matches that the commit changes, and how: those of empty seats, and of names that are to be found."""
    over = after.verdict is not None
    changes = []
    for old, new in zip(before.seats, after.seats, strict=True):
        if old.place is None and (new.place is not None or over):
            changes.append((keys.empty_seats(new.bot), "remove"))
        elif new.place is None and old.place is not None and not over:
            changes.append((keys.empty_seats(new.bot), "add"))
    if over:
        changes += [(key, "remove") for key in _found_by(after)]
    if follows is not None:
        changes += [(key, "follow") for key in _found_by(follows)]
        changes += [(keys.empty_seats(seat.bot), "follow") for seat in follows.seats if seat.place is None]
    return changes


def _following(follows: Match) -> list[Argument]:
    assert follows.due_s is not None
    return [follows.id, encode_match(follows), int(follows.due_s * 1000)]


def _found_by(match: Match) -> list[str]:
    """The sets in which a live match stands: by names alone, then by the addresses at which its bots are asked.

    A match that is not rated keeps no bot from others: anybody may have named its address.
    """
    by_name = [keys.playing(bot) for bot in match.series.by_name] if match.series is not None else []
    addresses = {seat.address: None for seat in match.seats if seat.address is not None and match.rated}
    return by_name + [keys.asked_at(address) for address in addresses]
