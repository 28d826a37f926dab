"""The `battlebot` command: reads the settings, passes them on, and reports an error as one clear line. No other work.

Each command imports what it needs when it runs, so that `--help` is quick.
"""

from __future__ import annotations

import codecs
import io
import json
import os
import signal
import sys
from collections.abc import Callable, Sequence
from functools import partial
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from battlebot.cli.bots import bots
from battlebot.cli.contest_files import drop_output
from battlebot.cli.doctor import doctor
from battlebot.cli.export import export
from battlebot.cli.loading import load
from battlebot.cli.play_tcp import play_tcp
from battlebot.cli.ratings import ratings_commands
from battlebot.cli.renew import renew
from battlebot.cli.token import keep_first_token, token_commands
from battlebot.cli.verify import verify
from battlebot.errors import BattlebotError, SettingError

if TYPE_CHECKING:
    from battlebot.config import Settings

BOTS_WORKER = "worker --queue bots"
_LAST_PLACE = 2  # the descriptor of stderr, after those of stdin and stdout
_NO_THREAD = "can't start new thread"  # Python's words, for which it has no class
_EXIT_ERROR = 2
_EXIT_INTERRUPTED = 130
_EXIT_NO_READER = 141  # as the shell reports a program that SIGPIPE ended: 1 would be a command's negative result


def main(arguments: Sequence[str] | None = None) -> None:
    """The entry point. Exit status: 0, 1 (a command's negative result or refusal), 2 (an error), 130 (interrupted).

    141 if the reader of the output, such as `head`, has gone.
    """
    _fill_places()
    if isinstance(sys.stdout, io.TextIOWrapper) and codecs.lookup(sys.stdout.encoding).name != "utf-8":
        # names may have characters that this output cannot take: an error would hide what has been done
        codecs.register_error("escaped", _escaped)
        sys.stdout.reconfigure(errors="escaped")
    try:
        status = commands.main(args=arguments, prog_name="battlebot", standalone_mode=False)
    except BattlebotError as error:
        status = _failed(str(error))
    except click.ClickException as error:
        _tell(error.show)
        status = error.exit_code
    except (click.Abort, KeyboardInterrupt):
        status = _EXIT_INTERRUPTED
    except UnicodeEncodeError as error:
        # the bytes of an argument that are no UTF-8 stand there as surrogates, which nothing can send
        if not any(0xDC80 <= ord(char) <= 0xDCFF for char in error.object):
            raise
        status = _failed(f"{error.object!r} is not UTF-8.")
    except RuntimeError as error:
        if str(error) != _NO_THREAD:
            raise
        from battlebot.embedded.limits import small_limits

        status = _failed(f"No more threads can be started.{small_limits()}")
    except OSError as error:
        what = f"{error.filename}: " if error.filename else ""
        status = _failed(f"{what}{error.strerror or error}.")
        drop_output()
    # all is done and printed: Ctrl-C, while MongoDB's driver waits for its threads, would only be a traceback
    if signal.getsignal(signal.SIGINT) is signal.default_int_handler:
        signal.signal(signal.SIGINT, signal.SIG_DFL)
    sys.exit(status if isinstance(status, int) else 0)


def _fill_places() -> None:
    """Lead nowhere what is closed of stdin, stdout and stderr (`<&-`, `>&-`), also for a part that is started.

    Otherwise the first files and connections to be opened would take their places.
    """
    while (place := os.open(os.devnull, os.O_RDWR)) <= _LAST_PLACE:
        os.set_inheritable(place, True)
    os.close(place)
    for name, mode in (("stdin", "r"), ("stdout", "w"), ("stderr", "w")):
        if getattr(sys, name) is None:
            setattr(sys, name, Path(os.devnull).open(mode))  # noqa: SIM115 - for as long as the process lives


def _escaped(error: UnicodeError) -> tuple[str, int]:
    """Replace what cannot be encoded as in JSON: an answer in JSON stays valid, and the same."""
    if not isinstance(error, UnicodeEncodeError):
        raise error
    return json.dumps(error.object[error.start : error.end])[1:-1], error.end


