"""The import rules of the project as tables, and a walk that finds violations, by file and line.

A row's sentence is what the failing test prints. Imports within functions, under TYPE_CHECKING and by a constant name
given to `import_module` count like all others. Tests and benchmarks may import anything.
"""

from __future__ import annotations

import ast
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

HOUSE = ("battlebot", "tasks", "games", "app", "wsgi")

SOCKETS = {"socket", "socketserver", "ssl", "select", "selectors", "asyncio", "http", "urllib", "ftplib", "smtplib"}
FILES = {"os", "io", "pathlib", "shutil", "tempfile", "glob", "sqlite3", "mmap", "fcntl"}
CLOCKS = {"time", "datetime", "sched", "calendar"}
CHANCE = {"random", "secrets", "uuid"}
PROCESSES = {"subprocess", "multiprocessing", "threading", "concurrent", "signal", "ctypes", "queue", "contextvars"}
SURROUNDINGS = {"sys", "platform", "getpass", "locale", "logging", "warnings", "gc", "atexit"}
MODULES = {"importlib", "pkgutil", "runpy", "imp"}
PURE = SOCKETS | FILES | CLOCKS | CHANCE | PROCESSES | SURROUNDINGS | MODULES

# what a game may use besides the standard library: data, no behaviour
DATA_LIBRARIES = ("dawg2", "dawg")


@dataclass(frozen=True)
class Layer:
    """What modules of one part may import: ours, others' (None: anything), and nothing of `never` (stdlib)."""

    sentence: str
    ours: tuple[str, ...]
    theirs: tuple[str, ...] | None = None
    never: frozenset[str] = frozenset()


def layer(sentence: str, *ours: str, theirs: tuple[str, ...] | None = None, never: set[str] | None = None) -> Layer:
    """Makes a row; names of ours that do not begin with a name of HOUSE are parts of battlebot."""
    names = tuple(name if name.split(".")[0] in HOUSE else f"battlebot.{name}" for name in ours)
    return Layer(sentence, names, theirs, frozenset(never or ()))


