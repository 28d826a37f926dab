"""`battlebot demo`: a server, six sample bots, one contest. It uses only what any bot author can use."""

from __future__ import annotations

import secrets
import sys
import time
from dataclasses import replace
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn
from rich.table import Table

from battlebot.cli.contest import Onlooker, meetings
from battlebot.cli.output import table
from battlebot.cli.token import keep_first_token
from battlebot.client import ClientError, register
from battlebot.client.samples.turns import GAMES
from battlebot.config import Settings
from battlebot.embedded.interrupts import stopped_by_signals
from battlebot.embedded.process import Program
from battlebot.embedded.server import Server, running
from battlebot.errors import SettingError
from battlebot.logs import configure_logs

MEETINGS = 5
_LOOK_S = 0.25

# the bot's name without its suffix -> the sample that plays it
_BOTS = {
    "perfect": "perfect",
    "first-free": "first_free",
    "random": "random_player",
    "dice": "random_player",
    "slow": "slow",
    "illegal": "illegal",
}
_PERFECT_AT = "noughtsandcrosses"

_EXIT_UNFINISHED = 1
_EXIT_INTERRUPTED = 130


class _Console(Console):
    """Says that its reader has gone as all commands do: else as if the contest were not over."""

    def on_broken_pipe(self) -> None:
        """Raises the BrokenPipeError that it is called in."""
        raise BrokenPipeError


def run_demo(settings: Settings, *, game: str, leave: bool, limit_s: float) -> int:
    """Play a contest and show it; then serve until Ctrl-C, or return if `leave`.

    Returns the exit status: 0 if every pair met exactly five times. Raises EmbeddedError like `running`, SettingError
    for a game that the bots do not play or a limit that is no time.
    """
    _check(game, limit_s)
    settings = replace(settings, meetings_cap=MEETINGS, contests_by_login=True, tcp_port=0)
    # The terminal is for the progress bar: log warnings and errors only
    configure_logs(replace(settings, log_level="warning"))
    console = _Console()
    status = _EXIT_INTERRUPTED
    with stopped_by_signals():
        console.print("Starting Valkey, mongod, a web node, a worker and beat ...")
        with running(settings, logs_in_files=True, prepare=keep_first_token) as server:
            logs = server.settings.data / "logs"
            # a path in one line, to be copied, whatever is in it
            console.print(f"The server is ready at {server.url}/ (logs: {logs})", soft_wrap=True, markup=False)
            status = _play(server, console, game, limit_s)
            if not leave:
                console.print("The server goes on until Ctrl-C.")
                server.wait()
    return status


def _check(game: str, limit_s: float) -> None:
    if game not in GAMES:
        raise SettingError(f"--game={game!r}: the bots of the demo play {', '.join(sorted(GAMES))}.")
    # not a number is not above 0, either
    if not limit_s > 0:
        raise SettingError(f"--limit={limit_s:g} is not above 0.")


def _play(server: Server, console: Console, game: str, limit_s: float) -> int:
    suffix = secrets.token_hex(2)
    onlooker = Onlooker(server.url, game, f"demo-{suffix}")
    programs = _register(server, onlooker, suffix)
    bots = [program.name for program in programs]
    for program in programs:
        server.supervisor.start(program)
    _watch(server, console, onlooker, bots, limit_s)
    for name in bots:
        server.supervisor.stop_one(name)
    return _report(console, onlooker, bots, limit_s)


def _register(server: Server, onlooker: Onlooker, suffix: str) -> list[Program]:
    """Register the bots and return their programs. Each runs from its auth file, as its author would run it."""
    folder = server.settings.data / "demo" / suffix
    programs = []
    for name, sample in _BOTS.items():
        if sample == "perfect" and onlooker.game != _PERFECT_AT:
            name, sample = "second-first-free", "first_free"
        bot_id = f"{name}-{suffix}"
        try:
            register(server.url, onlooker.game, bot_id, "demo").save(folder / f"{bot_id}.json")
        except ClientError as error:
            raise SettingError(f"The bot {bot_id} could not be registered: {error}") from error
        programs.append(_program(bot_id, sample, onlooker, folder))
    return programs


def _program(bot_id: str, sample: str, onlooker: Onlooker, folder: Path) -> Program:
    options = {
        "host": onlooker.url,
        "game": onlooker.game,
        "contest": onlooker.contest,
        "name": bot_id,
        "auth": str(folder / f"{bot_id}.json"),
    }
    arguments = [word for option, value in options.items() for word in (f"--{option}", value)]
    # -P: whatever is in the folder that the demo is started in is not taken for a library's
    command = [sys.executable, "-P", "-m", f"battlebot.client.samples.{sample}", *arguments]
    return Program(name=bot_id, command=command, log=folder / f"{bot_id}.log", stop_s=2.0)


def _watch(server: Server, console: Console, onlooker: Onlooker, bots: list[str], limit_s: float) -> None:
    """Show the progress until every pair has met MEETINGS times or the time is up."""
    deadline_s = time.monotonic() + limit_s
    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn())
    with Progress(*columns, console=console) as progress:
        bar = progress.add_task(f"Contest {onlooker.contest}", total=len(meetings(bots, [])) * MEETINGS)
        while not progress.finished and time.monotonic() < deadline_s:
            server.supervisor.wait(_LOOK_S)
            view = onlooker.look()
            if view is not None:
                counts = meetings(bots, view["games"])
                progress.update(bar, completed=sum(min(count, MEETINGS) for count in counts.values()))


def _report(console: Console, onlooker: Onlooker, bots: list[str], limit_s: float) -> int:
    """Print the ranking and the addresses; return the exit status."""
    view = onlooker.look() or {"bots": [], "games": []}
    console.print(_ranking(onlooker, view["bots"]))
    for what, address in onlooker.pages().items():
        console.print(f"  {what:14} {address}", soft_wrap=True)
    counts = meetings(bots, view["games"])
    wrong = {pair: count for pair, count in counts.items() if count != MEETINGS}
    if not wrong:
        console.print(f"All {len(counts)} pairs met {MEETINGS} times: {sum(counts.values())} games.")
        return 0
    _complain(wrong, limit_s)
    return _EXIT_UNFINISHED


def _ranking(onlooker: Onlooker, rows: list[dict[str, Any]]) -> Table:
    columns = ("rank", "bot_id", "score", "wins", "draws", "losses")
    cells = [[str(row.get(name, "")) for name in columns] for row in rows]
    return table(columns, cells, {"bot_id"}, f"{onlooker.game}: {onlooker.contest}")


def _complain(wrong: dict[frozenset[str], int], limit_s: float) -> None:
    pairs = ", ".join(f"{' and '.join(sorted(pair))} {count}" for pair, count in sorted(wrong.items(), key=str))
    print(
        f"battlebot: After at most {limit_s:g} seconds not every pair had met {MEETINGS} times: {pairs}.",
        file=sys.stderr,
    )
