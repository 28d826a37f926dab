"""Players of the TCP door that come, play, drop out and come back at random, and keep diaries. For `chaos.duel`."""

from __future__ import annotations

import random
import threading
import time
from collections.abc import Sequence
from contextlib import suppress
from typing import Any

from tcp_peer import Ended, Message, TcpPeer

from battlebot.client.samples.threats import Threats

Address = tuple[str, int]
Entry = dict[str, Any]

LOOK_S = 0.2  # between two checks whether it is time to go
SLOW_S = 6.2  # longer than the 5.5 s allowed
AWAY_S = 7.0  # at most: some come back in time, some do not

# percent of the times that a player is asked for a move
DROPS, TAKES_OVER, IS_SLOW, BLUNDERS, PLAYS_WELL = 1.0, 0.7, 0.2, 0.4, 70.0
LEAVES = 15.0  # percent of pairings
GIVES_UP = 2.0  # percent of checks while it waits for an opponent


class Duelist(threading.Thread):
    """One player. `diary` has what it was told and what it did: `{"what", "at_s" (epoch), "board"?, ...}`."""

    def __init__(self, name: str, addresses: Sequence[Address], seed: int) -> None:
        super().__init__(name=name, daemon=True)
        self.diary: list[Entry] = []
        self._addresses = addresses
        self._dice = random.Random(seed)
        self._bot = Threats()
        self._told_to_stop = threading.Event()
        self._waits = False
        self._against = ""

    def stop(self) -> None:
        """Makes the player leave, wherever it is, and end."""
        self._told_to_stop.set()

    def run(self) -> None:
        """Plays one visit after another."""
        while not self._told_to_stop.is_set():
            try:
                self._visit(TcpPeer(self._dice.choice(self._addresses)))
            except Ended:
                self._note("closed")
            except (OSError, ValueError, KeyError) as error:
                self._note("failed", error=repr(error))
            self._told_to_stop.wait(self._dice.uniform(0, AWAY_S) ** 2 / AWAY_S)

    def _visit(self, peer: TcpPeer) -> None:
        self._enter(peer)
        self._note("entered")
        while True:
            if self._told_to_stop.is_set() or (self._waits and peer.silent(0) and self._happens(GIVES_UP)):
                return self._leave(peer)
            if peer.silent(LOOK_S):
                continue
            message = peer.read()
            event = message.get("event")
            if event == "get_move":
                answered = self._answer(peer, message)
                if answered is None:
                    return self._leave(peer)
                peer = answered
            elif event == "player_is_free":
                self._note("free")
                if self._happens(LEAVES):
                    return self._leave(peer)
                self._waits = True
                peer.find()
            else:
                self._told(message)

    def _enter(self, peer: TcpPeer) -> None:
        self._waits = False
        peer.send({"username": self.name})
        while (message := peer.read()) != {"status": "ok"}:
            self._note("strange", message=message)

    def _told(self, message: Message) -> None:
        event = message.get("event")
        if event == "starting_game":
            self._waits, self._against = False, message["against"]
        elif event in ("win", "lose"):
            self._note(str(event), board=message["board"]["_id"], moves=message["board"]["_moves"])
        elif event == "invalid_move":
            self._note("invalid", board=message["board"]["_id"])
        else:
            self._note("strange", message=message)

    def _answer(self, peer: TcpPeer, question: Message) -> TcpPeer | None:
        """Answers or misbehaves; returns the connection to continue with, or None if the player leaves."""
        self._waits = False
        number, moves = question["board"]["_id"], question["board"]["_moves"]
        self._note("asked", board=number, moves=moves)
        if self._happens(DROPS):
            return None
        if self._happens(TAKES_OVER):
            return self._take_over(peer)
        x, y = self._choose(question["board"])
        if self._happens(BLUNDERS):
            x, y = (99, y)
            self._note("blunders", board=number)
        elif self._happens(IS_SLOW):
            self._note("dawdles", board=number)
            self._told_to_stop.wait(SLOW_S)
        self._note("moved", board=number, n=len(moves), move=[x, y])
        peer.move(question, x, y)
        return peer

    def _take_over(self, peer: TcpPeer) -> TcpPeer:
        """Opens a second connection, which gets the question again; the first must be closed and told nothing new."""
        second = TcpPeer(self._dice.choice(self._addresses))
        self._enter(second)
        self._note("took over")
        with suppress(Ended):
            while not peer.silent(10.0):
                peer.read()
            self._note("strange", message="the first connection was not closed")
        peer.leave()
        return second

    def _choose(self, board: Message) -> tuple[int, int]:
        if self._happens(PLAYS_WELL):
            turn = self._bot.choose({"size": 15, "winLength": 5, "moves": board["_moves"]})
            return turn["x"], turn["y"]
        free = [(x, y) for x in range(3, 12) for y in range(3, 12) if [x, y] not in board["_moves"]]
        return self._dice.choice(free or [(0, 0)])

    def _leave(self, peer: TcpPeer) -> None:
        # noted first, as the server may act on it at once
        self._note("left")
        if self._happens(50.0):
            peer.reset()
        else:
            peer.leave()

    def _happens(self, percent: float) -> bool:
        return self._dice.random() * 100 < percent

    def _note(self, what: str, **about: Any) -> None:
        self.diary.append({"what": what, "at_s": time.time(), **about})
