"""The content of the live pages: read from storage and arena, rendered section by section.

A page's template places the sections; its stream sends them again when they change.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import partial
from typing import Any

import structlog
from flask import current_app, url_for
from markupsafe import Markup

from battlebot.api.contests import contest_document, contest_head, results, stored_contest
from battlebot.api.context import current_context
from battlebot.api.streams import Snapshot
from battlebot.api.verdicts import finish, verdict
from battlebot.errors import Unavailable, UnknownMatch
from battlebot.rules.contract import RESERVED_OF_A_TURN
from battlebot.runtime.cooperative import cooperatively
from battlebot.web import board
from battlebot.web.crosstable import LARGEST, crosstable
from battlebot.web.filters import span
from battlebot.web.replay import Position, can_be_replayed
from battlebot.web.stale import is_away, running, stored, without_stored
from battlebot.wire.matchfiles import formats_of

RECENT = 20  # matches in a page's list
MOST_LIVE = 12
MOST_TURNS = 500  # in a match's table
MOST_RANKED = 500  # bots in the standings: every viewer is sent the page again whenever it changes
MOST_CONTESTS = 50

LIVE_AGAIN_S = 5.0  # polled, because turns are announced only to those who watch the match; lists count them
BOARDS_AGAIN_S = 1.0  # polled, because turns are announced only to those who watch the match
ENDED_AGAIN_S = 0.5  # polled until the archive has the match

log = structlog.get_logger()


def section(name: str, **values: Any) -> Markup:
    """A section of a page as HTML. While a large one is rendered, others run in between."""
    current_app.update_template_context(values)
    pieces = current_app.jinja_env.get_template(f"_{name}.html").generate(values)
    return Markup("".join(cooperatively(pieces)))  # noqa: S704 - templates escape their values


def live_matches(game: str | None = None, contest: str | None = None) -> list[dict[str, Any]] | None:
    """The running matches that can be shown; None while Redis does not answer."""
    if is_away("redis"):
        return None
    try:
        return current_context().live.list(game, contest)
    except Unavailable as error:
        log.warning("live.not_listed", error=str(error))
        return None


def live_section(live: list[dict[str, Any]] | None, with_contest: bool) -> Markup:
    """The section with the list of running matches."""
    count = len(live or ())
    return section("live", live=None if live is None else live[:MOST_LIVE], count=count, with_contest=with_contest)


def contest_snapshot(game: str, name: str) -> Snapshot:
    """The content of a contest's page. Raises UnknownContest, Unavailable."""
    context = current_context()
    contest = stored_contest(game, name)
    rows, progress = context.lookout.standing(contest)
    live = live_matches(game, name)
    head, names = contest_head(contest), [row["bot_id"] for row in rows]
    fits = len(rows) <= LARGEST
    table = crosstable(names, results(contest, names)) if len(rows) >= 2 and fits else None
    has_rounds = context.lookout.has_rounds(contest)
    rounds = context.lookout.rounds(contest) if fits else []
    sections = {
        "title": section("title", contest=head),
        "progress": section("progress", progress=progress, contest=contest_document(contest), bots=len(rows)),
        "standings": section(
            "standings", game=game, contest=name, rows=rows[:MOST_RANKED], count=len(rows), **shown_columns(rows)
        ),
        "crosstable": section(
            "crosstable", rows=rows, table=table, largest=LARGEST, meetings=head["meetings"], together=head["together"]
        ),
        "all-rounds": section("rounds", rounds=rounds, game=game, has_rounds=has_rounds, fits=fits),
        "live": live_section(live, with_contest=False),
        "recent": contest_matches(game, name, RECENT),
    }
    # the number of live meetings changes with each match, and the section shows it
    shown = {key: value for key, value in progress.items() if key != "live"}
    title = f"{contest.title} · {context.registry[game].title} · Battlebot"
    data = {"contest": head, "title": title, "bots": rows[:MOST_RANKED], "progress": shown, "sections": sections}
    return Snapshot(data, again_s=LIVE_AGAIN_S if contest.state == "running" else 15.0)


def contest_matches(game: str, name: str, most: int, before: str | None = None) -> Markup:
    """The section with a contest's latest matches, or with the latest that ended before the match `before`.

    It leads to the older ones, and back from them. Raises Unavailable.
    """
    # one match more than is shown tells whether there is more
    found = list(current_context().storage.games.of_contest(game, name, most + 1, before))
    address = partial(url_for, "pages.contest_page", game=game, name=name)
    return _matches(found, most, before, address, with_contest=False)


def game_matches(game: str, most: int, before: str | None = None) -> Markup:
    """Like `contest_matches`, for all matches of a game. Raises Unavailable."""
    found = list(current_context().storage.games.recent(game, most + 1, before))
    return _matches(found, most, before, partial(url_for, "pages.game_page", game=game), with_contest=True)


def _matches(
    found: list[dict[str, Any]], most: int, before: str | None, address: Callable[..., str], with_contest: bool
) -> Markup:
    older = address(before=found[most - 1]["_id"]) if len(found) > most else None
    newest = None if before is None else address()
    return section("recent", games=found[:most], with_contest=with_contest, older=older, newest=newest)


def shown_columns(rows: list[dict[str, Any]]) -> dict[str, bool]:
    """Which optional columns of the standings are shown: absences and byes if there are any, tie-breaks if needed."""
    if scored := any("scored" in row for row in rows):
        return {"scored": scored, "absences": any(row["absent"] for row in rows)}
    return {
        "absences": any(row["absent"] for row in rows),
        "byes": any(row["byes"] for row in rows),
        "ties": any(row["tieBreaks"]["headToHead"] and row["played"] for row in rows)
        or len({(row["score"], row["wins"], row["losses"]) for row in rows if row["played"]})
        < sum(bool(row["played"]) for row in rows),
    }


