"""`battlebot verify`: checks stored matches and contests. Reads, calls the checks, prints; contains no rules."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from battlebot.cli.loading import load, of_data
from battlebot.cli.output import plain
from battlebot.errors import UnknownContest, UnknownMatch

if TYPE_CHECKING:
    from battlebot.contests.contest import Contest
    from battlebot.rules.registry import Registry
    from battlebot.storage import Storage

MATCH_ID = re.compile(r"[0-9a-f]{24}")
UNREADABLE = (KeyError, IndexError, TypeError, ValueError, AttributeError)  # raised by documents of another form
NOTHING = {"matches": 0, "void": 0, "turns": 0}
TRIES = 3  # while a contest runs, its matches and its standings are read at different moments


@click.command("verify")
@click.argument("targets", nargs=-1, required=True, metavar="MATCH|CONTEST...")
@click.option("--game", help="Game of the contest, if several games have one of that name.")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object: ok, and a report for each target.")
@of_data
def verify(targets: Sequence[str], game: str | None, as_json: bool, data: Path | None) -> int:
    """Replay stored matches by their rules. Compares the final state, the verdict and the times.

    For a contest: all its matches, the cap on meetings per pair, the meetings, and the standings. Reads the database,
    not the API: MONGODB_URI, or the mongod of the data folder. A server may run meanwhile. Exit status: 0, everything
    is as recorded; 1, something is not; 2, it could not be checked.
    """
    from battlebot.cli.database import open_storage
    from battlebot.rules.registry import discover

    with open_storage(load(data=data)) as storage:
        verifier = Verifier(storage, discover())
        reports = [verifier.report(target, game) for target in targets]
    ok = not any(report["findings"] for report in reports)
    if as_json:
        click.echo(json.dumps({"ok": ok, "reports": reports}, indent=2, ensure_ascii=False))
    else:
        for report in reports:
            _print(report)
    return 0 if ok else 1


class Verifier:
    """Checks what is stored. Every method raises Unavailable."""

    def __init__(self, storage: Storage, registry: Registry) -> None:
        self._storage = storage
        self._registry = registry

    def report(self, target: str, game: str | None = None) -> dict[str, Any]:
        """`{"match"|"contest", "game", "matches", "void", "turns", "findings"}` of a match's id or a contest's name.

        A finding is `{"code", "sentence", "match"?}`. Raises UnknownMatch, UnknownContest.
        """
        if MATCH_ID.fullmatch(target):
            try:
                record = self._storage.games.find(target)
            except UNREADABLE as error:
                return {"match": target, "game": None, **NOTHING, "findings": [_unreadable(error)]}
            if record is not None:
                return self._with_matches({"match": target, "game": record.get("game")}, iter([record]))
        contest = self._contest(target, game)
        matches = self._storage.games.each_of_contest(contest.game, target, void=True, turns=True)
        report = self._with_matches({"contest": target, "game": contest.game}, matches)
        report["findings"] += self._about_the_contest(contest)
        return report

    def _contest(self, name: str, game: str | None) -> Contest:
        names = self._registry if game is None else [game]
        found = [row for row in (self._storage.contests.find(one, name) for one in names) if row is not None]
        if len(found) > 1:
            games = ", ".join(row.game for row in found)
            raise UnknownContest(f"There are contests {name!r} of {games}: say which by --game.")
        if not found:
            if MATCH_ID.fullmatch(name):
                raise UnknownMatch(f"There is no finished match {name!r}, and no contest of that name.")
            raise UnknownContest(f"There is no contest {name!r}{f' of {game}' if game else ''}.")
        return found[0]

    def _with_matches(self, about: dict[str, Any], records: Iterator[dict[str, Any]]) -> dict[str, Any]:
        report: dict[str, Any] = {**about, **NOTHING, "findings": []}
        for record in records:
            report["matches"] += 1
            try:
                # of a long match the record has no turns
                whole = self._storage.games.find(record["_id"]) if "turns" not in record else record
                assert whole is not None
                void, turns = bool(whole["match"]["void"]), len(whole["turns"])
                findings = self._about_a_match(whole)
            except UNREADABLE as error:
                void, turns, findings = False, 0, [_unreadable(error)]
            report["void"] += void
            report["turns"] += turns
            report["findings"] += [{**found, "match": record["_id"]} for found in findings]
        return report

    def _about_a_match(self, record: dict[str, Any]) -> list[dict[str, str]]:
        from battlebot.referee.replay import check_match, finding

        game = self._registry.get(record["game"])
        if game is None:
            return [finding("unknown-game", f"There are no rules of {record['game']!r} here.")]
        return check_match(game, record)

    def _about_the_contest(self, contest: Contest) -> list[dict[str, str]]:
        from battlebot.contests.checks import check_contest

        game, name = contest.where
        found: list[dict[str, str]] = []
        for _ in range(TRIES):
            games = self._storage.games.each_of_contest(game, name, void=True)
            try:
                found = check_contest(contest, games, self._storage.meetings.of_contest(game, name))
                rows = self._storage.ledger.recount(game, name)
            except UNREADABLE as error:
                return [_unreadable(error, "The contest cannot be counted")]
            found += [{"code": "standings", "sentence": _difference(row)} for row in rows]
            if not found:
                break
        return found


def _unreadable(error: Exception, what: str = "The record cannot be read") -> dict[str, str]:
    return {"code": "incomplete", "sentence": f"{what} ({type(error).__name__}: {error})."}


def _difference(row: dict[str, Any]) -> str:
    against = f" against {row['opponent']}" if "opponent" in row else ""
    return f"{row['bot_id']}{against}: kept {row['kept']}, counted {row['counted']}."


def _print(report: dict[str, Any]) -> None:
    for found in report["findings"]:
        where = f"{found['match']}: " if "match" in found else ""
        click.echo(f"  {where}{plain(found['sentence'])} ({found['code']})")
    matches, turns, wrong = report["matches"], report["turns"], len(report["findings"])
    void = f", {report['void']} of them void" if report["void"] else ""
    replayed = f"{matches} {'match' if matches == 1 else 'matches'} of {turns} turns replayed{void}"
    name = plain(report.get("contest") or report["match"])
    if wrong:
        click.echo(f"{name}: {replayed}; {wrong} {'thing is' if wrong == 1 else 'things are'} not as recorded.")
    elif "contest" in report:
        click.echo(f"{name}: {replayed}; all is as recorded, the cap holds, the standings are what the matches make.")
    else:
        click.echo(f"{name}: {replayed}; all is as recorded.")
