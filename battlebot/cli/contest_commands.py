"""`battlebot contest`: an organiser's commands, over the REST API of any server. The server decides."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from battlebot.cli import contest_fields as fields
from battlebot.cli.contest_server import on_server
from battlebot.cli.rest import plain

if TYPE_CHECKING:
    from battlebot.cli.rest import Rest

FAULTS = ("none", "bot", "network", "server")
EXPORTS = {"csv": "text/csv", "ndjson": "application/x-ndjson"}
TRANSITIONS = {
    "start": "Starts a contest that is scheduled, whatever its time.",
    "pause": "Lets no further matches begin; those being played go on.",
    "resume": "Lets a paused contest go on.",
    "finish": "Ends a contest as it stands now.",
    "cancel": "Calls a contest off: what is being played is void. Its record stays.",
}

_EXIT_DIFFERENT = 1
_PAGE = 1000


@click.group("contest")
def contest_commands() -> None:
    """Contests: schedule them, watch them, publish them. On any server; all commands but recompute use its REST API.

    What changes a contest needs an organiser's token: in BATTLEBOT_TOKEN, in ~/.config/battlebot/config.toml under
    [servers."URL"] as token = "...", or, for a server on this machine, in its data folder. Exit status: 0; 1, the
    server refused; 2, it could not be asked.
    """


def _of_contest(command: Callable[..., Any]) -> Callable[..., Any]:
    """Adds the arguments GAME and NAME."""
    return click.argument("game")(click.argument("name")(command))


_as_json = click.option("--json", "as_json", is_flag=True, help="JSON, as the server answers it.")


@contest_commands.command()
@_of_contest
@fields.with_fields
@_as_json
@on_server
def create(rest: Rest, game: str, name: str, as_json: bool, **given: Any) -> None:
    """Schedules a contest."""
    contest = rest.post("games", game, "contests", body={"name": name, **fields.body(given)})
    _print_contest(contest, as_json)


@contest_commands.command()
@_of_contest
@fields.with_fields
@_as_json
@on_server
def change(rest: Rest, game: str, name: str, as_json: bool, **given: Any) -> None:
    """Changes a contest: before it starts almost all, later its title, its end and the rule for the absent."""
    changes = fields.body(given)
    if not changes:
        raise click.UsageError("Say what to change.")
    _print_contest(rest.ask("PATCH", "games", game, "contests", name, body=changes), as_json)


@contest_commands.command("list")
@click.argument("game")
@click.option("--state", help="Only those: scheduled, running, paused, finished or cancelled.")
@_as_json
@on_server
def list_contests(rest: Rest, game: str, state: str | None, as_json: bool) -> None:
    """The contests of a game, newest first. On a terminal a table, elsewhere columns with tabs between."""
    from battlebot.cli.contest_shown import print_contests

    found: list[dict[str, Any]] = []
    before = None
    while True:
        page = rest.get("games", game, "contests", state=state, limit=_PAGE, before=before)
        found += page["contests"]
        if not page.get("next") or not page["contests"]:
            break
        before = page["contests"][-1]["name"]
    if as_json:
        _print_json(found)
    else:
        print_contests(game, found)


@contest_commands.command()
@_of_contest
@_as_json
@on_server
def show(rest: Rest, game: str, name: str, as_json: bool) -> None:
    """A contest: its settings and its standings."""
    from battlebot.cli.contest_shown import print_contest

    contest = rest.get("games", game, "contests", name)
    standings = rest.get("games", game, "contest", name, limit=1)["bots"]
    if as_json:
        _print_json({**contest, "bots": standings})
    else:
        print_contest(contest, standings)


@contest_commands.command()
@_of_contest
@click.argument("bot")
@on_server
def why(rest: Rest, game: str, name: str, bot: str) -> None:
    """Why a bot is not playing right now."""
    answer = rest.get("games", game, "contests", name, "why", bot=bot)
    click.echo(f"{plain(answer['sentence'])} ({plain(answer['code'])})")


@contest_commands.command()
@_of_contest
@on_server
def watch(rest: Rest, game: str, name: str) -> None:
    """Standings and progress as they change, until the contest is over or Ctrl-C."""
    from battlebot.cli.contest_watch import watch_contest

    watch_contest(rest, game, name)


def _add_transition(action: str, sentence: str) -> None:
    @contest_commands.command(action, help=sentence)
    @_of_contest
    @on_server
    def change_state(rest: Rest, game: str, name: str) -> None:
        place = ("games", game, "contests", name)
        _print_contest(rest.delete(*place) if action == "cancel" else rest.post(*place, action))


for _action, _sentence in TRANSITIONS.items():
    _add_transition(_action, _sentence)


@contest_commands.command()
@_of_contest
@click.argument("bots", nargs=-1, required=True, metavar="BOT...")
@on_server
def enter(rest: Rest, game: str, name: str, bots: Sequence[str]) -> None:
    """Adds bots to a contest with a list of entrants before it starts, or withdrawn ones again at any time."""
    _print_contest(rest.post("games", game, "contests", name, "entrants", body={"bots": list(bots)}))


@contest_commands.command()
@_of_contest
@click.argument("bot")
@on_server
def withdraw(rest: Rest, game: str, name: str, bot: str) -> None:
    """Takes a bot out: what it plays now is void, what it has played stands."""
    _print_contest(rest.delete("games", game, "contests", name, "entrants", bot))


@contest_commands.command()
@_of_contest
@click.argument("match")
@click.option("--reason", required=True, help="Why; anybody can read it in the contest's audit.")
@on_server
def void(rest: Rest, game: str, name: str, match: str, reason: str) -> None:
    """Takes a match back: it counts for nobody, and is played again."""
    rest.post("games", game, "contests", name, "games", match, "void", body={"reason": reason})
    click.echo(f"{plain(match)} is void.")


@contest_commands.command()
@_of_contest
@click.option("--format", "kind", type=click.Choice(list(EXPORTS)), help="Default: by the file's name, else csv.")
@click.option("--output", "-o", type=click.Path(path_type=Path, dir_okay=False), help="The file. Default: stdout.")
@click.option("--void", "with_void", is_flag=True, help="Void matches as well, marked so.")
@click.option("--fault", type=click.Choice(FAULTS), help="Only matches whose end was the fault of this; void ones too.")
@on_server
def export(
    rest: Rest, game: str, name: str, kind: str | None, output: Path | None, with_void: bool, fault: str | None
) -> None:
    """All matches of a contest, oldest first, one a line: as CSV, or as JSON with their turns."""
    from battlebot.cli.contest_files import destination

    suffix = output.suffix[1:].lower() if output else ""
    kind = kind or (suffix if suffix in EXPORTS else "csv")
    path = ("games", game, "contests", name, f"export.{kind}")
    query = {"void": "true" if with_void else None, "fault": fault}
    with rest.stream("GET", *path, query=query, accept=EXPORTS[kind]) as answer, destination(output) as stream:
        for piece in rest.chunks(answer):
            stream.write(piece)


@contest_commands.command()
@_of_contest
@click.option("--mend", is_flag=True, help="Puts the standings right, too.")
@click.option("--data", type=click.Path(path_type=Path), help="Data folder of the server, without a MONGODB_URI.")
def recompute(game: str, name: str, mend: bool, data: Path | None) -> int:
    """Counts a contest's standings anew from its stored matches; status 1 if the kept ones differ and stay so.

    It works on the database, not by the API: on MONGODB_URI, or the mongod of the data folder. A server may run.
    """
    from battlebot.cli.contest_recompute import recompute_standings
    from battlebot.config import load_settings
    from battlebot.logs import configure_logs

    settings = load_settings(data=data)
    configure_logs(settings)
    return _EXIT_DIFFERENT if recompute_standings(settings, game, name, mend) and not mend else 0


def _print_contest(contest: dict[str, Any], as_json: bool = False) -> None:
    from battlebot.cli.contest_shown import summary

    if as_json:
        _print_json(contest)
    else:
        click.echo(summary(contest))


def _print_json(value: Any) -> None:
    click.echo(json.dumps(value, indent=2, ensure_ascii=False))
