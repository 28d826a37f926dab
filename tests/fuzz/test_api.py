"""The REST API, fuzzed by schemathesis from our own OpenAPI document: no 5xx, and answers as the document says."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from typing import Any

import pytest
import schemathesis
from cluster import wait_for
from ground import Ground
from hypothesis import given, settings
from hypothesis import strategies as st
from peer import new_name
from schemathesis import GenerationMode
from schemathesis.checks import not_a_server_error
from schemathesis.schemas import APIOperation
from schemathesis.specs.openapi.checks import (
    content_type_conformance,
    ignored_auth,
    response_schema_conformance,
    status_code_conformance,
)

from battlebot.storage import Storage

CHECKS = [
    not_a_server_error,
    status_code_conformance,
    content_type_conformance,
    response_schema_conformance,
    ignored_auth,
]
GAME = "noughtsandcrosses"
MOSTLY = st.sampled_from([True] * 9 + [False])
NAMES = st.text("abcdefgh", min_size=4, max_size=12)
BODIES: dict[str, dict[str, st.SearchStrategy[str]]] = {
    "POST /bots/{game}": {"bot_id": NAMES, "owner": NAMES},
    "POST /games/{game}": {"bot_id": NAMES.map("g{}".format)},
    "POST /games/{game}/contests": {"name": NAMES},
    "PATCH /games/{game}/contests/{name}": {"title": NAMES},
    "POST /games/{game}/contests/{name}/entrants": {"bot": NAMES},
    "POST /games/{game}/contests/{name}/games/{match_id}/void": {"reason": NAMES},
}
PLAYED = "played"
# These need a bot's own secret and its server, or a match of crossword: here only their refusals are seen
ELSEWHERE = {
    "GET /bots/{game}/{bot_id}",
    "PATCH /bots/{game}/{bot_id}",
    "POST /bots/{game}/{bot_id}/test",
    "GET /games/{game}/{match_id}/export.{format_name}",
}
FEW = 3


@pytest.fixture(scope="module")
def token(ground: Ground) -> Iterator[str]:
    """An organiser's."""
    storage = Storage(ground.web.settings)
    yield storage.tokens.create("fuzzer")
    storage.close()


@pytest.fixture(scope="module")
def known(ground: Ground, token: str) -> dict[str, list[str]]:
    """What there is, by the names of the parameters: contests, bots in them and not, a match that was played."""
    bots = [ground.web.register(new_name("known"), GAME)["bot_id"] for _ in range(4)]
    # they will be started, changed and cancelled, and some are to be left
    scheduled = [f"scheduled{number}" for number in range(max(12, settings().max_examples // 2))]
    for name in scheduled:
        assert ground.organise(f"/games/{GAME}/contests", token, {"name": name, "entrants": bots[:2]}) == 201
    ground.play(GAME, PLAYED)
    ranking = f"/games/{GAME}/contest/{PLAYED}"
    matches = wait_for(lambda: ground.web.request(ranking)[1].get("games"), "an archived match")
    return {
        "game": [GAME],
        "name": [*scheduled, *[PLAYED] * (len(scheduled) // 3)],
        "contest": [*scheduled, PLAYED],
        "bot": bots,
        "match_id": [matches[0]["_id"]],
        "player": matches[0]["players"],
        "action": ["start", "pause", "resume", "finish", "cancel"],
    }


@pytest.mark.timeout(400)
def test_answers_are_as_described(ground: Ground, token: str, known: dict[str, list[str]]) -> None:
    """Each operation, with an organiser's token, so that what only organisers may do is reached."""
    schema = schemathesis.openapi.from_url(ground.web.url + "/openapi.json")
    # a stream has no end, and OpenAPI 3.0 no word for what its events hold
    found = [one.ok() for one in schema.exclude(path_regex="/events$").get_all_operations()]
    # what ends contests comes last
    operations = sorted(found, key=lambda operation: operation.label.endswith(("{action}", "contests/{name}")))
    answered: dict[str, Counter[int]] = {operation.label: Counter() for operation in operations}
    for operation in operations:

        @given(cases(operation), st.data())
        def run(case: schemathesis.Case, data: st.DataObject) -> None:
            aim(case, known, data)
            headers = {"Authorization": f"Bearer {token}"} if data.draw(MOSTLY, label="with a token") else {}
            response = case.call(headers=headers)
            answered[case.operation.label][response.status_code] += 1
            case.validate_response(response, checks=CHECKS, headers=headers)
            ground.after()

        settings(max_examples=max(8, settings().max_examples // 2))(run)()
    # what is always refused has not been tested; chance may leave a few out
    fruitless = [label for label, statuses in answered.items() if min(statuses) >= 400 and label not in ELSEWHERE]
    assert len(fruitless) <= FEW, {label: answered[label] for label in fruitless}


def cases(operation: APIOperation) -> st.SearchStrategy[schemathesis.Case]:
    """Requests that the document allows, and requests that it does not."""
    allowed = operation.as_strategy(generation_mode=GenerationMode.POSITIVE)
    return allowed | allowed | operation.as_strategy(generation_mode=GenerationMode.NEGATIVE)


def aim(case: schemathesis.Case, known: dict[str, list[str]], data: st.DataObject) -> None:
    """Most parameters in the path name what is there, many bodies hold what may be: chance hits are too rare."""
    parameters: Any = case.path_parameters
    for name in parameters or ():
        there = known.get(name)
        if there and data.draw(MOSTLY, label=f"aim {name}"):
            parameters[name] = data.draw(st.sampled_from(there), label=name)
    if case.operation.label.endswith("/player") and data.draw(MOSTLY, label="aim player"):
        case.query = {"name": data.draw(st.sampled_from(known["player"]), label="player")}
    good = BODIES.get(case.operation.label)
    if good is not None and data.draw(st.integers(0, 2), label="good body") == 0:
        case.body = {key: data.draw(value, label=key) for key, value in good.items()}
        if "bot" in case.body:
            case.body["bot"] = data.draw(st.sampled_from(known["bot"]), label="bot")
