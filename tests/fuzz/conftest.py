"""A server to be fuzzed, and for how long: FUZZ_EXAMPLES conversations per phase and door, 40 unless it is set.

Without `--hypothesis-seed` every run has the same examples. `make fuzz` runs longer, with a seed that it prints.
"""

from __future__ import annotations

import os
from collections.abc import Iterator

import pytest
from cluster import cluster
from ground import Ground
from hypothesis import HealthCheck, Phase, settings

from battlebot.config import Settings

LIMITS = {
    "turn_timeout_ms": 400,
    "login_timeout_s": 2.0,
    "close_timeout_s": 0.5,
    "header_timeout_s": 1.0,
    "body_timeout_s": 1.0,
    # all come from one address, as fast as they can
    "relogin_free": 10_000,
    "max_connections_per_address": 100_000,
    "max_http_per_address": 100_000,
    "registrations_per_hour": 1_000_000,
    "requests_per_minute": 100_000_000,
}


@pytest.fixture(scope="module", autouse=True)
def _profile(request: pytest.FixtureRequest) -> Iterator[None]:
    before = settings.get_current_profile_name()
    settings.register_profile(
        "fuzz",
        max_examples=int(os.environ.get("FUZZ_EXAMPLES", "40")),
        derandomize=request.config.getoption("--hypothesis-seed") is None,
        database=None,
        deadline=None,
        print_blob=True,
        suppress_health_check=tuple(HealthCheck),
        phases=(Phase.explicit, Phase.generate, Phase.shrink),
    )
    settings.load_profile("fuzz")
    yield
    settings.load_profile(before)


@pytest.fixture(scope="module")
def ground(module_settings: Settings, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Ground]:
    """Yields a web node, a worker and beat. After the module's tests nothing may have gone wrong; they still play."""
    with cluster(module_settings, tmp_path_factory.mktemp("fuzzed")) as parts:
        web = parts.web(**LIMITS)
        parts.worker()
        parts.beat()
        web.wait_until_ready()
        made = Ground(parts, web)
        yield made
        made.plays_as_before()
        made.complaints()
        for child in parts.children:
            child.kill()
