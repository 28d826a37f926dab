"""Organisers' changes of contests over REST; each path needs a token. Reading contests is in `contests`."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from flask import request, url_for

from battlebot.api.concurrency import change_in_turn
from battlebot.api.contestanswers import Contest, Voided
from battlebot.api.contests import CONTEST, CONTESTS, contest_document
from battlebot.api.contestschemas import ContestChanges, NewContest, NewEntrants, VoidReason
from battlebot.api.context import check_game, current_context
from battlebot.api.parsing import Described, refuse_body, refuse_query
from battlebot.api.schemas import ErrorBody
from battlebot.api.tokens import SCHEME, organiser_name, organisers_only
from battlebot.errors import BadMessage
from battlebot.runtime import sharedtime

ACTIONS = ("start", "pause", "resume", "finish")

organising = Described("organising", __name__, description="What organisers do; every path needs a token")
organising.url_value_preprocessor(check_game)
organising.before_request(organisers_only)
organising.before_request(refuse_query)


@organising.before_request
def wait_for_others() -> None:
    """Has requests that change one contest change it one after the other."""
    names = request.view_args or {}
    if "name" in names:
        change_in_turn(f"{names['game']}/{names['name']}")


def _described(*errors: int) -> Callable[[Any], Any]:
    """Describe in OpenAPI that a view needs a token and which errors of its own it may answer."""

    def note(view: Any) -> Any:
        for status in (401, *errors):
            view = organising.alt_response(status, schema=ErrorBody)(view)
        return organising.doc(security=[{SCHEME: []}])(view)

    return note


@organising.post(CONTESTS)
@organising.arguments(NewContest)
@organising.response(201, Contest, headers={"Location": {"schema": {"type": "string"}}})
@_described(404, 409)
def create_contest(body: dict[str, Any], game: str) -> tuple[dict[str, Any], int, dict[str, str]]:
    """Schedule a contest

    Without `startsAt` it waits for `start`. An unknown key is an error.
    """
    _check_end(body)
    made = current_context().organiser.create(game, body, organiser_name())
    where = url_for("contests.show_contest", game=game, name=made.name)
    return contest_document(made), 201, {"Location": where}


@organising.route(CONTEST, methods=["PATCH"])
@organising.arguments(ContestChanges)
@organising.response(200, Contest)
@_described(404, 409)
def change_contest(body: dict[str, Any], game: str, name: str) -> dict[str, Any]:
    """Change a contest's settings

    `title`, `endsAt`, `absentAfterS` and `absentCounts` may change until the end; all else only before the start.
    """
    if not body:
        raise BadMessage("The body says nothing to be changed.", rule="required")
    _check_end(body)
    return contest_document(current_context().organiser.change(game, name, body, organiser_name()))


@organising.delete(CONTEST)
@organising.response(200, Contest)
@_described(400, 404, 409)
def cancel_contest(game: str, name: str) -> dict[str, Any]:
    """Cancel a contest

    Running matches become void. The record is kept.
    """
    refuse_body()
    return contest_document(current_context().organiser.transition("cancel", game, name, organiser_name()))


@organising.post(f"{CONTEST}/<any({','.join(ACTIONS)}):action>")
@organising.response(200, Contest)
@_described(400, 404, 409)
def move_contest(game: str, name: str, action: str) -> dict[str, Any]:
    """Start, pause, resume or finish a contest

    After `pause` and `finish`, running matches go on. What a body or a query might ask for is an error.
    """
    refuse_body()
    return contest_document(current_context().organiser.transition(action, game, name, organiser_name()))


@organising.post(f"{CONTEST}/entrants")
@organising.arguments(NewEntrants)
@organising.response(200, Contest)
@_described(404, 409)
def add_entrants(body: dict[str, Any], game: str, name: str) -> dict[str, Any]:
    """Add one or several bots to the list of entrants

    Only before the start; but a withdrawn bot may be added again until the end, also to an open contest.
    """
    if len(body) != 1:
        raise BadMessage("Give either bot or bots.", field="bot", rule="required")
    bots = body["bots"] if "bots" in body else [body["bot"]]
    return contest_document(current_context().organiser.enter(game, name, bots, organiser_name()))


@organising.delete(f"{CONTEST}/entrants/<bot>")
@organising.response(200, Contest)
@_described(400, 404, 409)
def withdraw_entrant(game: str, name: str, bot: str) -> dict[str, Any]:
    """Withdraw a bot

    Its running matches become void, and its remaining meetings are no longer due. Its finished matches stand.
    """
    refuse_body()
    return contest_document(current_context().organiser.withdraw(game, name, bot, organiser_name()))


@organising.post(f"{CONTEST}/games/<match_id>/void")
@organising.arguments(VoidReason)
@organising.response(200, Voided)
@_described(404, 409)
def void_match(body: dict[str, Any], game: str, name: str, match_id: str) -> dict[str, Any]:
    """Take a match back

    The match becomes void and its meeting is played again; a finished contest goes on, unless its time is over. In a
    knockout this must be done before either of its bots begins its next round (409, `too-late`). Once it is void,
    to ask again changes nothing (409, `already-void`).
    """
    contest = current_context().organiser.void(game, name, match_id, body["reason"], organiser_name())
    return {"match": match_id, "reason": body["reason"], "contest": contest_document(contest)}


def _check_end(body: dict[str, Any]) -> None:
    ends = body.get("endsAt")
    if ends is not None and ends <= sharedtime.now():
        raise BadMessage("endsAt has passed already.", field="endsAt", rule="future")
