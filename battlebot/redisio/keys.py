"""The names of all Redis keys and channels. One hash tag, so that every script's keys lie in one slot of a cluster."""

from __future__ import annotations

from hashlib import sha256

TAG = "bb:{0}"

DEADLINES = f"{TAG}:deadlines"  # sorted set: live match -> when it is due, ms since the epoch
FINISHED = f"{TAG}:finished"  # sorted set: ended and not yet archived match -> its end's sequence number
ARCHIVE_ASKED = f"{TAG}:archiveasked"  # string, short-lived: the archive has been asked for and has not begun
END_SEQUENCE = f"{TAG}:endseq"  # string: the last end's sequence number
NUMBERS = f"{TAG}:numbers"  # string: the last number given to a board of a series
ONLINE = f"{TAG}:online"  # hash: name at a door without registration -> who holds it, JSON
COPIED = f"{TAG}:copied"  # string, kept for a month: until when all changed registrations are copied; ms (epoch)
SET_ASIDE = f"{TAG}:setaside"  # set: matches that could not be archived, or not gone on with, for a person to look at
TROUBLES = f"{TAG}:troubles"  # hash: live match that cannot be looked after -> JSON: since when, when last; ms (epoch)
ASKING = f"{TAG}:askingsince"  # sorted set: match whose stateless bots are asked -> when its lease ends, ms (epoch)
QUEUES = f"{TAG}:queues"  # set: names of the queues in which somebody waits
UNPAIRED = f"{TAG}:unpaired"  # sorted set: queue of a contest -> when its pairing last failed, ms (epoch)
SWEPT = f"{TAG}:swept"  # string, short-lived: a sweep was made lately, to its end
SWEEPS = f"{TAG}:sweeps"  # hash: when the `last` sweep was, `since` when none has stalled, ms (epoch); was it `late`
BROKEN_GAME = f"{TAG}:brokengame"  # string, short-lived: why a worker could not load the games, a sentence
PROBED = f"{TAG}:probed"  # string, short-lived: written to see whether Redis takes writes
KEPT = f"{TAG}:keptat"  # set, short-lived: addresses at which places are kept for contests
NODES = f"{TAG}:nodes"  # sorted set: node -> its last heartbeat, ms since the epoch


def match(match_id: str) -> str:
    """Hash of a live match: `rev`, `doc`, `token` and, once it has ended, `seq`."""
    return f"{TAG}:match:{match_id}"


def tried(match_id: str) -> str:
    """String, short-lived: the node that answers an event in a match in which a node has died."""
    return f"{TAG}:tried:{match_id}"


def turns(match_id: str) -> str:
    """List of the entries of a live match's record, JSON."""
    return f"{TAG}:turns:{match_id}"


def match_aside(match_id: str) -> str:
    """Hash of a match that was set aside: what `match` was."""
    return f"{TAG}:aside:match:{match_id}"


def turns_aside(match_id: str) -> str:
    """List of the entries of the record of a match that was set aside: what `turns` was."""
    return f"{TAG}:aside:turns:{match_id}"


def empty_seats(bot: str) -> str:
    """Set of the live matches in which this bot's seat stands empty."""
    return f"{TAG}:empty:{bot}"


def newest(bot: str) -> str:
    """String, short-lived: the match that began last of those for which a connection of this bot waited."""
    return f"{TAG}:newest:{bot}"


def end_claimed(match_id: str, bot: str) -> str:
    """String, short-lived: the place of the connection that told this bot the end of the match, as its node did not."""
    return f"{TAG}:claimed:{match_id}/{bot}"


def turned_away(bot: str, address: str) -> str:
    """List, short-lived: logins of this bot from an address ("": any) that the server turned away, and when."""
    return f"{TAG}:keptout:{address}/{bot}"


def registration(bot: str) -> str:
    """String, kept for a month: what the logins of a registered bot are checked against, sealed; JSON."""
    return f"{TAG}:registration:{bot}"


def playing(bot: str) -> str:
    """Set of the live matches of a bot that is found by name alone."""
    return f"{TAG}:playing:{bot}"


def met(game: str, bot: str) -> str:
    """Sorted set: whom this bot has met outside contests -> when last, ms since the epoch."""
    return f"{TAG}:met:{game}/{bot}"


def rate_limit(of: str, address: str, window: int) -> str:
    """String, short-lived: how often an address did what is limited in the `window`-th minute since the epoch."""
    return f"{TAG}:allowance:{of}:{address}:{window}"


