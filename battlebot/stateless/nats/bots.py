"""Bots behind NATS (Macondo): a question is a BotRequest on a subject, its answer a BotResponse. For crossword.

Macondo's messages are defined in `wire`; `line` asks over a connection that `link` keeps.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
from typing import Any, ClassVar

import structlog

from battlebot.errors import BadMessage
from battlebot.stateless.asking import Failure, Question, Reply
from battlebot.stateless.nats.line import NatsLine, NoLine, NotPassedOn, Silence
from battlebot.stateless.nats.repeats import EventMark, mark_of
from battlebot.stateless.nats.subject import SCHEMES, subject_of
from battlebot.stateless.nats.uids import Uids
from battlebot.wire.macondo.history import GAME, from_response, request_of

log = structlog.get_logger()

# the fields of an event that count; the rest (its rack, its own idea of the score) is dropped
FIELDS = ("type", "position", "played_tiles", "exchanged")


class NatsBots:
    """Addresses `nats://subject`. `uids` makes the uids of the histories that are sent to a bot."""

    SCHEMES: ClassVar[Sequence[str]] = SCHEMES

    def __init__(self, line: NatsLine, uids: Uids, most_bytes: int) -> None:
        self._line = line
        self._uids = uids
        self._most_bytes = most_bytes

    def check(self, address: str) -> None:
        """Raises BadAddress if the subject is malformed, has wildcards or is reserved."""
        subject_of(address)

    def ask(self, question: Question) -> Reply:
        """Sends one request; accepts a reply to it or an answer published to `bot.publish_event.<uid>`.

        Raises BadAddress.
        """
        subject = subject_of(question.address)
        if question.game != GAME:
            return Reply(failure=Failure("bad-game", f"Over NATS bots are asked in matches of {GAME} only."))
        try:
            uid = self._uids.of(question.match_id, question.bot)
            request = request_of(question.content["state"], uid, round(question.limit_s * 1000))
            marking = partial(_mark, question, self._most_bytes)
            answer, thinking_s = self._line.ask(subject, uid, request, question.limit_s, marking)
        except Silence as silence:
            failure = Failure(silence.code, str(silence), late=silence.late, public=str(silence))
            return Reply(failure=failure, thinking_s=silence.thinking_s)
        except NoLine as error:
            away = not isinstance(error, NotPassedOn)
            return Reply(failure=Failure("nats-away", str(error), ours=True, away=away))
        except Exception as error:
            log.exception("bot.asking_failed", bot=question.bot, match=question.match_id)
            sentence = f"The server failed while it asked ({type(error).__name__})."
            return Reply(failure=Failure("server", sentence, ours=True))
        return self._judged(answer, thinking_s)

    def start(self) -> None:
        """Connects: bots that published an answer before this process was restarted wait for its acknowledgement."""
        self._line.start()

    def is_away(self) -> bool:
        """Returns whether there is no connection to NATS now."""
        return self._line.is_away

    def tidy(self) -> None:
        """Does nothing: there is one connection, which is kept."""

    def _judged(self, answer: bytes, thinking_s: float) -> Reply:
        if len(answer) > self._most_bytes:
            sentence = f"The answer has {len(answer)} bytes; {self._most_bytes} are allowed."
            return Reply(failure=Failure("too-big", sentence, public=sentence), thinking_s=thinking_s)
        try:
            event = from_response(answer)
        except BadMessage as error:
            return Reply(failure=Failure("bad-answer", str(error), public=str(error)), thinking_s=thinking_s)
        return Reply(_turn_of(event), thinking_s=thinking_s)


def _turn_of(event: Mapping[str, Any]) -> dict[str, Any]:
    return {name: event[name] for name in FIELDS if name in event}


def _mark(question: Question, most_bytes: int, answer: bytes) -> EventMark:
    """How a published answer relates to the question; one that is too big or cannot be read counts as its answer."""
    if len(answer) > most_bytes:
        return EventMark.ANSWER
    try:
        event = from_response(answer)
    except BadMessage:
        return EventMark.ANSWER
    state = question.content["state"]
    return mark_of(event, state, state["players"].index(question.bot), question.is_turn(_turn_of(event)))
