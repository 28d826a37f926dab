"""How a match ended, in a few sentences: who won and why, whose fault it was and what proves it. Pure."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from typing import Any

MOST_NAMED = 8  # players named in a sentence

# reason -> (sentence if somebody won, if nobody did); the reasons are the referee's, a game may have its own
SENTENCES = {
    "complete": ("{victor} won by the rules of the game.", "A draw by the rules of the game."),
    "timeout": ("{victor} won: {losers} did not answer in time.", "A draw: no answer came in time."),
    "disconnect": ("{victor} won: {losers} left.", "A draw: all were gone at about the same time."),
    "invalid": ("{victor} won: {losers} made too many invalid turns.", "A draw: too many invalid turns."),
    "unanswered": ("{victor} won: {losers} gave no answer that counts.", "A draw: no answer came that counts."),
    "error": ("{victor} won: the match could not go on.", "A draw: the match could not go on."),
    "void": ("{victor} won, but the match was taken back.", "The match was taken back{why}."),
    "length": ("{victor} won when the match grew too long.", "A draw: the match grew too long."),
}
# if several, but not all, of more than two players are first
SHARED = {
    "complete": "{first} share the first place by the rules of the game.",
    "timeout": "{first} share the first place: the others did not answer in time.",
    "disconnect": "{first} share the first place: the others left.",
    "invalid": "{first} share the first place: the others made too many invalid turns.",
    "unanswered": "{first} share the first place: the others gave no answer that counts.",
}
FAULTS = {
    "bot": "The fault lies with the bot",
    "network": "The fault lies with the network",
    "server": "The fault lies with the server",
}
# how a connection ended; the slugs are those of close frames, the referee and the arena
WAYS = {
    "goodbye": "it said goodbye",
    "broken": "its connection broke without a goodbye",
    "silent": "it answered no ping",
    "slow-reader": "it did not read what it was sent",
    "rate": "it was closed for too many messages",
    "protocol-error": "it was closed for what is not WebSocket",
    "too-big": "it was closed for a message too large",
    "restart": "its node restarted",
    "node-dead": "its node died",
    "unavailable": "the server could not answer it",
    "error": "the server failed at its connection",
    "unknown-place": "the server lost its connection",
}


def explained(game: Mapping[str, Any]) -> dict[str, Any]:
    """Returns the stored match as JSON shows it: with its `verdict` as `match.sentence`."""
    return {**game, "match": {**game["match"], "sentence": verdict(game)}}


def verdict(game: Mapping[str, Any]) -> str:
    """Returns the stored match's verdict in words: who won and why, whose fault and by what, whether it counts."""
    victor, ours = game.get("victor"), game.get("match") or {}
    evidence = ours.get("evidence") or {}
    reason = _reason(game, evidence)
    won, drawn = SENTENCES.get(reason, ("{victor} won ({reason}).", "A draw ({reason})."))
    losers = named([player for player in game["players"] if player != victor])
    # one call of format, so that a name with braces in it is not read as a field
    why = f": {evidence['sentence']}".rstrip(".") if evidence.get("sentence") else ""
    sentences = [(drawn if victor is None else won).format(victor=victor, losers=losers, reason=reason, why=why)]
    if order := finish(game):
        if victor is None:
            sentences = [SHARED.get(reason, "{first} share the first place.").format(first=named(order[0][1]))]
        sentences.append(f"The order: {'; '.join(f'{place}. {named(bots)}' for place, bots in order[:MOST_NAMED])}.")
    if ours.get("fault") in FAULTS:
        proof = _proof(reason, evidence)
        sentences.append(f"{FAULTS[ours['fault']]}{f': {proof}' if proof else ''}.")
    if ours.get("void"):
        sentences.append("The match counts for nobody.")
    return " ".join(sentences)


def finish(game: Mapping[str, Any]) -> list[tuple[int, list[str]]]:
    """Returns (place, the bots at it), best first, for a match of other than two players; empty if all are equal."""
    places = (game.get("match") or {}).get("places") or {}
    ranks: dict[int, list[str]] = defaultdict(list)
    for bot in game["players"]:
        if bot in places:
            ranks[places[bot]].append(bot)
    return sorted(ranks.items()) if len(ranks) > 1 else []


def named(bots: Sequence[str]) -> str:
    """Returns the names as a clause: `a`, `a and b`, `a, b and c`; of many only the first `MOST_NAMED`."""
    if len(bots) > MOST_NAMED:
        return f"{', '.join(bots[:MOST_NAMED])} and {len(bots) - MOST_NAMED} more"
    return " and ".join(filter(None, (", ".join(bots[:-1]), *bots[-1:])))


def _reason(game: Mapping[str, Any], evidence: Mapping[str, Any]) -> str:
    """Returns the reason; `unanswered` for `invalid` if the bot is stateless, as it has one answer and no strikes."""
    reason = str(game.get("reason"))
    return "unanswered" if reason == "invalid" and "limitMs" in evidence else reason


def _proof(reason: str, evidence: Mapping[str, Any]) -> str:
    """Returns the evidence as a clause, or "" if there is none that this version knows."""
    if "absent" in evidence:
        return " and ".join(_absence(bot, evidence) for bot in evidence["absent"])
    if reason == "timeout" and "leftMs" in evidence:
        unread = " without reading what it was sent" if evidence.get("unread") else ""
        took, left = evidence.get("thinkingMs", 0), evidence["leftMs"]
        return f"{evidence.get('bot')} took {took:,} ms{unread} and had {left:,} ms left for this turn"
    if reason == "invalid" and "strikes" in evidence:
        last = str(evidence.get("sentence", "")).rstrip(".")
        strikes = evidence["strikes"]
        sent = "an invalid turn" if strikes == 1 else f"{strikes} invalid turns; of the last"
        return f"{evidence.get('bot')} sent {sent}: {last}"
    if reason == "unanswered" and evidence.get("code") == "invalid-turn":
        why = str(evidence.get("sentence", "")).rstrip(".")
        return f"{evidence.get('bot')} answered with what is not a valid turn: {why}"
    if "nudges" in evidence:
        return f"nothing happened although the match was looked at {evidence['nudges']} times"
    if "event" in evidence:
        return f"the game's own code failed ({evidence.get('error')})"
    return str(evidence.get("error") or evidence.get("sentence") or "").rstrip(".")


def _absence(bot: str, evidence: Mapping[str, Any]) -> str:
    how = WAYS.get(evidence.get("how", {}).get(bot), "its connection ended")
    if bot in evidence.get("elsewhere", ()):
        how += ", and it was connected elsewhere instead of coming back"
    allowed_ms = evidence.get("allowedMs", {}).get(bot)
    away_ms = evidence.get("awayMs", {}).get(bot)
    if allowed_ms is None or away_ms is None:
        return f"{bot} was gone ({how})"
    return f"{bot} was gone for {away_ms:,} ms and had {allowed_ms:,} ms to come back ({how})"
