"""The server that is fuzzed, honest opponents at it, and the checks afterwards: what went wrong, does it play on?"""

from __future__ import annotations

import json
import threading
import time
from collections import defaultdict
from contextlib import suppress
from pathlib import Path
from typing import Any

import requests
from cluster import LIMIT_S, Cluster, Web, wait_for
from original_client import OriginalClient
from peer import Closed, Peer, new_name

from battlebot.arena.live.finished import Finished
from battlebot.arena.live.store import MatchStore
from battlebot.redisio import keys
from battlebot.redisio.connection import connect

GAMES = ("numberwang", "noughtsandcrosses", "connectfour")
ENDS = {"complete", "invalid", "timeout", "disconnect"}  # reasons of matches in which the server did nothing wrong
MOST_PENDING = 20  # opponents whose matches may still be running


class Ground:
    """A running server and those who play honestly there."""

    def __init__(self, parts: Cluster, web: Web) -> None:
        self.parts = parts
        self.web = web
        self._opponents: list[Peer] = []
        self._seen: defaultdict[Path, int] = defaultdict(int)

    def meet(self, attacker: Peer, auth: dict[str, str], login: dict[str, Any]) -> None:
        """Logs the attacker in and seats it with an honest opponent; the attacker is on turn, its updates are read.

        A bot of an earlier conversation, whose departure has not been noticed yet, may meet the opponent first: then
        another opponent comes. Or it meets the attacker: then nobody plays against the attacker.
        """
        attacker.log_in(auth, **login)
        begun, opponent = None, None
        while begun is None:
            honest = self.web.register(new_name("honest"), auth["game"])
            opponent = Peer(self.web.address)
            opponent.log_in(honest)
            begun = self._begun(attacker, opponent)
        assert opponent is not None
        if opponent in self._opponents and begun["state"]["nextPlayer"] != auth["bot_id"]:
            opponent.send(_first_free(auth["game"])(begun["state"]))
            attacker.update()

    def _begun(self, attacker: Peer, opponent: Peer) -> dict[str, Any] | None:
        """Returns the attacker's first update, or None if another bot met the opponent. An unmatched one hangs up."""
        waiting, told = [attacker, opponent], dict[str, dict[str, Any]]()
        until_s = time.monotonic() + LIMIT_S
        while waiting:
            assert time.monotonic() < until_s, ("they do not meet", *map(self._told_of, (attacker.bot, opponent.bot)))
            for peer in list(waiting):
                with suppress(TimeoutError):
                    told[peer.bot] = peer.update(0.02)
                    waiting.remove(peer)
            if len(waiting) == 1 and told and not self._play_together(attacker, opponent):
                break
        if opponent.bot in told:
            self._opponents.append(opponent)
        else:
            opponent.close()
        return told.get(attacker.bot)

    def _play_together(self, *players: Peer) -> bool:
        """Returns whether these play one another, once a match of at least one of them is in the log as begun."""

        def begun() -> list[str]:
            named = (line for player in players for line in self._told_of(player.bot))
            return [line for line in named if '"event":"match.begun"' in line]

        return all(player.bot in line for line in wait_for(begun) for player in players)

    def after(self) -> None:
        """Checks after each conversation that no log has a complaint, and that old opponents' matches have ended."""
        self.complaints()
        while len(self._opponents) > MOST_PENDING:
            self._ended(self._opponents.pop(0))

    def complaints(self) -> None:
        """Fails if a log has a line since the last call that is no event, or that reports an error."""
        wrong = []
        for path in sorted(self.parts.folder.glob("*.log")):
            with path.open("rb") as log:
                log.seek(self._seen[path])
                for line in log:
                    if not line.endswith(b"\n"):
                        break
                    self._seen[path] += len(line)
                    if _is_wrong(line):
                        wrong.append(line.decode(errors="replace"))
        assert not wrong, "".join(wrong)

    def plays_as_before(self) -> None:
        """Checks that no match is stuck, all are archived, the server is ready, and original clients play each game."""
        while self._opponents:
            self._ended(self._opponents.pop())
        client = connect(self.web.settings.redis_url)
        store = MatchStore(client)
        wait_for(lambda: not store.live_ids(), "the end of all matches", 60)
        wait_for(lambda: not Finished(store.client).ids(1), "the archive of all matches", 60)
        assert client.scard(keys.SET_ASIDE) == 0
        client.close()
        assert self.web.request("/readyz")[0] == 200
        for game in GAMES:
            self.play(game)

    def organise(self, path: str, token: str, body: dict[str, Any]) -> int:
        """Returns the status of an organiser's request."""
        headers = {"Content-Type": "application/json", "Authorization": f"Bearer {token}"}
        return requests.post(self.web.url + path, json=body, headers=headers, timeout=LIMIT_S).status_code

    def play(self, game: str, contest: str | None = None) -> None:
        """Lets two original clients play a match to its end."""
        clients = [
            OriginalClient(
                self.web.ws, self.web.register(new_name("honest"), game), _first_free(game), contest=contest, limit_s=30
            )
            for _ in range(2)
        ]
        threads = [threading.Thread(target=client.play_once) for client in clients]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join(40)
        for client in clients:
            assert [state["reason"] for state in client.finished] == ["complete"], (client.errors, client.finished)

    def _ended(self, opponent: Peer) -> None:
        """Checks that an honest opponent is told the end of its match, and that it is not the server's error."""
        try:
            end = opponent.final()
        except TimeoutError as error:
            raise AssertionError(self._told_of(opponent.bot)) from error
        match = end["match"]["id"]
        assert end["state"]["reason"] in ENDS, (end, self._told_of(match))
        opponent.sock.close()

    def _told_of(self, name: str) -> list[str]:
        """Returns the lines in all logs that name a match or a bot."""
        return [line for line in self.parts.logs().splitlines() if name in line]


def _first_free(game: str) -> Any:
    def choose(state: dict[str, Any]) -> dict[str, Any]:
        if game == "numberwang":
            return {"n": 1}
        if game == "connectfour":
            return {"column": next(c for c in range(7) if not state["board"][0][c])}
        mark = next(mark for mark, bot in state["marks"].items() if bot == state["nextPlayer"])
        free = next([r, c] for r in range(3) for c in range(3) if state["board"][r][c] == "")
        return {"mark": mark, "space": free}

    return choose


def _is_wrong(line: bytes) -> bool:
    try:
        return json.loads(line)["level"] in ("error", "critical")
    except (ValueError, KeyError, TypeError):
        return bool(line.strip())


def hang_up(peer: Peer, how: str) -> None:
    """Ends a conversation in one of several ways."""
    with suppress(OSError, Closed):
        if how == "reset":
            peer.reset()
        elif how == "goodbye":
            peer.frame(0x8, b"\x03\xe8")
    peer.sock.close()
