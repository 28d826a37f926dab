"""The progress of a contest as server-sent events for programs. The pages have their own streams."""

from __future__ import annotations

from typing import Any

from flask import Response

from battlebot.api.contestanswers import ContestEvent
from battlebot.api.contests import CONTEST, stored_contest
from battlebot.api.context import check_game, current_context
from battlebot.api.parsing import Described
from battlebot.api.schemas import ErrorBody
from battlebot.api.streams import Snapshot, event_stream
from battlebot.contests.contest import OVER
from battlebot.redisio import keys

AGAIN_S = 2.0  # polled, because a meeting that is given up is not announced, and an announcement may be lost

progress = Described("progress", __name__, description="Contests as they go on")
progress.url_value_preprocessor(check_game)


@progress.get(f"{CONTEST}/events")
@progress.response(200, ContestEvent, content_type="text/event-stream")
@progress.alt_response(404, schema=ErrorBody)
@progress.alt_response(409, schema=ErrorBody)
def contest_events(game: str, name: str) -> Response:
    """A stream of server-sent events: a contest's progress and ranking whenever they change

    It ends with the contest.
    """
    return event_stream(keys.contest_events(game, name), lambda: _seen(game, name))


def _seen(game: str, name: str) -> Snapshot:
    contest = stored_contest(game, name)
    rows, far = current_context().lookout.standing(contest)
    final = contest.state in OVER and not far["live"]
    data: dict[str, Any] = {"contest": name, "state": contest.state, **far, "bots": rows, "final": final}
    return Snapshot(data, final=final, again_s=AGAIN_S)
