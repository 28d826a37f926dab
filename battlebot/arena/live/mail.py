"""Letters to a node: what it must tell the bots connected to it, or look after. No I/O."""

from __future__ import annotations

import msgspec
import orjson

from battlebot.wire.updates import Update

MAIL = b'{"do":"update",'  # the beginning of letters that hold an update, nearly all


class Mail(msgspec.Struct, frozen=True, tag_field="do", tag="update"):
    """A letter to a node: an update for the bot at `place`, with the match that it shows."""

    place: str
    bot: str
    match_id: str
    revision: int
    version: int
    text: str
    asks: bool
    final: bool
    remaining_s: float
    question: int
    document: str
    repeats: bool = False

    def encode(self) -> bytes:
        """Returns the letter as JSON, which begins with `MAIL`."""
        return msgspec.json.encode(self)

    @classmethod
    def decode(cls, letter: bytes) -> Mail:
        """Decodes what `encode` wrote."""
        return _MAIL.decode(letter)

    @classmethod
    def of(cls, place: str, update: Update, document: bytes) -> Mail:
        """The letter that brings `update` to `place`."""
        return cls(
            place=place,
            bot=update.bot,
            match_id=update.match_id,
            revision=update.revision,
            version=update.version,
            text=update.text,
            asks=update.asks,
            final=update.final,
            remaining_s=update.remaining_s,
            question=update.question,
            document=document.decode(),
            repeats=update.repeats,
        )


_MAIL = msgspec.json.Decoder(Mail)


def eviction(place: str) -> bytes:
    """The letter that tells a node that the bot at `place` took its seat with another connection."""
    return orjson.dumps({"do": "evict", "place": place})


def nudge(match_id: str) -> bytes:
    """The letter that asks a node to look after its seats in a stalled match."""
    return orjson.dumps({"do": "nudge", "match_id": match_id})


def begun(match_id: str, place: str) -> bytes:
    """The letter by which a node tells itself that a match has begun for the bot that waits at `place`.

    When it is read, the update that begins the match has been read before, or is lost.
    """
    return orjson.dumps({"do": "begun", "match_id": match_id, "place": place})


def onward(match_id: str, node: str, letter: Mail) -> bytes:
    """The letter that asks a node to post `letter` to `node`, when its own players know how a match ended."""
    return orjson.dumps({"do": "onward", "match_id": match_id, "node": node, "letter": letter.encode().decode()})


def abandoned(match_id: str, bot: str, place: str) -> bytes:
    """The letter by which a node that cannot read a match asks others to empty a seat that was at one of its places."""
    return orjson.dumps({"do": "abandoned", "match_id": match_id, "bot": bot, "place": place})


def rejoin() -> bytes:
    """The letter by which a node asks itself to look after all its seats once it has read the letters before it."""
    return orjson.dumps({"do": "rejoin"})


def freed(place: str) -> bytes:
    """The letter that tells a node that the player at `place`, whose ticket was taken along, gets no match by that."""
    return orjson.dumps({"do": "freed", "place": place})


def over(game: str, contest: str, how: str) -> bytes:
    """The letter that tells a node that a contest is over, and how, for the players who wait in it there."""
    return orjson.dumps({"do": "over", "game": game, "contest": contest, "how": how})


def reopened(game: str, contest: str) -> bytes:
    """The letter that tells a node that a contest that was over goes on, as a match in it was taken back."""
    return orjson.dumps({"do": "reopened", "game": game, "contest": contest})