def queue_name(game: str, contest: str | None) -> str:
    """A queue's name: the game's, or the contest's. A slash cannot be part of either."""
    return game if contest is None else f"{game}/{contest}"


def game_and_contest(queue_name: str) -> tuple[str, str | None]:
    """The game of a queue, and the contest (None: it is for matches outside contests)."""
    game, slash, contest = queue_name.partition("/")
    return game, contest if slash else None


def queue(name: str) -> str:
    """Sorted set of a queue: ticket -> waiting since, ms since the epoch."""
    return f"{TAG}:queue:{name}"


def ticket(ticket: str) -> str:
    """String, short-lived: the match begun for this ticket, or `held:` and the ticket that has taken it along."""
    return f"{TAG}:ticket:{ticket}"


def switched_off(bot: str) -> str:
    """String, short-lived: the owner of this stateless bot has just made it unavailable."""
    return f"{TAG}:off:{bot}"


def asked(work: str) -> str:
    """String, short-lived: this work has been asked for and not begun."""
    return f"{TAG}:asked:{work}"


def lock(work: str) -> str:
    """String, short-lived: the token of the process that does this work now."""
    return f"{TAG}:lock:{work}"


def throttled(work: str, subject: str) -> str:
    """String, short-lived: this work was asked for lately."""
    return f"{TAG}:paced:{work}:{subject}"


def rests(work: str) -> str:
    """String, short-lived: this work took long, and pauses."""
    return f"{TAG}:rests:{work}"


def reached(work: str) -> str:
    """String: the subject at which a pass over many is, or was left."""
    return f"{TAG}:reached:{work}"


def put_off(work: str) -> str:
    """Set: the subjects for which this work was requested again so soon that it was put off."""
    return f"{TAG}:putoff:{work}"


def missed(game: str, contest: str) -> str:
    """Hash of a contest, kept for a day: bot that is waited for -> its wait, JSON.

    That is the contest's run, since when, for how many seconds, up to when.
    """
    return f"{TAG}:missed:{game}/{contest}"


def cut_off(queue_name: str) -> str:
    """Hash of a contest's queue, short-lived: bot that was cut off with its node -> the node, from when, until when."""
    return f"{TAG}:cutoff:{queue_name}"


def asking(match_id: str) -> str:
    """String, short-lived: the token of the worker that asks the stateless bots of a match now."""
    return f"{TAG}:asking:{match_id}"


def sent_for(match_id: str) -> str:
    """String: when (epoch) the sweep sent the task that asks a match's stateless bots; gone once a worker begins."""
    return f"{TAG}:sentfor:{match_id}"


def asked_at(address: str) -> str:
    """Set of the live rated matches in which a stateless bot plays at an address."""
    return f"{TAG}:askedat:{sha256(address.encode()).hexdigest()}"


def health(address: str) -> str:
    """Hash of the health of a stateless bot's address."""
    return f"{TAG}:health:{sha256(address.encode()).hexdigest()}"


def latencies(address: str) -> str:
    """List of the latest latencies of a stateless bot's address, in ms, newest first."""
    return f"{health(address)}:latencies"


def failures(address: str) -> str:
    """List of the latest failures of a stateless bot's address, JSON, newest first."""
    return f"{health(address)}:failures"


def door(door: str) -> str:
    """Hash of what the heartbeats of a door's nodes showed, all in ms since the epoch.

    Also of what the attendance of stateless bots showed, as if it were a node's door.

    Its fields: `lived`, `opened`, `since`, `shut`, `reopened`, `silent`, `heard` (see `beat.lua`), and `hung`, when a
    node was found dead that may only hang.
    """
    return f"{TAG}:door:{door}"


def outages(door: str) -> str:
    """List of the last times in which no node opened a door, each from when and until when, ms since the epoch."""
    return f"{TAG}:outages:{door}"


def shut(node: str) -> str:
    """Exists for a while after a node has said that it lets nobody in any more."""
    return f"{TAG}:shut:{node}"


def mailbox(node: str) -> str:
    """Channel of the letters to a node."""
    return f"{TAG}:node:{node}"


def match_events(match_id: str) -> str:
    """Channel on which every commit of a match is announced."""
    return f"bb:events:match:{match_id}"


def contest_events(game: str, contest: str) -> str:
    """Channel on which a contest's begun and archived matches, its entrants, absences and changes are announced."""
    return f"bb:events:contest:{game}/{contest}"


def game_events(game: str) -> str:
    """Channel on which a game's begun and archived matches are announced."""
    return f"bb:events:game:{game}"
