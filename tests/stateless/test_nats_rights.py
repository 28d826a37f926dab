"""The rights that docs/nats.md gives bots, over a nats-server that is told them: enough to play, too few to listen."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Iterator
from pathlib import Path

import nats
import pytest
from cluster import wait_for
from nats.aio.msg import Msg
from natsbots import PASS, NatsBot, arrival, nats_server

from battlebot.stateless.asking import Question
from battlebot.stateless.nats.bots import NatsBots
from battlebot.stateless.nats.line import NatsLine, NoLine
from battlebot.stateless.nats.uids import Uids
from games import crossword

PAGE = Path(__file__).parents[2] / "docs" / "nats.md"
PASSWORDS = {"BATTLEBOT_PASSWORD": "of-the-server", "HASTY_PASSWORD": "of-the-bot"}
STATE = crossword.initial_state(["a", "b"], 7, {"challengeRule": "DOUBLE", "lexicon": "enable1"})


@pytest.fixture(scope="module")
def urls(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[str, str]]:
    """A NATS server with the rights of the page; its url for the server and for the bot of the page."""
    found = re.search(r"```\n(# nats-server -c.*?)```", PAGE.read_text(), re.DOTALL)
    assert found is not None
    rights = tmp_path_factory.mktemp("rights") / "nats.conf"
    rights.write_text(found[1])
    with nats_server(None, "-c", str(rights), **PASSWORDS) as url:
        host = url.removeprefix("nats://")
        server, bot = (
            f"nats://{user}:{password}@{host}"
            for user, password in zip(("battlebot", "hasty"), PASSWORDS.values(), strict=True)
        )
        wait_for(lambda: can_connect(server), "the NATS server")
        yield server, bot


def can_connect(url: str) -> bool:
    """Whether that user may."""

    async def connect() -> None:
        await (await nats.connect(url, allow_reconnect=False, connect_timeout=1)).close()

    try:
        asyncio.run(connect())
    except Exception:
        return False
    return True


@pytest.mark.parametrize("publishes", [False, True], ids=["by reply", "published"])
def test_a_bot_with_the_rights_of_the_page_can_answer(publishes: bool, urls: tuple[str, str]) -> None:
    """At the reply subject, and published, which is acknowledged."""
    line = NatsLine(urls[0])
    bot = NatsBot(urls[1], "bots.hasty", publishes, inbox="_INBOX_hasty")
    content = {"state": crossword.view(STATE, "a")}
    asked = Question(bot.address, "crossword", "m1", "a", content, 10.0)
    assert NatsBots(line, Uids("sixteen letters and more"), 65_536).ask(asked).value == PASS
    wait_for(lambda: bot.acknowledged == publishes, "the acknowledgement")
    bot.close()
    line.close()


@pytest.mark.parametrize("subject", [">", "_INBOX.>", "bots.other", "bot.publish_event.>"])
def test_a_bot_with_the_rights_of_the_page_cannot_listen_to_others(subject: str, urls: tuple[str, str]) -> None:
    """NATS refuses it, and nothing comes there."""

    async def listen() -> tuple[list[str], list[bytes]]:
        refused: list[str] = []
        heard: list[bytes] = []

        async def noted(error: Exception) -> None:
            refused.append(str(error).lower())

        async def came(message: object) -> None:
            heard.append(b"")

        ear = await nats.connect(urls[1], error_cb=noted)
        await ear.subscribe(subject, cb=came)
        await arrival(ear)
        server = await nats.connect(urls[0])
        await server.publish(subject.replace(">", "x"), b"secret")
        await arrival(server)
        await arrival(ear)
        await server.close()
        await ear.close()
        return refused, heard

    refused, heard = asyncio.run(listen())
    assert "permissions violation" in refused[0]
    assert heard == []


ELSEWHERE = ["bots.victim", "me.victim", "bot.commands", "bot.publish_event.other", "$SYS.REQ.SERVER.PING"]


@pytest.mark.parametrize("subject", ELSEWHERE)
def test_an_acknowledgement_goes_to_inboxes_alone(subject: str, urls: tuple[str, str]) -> None:
    """The server may publish anywhere: a bot is not to send its acknowledgement where it may not publish itself."""
    line = NatsLine(urls[0])
    asked = NatsBot(urls[1], "bots.hasty", inbox="_INBOX_hasty")
    line.ask("bots.hasty", "m1", b"", 10.0)  # now it listens
    asked.close()

    async def heard() -> list[str]:
        came: list[str] = []

        async def take(message: Msg) -> None:
            came.append(message.subject)

        ear, bot = await nats.connect(urls[0]), await nats.connect(urls[1], inbox_prefix="_INBOX_hasty")
        inbox = bot.new_inbox()
        for each in (subject, inbox):
            await ear.subscribe(each, cb=take)
        await arrival(ear)
        # the server takes one after the other
        await bot.publish("bot.publish_event.nobodys", b"x", reply=subject)
        await bot.publish("bot.publish_event.nobodys", b"x", reply=inbox)
        await arrival(bot)
        async with asyncio.timeout(20):
            while not any(one == inbox for one in came):
                await asyncio.sleep(0.01)
        await arrival(ear)
        await ear.close()
        await bot.close()
        return [one for one in came if one != inbox]

    assert asyncio.run(heard()) == []
    line.close()


def test_a_wrong_password_is_told(urls: tuple[str, str]) -> None:
    """To whoever reads why nobody is asked; not the password."""
    line = NatsLine(urls[0].replace(PASSWORDS["BATTLEBOT_PASSWORD"], "another"))
    with pytest.raises(NoLine, match=r"^NATS does not answer \(Authorization Violation\)\.$"):
        line.ask("bots.hasty", "m1", b"", 1.0)
    line.close()