# part -> its row; a module's row is that of its longest matching name. A part without a row has no place yet.
LAYERS = {
    "games": layer(
        "a game is pure: standard library and data libraries, chance only from the state's seed, nothing of battlebot",
        "games",
        theirs=DATA_LIBRARIES,
        never=PURE - {"random", "io", "pathlib", "importlib"},
    ),
    "battlebot.errors": layer("errors import nothing", theirs=(), never=PURE),
    "battlebot.storable": layer("what can be stored is a rule about values, and pure", theirs=(), never=PURE),
    "battlebot.config": layer(
        "config knows the environment and errors", "config", "errors", theirs=("dotenv",), never=SOCKETS - {"urllib"}
    ),
    "battlebot.logs": layer(
        "logs know config, and wire's way to spell out text",
        "config",
        "runtime.bare",
        "wire",
        theirs=("structlog", "orjson"),
        never=SOCKETS - {"urllib"},
    ),
    "battlebot.wire": layer(
        "wire is messages: no sockets, no storage, no clock",
        "wire",
        "errors",
        "storable",
        theirs=("orjson", "msgspec", "google"),
        never=PURE - {"secrets"},
    ),
    "battlebot.rules": layer("rules are pure", "rules", "errors", "storable", "wire.jsontext", theirs=(), never=PURE),
    "battlebot.rules.registry": layer(
        "the registry finds games, and does no more", "rules", "errors", theirs=(), never=PURE - MODULES - {"pathlib"}
    ),
    "battlebot.referee": layer(
        "the referee is pure: rules, wire, errors; it is told the time and reads no clock",
        "referee",
        "rules",
        "wire",
        "errors",
        "storable",
        theirs=("msgspec",),
        never=PURE,
    ),
    "battlebot.contests": layer(
        "contests are pure but for their service: neither arena nor storage",
        "contests",
        "runtime.cooperative",
        "errors",
        theirs=(),
        never=PURE,
    ),
    "battlebot.contests.contest": layer(
        "a contest is a value with moments, and reads no clock", theirs=(), never=PURE - {"datetime"}
    ),
    "battlebot.contests.formats": layer(
        "a format is pure: it is handed the record and answers pairings, and the ranking from counts",
        *("contests.formats", "contests.standings", "runtime.cooperative", "errors"),
        theirs=("rustworkx",),
        never=PURE - MODULES,
    ),
    "battlebot.contests.service": layer(
        "the contests' service stands on arena, matchmaking and storage",
        *(
            "contests",
            "arena.live",
            "arena.places",
            "redisio",
            "runtime",
            "matchmaking.missing",
            "storage",
            "rules",
            "referee",
            "config",
            "errors",
        ),
    ),
    "battlebot.ratings": layer(
        "ratings are pure: values and their progress; openskill in the model only", "ratings", theirs=(), never=PURE
    ),
    "battlebot.ratings.model": layer(
        "the ratings' model is pure: openskill and the values",
        "ratings.rating",
        "ratings.elo",
        theirs=("openskill",),
        never=PURE,
    ),
    "battlebot.ratings.service": layer(
        "the ratings' service stands on storage, and is told no time",
        *("ratings", "storage", "errors"),
        theirs=("structlog",),
        never=PURE,
    ),
    "battlebot.stateless": layer(
        "stateless bots are asked by what stands on the arena",
        *("stateless", "arena.live", "arena.places", "redisio", "runtime", "referee", "rules.contract"),
        *("contests.contest", "storage", "wire", "config", "errors"),
    ),
    "battlebot.stateless.http": layer(
        "the kind of address of bots behind HTTP knows no match",
        *("stateless.http", "stateless.asking", "stateless.clock", "runtime.acknowledging", "wire", "errors"),
    ),
    "battlebot.stateless.nats": layer(
        "the kind of address of bots behind NATS knows no match",
        *("stateless.nats", "stateless.asking", "stateless.clock", "wire", "config", "errors"),
    ),
    "battlebot.storage": layer(
        "storage knows MongoDB, a contest as a value, and no match",
        *("storage", "contests.contest", "runtime.cooperative", "runtime.sharedtime", "config", "errors"),
    ),
    "battlebot.runtime": layer("what a process is made of knows neither stores nor matches", "runtime", "errors"),
    "battlebot.redisio": layer("Redis as such knows no match", "redisio", "errors"),
    "battlebot.arena": layer("the arena is made of its parts", "arena"),
    "battlebot.arena.places": layer("how places are written is text, and pure", theirs=(), never=PURE),
    "battlebot.arena.live": layer(
        "live matches stand on referee and Redis, and know no connection",
        *("arena.live", "arena.places", "redisio", "runtime.cooperative", "runtime.loglimit"),
        *("runtime.sharedtime", "referee", "rules"),
        *("storable", "wire", "config", "errors"),
    ),
    "battlebot.arena.node": layer(
        "what a node does for its players stands on the live matches",
        *("arena.node", "arena.live", "arena.places", "redisio", "runtime", "referee", "rules", "wire", "errors"),
    ),
    "battlebot.arena.names": layer(
        "names stand on Redis and storage, and know no match",
        *("arena.names", "arena.places", "redisio", "runtime", "storage", "wire", "errors"),
    ),
    "battlebot.matchmaking": layer(
        "matchmaking stands on the arena",
        *("matchmaking", "arena.live", "arena.node", "arena.places", "redisio", "runtime", "rules"),
        *("wire", "config", "errors"),
    ),
    "battlebot.transports": layer(
        "a transport knows arena and wire, never rules or storage",
        *("transports", "arena", "runtime", "wire", "config", "errors"),
    ),
    "battlebot.api": layer(
        "the API has no game logic, and enqueues tasks by name",
        *("api", "storage", "contests", "ratings.rating", "rules.contract", "redisio.keys", "wire"),
        *("runtime.bare", "runtime.cooperative", "runtime.counting", "runtime.loglimit", "runtime.sharedtime"),
        *("config", "errors"),
    ),
    "battlebot.web": layer(
        "pages have no game logic, and enqueue tasks by name",
        *("web", "api", "rules.contract", "redisio.keys", "runtime.cooperative", "wire.matchfiles", "config", "errors"),
    ),
    "battlebot.web.replay": layer(
        "a replay is the referee's, which is pure",
        *("web", "runtime.cooperative", "errors", "rules.contract", "referee.replay"),
        never=PURE,
    ),
    "battlebot.embedded": layer(
        "the embedded servers are processes: nothing of matches", "embedded", "config", "errors", "logs"
    ),
    "battlebot.embedded.webworker": layer(
        "gunicorn's worker knows addresses, and no match",
        *("config", "wire.addresses", "embedded.webparser", "runtime.cooperative"),
        theirs=("gunicorn", "gevent"),
    ),
    "battlebot.embedded.webparser": layer(
        "gunicorn's parser rests, and knows nothing else", "runtime.cooperative", theirs=("gunicorn",)
    ),
    "battlebot.client": layer("the client imports wire only", "client", "wire"),
    "battlebot.cli": layer(
        "the command line starts, shows and plays; it has no rules",
        *("cli", "client", "embedded", "config", "errors", "logs", "app"),
    ),
    "battlebot.cli.contest_fields": layer(
        "what an organiser types names the formats, which are pure",
        *("contests.formats", "errors"),
        theirs=("click",),
        never=SOCKETS | PROCESSES,
    ),
    "battlebot.cli.renew": layer(
        "a bot's credentials are changed by the directory, and sealed by the vault",
        *("cli", "arena.names.directory", "embedded.folder", "storage.vault", "wire.login"),
        theirs=("click",),
        never=PURE - {"sys", "pathlib"},
    ),
    "battlebot.cli.ratings": layer(
        "the ratings' commands stand on storage and the ratings",
        *("cli", "ratings", "storage", "errors"),
        theirs=("click", "rich"),
        never=PURE - {"sys", "pathlib"},
    ),
    "battlebot.cli.verify": layer(
        "what is stored is verified by the referee's replay and the contests' checks, which are pure",
        *("cli", "referee.replay", "contests.checks", "contests.contest", "rules.registry", "storage", "errors"),
        theirs=("click",),
        never=SOCKETS,
    ),
    "battlebot.cli.export": layer(
        "a match's file is made by wire of what storage has",
        *("cli", "wire.matchfiles", "errors"),
        theirs=("click",),
        never=PURE - {"pathlib"},
    ),
    "battlebot.cli.doctor": layer(
        "the doctor's command shows what the doctor finds",
        *("cli.database", "cli.loading", "doctor", "app"),
        theirs=("click", "rich"),
        never=PURE - {"sys", "pathlib"},
    ),
    "battlebot.doctor": layer(
        "the doctor looks at arena, queues, storage and the formats' names, and changes nothing",
        *("doctor", "redisio", "arena.live.inspection", "arena.live.queue", "arena.places"),
        *("contests.contest", "contests.formats", "storage", "config", "errors"),
        theirs=("packaging",),
        never=SOCKETS | PROCESSES,
    ),
    "battlebot.cli.database": layer(
        "one helper opens the database for the commands that work on it",
        *("storage", "embedded", "config", "errors"),
        theirs=(),
        never=SOCKETS - {"urllib"},
    ),
    "battlebot.cli.gamescheck": layer(
        "the games are tried by the registry, which plays them, and the formats are loaded",
        *("rules.registry", "contests.formats", "runtime.timelimit", "errors"),
        theirs=(),
        never=SOCKETS,
    ),
    "battlebot.cli.rest": layer(
        "the command line's REST client knows addresses, and no contest",
        *("cli.output", "client.address"),
        theirs=("click",),
    ),
    "battlebot.cli.tcp_node": layer(
        "the TCP door's process starts what app.py has wired",
        *("app", "embedded.collector", "embedded.interrupts", "embedded.openfiles", "embedded.uncaught"),
        *("transports.socketio_lean", "config", "logs"),
    ),
    "battlebot.__main__": layer("it is the command line", "cli"),
    "tasks": layer(
        "a task is fetch, call, save: no door, no page, no game's name",
        *(
            "tasks",
            "arena.live",
            "redisio",
            "runtime",
            "contests",
            "matchmaking",
            "ratings",
            "stateless",
            "storage",
            "rules.registry",
            "rules.contract",
            "config",
            "errors",
            "logs",
        ),
    ),
    "app": layer("app.py wires everything together but games, which are found", "battlebot", "tasks"),
    "wsgi": layer(
        "wsgi.py is what gunicorn and celery load",
        *("app", "tasks", "config", "embedded", "transports.socketio_lean", "logs"),
    ),
}

