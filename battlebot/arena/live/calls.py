"""Keys and arguments of the scripts that begin and commit matches, and the document of a stored match. No I/O."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any, TypeVar

import msgspec
import orjson
from msgspec.structs import replace

from battlebot.errors import UnreadableMatch
from battlebot.redisio import keys
from battlebot.redisio.scripts import Argument
from battlebot.referee.match import Match
from battlebot.runtime import sharedtime
from battlebot.storable import problem_of_size

# longer than any letter takes to arrive, but no longer than an ended match is kept: a mark must not outlive its match
TICKET_MARK_S = 60
VERDICT_BYTES = 10_000  # that an end by no rule of the game may add to a state that was just small enough
NOTHING = ("", "", "")  # instead of `_following` if no match follows

_DOCUMENT = msgspec.json.Decoder(Match)

Part = TypeVar("Part", bound=msgspec.Struct)
Publication = tuple[str, bytes]
Call = tuple[Sequence[str], Sequence[Argument]]


@dataclass(frozen=True, slots=True)
class Beginning:
    """A match to begin, with the tickets of its bots and the messages to publish.

    `most`: address -> in how many rated matches, with this one, stateless bots may be asked there; elsewhere in any
    number.
    """

    match: Match
    tickets: Sequence[str]
    publications: Iterable[Publication]
    most: Mapping[str, int] = field(default_factory=dict)


def encode_match(match: Match) -> bytes:
    """Returns the match as JSON. Raises TypeError if the game's state is not JSON, or too large to be stored."""
    # orjson, as for messages to bots: msgspec alone would also encode sets and other types
    text = orjson.dumps(match.state)
    problem = problem_of_size(text, 0 if match.verdict is None else VERDICT_BYTES)
    if problem is not None:
        raise TypeError(f"the game's state {problem}")
    state: Any = msgspec.Raw(text)
    return msgspec.json.encode(replace(match, state=state))


def decode_match(document: bytes | str) -> Match:
    """Returns the match that `encode_match` encoded. Raises UnreadableMatch."""
    try:
        return _DOCUMENT.decode(document)
    except msgspec.DecodeError as error:
        raise UnreadableMatch(f"A match in Redis cannot be read: {error}.") from error


def decode_part(document: bytes | str, kind: type[Part]) -> Part:
    """Returns of the match that `encode_match` encoded what a struct of this kind has. Raises UnreadableMatch."""
    try:
        return msgspec.json.decode(document, type=kind)
    except msgspec.DecodeError as error:
        raise UnreadableMatch(f"A match in Redis cannot be read: {error}.") from error


def begin_call(one: Beginning, queue: str, holder: str, not_after_ms: int) -> Call:
    """Returns keys and arguments of `begin.lua` for a match. Parameters as in `MatchStore.begin`."""
    match = one.match
    script_keys = [keys.queue(queue), keys.match(match.id), keys.DEADLINES, keys.QUEUES]
    script_keys += [keys.FINISHED, keys.END_SEQUENCE]
    script_keys += [keys.ticket(ticket) for ticket in one.tickets]
    names, addresses = _names(match), _addresses(match)
    sets = _found_by(match)
    script_keys += sets
    arguments: list[Argument] = [match.id, encode_match(match), _due_ms(match), TICKET_MARK_S]
    arguments += [holder, queue, not_after_ms, len(one.tickets), len(sets), len(names), keys.newest(""), *one.tickets]
    arguments += [one.most.get(address, "") for address in addresses]
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
    """Returns one match's keys and arguments of `commit.lua`. Parameters as in `MatchStore.draft`.

    No two commits may have the same `token`. Raises TypeError like `encode_match`.
    """
    changes = _changes(before, after, follows)
    own, its_turns = _match_keys(after.id)
    script_keys = [own, its_turns, own if follows is None else keys.match(follows.id)]
    arguments: list[Argument] = [
        after.id,
        before.revision,
        token,
        encode_match(after),
        _due_ms(after),
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


def commits_call(calls: Iterable[Call]) -> Call:
    """Returns keys and arguments of `commit.lua` for several matches; `calls` are made by `commit_call`."""
    script_keys: list[str] = [keys.DEADLINES, keys.FINISHED, keys.END_SEQUENCE, keys.ARCHIVE_ASKED]
    arguments: list[Argument] = [int(sharedtime.now_s() * 1_000_000), keys.match_events("")]
    for its_keys, its_arguments in calls:
        script_keys += its_keys
        arguments += its_arguments
    return script_keys, arguments


@lru_cache(maxsize=10_000)
def _match_keys(match_id: str) -> tuple[str, str]:
    return keys.match(match_id), keys.turns(match_id)


def _changes(before: Match, after: Match, follows: Match | None) -> list[tuple[str, str]]:
    """Returns (set, change) for each set of live matches that the commit changes: of empty seats, names, addresses."""
    over = after.verdict is not None
    unfound = over
    changes = []
    for old, new in zip(before.seats, after.seats, strict=True):
        if old.address != new.address:
            unfound = True  # the bot has come to its seat itself
        if old.place is None and (new.place is not None or over):
            changes.append((keys.empty_seats(new.bot), "remove"))
        elif new.place is None and old.place is not None and not over:
            changes.append((keys.empty_seats(new.bot), "add"))
    if unfound:
        found = () if over else _found_by(after)
        changes += [(key, "remove") for key in _found_by(before) if key not in found]
    if follows is not None and follows.verdict is None:
        changes += [(key, "follow") for key in _found_by(follows)]
        changes += [(keys.empty_seats(seat.bot), "follow") for seat in follows.seats if seat.place is None]
    return changes


def _following(follows: Match) -> list[Argument]:
    return [follows.id, encode_match(follows), _due_ms(follows)]


def _due_ms(match: Match) -> Argument:
    return "" if match.due_s is None else int(match.due_s * 1000)


def _found_by(match: Match) -> list[str]:
    """Returns the sets that hold a live match: of bots found by name alone, then of its stateless bots' addresses."""
    return [*map(keys.playing, _names(match)), *map(keys.asked_at, _addresses(match))]


def _names(match: Match) -> Sequence[str]:
    return match.series.by_name if match.series is not None else ()


def _addresses(match: Match) -> Sequence[str]:
    """Returns those of its stateless bots; an unrated match does not make one busy: anybody may have named it."""
    return list(dict.fromkeys(seat.address for seat in match.seats if seat.address is not None and match.rated))