def game_snapshot(game: str) -> Snapshot:
    """The content of a game's page. Raises Unavailable."""
    storage = current_context().storage
    contests = stored(lambda: storage.contests.of_game(game, MOST_CONTESTS))
    recent = stored(lambda: game_matches(game, RECENT))
    sections = {
        "live": live_section(live_matches(game), with_contest=True),
        "contests": section("contests", contests=contests, with_game=False),
        "recent": section("recent", games=None) if recent is None else recent,
    }
    return Snapshot({"game": game, "sections": sections}, again_s=LIVE_AGAIN_S)


def match_snapshot(game: str, match_id: str) -> Snapshot:
    """The content of a match's page, running or finished. Raises UnknownMatch, Unavailable."""
    kept = current_context().storage.games
    record = stored(lambda: kept.head(match_id))
    if record is not None and record["game"] == game:
        return _finished(*kept.with_end(record, MOST_TURNS))
    live = running(lambda: current_context().live.find(match_id)) if record is None else None
    if live is None and without_stored():
        raise Unavailable("The database cannot be reached at the moment, and the match is not being played now.")
    if live is None or live["game"] != game:
        raise UnknownMatch(f"There is no match {match_id[:64]!r} of {game}.")
    return _live(live)


def _finished(match: dict[str, Any], turns: int) -> Snapshot:
    """The snapshot of a match that has `turns`; `match` holds the last of them."""
    state, ours = board.final_state(match), match.get("match") or {}
    facts = {
        "id": match["_id"],
        "game": match["game"],
        "contest": match["contest"],
        "players": match["players"],
        "victor": match["victor"],
        "sentence": verdict(match),
        "complete": True,
        "recorded": True,
        "formats": formats_of(match["game"]),
        "started": match["startTime"],
        "lasted": span(match["startTime"], ours.get("endTime")),
        "turns": turns,
        "fault": ours.get("fault"),
        "evidence": ours.get("evidence"),
        "series": ours.get("series"),
        "order": finish(match),
        "scores": ours.get("scores"),
    }
    position = Position(turns, turns) if can_be_replayed(match, turns) else None
    return _match(facts, state, _turn_rows(match, turns - len(match["turns"])), position, final=True)


def _live(match: dict[str, Any]) -> Snapshot:
    state = match["state"]
    complete = bool(state.get("complete"))
    facts = {
        "id": match["id"],
        "game": match["game"],
        "contest": match["contest"],
        "players": match["players"],
        "victor": state.get("victor"),
        "next": None if complete else state.get("nextPlayer"),
        "waiting": 0 if complete else len(state.get("waitingFor") or ()),
        "sentence": verdict({**state, "players": match["players"]}) if complete else "The match is being played.",
        "complete": complete,
        "started": match["startedAt"],
        "turns": match["version"],
    }
    return _match(facts, state, None, None, again_s=ENDED_AGAIN_S if complete else LIVE_AGAIN_S)


def board_section(
    facts: Mapping[str, Any],
    state: dict[str, Any],
    position: Position | None,
    fresh_since: Any = None,
    tables: bool = True,
) -> Markup:
    """The section with the board in a state; with links through the match if it can be replayed, from `position`."""
    picture = board.picture(current_context().registry[facts["game"]], state, fresh_since)
    shown = picture if tables else replace(picture, tables=())
    return section("board", picture=shown, position=position, match=facts)


def boards_snapshot(game: str) -> Snapshot:
    """The content of the page with the boards of a game's running matches."""
    live = live_matches(game)
    shown = [
        {**match, "board": board_section(match, match["state"], None, tables=False)}
        for match in cooperatively((live or ())[:MOST_LIVE])
    ]
    boards = section("boards", boards=None if live is None else shown, count=len(live or ()))
    return Snapshot({"game": game, "sections": {"boards": boards}}, again_s=BOARDS_AGAIN_S)


def _match(
    facts: dict[str, Any], state: dict[str, Any], turns: Any, position: Position | None, **rest: Any
) -> Snapshot:
    sections = {
        "facts": section("facts", match=facts),
        "board": board_section(facts, state, position),
        "turns": section("turns", turns=turns, count=facts["turns"], match=facts),
    }
    data = {"id": facts["id"], "state": state, "turns": facts["turns"], "final": bool(rest.get("final"))}
    return Snapshot({**data, "sections": sections}, **rest)


def _turn_rows(match: dict[str, Any], skipped: int) -> list[dict[str, Any]]:
    """`[{"n", "player", "seat", "turn", "after", "thought_ms", "server_ms"}]` of the turns in `match`.

    These are the match's last ones: those after the first `skipped`. `turn` has none of the server's keys, nor those
    that say what it answers. For a change of the match's options between turns, `player` is None and `turn` holds the
    options.
    """
    turns, ours = match["turns"], match.get("match") or {}
    times = [ours.get(name) or [] for name in ("clocks", "serverMs")]
    rows = []
    for index, turn in enumerate(turns):
        own = {name: value for name, value in turn.items() if name not in RESERVED_OF_A_TURN}
        player = turn.get("player")
        if player is None:
            own = turn.get("options", {})
        seat = match["players"].index(player) if player in match["players"] else None
        after = span(match["startTime"], turn.get("time"))
        thought_ms, server_ms = (column[index] if index < len(column) and player else None for column in times)
        row = {"n": skipped + index + 1, "player": player, "seat": seat, "turn": own, "after": after}
        rows.append({**row, "thought_ms": thought_ms, "server_ms": server_ms})
    return rows