# library or part of ours -> why, and who alone may import it
OWNERS: dict[str, tuple[str, tuple[str, ...]]] = {
    "redis": (
        "matches, names, who is missing and how addresses do are kept in Redis by their parts alone; others hand it on",
        (
            *("battlebot.redisio", "battlebot.arena", "battlebot.matchmaking.missing", "battlebot.stateless.health"),
            *("battlebot.embedded.valkey", "battlebot.api.context", "tasks.workbench", "app"),
        ),
    ),
    "pymongo": (
        "storage alone owns MongoDB; the embedded mongod is only started",
        ("battlebot.storage", "battlebot.embedded.mongod"),
    ),
    "bson": (
        "storage alone owns MongoDB; the API only writes its ids",
        ("battlebot.storage", "battlebot.api.jsonprovider"),
    ),
    "flask": (
        "HTTP ends in api, web and transports",
        ("battlebot.api", "battlebot.web", "battlebot.transports", "app", "wsgi"),
    ),
    "gevent": (
        "greenlets are the doors', the web process's, and of who asks stateless bots; both wait at gates",
        (
            "battlebot.api.bodies",
            "battlebot.embedded.runmodule",
            "battlebot.runtime.gate",
            "battlebot.transports",
            "battlebot.stateless.http.connections",
            "battlebot.stateless.lookups",
            "battlebot.stateless.pace",
            "battlebot.stateless.stretch",
            "battlebot.cli.tcp_node",
            "battlebot.embedded.gunicorn_conf",
            "battlebot.embedded.webworker",
            "app",
            "wsgi",
        ),
    ),
    "celery": ("the tasks are Celery's, nothing else is", ("tasks", "battlebot.embedded.celery_hooks", "app", "wsgi")),
    "app": ("app.py is imported by wsgi.py and the command line only", ("wsgi", "battlebot.cli")),
    "wsgi": ("wsgi.py is loaded by name", ()),
    "tasks": ("tasks are enqueued by name: battlebot never imports them", ("tasks", "app", "wsgi")),
    "games": ("games are found by the registry, never imported", ("games",)),
    "battlebot.referee.step": ("matches are stepped by the arena only", ("battlebot.referee", "battlebot.arena")),
    "battlebot.referee.telling": (
        "what a seat or a viewer may see of a match is shown by the arena only",
        ("battlebot.referee", "battlebot.arena"),
    ),
    "battlebot.ratings.model": ("only the ratings' service changes ratings", ("battlebot.ratings.service",)),
    "battlebot.ratings.service": (
        "the ratings' service is wired, not imported",
        ("tasks", "battlebot.cli.ratings", "battlebot.ratings.service"),
    ),
    "battlebot.contests.service": (
        "the contests' service is wired, not imported",
        ("app", "tasks", "battlebot.contests.service"),
    ),
}

