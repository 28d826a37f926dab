"""What the API and the pages need of parts of the house that they may not import, handed in by the one who wires it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import AbstractContextManager
from typing import Any, Protocol


class Directory(Protocol):
    """Where bots are registered."""

    def register(self, game: str, bot_id: str, owner: str) -> str:
        """Registers a bot; answers its pass_hash, 64 hex digits. Raises NameTaken, Unavailable.

        A name that looks like one that is there is taken too.
        """

    def check_owner(self, game: str, bot_id: str, pass_hash: str) -> None:
        """Raises LoginFailed unless this is the pass_hash of that bot of that game; Unavailable."""


class StatelessBots(Protocol):
    """Registered stateless bots. That the asker is the owner has been checked before.

    Every method raises Unavailable: NotTested where the server could not ask the bot.
    """

    def register(self, game: str, bot_id: str, owner: str, url: str, available: bool) -> str:
        """Registers the bot, if it answers a test request; answers its pass_hash.

        Raises BadAddress, UnansweredTest with the test's result, NameTaken, TooMany.
        """

    def change(self, game: str, bot_id: str, changes: Mapping[str, Any]) -> dict[str, Any]:
        """Another `url`, after a test request, or `available`; answers as `show`. Whatever is None stays as it is.

        Raises UnknownBot, Refused for a bot that connects by itself, BadAddress, UnansweredTest, TooMany.
        """

    def show(self, game: str, bot_id: str) -> dict[str, Any]:
        """The bot with its url, whether it is ready, how its url is doing, and its last test. Raises UnknownBot."""

    def test(self, game: str, bot_id: str) -> dict[str, Any]:
        """The result of a test request now; one that is passed ends a pause.

        Raises UnknownBot, Refused for a bot that connects by itself, TooMany.
        """


class LiveMatches(Protocol):
    """What anybody may see of matches that are being played. Every method raises Unavailable."""

    def list(self, game: str | None = None, contest: str | None = None) -> list[dict[str, Any]]:
        """The live matches of a game and a contest (None: of all), as `find` describes them; the latest first."""

    def find(self, match_id: str) -> dict[str, Any] | None:
        """`{"id", "game", "contest", "players", "state" (a viewer's), "version", "startedAt" (ms)}`, or None."""


class Presence(Protocol):
    """Who is connected at the TCP door."""

    def online(self, node_timeout_s: float) -> Mapping[str, Any]:
        """name -> who holds it, of the nodes that gave a sign of life in so many seconds. Raises Unavailable."""


class Listener(Protocol):
    """One listener's view of a channel."""

    def get(self, timeout_s: float) -> bytes | None:
        """The next message, an empty one where some may have been lost; None if none came in time. Never raises."""


class Bus(Protocol):
    """Announcements of what has just happened."""

    def listen(self, channel: str) -> AbstractContextManager[Listener]:
        """A Listener on a channel, for the time of the `with` block: it misses nothing from then on.

        Raises Unavailable.
        """


class Organiser(Protocol):
    """What organisers may do to contests; `by` is who does it. A contest is answered as its document.

    Every method raises Unavailable, and but for `create` UnknownContest.
    """

    def create(self, game: str, given: Mapping[str, Any], by: str) -> dict[str, Any]:
        """Schedules a contest from checked fields; without `startsAt` it waits for `start`.

        Raises NameTaken; Refused or BadMessage with the field that is not acceptable.
        """

    def change(self, game: str, name: str, changes: Mapping[str, Any], by: str) -> dict[str, Any]:
        """Changes what may still change. Raises WrongState for what may not, Refused as `create`."""

    def transition(self, action: str, game: str, name: str, by: str) -> dict[str, Any]:
        """start, pause, resume, finish or cancel. Raises WrongState if the contest's state does not allow it."""

    def enter(self, game: str, name: str, bots: Sequence[str], by: str) -> dict[str, Any]:
        """Adds entrants to a contest with a list that has not started; a withdrawn bot comes back at any time.

        All of them or, where this raises, none. Raises WrongState, Refused for a bot that is not registered.
        """

    def withdraw(self, game: str, name: str, bot: str, by: str) -> dict[str, Any]:
        """Takes a bot out: what it plays now is void, what it has yet to play is not due. Played games stand.

        Raises WrongState, Refused for a bot that is not in the contest.
        """

    def void(self, game: str, name: str, match_id: str, reason: str, by: str) -> None:
        """Takes a match back, played or being played: its meeting is played again, the standings follow.

        Raises UnknownMatch if the contest has no such match, or it is void already; TooLate where the format has built
        on its result, so that it would not be played again.
        """


class Lookout(Protocol):
    """What can be seen of a contest, which is given as its document. Every method raises Unavailable."""

    def ranking(self, contest: Mapping[str, Any]) -> list[dict[str, Any]]:
        """The ranking's rows, best first."""

    def progress(self, contest: Mapping[str, Any], rows: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
        """`{"played", "planned", "live"}`, and where the format names one a `winner`; `rows` are the ranking's.

        `played`: meetings that are over, those with an absent bot included. `planned` is None where nobody knows.
        """

    def meetings(self, contest: Mapping[str, Any], bot: str | None = None) -> dict[str, Any]:
        """`{"pairs", "rounds"}` of all meetings, or of one bot's; no pairs where all meet together.

        Raises Refused for too many bots, and for one that is not in the contest.
        """

    def rounds(self, contest: Mapping[str, Any]) -> list[dict[str, Any]]:
        """The rounds alone; none of an open contest, nor of battles, which wait for no other."""

    def why(self, contest: Mapping[str, Any], bot: str) -> dict[str, Any]:
        """`{"bot", "code", "sentence", "match", "since", "left"}`: why the bot is not playing in it right now."""
