"""`run_tcp`: a bot at the TCP door of a server, or of an original duel arena (docs/tcp.md). Plays gomoku only."""

from __future__ import annotations

import logging
import reprlib
import time
from typing import Any

from battlebot.client.arguments import check_arguments
from battlebot.client.backoff import HEALTHY_S, Backoff
from battlebot.client.bot import Bot, Match, Result, State, as_bot
from battlebot.client.errors import BadTurn, ConnectionLost, LoginFailed, Refused
from battlebot.client.tcp_connection import Message, TcpConnection, parse_tcp_address
from battlebot.wire.login import login_hash

log = logging.getLogger("battlebot.client")

GAME = "gomoku"
TURN_TIMEOUT_MS = 5000  # by the protocol
# codes of errors that a new connection would meet again
FINAL = frozenset({"bad-name", "bad-message", "too-big", "name-taken"})


def run_tcp(
    bot: Bot | type[Bot],
    host: str,
    name: str,
    *,
    boards: int | None = None,
    pass_hash: str | None = None,
    idle_timeout_s: float | None = None,
) -> list[Result]:
    """Connect a bot by its name and play gomoku in pairings of two boards each. Returns the boards' results.

    Ends once `boards` are played and the pairing is over, after `idle_timeout_s` without a board, or by Ctrl-C.
    `pass_hash` is for a name that is registered on the server. There is one `Result` per board: its number, the
    victor's name, and the reason `win`, `lose`, `draw` (inferred, as the protocol does not report draws) or `missed`.
    Raises what `choose` raises, ClientError if going on is of no use, and TypeError if `bot` cannot play or an
    argument is of another type.
    """
    check_arguments(host=host, name=name, boards=boards, pass_hash=pass_hash, idle_timeout_s=idle_timeout_s)
    address = parse_tcp_address(host)
    bot = as_bot(bot)
    bot.bot_id, bot.game, bot.contest = name, GAME, None
    player, backoff, known = _Player(bot, boards, idle_timeout_s), Backoff(), False
    try:
        while not player.done:
            began_s, played = time.monotonic(), len(player.results)
            try:
                with TcpConnection(*address, known=known) as connection:
                    known = True
                    _log_in(connection, name, pass_hash)
                    player.converse(connection)
            except ConnectionLost as lost:
                # two clients with one name close each other's connections: then each must wait longer and longer
                if len(player.results) > played or time.monotonic() - began_s > HEALTHY_S:
                    backoff.reset()
                wait_s = max(0.0, min(backoff.next_s(in_match=player.in_pairing), player.idle_left_s))
                log.warning("%s; connecting again in %.1f s", lost, wait_s)
                time.sleep(wait_s)
                player.done = player.idle_left_s <= 0
    except KeyboardInterrupt:
        log.info("stopped after %d boards", len(player.results))
    return player.results


def _log_in(connection: TcpConnection, name: str, pass_hash: str | None) -> None:
    """Steps 1 and 2 of the protocol, with the answer to a salt if the server asks for one.

    Raises LoginFailed, Refused, ConnectionLost, Unreachable.
    """
    connection.send({"username": name})
    while (message := _told(connection.receive_within_login())).get("status") != "ok":
        if "salt" not in message:
            raise Refused("", f"The server answered {message!r} to the name: no duel arena.")
        if pass_hash is None:
            raise LoginFailed("login-failed", f"The name {name!r} is registered: its auth file is needed.")
        connection.send({"username": name, "login_hash": login_hash(pass_hash, str(message["salt"]))})


def _told(message: Message) -> Message:
    """Return the message unless it is an error. Raises LoginFailed, Refused, ConnectionLost."""
    if message.get("event") != "error":
        return message
    code, sentence = str(message.get("code", "")), str(message.get("error", ""))
    if code == "login-failed":
        raise LoginFailed(code, sentence)
    if code in FINAL:
        raise Refused(code, sentence)
    raise ConnectionLost(None, f"{code}: {sentence}")