# modules in transports/ that are no doors, but used by doors
DOORS_PARTS = {"connection", "hijacked", "inlet", "keepalive", "limits"}
DOORS_PARTS |= {"outbox", "peersocket", "ports", "pump", "stays", "wsconnection", "wsframing"}
DOORS = "a door never imports another door; what they share (DOORS_PARTS) imports none"

KEYS = "the names of Redis keys stand in battlebot/redisio/keys.py only"
KEY_TAG = "bb:{0}"


def violations(root: Path) -> list[str]:
    """Returns every broken rule in the project at `root`, as `file:line: module imports name: sentence`."""
    found = []
    files = [file for part in HOUSE for pattern in (f"{part}/**/*.py", f"{part}.py") for file in root.glob(pattern)]
    for file in sorted(files):
        tree = ast.parse(file.read_text(), str(file))
        module = module_of(file.relative_to(root))
        for line, name in imports(tree, module, file.name == "__init__.py"):
            for sentence in broken_by(module, name):
                found.append(f"{file.relative_to(root)}:{line}: {module} imports {name}: {sentence}")
        if module != "battlebot.redisio.keys":
            found += [f"{file.relative_to(root)}:{line}: {KEYS}" for line in texts_with(tree, KEY_TAG)]
    return found


def broken_by(module: str, name: str) -> Iterator[str]:
    """Yields the sentences of the rules that `module` breaks by importing `name`."""
    place = max((part for part in LAYERS if within(module, part)), key=len, default=None)
    top = name.split(".")[0]
    if place is None:
        yield "this part has no row in LAYERS: give it its place"
    else:
        row = LAYERS[place]
        if top in HOUSE:
            if not any(within(name, allowed) for allowed in row.ours):
                yield row.sentence
        elif top in sys.stdlib_module_names:
            if top in row.never:
                yield row.sentence
        elif row.theirs is not None and top not in row.theirs:
            yield row.sentence
    for owned, (sentence, owners) in OWNERS.items():
        if within(name, owned) and not any(within(module, owner) for owner in owners):
            yield sentence
    doors = [door_of(one) for one in (module, name)]
    if within(module, "battlebot.transports") and doors[1] and doors[0] != doors[1]:
        yield DOORS


