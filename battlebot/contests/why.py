"""Why a bot is not playing in a contest right now, as a code and a sentence. Pure: `lookout` gathers the facts."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import NamedTuple

from battlebot.contests.formats.contract import Format
from battlebot.contests.formats.situation import Due, Met, Situation
from battlebot.runtime.cooperative import Unhurried

MOST_NAMED = 3
MOST_STEPS = 50  # of look-ahead; a format with nothing for a bot by then has nothing for it soon


class Explanation(NamedTuple):
    """A stable slug for a program, and a sentence for a person."""

    code: str
    sentence: str


@dataclass(frozen=True, slots=True)
class Look:
    """What is known about a bot in a contest at one moment.

    - `starts`, `since`: when the contest is to start, and since when the bot is missing, as text; None if unknown.
    - `match`: what it plays now, in this contest.
    - `left`: the bots it is due to meet now, any one of them or, if `together`, all at once.
    - `later`: whether the format will have more meetings for it.
    - `waiting`, `playing`: the bots that wait and that play in this contest.
    - `resting`: bots that it may meet again only after a pause, and until when, as text.
    - `full`: it is stateless, and asked at its address in as many matches as it may be.
    - `obstacle`: what keeps every match of the contest from beginning, as a sentence.
    """

    bot: str
    state: str
    starts: str | None = None
    registered: bool = True
    entrant: bool = True
    withdrawn: bool = False
    match: str | None = None
    left: Sequence[str] = ()
    later: bool = False
    waiting: Collection[str] = ()
    playing: Collection[str] = ()
    since: str | None = None
    together: bool = False
    resting: Mapping[str, str] = field(default_factory=dict)
    full: bool = False
    obstacle: str | None = None


def why(look: Look) -> Explanation:
    """The first reason that applies: in the bot itself, then the contest, then the bots that it could meet."""
    bot = look.bot
    if not look.registered:
        return Explanation("not-registered", f"No bot {bot!r} is registered for the game.")
    if look.match is not None:
        return Explanation("playing", f"{bot} is playing: match {look.match}.")
    if not look.entrant:
        return Explanation("not-an-entrant", f"{bot} has not entered the contest.")
    if look.withdrawn:
        return Explanation("withdrawn", f"{bot} was withdrawn from the contest.")
    return _of_the_contest(look) or _of_the_others(look)


def _of_the_contest(look: Look) -> Explanation | None:
    if look.state == "scheduled":
        when = f"it starts at {look.starts}" if look.starts else "its organiser has yet to start it"
        return Explanation("scheduled", f"The contest has not begun: {when}.")
    if look.state == "paused":
        return Explanation("paused", "The contest is paused.")
    if look.state != "running":
        return Explanation("over", f"The contest is {look.state}.")
    return None


def _of_the_others(look: Look) -> Explanation:
    bot, left = look.bot, look.left
    if not left and look.later:
        return Explanation("waiting-for-round", f"{bot} has played what there is of its round; others have not.")
    if not left:
        return Explanation("nobody-left", f"{bot} has nobody left to meet.")
    if look.obstacle is not None:
        return Explanation("no-match-begins", f"No match of the contest can begin: {look.obstacle}")
    if bot not in look.waiting and look.full:
        return Explanation(
            "address-full", f"{bot} is asked in as many other matches at its URL as it may be at a time."
        )
    if bot not in look.waiting:
        absence = f"has not been there since {look.since}" if look.since else "is not connected"
        return Explanation("not-connected", f"{bot} {absence}; it has yet to meet {_named(left)}.")
    there = [other for other in left if other in look.waiting]
    if look.together and len(there) < len(left):
        missing = [other for other in left if other not in look.waiting]
        code = "all-busy" if any(other in look.playing for other in missing) else "all-away"
        return Explanation(code, f"{bot} waits for who is to be in its battle: {_named(missing)}.")
    free = [other for other in there if other not in look.resting]
    if there and not free:
        until = min(look.resting[other] for other in there)
        fault = "their last matches ended by the server's fault"
        return Explanation(
            "resting", f"{bot} and {_named(there)} wait, but {fault}: the next one begins after {until}."
        )
    if free:
        return Explanation("pairing-soon", f"{bot} and {_named(free)} wait; they are paired in a moment.")
    if any(other in look.playing for other in left):
        return Explanation("all-busy", f"Whomever {bot} has yet to meet is playing or away: {_named(left)}.")
    return Explanation("all-away", f"Whomever {bot} has yet to meet is not connected: {_named(left)}.")


def comes_later(form: Format, situation: Situation, bot: str) -> bool:
    """Whether a bot with nothing due now will have something due later, as far as can be foreseen.

    False if it has met everybody as often as allowed. If the format does not know, simulates the contest for up to
    MOST_STEPS steps: the first mover wins each open or due meeting, then the format is asked again.
    """
    if _met_everybody(situation, bot):
        return False
    known = form.has_more(situation, bot)
    if known is not None:
        return known
    met = tuple(replace(one, state="played", victor=one.first) if one.state == "open" else one for one in situation.met)
    for _ in range(MOST_STEPS):
        situation = replace(situation, met=Unhurried(met))
        due = form.due(situation)
        if any(bot in meeting.bots for meeting in due):
            return True
        if not due:
            return False
        met += tuple(_won(meeting) for meeting in due)
    return False


def _won(due: Due) -> Met:
    return Met(due.round, due.n, due.first, due.second, "played", due.first, others=due.others)


def _met_everybody(situation: Situation, bot: str) -> bool:
    count = dict.fromkeys(set(situation.entrants) - situation.withdrawn - {bot}, 0)
    for one in situation.met:
        if bot in one.bots:
            for other in one.bots:
                if other in count:
                    count[other] += 1
    return all(times >= situation.meetings for times in count.values())


def _named(bots: Sequence[str]) -> str:
    named = ", ".join(bots[:MOST_NAMED])
    return named if len(bots) <= MOST_NAMED else f"{named} and {len(bots) - MOST_NAMED} more"