class _Player:
    """What is kept across connections: the results, the current board, the opponent."""

    def __init__(self, bot: Bot, boards: int | None, idle_timeout_s: float | None) -> None:
        self.results: list[Result] = []
        self.done = False
        self.in_pairing = False  # as far as it knows, connected or not
        self._bot, self._boards, self._idle_timeout_s = bot, boards, idle_timeout_s
        self._busy_at_s = time.monotonic()
        self._against = "the opponent"
        self._first = True
        self._board: Message | None = None  # as last seen, including our own last move

    @property
    def idle_left_s(self) -> float:
        """Seconds left of the idle time-out; infinite during a board or without a time-out."""
        if self._idle_timeout_s is None or self._board is not None:
            return float("inf")
        return self._busy_at_s + self._idle_timeout_s - time.monotonic()

    def converse(self, connection: TcpConnection) -> None:
        """Steps 3 to 10 of the protocol, until all boards are played.

        Raises LoginFailed, Refused, ConnectionLost, Unreachable, BadTurn, and what the bot raises.
        """
        while not self.done:
            message = connection.receive(self.idle_left_s)
            if message is None:
                self.done = True
                return
            self._heed(connection, _told(message))

    def _heed(self, connection: TcpConnection, message: Message) -> None:
        event = message.get("event")
        self.in_pairing = event != "player_is_free"
        if event == "player_is_free":
            self._end(None, "draw")
            self.done = self._boards is not None and len(self.results) >= self._boards
            if not self.done:
                connection.send({"event": "find_opponent"})
        elif event == "starting_game":
            self._against = str(message.get("against"))
            log.info("%s plays against %s", self._bot.bot_id, self._against)
        elif event == "get_move":
            self._answer(connection, message)
        elif event in ("win", "lose"):
            self._see(message["board"])
            self._end(self._bot.bot_id if event == "win" else self._against, str(event))
        elif event == "invalid_move":
            log.warning("the move %s, %s was not valid, or too late", message.get("x"), message.get("y"))

    def _answer(self, connection: TcpConnection, message: Message) -> None:
        board = message["board"]
        new = self._see(board)
        self._first = len(board["_moves"]) % 2 == 0
        state = self._state(board)
        self._bot.match = Match(str(board["_id"]), len(board["_moves"]), TURN_TIMEOUT_MS, TURN_TIMEOUT_MS)
        if new:
            self._bot.started(state)
        turn = self._bot.choose(state)
        if not isinstance(turn, dict):
            raise BadTurn(f"choose returned {turn!r}; a turn is a dict, such as {{'x': 7, 'y': 7}}.")
        move = [turn.get("x"), turn.get("y")]
        try:
            connection.send({"event": "make_move", "id": message["id"], "x": move[0], "y": move[1]})
        except (TypeError, ValueError, RecursionError) as error:
            raise BadTurn(f"choose returned {reprlib.repr(turn)}, which is no JSON: {error}.") from error
        self._board = {**board, "_moves": [*board["_moves"], move]}

    def _see(self, board: Message) -> bool:
        """Record the board; return whether it is a new one. Then a previous board ended unreported: drawn or missed."""
        new = self._board is None or self._board["_id"] != board["_id"]
        if new:
            self._end(None, "draw")
            self._first = not self._first  # a guess until the next `get_move` shows who moves first
        self._busy_at_s, self._board = time.monotonic(), board
        return new

    def _end(self, victor: str | None, reason: str) -> None:
        if self._board is None:
            return
        board, self._board = self._board, None
        # a drawn board is full but for the opponent's last move, which we may not have seen
        if reason == "draw" and len(board["_moves"]) < board["_size"] ** 2 - 1:
            reason = "missed"
        self.results.append(Result(str(board["_id"]), victor, reason))
        log.info("board %s is over: victor %s, %s", *self.results[-1])
        self._busy_at_s = time.monotonic()
        self._bot.finished({**self._state(board), "complete": True, "victor": victor, "reason": reason})

    def _state(self, board: Message) -> State:
        """The board as a gomoku state, as bots of the WebSocket door receive it."""
        moves, size, me = board["_moves"], board["_size"], self._bot.bot_id
        players = [me, self._against] if self._first else [self._against, me]
        rows: list[list[str]] = [[""] * size for _ in range(size)]
        for number, (x, y) in enumerate(moves):
            if isinstance(x, int) and isinstance(y, int) and 0 <= x < size and 0 <= y < size:
                rows[y][x] = rows[y][x] or "XO"[number % 2]
        state: dict[str, Any] = {"players": players, "nextPlayer": me, "complete": False, "moves": moves}
        return {
            **state,
            "size": size,
            "winLength": board["_win_length"],
            "board": rows,
            "marks": dict(zip("XO", players, strict=True)),
        }