def within(name: str, part: str) -> bool:
    """Returns whether a dotted name is the part, or lies in it."""
    return name == part or name.startswith(f"{part}.")


def door_of(name: str) -> str | None:
    """Returns the door that a name in transports/ belongs to (`tcp` for `tcp_frames`); None if to none."""
    words = name.split(".")
    if words[:2] != ["battlebot", "transports"] or len(words) < 3 or words[2] in DOORS_PARTS:
        return None
    return words[2].split("_")[0]


def module_of(path: Path) -> str:
    """Returns the dotted name of a file."""
    words = path.with_suffix("").parts
    return ".".join(words[:-1] if words[-1] == "__init__" else words)


def imports(tree: ast.Module, module: str, is_package: bool) -> Iterator[tuple[int, str]]:
    """Yields line and full name of everything imported; `from x import y` is `x.y`."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from ((node.lineno, alias.name) for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            home = module.split(".")[: None if is_package else -1]
            above = ".".join(home[: len(home) - node.level + 1]) + "." if node.level else ""
            yield from (
                (node.lineno, f"{above}{node.module or ''}.{alias.name}".replace("..", ".")) for alias in node.names
            )
        elif isinstance(node, ast.Call) and node.args and isinstance(node.args[0], ast.Constant):
            called = getattr(node.func, "attr", getattr(node.func, "id", ""))
            if called in ("import_module", "__import__") and isinstance(node.args[0].value, str):
                yield node.lineno, node.args[0].value


def texts_with(tree: ast.Module, part: str) -> Iterator[int]:
    """Yields the lines of the string constants that contain `part`."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and part in node.value:
            yield node.lineno
