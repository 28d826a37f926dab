"""How nodes, places and tickets are written. Only this module, and the scripts in Redis, take them apart. Pure.

A place is where a bot is reached: `node[.door]/connection.wait[~traits]`, or `bots/…` for a stateless bot. A ticket,
with which a bot waits in a queue, is `place/bot`.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

STATELESS = "bots"  # instead of a node, and of a door: a stateless bot, asked at an address
STATELESS_PLACE = f"{STATELESS}/-"  # of a stateless bot that was not taken out of a queue
WEB, TCP = "web", "tcp"  # the doors for bots; a node has one

_MARK = "~"
_TRAITS = re.compile(r"(s?)(\d?)(p?)")


@dataclass(frozen=True, slots=True)
class Traits:
    """What the maker of a match must know of a waiting player on any node.

    `stays`: its session outlasts a match. `boards`: how many it wants to play with one opponent; 0: no preference.
    A player with `boards` is found in its live match by name alone. `passwordless`: nobody has registered its name.
    """

    stays: bool = False
    boards: int = 0
    passwordless: bool = False

    @property
    def suffix(self) -> str:
        """The traits as the end of a place encodes them; empty for an ordinary bot."""
        text = ("s" if self.stays else "") + (str(self.boards) if self.boards else "")
        text += "p" if self.passwordless else ""
        return _MARK + text if text else ""


def node_name(token: str, door: str) -> str:
    """Returns the name of a node with this door; `token` must be its own."""
    return token if door == WEB else f"{token}.{door}"


def connection_at(node: str, connection: str) -> str:
    """Returns the name that a node's connection has at all nodes; every place of the node begins with that of ""."""
    return f"{node}/{connection}"


def place_at(node: str, connection: str, wait: int, traits: Traits) -> str:
    """Returns the place of a connection at a node, for its `wait`-th wait."""
    return f"{connection_at(node, connection)}.{wait}{traits.suffix}"


def stateless_place(token: str) -> str:
    """Returns the place of a stateless bot that waits; `token` must be its own."""
    return connection_at(STATELESS, token)


def node_of(place: str) -> str:
    """Returns the node of a place, or of a connection."""
    return place.partition("/")[0]


def door_of(place: str) -> str:
    """Returns the door of a place, or of a node: a node's name says which it has, unless that is the WebSocket door."""
    return node_of(place).partition(".")[2] or WEB


def traits_of(place: str) -> Traits:
    """Returns the traits of the player that waits at a place; those that a later version has added are left out."""
    found = _TRAITS.match(place.partition(_MARK)[2])
    assert found is not None, "it matches any text"
    stays, boards, passwordless = found.groups()
    return Traits(bool(stays), int(boards or 0), bool(passwordless))


def is_stateless(place: str) -> bool:
    """Returns whether the bot at a place is stateless: it has no connection, but is asked at an address."""
    return node_of(place) == STATELESS


def ticket_of(place: str, bot: str) -> str:
    """Returns the ticket with which the bot at `place` waits in a queue."""
    return f"{place}/{bot}"


def place_and_bot(ticket: str) -> tuple[str, str]:
    """Returns the place and the bot of a ticket. A place holds one slash; a name at the TCP door may hold several."""
    node, connection, bot = ticket.split("/", 2)
    return connection_at(node, connection), bot
