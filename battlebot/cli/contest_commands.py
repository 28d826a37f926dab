"""`battlebot contest`: an organiser's commands, over the REST API of any server. The server decides."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from battlebot.cli import contest_fields as fields
from battlebot.cli.contest_server import on_server
from battlebot.cli.loading import load, of_data
from battlebot.cli.output import plain

if TYPE_CHECKING:
    from battlebot.cli.rest import Rest

FAULTS = ("none", "bot", "network", "server")
EXPORTS = {"csv": "text/csv", "ndjson": "application/x-ndjson"}
TRANSITIONS = {
    "start": "Start a scheduled contest now, whatever its start time.",
    "pause": "Pause a contest. No new matches begin; running ones continue.",
    "resume": "Resume a paused contest.",
    "finish": "Finish a contest with its current standings.",
    "cancel": "Cancel a contest. Running matches become void; its record is kept.",
}

_EXIT_DIFFERENT = 1
_PAGE = 1000


@click.group("contest")
def contest_commands() -> None:
    """Schedule, watch and publish contests on any server. All commands but recompute use its REST API.

    Commands that change a contest need an organiser's token: in BATTLEBOT_TOKEN, in ~/.config/battlebot/config.toml
    under [servers."URL"] as token = "...", or, for a server on this machine, in its data folder. Exit status: 0; 1, the
    server refused; 2, it could not be asked.
    """


def _of_contest(command: Callable[..., Any]) -> Callable[..., Any]:
    """Adds the arguments GAME and NAME."""
    return click.argument("game")(click.argument("name")(command))


_as_json = click.option("--json", "as_json", is_flag=True, help="Print the JSON that the server answers.")


@contest_commands.command()
@_of_contest
@fields.with_fields(new=True)
@_as_json
@on_server
def create(rest: Rest, game: str, name: str, as_json: bool, **given: Any) -> None:
    """Schedule a contest."""
    contest = rest.post("games", game, "contests", body={"name": name, **fields.body(given)})
    _print_contest(contest, as_json)


@contest_commands.command()
@_of_contest
@fields.with_fields(new=False)
@_as_json
@on_server
def change(rest: Rest, game: str, name: str, as_json: bool, **given: Any) -> None:
    """Change a contest. Before it starts almost everything, later only its title, end and rule for absent bots."""
    changes = fields.body(given)
    if not changes:
        raise click.UsageError("Say what to change.")
    _print_contest(rest.ask("PATCH", "games", game, "contests", name, body=changes), as_json)


@contest_commands.command("list")
@click.argument("game")
@click.option("--state", help="Only contests in this state: scheduled, running, paused, finished or cancelled.")
@_as_json
@on_server
def list_contests(rest: Rest, game: str, state: str | None, as_json: bool) -> None:
    """List a game's contests, newest first. A table on a terminal, tab-separated columns elsewhere."""
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
    """Show a contest's settings and standings."""
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
    """Say why a bot is not playing right now."""
    answer = rest.get("games", game, "contests", name, "why", bot=bot)
    click.echo(f"{plain(answer['sentence'])} ({plain(answer['code'])})")


@contest_commands.command()
@_of_contest
@on_server
def watch(rest: Rest, game: str, name: str) -> None:
    """Show standings and progress as they change. Ends with the contest or by Ctrl-C."""
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
    """Enter bots in a contest. New ones before one with a list of entrants starts, withdrawn ones at any time."""
    _print_contest(rest.post("games", game, "contests", name, "entrants", body={"bots": list(bots)}))


@contest_commands.command()
@_of_contest
@click.argument("bot")
@on_server
def withdraw(rest: Rest, game: str, name: str, bot: str) -> None:
    """Withdraw a bot. Its running matches become void; its finished ones stand."""
    _print_contest(rest.delete("games", game, "contests", name, "entrants", bot))


@contest_commands.command()
@_of_contest
@click.argument("match")
@click.option("--reason", required=True, help="The reason; anybody can read it in the contest's audit.")
@on_server
def void(rest: Rest, game: str, name: str, match: str, reason: str) -> None:
    """Void a match. It counts for nobody and is played again."""
    answer = rest.post("games", game, "contests", name, "games", match, "void", body={"reason": reason})
    click.echo(f"{plain(answer['match'])} is void.")


@contest_commands.command()
@_of_contest
@click.option(
    "--format", "kind", type=click.Choice(list(EXPORTS)), help="Default: by the name of the output file, else csv."
)
@click.option("--output", "-o", type=click.Path(path_type=Path, dir_okay=False), help="Output file. Default: stdout.")
@click.option("--void", "with_void", is_flag=True, help="Include void matches, marked as void.")
@click.option("--fault", type=click.Choice(FAULTS), help="Only matches that ended by this fault, including void ones.")
@on_server
def export(
    rest: Rest, game: str, name: str, kind: str | None, output: Path | None, with_void: bool, fault: str | None
) -> None:
    """Export all matches of a contest. Oldest first, one per line: as CSV, or as JSON with their turns."""
    from battlebot.cli.contest_files import destination

    suffix = output.suffix[1:].lower() if output else ""
    kind = kind or (suffix if suffix in EXPORTS else "csv")
    path = ("games", game, "contests", name, f"export.{kind}")
    query = {"void": "true" if with_void else None, "fault": fault}
    with rest.stream("GET", *path, query=query, accept=EXPORTS[kind]) as answer:
        if (got := answer.headers.get_content_type()) != EXPORTS[kind]:
            raise rest.no_server_of_ours(f"{got} instead of {EXPORTS[kind]}")
        with destination(output) as stream:
            for piece in rest.chunks(answer):
                stream.write(piece)


@contest_commands.command()
@_of_contest
@click.option("--mend", is_flag=True, help="Also correct the standings.")
@of_data
def recompute(game: str, name: str, mend: bool, data: Path | None) -> int:
    """Recount a contest's standings from its stored matches.

    Exit status 1 if the kept standings differ, unless --mend is given. Works on the database, not through the API:
    MONGODB_URI, or the mongod of the data folder. A server may run meanwhile.
    """
    from battlebot.cli.contest_recompute import recompute_standings

    return _EXIT_DIFFERENT if recompute_standings(load(data=data), game, name, mend) and not mend else 0


def _print_contest(contest: dict[str, Any], as_json: bool = False) -> None:
    from battlebot.cli.contest_shown import summary

    if as_json:
        _print_json(contest)
    else:
        click.echo(summary(contest))


def _print_json(value: Any) -> None:
    click.echo(json.dumps(value, indent=2, ensure_ascii=False))
