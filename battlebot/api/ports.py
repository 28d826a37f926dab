"""What the API and the pages need of parts that they may not import; `app.py` passes them in."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager
from typing import Any, Protocol, TypeVar

from battlebot.contests.contest import Contest

Answer = TypeVar("Answer")


class Directory(Protocol):
    """Registers bots and checks their credentials."""

    def register(self, game: str, bot_id: str, owner: str) -> str:
        """Registers a bot; returns its pass_hash, 64 hex digits.

        Raises NameTaken, also for a name that looks like a registered one; Unavailable.
        """

    def check_owner(self, game: str, bot_id: str, pass_hash: str) -> None:
        """Checks a bot's game and pass_hash. Raises LoginFailed if either is not right, Unavailable."""

    def renew(self, bot_id: str, pass_hash: str, given: str) -> None:
        """Gives a registered bot another pass_hash, of 64 hex digits, if it has `given`.

        Raises UnknownBot, LoginFailed; Unavailable: it may have been changed all the same.
        """


class StatelessBots(Protocol):
    """Registered stateless bots. The caller must have checked that the request is the owner's.

    Every method raises Unavailable (NotTested if the server could not ask the bot).
    """

    def register(self, game: str, bot_id: str, owner: str, url: str, available: bool) -> str:
        """Registers the bot if it answers a test request; returns its pass_hash.

        Raises BadAddress, UnansweredTest with the test's result, NameTaken.
        """

    def change(self, game: str, bot_id: str, changes: Mapping[str, Any]) -> dict[str, Any]:
        """Changes `url` (after a test request) or `available`, if not None; returns the same as `show`.

        Raises UnknownBot, Refused if the bot has no url and gets none, BadAddress, UnansweredTest.
        """

    def show(self, game: str, bot_id: str) -> dict[str, Any]:
        """Returns the bot with its url, its state, the health of its url, and its last test. Raises UnknownBot."""

    def test(self, game: str, bot_id: str) -> dict[str, Any]:
        """Sends a test request and returns its result; a passed test ends a pause.

        Raises UnknownBot, Refused if the bot has no url.
        """


class LiveMatches(Protocol):
    """What anybody may see of live matches. Every method raises Unavailable."""

    def list(self, game: str | None = None, contest: str | None = None) -> list[dict[str, Any]]:
        """Returns live matches of a game and contest (None: of all), as `find`; the latest first, up to a limit."""

    def find(self, match_id: str) -> dict[str, Any] | None:
        """Returns `{"id", "game", "contest", "players", "state", "version", "startedAt"}`, or None.

        The match is live or has just ended. `state` is as viewers may see it, `startedAt` in ms.
        """


class Presence(Protocol):
    """Who is connected at the TCP door."""

    def online(self, node_timeout_s: float) -> Mapping[str, Any]:
        """Returns name -> who holds it, for nodes with a heartbeat in the last `node_timeout_s` seconds.

        Raises Unavailable.
        """


class Listener(Protocol):
    """One listener's view of a channel."""

    def get(self, timeout_s: float) -> bytes | None:
        """Returns the next message, an empty one if some may have been lost, or None if none came in time.

        Never raises.
        """


class Bus(Protocol):
    """Announces what has just happened."""

    def listen(self, channel: str) -> AbstractContextManager[Listener]:
        """Gives a Listener that misses nothing on the channel within the `with` block. Raises Unavailable."""


class Organiser(Protocol):
    """An organiser's actions on contests; `by` is the organiser.

    Every method raises Unavailable and, except `create`, UnknownContest.
    """

    def create(self, game: str, given: Mapping[str, Any], by: str) -> Contest:
        """Schedules a contest from checked fields; without `startsAt` it waits for `start`.

        Raises NameTaken; Refused or BadMessage with the field that is not acceptable.
        """

    def change(self, game: str, name: str, changes: Mapping[str, Any], by: str) -> Contest:
        """Changes these fields.

        Raises WrongState for those that may no longer change; Refused or BadMessage as `create` does.
        """

    def transition(self, action: str, game: str, name: str, by: str) -> Contest:
        """`action`: start, pause, resume, finish or cancel. Raises WrongState if the state does not allow it."""

    def enter(self, game: str, name: str, bots: Sequence[str], by: str) -> Contest:
        """Adds entrants to a contest with a list before its start, or brings withdrawn bots back before its end.

        Enters all of them or, if it raises, none. Raises WrongState, Refused for a bot that is not registered or not
        acceptable to the contest.
        """

    def withdraw(self, game: str, name: str, bot: str, by: str) -> Contest:
        """Withdraws a bot: its live matches are void, its remaining meetings no longer due; its played matches stand.

        Raises WrongState, Refused for a bot that is not in the contest or without which the others cannot begin.
        """

    def void(self, game: str, name: str, match_id: str, reason: str, by: str) -> Contest:
        """Takes back a match, played or live: its meeting is played again and the standings are corrected.

        Raises UnknownMatch if the contest has no such match, AlreadyVoid; TooLate if the format has built on
        its result, so that it would not be played again.
        """


class Lookout(Protocol):
    """What can be seen of a contest. Every method raises Unavailable."""

    def ranking_with(
        self, contest: Contest, read: Callable[[list[dict[str, Any]]], Answer]
    ) -> tuple[list[dict[str, Any]], Answer]:
        """Returns the ranking's rows, best first, and what `read(rows)` returns: of one moment.

        `read` is called again if a result comes meanwhile, but not for ever.
        """

    def standing(self, contest: Contest) -> tuple[list[dict[str, Any]], dict[str, Any]]:
        """Returns the ranking's rows, and `{"played", "planned", "live"}` with `winner` if the format names one.

        `played`: meetings that are over, including missed ones. `planned`: None if unknown. If nothing is `live`, and
        the contest was over when it was read, the rows are the last ones.
        """

    def meetings(self, contest: Contest, bot: str | None = None) -> dict[str, Any]:
        """Returns `{"pairs", "rounds"}` of all meetings, or of one bot's; `pairs` is empty if all bots meet together.

        Raises Refused if there are too many bots to show them all, and for a bot that is not in the contest.
        """

    def has_rounds(self, contest: Contest) -> bool:
        """Returns False for an open contest, and for battles, which do not wait for one another."""

    def rounds(self, contest: Contest) -> list[dict[str, Any]]:
        """Returns the rounds alone, if it has any."""

    def why(self, contest: Contest, bot: str) -> dict[str, Any]:
        """Returns why the bot is not playing now: `{"bot", "code", "sentence", "match", "since", "left"}`."""