def _failed(sentence: str) -> int:
    _tell(partial(click.echo, f"battlebot: {sentence}", err=True))
    return _EXIT_ERROR


def _tell(show: Callable[[], None]) -> None:
    """Show what went wrong; where nobody can be told (a full disk, a reader that has gone), the status remains."""
    try:
        show()
    except OSError:
        drop_output(sys.stderr)


class _Commands(click.Group):
    """Commands whose reader may go away; those of an organiser, which import the most, are loaded when asked for."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        """All names, in order."""
        return sorted([*super().list_commands(ctx), "contest"])

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """The command of that name."""
        if cmd_name != "contest":
            return super().get_command(ctx, cmd_name)
        command: click.Command = import_module("battlebot.cli.contest_commands").contest_commands
        return command

    def make_context(self, info_name: str | None, args: list[str], parent: Any = None, **extra: Any) -> click.Context:
        """Read the arguments; --help and --version are answered here."""
        try:
            return super().make_context(info_name, args, parent, **extra)
        except BrokenPipeError:
            drop_output()
            raise click.exceptions.Exit(_EXIT_NO_READER) from None

    def invoke(self, ctx: click.Context) -> Any:
        """Run the command. Returns its exit status, or 141 if nobody reads its output any more."""
        try:
            return super().invoke(ctx)
        except BrokenPipeError:
            drop_output()
            return _EXIT_NO_READER


@click.group(cls=_Commands, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(package_name="battlebot", message="%(prog)s %(version)s")
def commands() -> None:
    """A server on which programs fight. Settings come from the environment and from .env: see `battlebot settings`."""


commands.add_command(bots)
commands.add_command(doctor)
commands.add_command(export)
commands.add_command(play_tcp)
commands.add_command(ratings_commands)
commands.add_command(renew)
commands.add_command(token_commands)
commands.add_command(verify)


def _place(command: Any) -> Any:
    """Add the options for a server's address, port and data folder. They override the environment."""
    for option in (
        click.option("--data", type=click.Path(path_type=Path), help="Folder of the embedded servers."),
        click.option("--port", type=click.IntRange(1, 65535), help="Port to listen on."),
        click.option("--host", help="Address to listen on."),
    ):
        command = option(command)
    return command


@commands.command()
@_place
def serve(host: str | None, port: int | None, data: Path | None) -> None:
    """Run a whole server: a web node, the TCP door, a worker, a worker that asks stateless bots, and beat.

    Starts a Valkey, a mongod and a nats-server of its own unless URLs are set. BATTLEBOT_TCP_PORT=0 leaves the TCP door
    out, BATTLEBOT_NATS_PORT=0 the nats-server.
    """
    settings = load(host=host, port=port, data=data)
    from battlebot.cli.gamescheck import games_checked
    from battlebot.embedded.server import serve as serve_until_stopped

    with games_checked():
        serve_until_stopped(settings, prepare=keep_first_token)


@commands.command()
@_place
def web(host: str | None, port: int | None, data: Path | None) -> None:
    """Run one web node. Uses REDIS_URL and MONGODB_URI."""
    settings = _load_part("web", host=host, port=port, data=data)
    from battlebot.cli.gamescheck import check_games
    from battlebot.embedded.address import check_port
    from battlebot.embedded.commands import web_command

    check_port(settings.host, settings.port)
    check_games()
    _become(web_command(), settings)


@commands.command()
@click.option("--port", type=click.IntRange(1, 65535), help="Port of the TCP door. Default: BATTLEBOT_TCP_PORT.")
@click.option("--host", help="Address to listen on.")
def tcp(host: str | None, port: int | None) -> None:
    """Run one node with only the TCP door, for gomoku. Uses REDIS_URL and MONGODB_URI."""
    settings = _load_part("tcp", host=host, tcp_port=port)
    from battlebot.cli.gamescheck import check_games
    from battlebot.embedded.address import check_port
    from battlebot.embedded.commands import tcp_command

    if not settings.tcp_port:
        raise SettingError("BATTLEBOT_TCP_PORT is 0, which means no TCP door; name a port by --port.")
    check_port(settings.host, settings.tcp_port, "BATTLEBOT_TCP_PORT or --port")
    check_games()
    _become(tcp_command(), settings)


