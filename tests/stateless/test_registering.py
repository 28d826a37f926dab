"""What owners ask of stateless bots, in this process: what a store that goes away leaves of it."""

from __future__ import annotations

from dataclasses import replace
from functools import partial

import pytest
from httpbots import Bots

from battlebot.arena.live.queue import Queues
from battlebot.arena.names.copies import Copies
from battlebot.arena.names.directory import Directory
from battlebot.arena.names.presence import Presence
from battlebot.config import Settings
from battlebot.errors import Unavailable
from battlebot.redisio.connection import connect
from battlebot.redisio.scripts import Scripts
from battlebot.rules.registry import discover
from battlebot.stateless import make_askers
from battlebot.stateless.health import Health
from battlebot.stateless.registering import StatelessBots
from battlebot.stateless.trial import Trial
from battlebot.storage import Storage
from battlebot.storage.vault import Vault


def test_whoever_is_registered_is_told_its_password_though_mongodb_goes_away(
    settings: Settings, storage: Storage, bots: Bots, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It is given out once: with an error instead, its owner could have neither the bot nor another of its name."""

    def away(*_: object) -> None:
        raise Unavailable("MongoDB does not answer now.")

    client = connect(settings.redis_url)
    used_names = partial(Presence(client).used_names, settings.node_timeout_s)
    directory = Directory(storage, Vault("0123456789abcdef"), used_names, Copies(client))
    trial = Trial(discover(), settings, make_askers(replace(settings, bot_loopback=True), keeps=False))
    owners = StatelessBots(storage, directory, trial, Health(Scripts(client)), Queues(client))
    monkeypatch.setattr(storage.bots, "change", away)
    pass_hash = owners.register("numberwang", "url-bot", "owner", bots.url("counting"), True)
    directory.check_owner("numberwang", "url-bot", pass_hash)
    shown = owners.show("numberwang", "url-bot")
    assert (shown["state"], shown["lastTest"]["ok"]) == ("ready", True)
    client.close()
