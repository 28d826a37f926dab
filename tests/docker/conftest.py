"""A real nginx with docker/nginx.conf, in front of two real web nodes."""

from __future__ import annotations

import shutil
import sys
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from cluster import Cluster, Web, cluster
from proxy import Proxy, find_nginx

from battlebot.config import Settings

House = tuple[Cluster, Proxy, list[Web]]


@contextmanager
def proxied(parts: Cluster) -> Iterator[House]:
    """Starts two web nodes of `parts` behind nginx."""
    nginx = find_nginx()
    if nginx is None:
        pytest.skip("no nginx is installed")
    # not pytest's temporary folder, which only this user may enter
    folder = Path(tempfile.mkdtemp(prefix="battlebot-nginx-"))
    nodes = [parts.web(trusted_proxies=1, registrations_per_hour=3) for _ in range(2)]
    proxy = Proxy(nginx, nodes, folder)
    try:
        proxy.wait()
        yield parts, proxy, nodes
    finally:
        proxy.child.stop()
        shutil.rmtree(folder)


@pytest.fixture(scope="module")
def front(module_settings: Settings, tmp_path_factory: pytest.TempPathFactory) -> Iterator[House]:
    """Yields (cluster, nginx, its two nodes) for all tests of a module."""
    with cluster(module_settings, tmp_path_factory.mktemp("front")) as parts, proxied(parts) as made:
        yield made


@pytest.fixture
def own_front(parts: Cluster) -> Iterator[House]:
    """Like `front`, for one test, which may stop nodes."""
    with proxied(parts) as made:
        yield made


@pytest.fixture(scope="session")
def tool() -> Callable[[str], str]:
    """Returns a finder of programs in requirements-dev.txt: `tool("hadolint")`; skips if it is not installed."""

    def find(name: str) -> str:
        found = shutil.which(name, path=str(Path(sys.executable).parent)) or shutil.which(name)
        if found is None:
            pytest.skip(f"no {name} is installed")
        return found

    return find