@commands.command()
@click.option("--queue", default="", help="Queue to serve: battlebot or bots. Default: battlebot.")
def worker(queue: str) -> None:
    """Run one Celery worker. Uses REDIS_URL and MONGODB_URI.

    The queue `bots`, with the tasks that ask stateless bots, needs a worker of its own: that one runs on greenlets.
    """
    settings = _load_part(BOTS_WORKER if queue == "bots" else "worker")
    from battlebot.cli.gamescheck import check_games
    from battlebot.embedded.commands import BOTS, DEFAULT, worker_command
    from battlebot.embedded.semaphores import check_semaphores

    if queue not in ("", DEFAULT, BOTS):
        raise SettingError(
            f"--queue={queue!r} is neither {DEFAULT} nor {BOTS}; a worker has one queue: start one for each."
        )
    check_games()
    if queue != BOTS:
        check_semaphores()
    _become(worker_command(settings, queue=queue, name=BOTS if queue == BOTS else "worker"), settings)


@commands.command()
@click.option("--data", type=click.Path(path_type=Path), help="Folder of the file by which beat shows that it runs.")
def beat(data: Path | None) -> None:
    """Run Celery beat; there must be exactly one. Uses REDIS_URL and MONGODB_URI."""
    settings = _load_part("beat", data=data)
    from battlebot.cli.gamescheck import check_formats
    from battlebot.embedded.commands import beat_command

    check_formats()
    try:
        settings.data.mkdir(mode=0o700, parents=True, exist_ok=True)
    except OSError as error:
        raise SettingError(f"The data folder {settings.data} cannot be written: {error.strerror}.") from error
    _become(beat_command(settings.data / "celerybeat-schedule"), settings)


@commands.command()
def settings() -> None:
    """Show every setting: environment variable, value, meaning. Secrets are masked."""
    from battlebot.cli.show import show_settings

    show_settings(load())


@commands.command()
@_place
@click.option("--game", default="noughtsandcrosses", show_default=True, help="The game to play.")
@click.option(
    "--exit", "leave", is_flag=True, help="Exit after the contest, with status 0 if every pair met five times."
)
@click.option("--limit", default=300.0, show_default=True, help="Seconds the contest may take.")
def demo(host: str | None, port: int | None, data: Path | None, game: str, leave: bool, limit: float) -> int:
    """Run a server with six sample bots in a contest. Every pair meets five times."""
    settings = load(host=host, port=port, data=data)
    from battlebot.cli.demo import run_demo
    from battlebot.cli.gamescheck import games_checked

    with games_checked():
        return run_demo(settings, game=game, leave=leave, limit_s=limit)


def _load_part(part: str, **overrides: Any) -> Settings:
    """The settings of a part that runs alone. Raises SettingError if they lack what `serve` would provide."""
    settings = load(**overrides)
    values = {"REDIS_URL": settings.redis_url, "MONGODB_URI": settings.mongodb_uri}
    # With its own key, a node would lock out every bot that another node has registered; bots over NATS are known by it
    if part in ("web", "tcp") or (part == BOTS_WORKER and settings.nats_url):
        values["SECRET_KEY"] = settings.secret_key
    missing = [name for name, value in values.items() if not value]
    if missing:
        them = "it" if len(missing) == 1 else "them"
        raise SettingError(
            f"`battlebot {part}` needs {_listed(missing)}: set {them}, or run `battlebot serve`, which brings its own."
        )
    return settings


def _listed(names: list[str]) -> str:
    return " and ".join([", ".join(names[:-1]), names[-1]] if len(names) > 1 else names)


def _become(command: list[str], settings: Settings) -> None:
    """Replace this process by the command, so that whoever started it supervises the command."""
    from battlebot.embedded.commands import environment

    os.execve(command[0], command, environment(settings))  # noqa: S606 - ours, without a shell
