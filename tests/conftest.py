"""Real stores for all tests: one Valkey and one mongod per test process, emptied for each test that uses them."""

from __future__ import annotations

import logging
import os
import signal
import tempfile
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import redis
import structlog
from cluster import Cluster, Web, cluster
from hypothesis import settings as examples

from battlebot.config import Settings, load_settings
from battlebot.embedded.stores import embedded_stores
from battlebot.redisio.connection import connect
from battlebot.storage import Storage
from battlebot.storage.indexes import INDEXES, LASTING, PROPERTIES

# an example may take as long as a busy machine makes it take
examples.register_profile("unhurried", deadline=None)
examples.load_profile("unhurried")

MOSTLY_WAITING = {"chaos", "degraded", "e2e", "socketio", "stateless", "tcp", "web"}  # folders
SLOWER_THAN_NEW = 5_000  # documents; deleting more is slower than dropping the collection


def pytest_configure() -> None:
    """Plain logs, the usual signals for what tests start; neither proxies nor what is meant for another's Celery."""
    for name in [name for name in os.environ if name.startswith("CELERY_") or name.lower().endswith("_proxy")]:
        del os.environ[name]
    # a shell that runs the tests in the background has it ignored
    if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
        signal.signal(signal.SIGINT, signal.default_int_handler)
    # so has nohup; a handler, unlike what is ignored, is not passed on to other programs
    if signal.getsignal(signal.SIGHUP) is signal.SIG_IGN:
        signal.signal(signal.SIGHUP, lambda *_: None)
    _log_plainly()


def _log_plainly() -> None:
    """Python's tracebacks for what is logged in this process: structlog's default, rich's, take half a second each."""
    structlog.reset_defaults()
    processors = structlog.get_config()["processors"][:-1]
    plain = structlog.dev.ConsoleRenderer(colors=False, exception_formatter=structlog.dev.plain_traceback)
    structlog.configure(processors=[*processors, plain])


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Puts files that mostly wait between those that mostly compute: by themselves, the first leave a machine idle."""
    files = list(dict.fromkeys(item.path for item in items))
    kinds = [[file for file in files if (file.parent.name in MOSTLY_WAITING) is waits] for waits in (True, False)]
    places = {file: number / len(kind) for kind in kinds for number, file in enumerate(kind)}
    items.sort(key=lambda item: places[item.path])


@pytest.fixture(scope="session", autouse=True)
def _temporary_files(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """Removes at the end what those who are killed leave behind in TMPDIR, such as Celery's workers."""
    tmp_path_factory.getbasetemp()  # pytest's own stay where they are
    made = tempfile.TemporaryDirectory(prefix="tests-", ignore_cleanup_errors=True)
    with made as folder, pytest.MonkeyPatch.context() as patch:
        Path(folder).chmod(0o711)  # for those who run as another user, such as nginx
        patch.setenv("TMPDIR", folder)
        patch.setattr(tempfile, "tempdir", None)
        yield


@pytest.fixture
def logs_as_before() -> Iterator[None]:
    """Puts logging back to what it was, for tests that call `configure_logs`."""
    root = logging.getLogger()
    handlers, level = root.handlers[:], root.level
    yield
    root.handlers[:] = handlers
    root.setLevel(level)
    logging.captureWarnings(False)
    _log_plainly()


@pytest.fixture(scope="session")
def stores(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Settings]:
    """Yields settings that name a real Valkey and a real mongod, started for this test process."""
    data = tmp_path_factory.mktemp("stores")
    defaults = load_settings({}, None, data=data, log_format="json", tcp_port=0)
    with embedded_stores(defaults) as settings:
        yield settings


@pytest.fixture(scope="session")
def _emptying(stores: Settings) -> Iterator[Storage]:
    """Yields the connection that empties the database: one of its own for each test would take most of the time."""
    made = Storage(stores)
    yield made
    made.close()


@pytest.fixture
def settings(stores: Settings, _emptying: Storage) -> Settings:
    """Returns settings over empty stores, for one test: Valkey is flushed, collections are emptied."""
    _empty_all(stores, _emptying)
    return stores


@pytest.fixture(scope="module")
def module_settings(stores: Settings, _emptying: Storage) -> Settings:
    """Like `settings`, for all tests of a module that share servers."""
    _empty_all(stores, _emptying)
    return stores


@pytest.fixture
def parts(settings: Settings, tmp_path: Path) -> Iterator[Cluster]:
    """Yields a cluster of processes for one test, none of them started yet."""
    with cluster(settings, tmp_path) as made:
        yield made


@pytest.fixture(scope="module")
def house(module_settings: Settings, tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Cluster, Web]]:
    """Yields (cluster, web node) with a worker and beat, for all tests of a module. Bots need names of their own."""
    with cluster(module_settings, tmp_path_factory.mktemp("house")) as made:
        web = made.web()
        made.worker()
        made.beat()
        web.wait_until_ready()
        yield made, web


@pytest.fixture
def with_settings(settings: Settings) -> Callable[..., Settings]:
    """Returns the test's settings with changes."""
    return lambda **changes: replace(settings, **changes)


@pytest.fixture
def client(settings: Settings) -> Iterator[redis.Redis]:
    """Yields a client of the emptied Valkey."""
    made = connect(settings.redis_url)
    yield made
    made.close()


@pytest.fixture
def storage(settings: Settings) -> Iterator[Storage]:
    """Yields the repositories over the emptied database, with their indexes."""
    made = Storage(settings)
    made.ensure_indexes()
    yield made
    made.close()


def _empty_all(settings: Settings, storage: Storage) -> None:
    """Keeps the product's indexes where they are as made: making them all anew takes a third of a second."""
    client = connect(settings.redis_url)
    client.flushall()
    client.close()
    # all indexes of all collections in one request, and all counts in one: this is done before every other test
    of_this_database = {"$match": {"db": storage.database.name, "type": "collection"}}
    found = list(storage.client.admin.aggregate([{"$listCatalog": {}}, of_this_database]))
    held = _counts(storage, [one["name"] for one in found])
    for one in found:
        collection = storage.database[one["name"]]
        if held[collection.name] >= SLOWER_THAN_NEW or not _is_as_made(
            collection.name, [index["spec"] for index in one["md"]["indexes"]]
        ):
            collection.drop()
        elif held[collection.name]:
            collection.delete_many({})


def _counts(storage: Storage, collections: Sequence[str]) -> dict[str, int]:
    if not collections:
        return {}
    count = {"$collStats": {"count": {}}}
    others = [{"$unionWith": {"coll": name, "pipeline": [count]}} for name in collections[1:]]
    rows = storage.database[collections[0]].aggregate([count, *others])
    return {row["ns"].partition(".")[2]: row["count"] for row in rows}


def _is_as_made(collection: str, indexes: list[dict[str, Any]]) -> bool:
    made = {model.document["name"]: model.document for model in INDEXES.get(collection, ())}
    found = {index["name"]: index for index in indexes if index["name"] != "_id_"}
    return (
        bool(made)
        and made.keys() == found.keys()
        and all(found[name].get(each) == made[name].get(each) for name in made for each in (*PROPERTIES, *LASTING))
    )
