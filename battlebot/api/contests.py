"""Reading contests over REST, without a token: the list, one contest, its audit, meetings and crosstable."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

from flask import Response, current_app, url_for
from orjson import Fragment

from battlebot.api.contestanswers import AuditEntry, Contests, ContestWithProgress, Crosstable, Meetings, Why
from battlebot.api.contestschemas import AboutBot, Best, ContestList, OfBot
from battlebot.api.context import check_game, current_context
from battlebot.api.listed import Entry, page_of, shown
from battlebot.api.longmatches import Dumps, joined
from battlebot.api.parsing import Described
from battlebot.api.schemas import LINK, ErrorBody, link
from battlebot.contests.cap import cap_of
from battlebot.contests.contest import Contest
from battlebot.contests.installed import format_of, has_format
from battlebot.errors import BadMessage, UnknownContest
from battlebot.runtime.cooperative import cooperatively
from battlebot.storage.audit import MOST

AT_ONCE = 50  # pairs, or rounds, made into JSON at a time
CONTESTS = "/games/<game>/contests"
CONTEST = f"{CONTESTS}/<name>"

FIELDS = (
    *("name", "title", "game", "state", "format", "config", "meetings", "entrants", "withdrawn", "options"),
    *("turnTimeoutMs", "points", "absentAfterS", "absentCounts"),
    *("startsAt", "endsAt", "startedAt", "endedAt", "createdAt", "openedBy"),
)
HEAD = ("name", "title", "state", "format", "meetings", "points", "startsAt", "endsAt", "startedAt", "endedAt")

contests = Described("contests", __name__, description="Contests: what they are and how they stand")
contests.url_value_preprocessor(check_game)


@contests.get(CONTESTS)
@contests.arguments(ContestList, location="query")
@contests.response(200, Contests, headers=LINK)
@contests.alt_response(404, schema=ErrorBody)
def list_contests(asked: dict[str, Any], game: str) -> tuple[dict[str, Any], int, dict[str, str]]:
    """The contests of a game, the latest first

    At most 4 MB of them, and one at least.
    """
    kept = current_context().storage.contests
    state, limit, before = asked["state"], asked["limit"], asked["before"]
    if before is not None and kept.find(game, before) is None:
        raise BadMessage("before must be the name of a contest.", field="before", rule="known")
    # one contest more than requested shows whether there is more
    found = kept.each_of_game(game, limit + 1, state, before)
    page, more = page_of((_entry(row.name, contest_document(row)) for row in found), limit)
    answer: dict[str, Any] = {"contests": shown(page)}
    if not more:
        return answer, 200, {}
    last = page[-1].key
    answer["next"] = url_for("contests.list_contests", game=game, limit=limit, before=last, state=state)
    return answer, 200, link(answer["next"])


@contests.get(CONTEST)
@contests.response(200, ContestWithProgress)
@contests.alt_response(404, schema=ErrorBody)
def show_contest(game: str, name: str) -> dict[str, Any]:
    """A contest with all its settings and its progress"""
    contest = stored_contest(game, name)
    progress = current_context().lookout.standing(contest)[1] if has_format(contest) else None
    return {**contest_document(contest), "progress": progress}


@contests.get(f"{CONTEST}/audit")
@contests.response(200, AuditEntry(many=True))
@contests.alt_response(404, schema=ErrorBody)
def show_audit(game: str, name: str) -> list[Fragment]:
    """What organisers, the clock and the contest itself did, the latest first, at most 1000 entries

    At most 4 MB of them, and one at least.
    """
    stored_contest(game, name)
    # nobody asks for those that come after one
    entries = (_entry("", row) for row in current_context().storage.audit.of_contest(game, name))
    return shown(page_of(entries, MOST)[0])


@contests.get(f"{CONTEST}/meetings")
@contests.arguments(OfBot, location="query")
@contests.response(200, Meetings)
@contests.alt_response(404, schema=ErrorBody)
@contests.alt_response(409, schema=ErrorBody)
def show_meetings(asked: dict[str, Any], game: str, name: str) -> Any:
    """Who has met whom how often, who moved first, and what is left

    In a contest of more than 200 bots, one bot's meetings at a time.
    """
    contest = stored_contest(game, name)
    found = current_context().lookout.meetings(contest, asked["bot"])
    if len(found["pairs"]) <= AT_ONCE:
        return found
    # of 200 bots it is 25 MB, which a node that others play on makes bit by bit
    return Response(b"".join(_lists(found, current_app.json.dumps)), mimetype="application/json")


def _lists(found: dict[str, list[Any]], dumps: Dumps) -> Iterator[bytes]:
    """The JSON of an object of lists."""
    for number, (name, rows) in enumerate(found.items()):
        yield f'{"," if number else "{"}"{name}":['.encode()
        parts = (rows[at : at + AT_ONCE] for at in range(0, len(rows), AT_ONCE))
        yield from joined(cooperatively(parts), dumps)
        yield b"]"
    yield b"}"


@contests.get(f"{CONTEST}/why")
@contests.arguments(AboutBot, location="query")
@contests.response(200, Why)
@contests.alt_response(404, schema=ErrorBody)
@contests.alt_response(409, schema=ErrorBody)
def show_why(asked: dict[str, Any], game: str, name: str) -> dict[str, Any]:
    """Why a bot is not playing right now, in a sentence with a code"""
    return current_context().lookout.why(stored_contest(game, name), asked["bot"])


@contests.get(f"{CONTEST}/crosstable")
@contests.arguments(Best, location="query")
@contests.response(200, Crosstable)
@contests.alt_response(404, schema=ErrorBody)
@contests.alt_response(409, schema=ErrorBody)
def show_crosstable(asked: dict[str, Any], game: str, name: str) -> dict[str, Any]:
    """Who beat whom, by wins, draws and losses of each pair that has met"""
    contest = stored_contest(game, name)

    def met(ranking: list[dict[str, Any]]) -> dict[str, dict[str, dict[str, int]]]:
        return results(contest, [row["bot_id"] for row in ranking[: asked["limit"]]])

    rows, against = current_context().lookout.ranking_with(contest, met)
    return {
        "points": contest.points,
        "bots": list(against),
        "rows": [
            {"bot_id": row["bot_id"], "rank": row["rank"], "score": row["score"], "against": against[row["bot_id"]]}
            for row in rows[: asked["limit"]]
        ],
    }


def results(contest: Contest, bots: list[str]) -> dict[str, dict[str, dict[str, int]]]:
    """Bot -> opponent -> `{wins, draws, losses}`, for the meetings among these bots. Raises Unavailable."""
    against: dict[str, dict[str, dict[str, int]]] = {bot: {} for bot in bots}
    for pair in current_context().storage.standings.pairs(*contest.where, bots, among=True):
        counts = {name: pair.get(name, 0) for name in ("wins", "draws", "losses")}
        # without counts the pair's only match was taken back: it has not met
        if any(counts.values()):
            against[pair["bot_id"]][pair["opponent"]] = counts
    return against


def stored_contest(game: str, name: str) -> Contest:
    """The contest. Raises UnknownContest, Unavailable."""
    found = current_context().storage.contests.find(game, name)
    if found is None:
        raise UnknownContest(f"There is no contest {name[:64]!r} in {game}.")
    return found


def contest_document(contest: Contest) -> dict[str, Any]:
    """The public fields of a contest; without its format `meetings` is what was set, and `together` is None."""
    return _shown(contest, FIELDS)


def contest_head(contest: Contest) -> dict[str, Any]:
    """The fields of a contest that are shown together with its ranking and its matches."""
    return _shown(contest, HEAD)


def _entry(key: str, document: dict[str, Any]) -> Entry:
    return Entry(key, current_app.json.dumps(document).encode())


def _shown(contest: Contest, names: Iterable[str]) -> dict[str, Any]:
    document = contest.as_document()
    chosen = {name: document[name] for name in names}
    if not has_format(contest):
        return {**chosen, "together": None}
    return {**chosen, "meetings": cap_of(contest), "together": format_of(contest).TOGETHER}
