"""Settings for a server of a test's own, and a process that serves the stand-in until it is told to end."""

import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path

import cluster
import pytest

from battlebot.config import Settings, as_environment
from battlebot.embedded.folder import DataFolder

HERE = Path(__file__).parent
SERVE = (
    "from battlebot.config import load_settings; from battlebot.embedded.server import serve;"
    "from battlebot.logs import configure_logs; settings = load_settings(dotenv=None); configure_logs(settings);"
    "serve(settings, wsgi_module='standin')"
)


@pytest.fixture(scope="module", autouse=True)
def _standin_can_be_imported() -> Iterator[None]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("PYTHONPATH", str(HERE))
        yield


@pytest.fixture
def parts(settings: Settings, tmp_path: Path) -> Iterator[cluster.Cluster]:
    """Yields a cluster of processes for one test, each started by its own command."""
    with cluster.cluster(settings, tmp_path, forks=False) as made:
        yield made


@pytest.fixture
def free_port() -> Callable[[], int]:
    """Returns a function that returns a port nobody listens on."""
    return cluster.free_port


@pytest.fixture
def make_settings(tmp_path: Path) -> Callable[..., Settings]:
    """Returns a function that returns settings with a port and a data folder (by its name) of their own."""
    return partial(_settings_in, tmp_path)


@pytest.fixture(scope="module")
def make_module_settings(tmp_path_factory: pytest.TempPathFactory) -> Callable[..., Settings]:
    """Like `make_settings`, for servers that the tests of a module share."""
    return partial(_settings_in, tmp_path_factory.mktemp("servers"))


def _settings_in(folder: Path, name: str = "data", **changes: object) -> Settings:
    defaults = {
        "data": folder / name,
        "port": cluster.free_port(),
        "tcp_port": 0,
        "nats_port": 0,
        "log_format": "json",
        "worker_concurrency": 2,
    }
    return Settings(**{**defaults, **changes})


@pytest.fixture
def start_serving(tmp_path: Path) -> Iterator[Callable[[Settings], subprocess.Popen[bytes]]]:
    """Yields a function that starts `serve` in its own process, stderr in the file `serve.log`; killed at the end."""
    started = []

    def start(settings: Settings, **environment: str) -> subprocess.Popen[bytes]:
        with (tmp_path / "serve.log").open("wb") as log:
            process = subprocess.Popen(
                [sys.executable, "-c", SERVE],
                env={**os.environ, **as_environment(settings), **environment},
                stdout=log,
                stderr=log,
            )
        started.append((process, settings.data))
        return process

    yield start
    for process, data in started:
        process.kill()
        process.wait()
        # a killed server leaves the folder of its sockets behind, for its next start
        DataFolder(data).close()
