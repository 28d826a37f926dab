"""Fixtures to import: web nodes with short limits, bots at a table, and a check of every log at the end."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import suppress

import pytest
from cluster import Cluster, Web, cluster, wait_for
from partlogs import errors
from switchboard import Seats, Switchboard

from battlebot.arena.live.queue import Queues
from battlebot.config import Settings
from battlebot.redisio.connection import connect


@pytest.fixture(scope="module")
def servers(module_settings: Settings, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Cluster]:
    """Yields a module's processes, none started yet. Afterwards no part may have logged an error."""
    with cluster(module_settings, tmp_path_factory.mktemp("servers")) as made:
        yield made
        for child in made.children:
            # a clean stop would take a web node seconds; a killed worker might leave a transaction open, with its locks
            if child.program.name in ("web", "tcp"):
                child.kill()
    wrong = errors(made.logs())
    assert not wrong, "\n".join(wrong)


@pytest.fixture(scope="module")
def web(servers: Cluster, request: pytest.FixtureRequest) -> Web:
    """Returns the module's web node, with the settings that the module names in SETTINGS."""
    return servers.web(**getattr(request.module, "SETTINGS", {}))


@pytest.fixture(scope="module")
def workers(servers: Cluster, web: Web) -> Web:
    """Returns the web node once a worker and beat run too: matches are archived, dead nodes noticed."""
    servers.worker()
    servers.beat()
    web.wait_until_ready()
    return web


@pytest.fixture
def meet(web: Web, module_settings: Settings) -> Iterator[Switchboard]:
    """Yields a maker of connections, by default to the module's node (see `Switchboard`); they end after the test."""
    switchboard = Switchboard(web)
    yield switchboard
    for peer in switchboard.peers:
        with suppress(OSError):
            peer.reset()
    client = connect(module_settings.redis_url)
    queues = Queues(client)
    wait_for(lambda: not any(queues.tickets(name) for name in queues.names()), "bots that have hung up to be forgotten")
    client.close()


@pytest.fixture
def sit(meet: Switchboard) -> Callable[..., Seats]:
    """Returns `sit(game)`: two new bots at a new match, the one on turn first, their first updates read."""
    return meet.sit
