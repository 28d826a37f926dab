"""The command line: help at once, settings shown without secrets, each error one line and status 2."""

import json
import os
import shutil
import socket
import subprocess
import sys
from collections.abc import Callable
from dataclasses import fields
from importlib.metadata import version
from pathlib import Path
from typing import TextIO

import pytest
from dotenv import dotenv_values

from battlebot.cli.show import setting_rows
from battlebot.config import Settings, load_settings
from battlebot.contests import formats
from battlebot.redisio.tasklists import TaskLists
from tests.cluster import free_port

Run = Callable[..., subprocess.CompletedProcess[str]]
PARTS = {"REDIS_URL": "redis://127.0.0.1:1", "MONGODB_URI": "mongodb://127.0.0.1:1", "SECRET_KEY": "k" * 32}


def complaint(finished: subprocess.CompletedProcess[str]) -> str:
    """The one line on stderr of a command that ended by an error of ours."""
    assert finished.returncode == 2
    (line,) = finished.stderr.splitlines()
    assert line.startswith("battlebot: ")
    return line.removeprefix("battlebot: ")


@pytest.mark.parametrize("command", [[], ["serve"], ["web"], ["worker"], ["beat"], ["settings"], ["demo"]])
def test_help_is_there_for_every_command(command: list[str], battlebot: Run) -> None:
    """And names the command."""
    finished = battlebot(*command, "--help")
    assert (finished.returncode, finished.stderr) == (0, "")
    assert " ".join(["battlebot", *command]) in finished.stdout


def test_help_imports_nothing_heavy() -> None:
    """It must be there at once."""
    heavy = ("flask", "celery", "pymongo", "redis", "rich", "gevent", "structlog")
    code = f"import sys, battlebot.cli; print([name for name in {heavy} if name in sys.modules])"
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, text=True).stdout.strip() == "[]"


def test_a_command_loads_what_it_works_with_only(tmp_path: Path) -> None:
    """Neither the driver of a database that is not named, nor what only tracebacks would use that are never shown."""
    unused = ("pymongo", "rich", "pygments")
    code = "from battlebot.cli.loading import load; import sys; load()"
    told = subprocess.run(
        [sys.executable, "-c", f"{code}; print([name for name in {unused} if name in sys.modules])"],
        cwd=tmp_path,
        capture_output=True,
        text=True,
    )
    assert told.stdout.strip() == "[]"


def test_settings_shows_every_setting_and_no_secret(battlebot: Run, tmp_path: Path) -> None:
    """Piped, it is a .env file."""
    finished = battlebot(
        "settings", SECRET_KEY="s3cret" * 6, REDIS_URL="redis://me:s3cret@host/0", BATTLEBOT_PORT="3001"
    )
    shown = tmp_path / "shown"
    shown.write_text(finished.stdout)
    values = dotenv_values(shown)
    assert list(values) == [row.metadata["env"] for row in fields(Settings)]
    assert "s3cret" not in finished.stdout
    assert (values["SECRET_KEY"], values["REDIS_URL"]) == ("***", "redis://me:***@host/0")
    assert values["BATTLEBOT_PORT"] == "3001"


@pytest.mark.parametrize(
    ("url", "shown"),
    [
        ("nats://s3cret@host", "nats://***@host:4222"),
        ("nats://bb:pa/s3cret@host", "nats://***@host:4222"),
        ("tls://bb:p@s3cret@[::1]:1", "tls://***@[::1]:1"),
        ("bb:s3cret@host", "nats://***@host:4222"),
        ("host:1", "host:1"),
        ("", ""),
    ],
)
def test_settings_shows_no_credentials_of_nats(url: str, shown: str) -> None:
    """In any form in which they may be given."""
    rows = {name: value for name, value, _ in setting_rows(load_settings({"NATS_URL": url}, None))}
    assert rows["NATS_URL"] == shown


@pytest.mark.parametrize(
    "uri",
    [
        "mongodb://host/?tlsCertificateKeyFilePassword=s3cret",
        "mongodb://host/?authMechanism=MONGODB-AWS&authMechanismProperties=AWS_SESSION_TOKEN:s3cret",
        "mongodb://me:pa/s3cret@host/",
    ],
)
def test_settings_shows_no_secret_among_the_options_of_a_uri(uri: str) -> None:
    """Nor what follows a slash in a password."""
    rows = {name: value for name, value, _ in setting_rows(load_settings({"MONGODB_URI": uri}, None))}
    assert "s3cret" not in rows["MONGODB_URI"]
    assert rows["MONGODB_URI"].startswith("mongodb://")


def test_the_example_file_has_every_setting_with_its_default() -> None:
    """And its sentence. Whoever adds a setting adds it there: `battlebot settings` prints it."""
    example = Path(__file__).parents[2] / ".env.example"
    assert dotenv_values(example) == {name: value for name, value, _ in setting_rows(Settings())}
    sentences = [f"# {sentence}\n{name}=" for name, _, sentence in setting_rows(Settings())]
    assert [one for one in sentences if one not in example.read_text()] == []


@pytest.mark.parametrize(
    ("environment", "sentence"),
    [
        ({"BATTLEBOT_PORT": "no"}, "BATTLEBOT_PORT='no' is not a whole number."),
        ({"BATTLEBOT_PORT": "70000"}, "BATTLEBOT_PORT=70000 is out of bounds"),
        ({"BATTLEBOT_LOG": "xml"}, "BATTLEBOT_LOG='xml' is not one of"),
        ({"REDIS_URL": "http://x"}, "REDIS_URL must begin with"),
        ({"REDIS_URL": "redis://host/0?password=x"}, "REDIS_URL must not have the option password"),
        ({"MONGODB_DATABASE": "my cup"}, "MONGODB_DATABASE='my cup' is no name of a database"),
    ],
)
def test_a_broken_setting_is_one_clear_line(environment: dict[str, str], sentence: str, battlebot: Run) -> None:
    """Whatever command it was."""
    for command in (["serve"], ["worker"], ["token", "list"]):
        assert complaint(battlebot(*command, **environment)).startswith(sentence)


@pytest.mark.parametrize("command", [["settings"], ["doctor"], ["verify", "cup"], ["token", "list"]])
def test_a_misspelt_setting_is_a_warning(command: list[str], battlebot: Run) -> None:
    """With the name that is meant, and without the value, which may be a secret."""
    finished = battlebot(*command, BATTLEBOT_PROT="3001", BATTLEBOT_LOG="json")
    line = json.loads(finished.stderr.splitlines()[0])
    assert (line["event"], line["level"]) == ("setting.unknown", "warning")
    assert (line["variable"], line["nearest"]) == ("BATTLEBOT_PROT", "BATTLEBOT_PORT")
    assert "3001" not in finished.stderr + finished.stdout


@pytest.mark.parametrize(
    ("part", "missing"),
    [
        ("web", "SECRET_KEY"),
        *((part, store) for part in ("web", "worker", "beat") for store in ("REDIS_URL", "MONGODB_URI")),
    ],
)
def test_a_part_alone_must_be_told_where_the_stores_are(part: str, missing: str, battlebot: Run) -> None:
    """And it says that `serve` needs no telling."""
    environment = {name: value for name, value in PARTS.items() if name != missing}
    assert complaint(battlebot(part, **environment)) == (
        f"`battlebot {part}` needs {missing}: set it, or run `battlebot serve`, which brings its own."
    )


def test_who_asks_bots_over_nats_must_be_told_the_key(battlebot: Run) -> None:
    """Without it no stateless bot is asked, not even those behind HTTP."""
    environment = {name: value for name, value in PARTS.items() if name != "SECRET_KEY"}
    assert complaint(battlebot("worker", "--queue", "bots", NATS_URL="nats://127.0.0.1:1", **environment)) == (
        "`battlebot worker --queue bots` needs SECRET_KEY: set it, or run `battlebot serve`, which brings its own."
    )


@pytest.mark.parametrize("part", ["serve", "web", "tcp", "worker", "beat"])
def test_a_uri_that_mongodbs_driver_does_not_take_stops_every_part(part: str, battlebot: Run) -> None:
    """At once, and not when a task first needs MongoDB; the line does not repeat the password."""
    line = complaint(battlebot(part, **PARTS | {"MONGODB_URI": "mongodb://u:p@ss@h/"}))
    assert line.startswith(
        "MONGODB_URI cannot be used (InvalidURI): it must have the form mongodb://user:password@host"
    )
    assert "p@ss" not in line


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        # the driver itself would only warn of these, and connect without TLS
        ("tls=maybe", "cannot be used (ValueError)"),
        ("tsl=true", "cannot be used (ConfigurationError)"),
        ("datetime_conversion=none", "cannot be used (KeyError)"),
        ("tls=true&tlsCAFile=/nonexistent.pem", "cannot be used: /nonexistent.pem: No such file or directory."),
    ],
)
def test_an_option_that_mongodbs_driver_does_not_take_is_told(options: str, sentence: str, battlebot: Run) -> None:
    """Nothing is left out in silence."""
    line = complaint(battlebot("worker", **PARTS | {"MONGODB_URI": f"mongodb://h/?{options}"}))
    assert line.startswith(f"MONGODB_URI {sentence}")


@pytest.mark.parametrize("command", ["serve", "demo", "web"])
def test_a_port_in_use_is_one_clear_line(command: str, battlebot: Run) -> None:
    """It names the port and the way out."""
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = taken.getsockname()[1]
        line = complaint(battlebot(command, "--port", str(port), **(PARTS if command == "web" else {})))
    assert line == f"Something listens on 127.0.0.1:{port} already. Choose another port by BATTLEBOT_PORT or --port."


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (
            ["--game", "nope"],
            "--game='nope': the bots of the demo play connectfour, gomoku, noughtsandcrosses, numberwang.",
        ),
        (["--game", "crossword"], "--game='crossword': the bots of the demo play connectfour, gomoku, "),
        (["--limit", "nan"], "--limit=nan is not above 0."),
        (["--limit", "0"], "--limit=0 is not above 0."),
    ],
)
def test_the_demo_starts_nothing_for_what_cannot_be_played(
    arguments: list[str], sentence: str, battlebot: Run, tmp_path: Path
) -> None:
    """Of a game that its bots do not play, it would wait for the end of its contest in vain."""
    line = complaint(battlebot("demo", *arguments, "--data", str(tmp_path / "data")))
    assert line.startswith(sentence)
    assert not (tmp_path / "data").exists()


@pytest.mark.parametrize("host", ["a..b", "x" * 64, "nowhere.invalid"])
@pytest.mark.parametrize("command", ["serve", "demo", "web", "tcp"])
def test_a_host_that_is_none_is_one_clear_line(command: str, host: str, battlebot: Run) -> None:
    """Also one that cannot be looked for, as no name may look so."""
    line = complaint(battlebot(command, "--host", host, **(PARTS if command in ("web", "tcp") else {})))
    assert line == f"The host {host!r} is not known. Choose another by BATTLEBOT_HOST or --host."


@pytest.mark.parametrize("queue", ["foo", "battlebot,bots", "bots,battlebot", "bots,bots", ","])
def test_a_worker_serves_one_queue_that_there_is(queue: str, battlebot: Run) -> None:
    """One of another queue would wait for ever; one of both would ask bots without greenlets."""
    line = complaint(battlebot("worker", "--queue", queue, **PARTS))
    assert line.startswith(f"--queue={queue!r} is neither {TaskLists.QUEUE} nor {TaskLists.BOTS}; ")


def with_game(folder: Path, text: str) -> None:
    """Writes games/tiny.py, the only game that is found with this folder on the module path."""
    (folder / "games").mkdir()
    (folder / "games" / "__init__.py").touch()
    (folder / "games" / "tiny.py").write_text(text)


@pytest.mark.parametrize("command", ["serve", "demo", "web", "tcp", "worker"])
@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("GAME = {", "importing it raises SyntaxError: '{' was never closed (tiny.py, line 1); expected: "),
        ("raise ValueError('two\\nlines')", "importing it raises ValueError: two lines; expected: "),
        ("import sys\nsys.exit('no')", "importing it raises SystemExit: no; expected: "),
    ],
)
def test_a_broken_game_is_one_clear_line(
    command: str, text: str, sentence: str, battlebot: Run, tmp_path: Path
) -> None:
    """And nothing is started: no store, no part that would begin again and again."""
    with_game(tmp_path, text)
    ports = {"BATTLEBOT_PORT": str(free_port()), "BATTLEBOT_TCP_PORT": str(free_port()), "BATTLEBOT_NATS_PORT": "0"}
    parts = {} if command in ("serve", "demo") else PARTS
    folders = {"PYTHONPATH": str(tmp_path), "BATTLEBOT_DATA": str(tmp_path / "data")}
    line = complaint(battlebot(command, **folders, **ports, **parts))
    assert line.startswith(f"games/tiny.py: {sentence}")
    assert not (tmp_path / "data").exists()


# the command, where the folder of formats is a copy with one file more
WITH_FORMAT = """
import sys
from pathlib import Path

import battlebot.contests

battlebot.contests.__path__.insert(0, str(Path.cwd()))
from battlebot.cli import main

main(sys.argv[1:])
"""
LACKING = """
from battlebot.contests.formats.contract import Format


class Tiny(Format):
    NAME = "tiny"
"""


@pytest.mark.parametrize("command", ["serve", "demo", "web", "tcp", "worker", "beat"])
@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        (
            "class Tiny(",
            "contests/formats/tiny.py: importing it raises SyntaxError: '(' was never closed (tiny.py, line 1)",
        ),
        (LACKING, "The contest format battlebot.contests.formats.tiny.Tiny lacks CLOSED, TOGETHER, "),
    ],
    ids=["does not import", "is not complete"],
)
def test_a_broken_contest_format_is_one_clear_line(command: str, text: str, sentence: str, tmp_path: Path) -> None:
    """Like a broken game; other commands need none."""
    ignored = shutil.ignore_patterns("__pycache__")
    shutil.copytree(Path(formats.__file__).parent, tmp_path / "formats", ignore=ignored)
    (tmp_path / "formats" / "tiny.py").write_text(text)
    ports = {"BATTLEBOT_PORT": str(free_port()), "BATTLEBOT_TCP_PORT": str(free_port()), "BATTLEBOT_NATS_PORT": "0"}

    def run(*arguments: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [sys.executable, "-c", WITH_FORMAT, *arguments],
            cwd=tmp_path,
            env={**os.environ, **ports, **(PARTS if command not in ("serve", "demo") else {})},
            capture_output=True,
            text=True,
            timeout=30,
        )

    assert complaint(run(command)).startswith(sentence)
    assert not (tmp_path / ".battlebot").exists()
    assert run("contest", "create", "--help").returncode == 0


SOUND = (Path(__file__).parents[2] / "games" / "numberwang.py").read_text().replace('"numberwang"', '"tiny"')
ENDLESS = """
GAME = {"name": "tiny", "title": "Tiny", "players": (2, 2)}


def initial_state(players, seed, options):
    return {"players": players, "nextPlayer": players[0], "complete": False}


def validate(state, turn):
    return False


def reducer(state, turn):
    return {**state, "nextPlayer": None}
"""


@pytest.mark.parametrize(("function", "old"), [("validate", "return False"), ("reducer", "return {**")])
def test_a_game_without_an_end_is_one_clear_line(function: str, old: str, tmp_path: Path) -> None:
    """Otherwise whoever starts a server would wait for ever, and not know for what."""
    with_game(tmp_path, ENDLESS.replace(old, f"while True: pass\n    {old}"))
    code = "from battlebot.cli import gamescheck; gamescheck.LIMIT_S = 2; gamescheck.check_games()"
    finished = subprocess.run([sys.executable, "-c", code], cwd=tmp_path, capture_output=True, text=True, timeout=30)
    last = finished.stderr.splitlines()[-1]
    assert "games/tiny.py: " in last
    assert f": {function} raises TimeoutError: not done within 2 seconds; expected: " in last


AWHILE = """
import pathlib
from battlebot.cli import gamescheck
from battlebot.errors import EmbeddedError

with gamescheck.games_checked():
    pathlib.Path("games/tiny.py").write_text(pathlib.Path("after.py").read_text())
    raise EmbeddedError("web died 10 times (exit status 3).")
"""
DIED = "battlebot.errors.EmbeddedError: web died 10 times (exit status 3)."


@pytest.mark.parametrize(
    ("after", "last"),
    [
        (
            "GAME = {",
            f"{DIED} games/tiny.py: importing it raises SyntaxError: '{{' was never closed (tiny.py, line 1); "
            "expected: a module that imports.",
        ),
        (SOUND, DIED),
    ],
)
def test_a_game_broken_under_a_running_server_is_named_when_a_part_keeps_dying_of_it(
    after: str, last: str, tmp_path: Path
) -> None:
    """In the last line: nobody should have to look through the tracebacks of all restarts."""
    with_game(tmp_path, SOUND)
    (tmp_path / "after.py").write_text(after)
    finished = subprocess.run([sys.executable, "-c", AWHILE], cwd=tmp_path, capture_output=True, text=True, timeout=30)
    assert finished.stderr.splitlines()[-1] == last


def test_an_unwritable_data_folder_is_one_clear_line(battlebot: Run, tmp_path: Path) -> None:
    """Here a file stands in its place."""
    (tmp_path / "file").touch()
    ports = {"BATTLEBOT_PORT": str(free_port()), "BATTLEBOT_TCP_PORT": "0", "BATTLEBOT_NATS_PORT": "0"}
    finished = battlebot("serve", "--data", "file", **ports)
    assert "file cannot be written: " in complaint(finished)


def test_an_unknown_option_is_told_without_a_traceback(battlebot: Run) -> None:
    """With click's own words."""
    finished = battlebot("serve", "--prot", "3000")
    assert finished.returncode == 2
    assert "No such option" in finished.stderr
    assert "Traceback" not in finished.stderr


@pytest.mark.parametrize(
    "words",
    [("show", "g", "cup\udcff"), ("list", "g", "--state", "\udcff"), ("create", "g", "cup", "--title", "\udcff")],
)
def test_an_argument_that_is_no_text_is_told(words: tuple[str, ...], battlebot: Run) -> None:
    """Bytes that are not UTF-8 can be sent to no server."""
    assert "is not UTF-8" in complaint(battlebot("contest", *words, "--server", "http://127.0.0.1:1"))


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="a device of Linux")
def test_output_that_cannot_be_written_is_told(tmp_path: Path) -> None:
    """In one line, and not once more at exit."""
    with Path("/dev/full").open("w") as full:
        finished = run_into(full, tmp_path, "settings")
    assert "No space left" in complaint(finished)


@pytest.mark.parametrize("closed", [">&-", "2>&-", ">&- 2>&-"])
def test_an_output_that_is_closed_is_no_negative_result(closed: str, tmp_path: Path) -> None:
    """No traceback, and what the other one is told is there."""
    words = [sys.executable, "-P", "-m", "battlebot", "settings"]
    shell = ["sh", "-c", f'exec "$@" {closed}', "sh", *words]
    finished = subprocess.run(shell, cwd=tmp_path, capture_output=True, text=True)
    assert (finished.returncode, finished.stderr) == (0, "")
    assert ("BATTLEBOT_PORT=" in finished.stdout) == (closed == "2>&-")


@pytest.mark.parametrize("closed", ["<&-", "2>&-", "<&- 2>&-", "<&- >&- 2>&-"])
def test_nothing_takes_the_place_of_what_is_closed(closed: str, tmp_path: Path) -> None:
    """Neither here nor in a part: what it printed, or read, would be another's, such as the lock of the data folder."""
    script = (
        "import atexit, os; from battlebot.cli import main\n"
        "atexit.register(lambda: os._exit(not (os.open('/', 0) > 2 and all(map(os.get_inheritable, range(3))))))\n"
        "main(['settings'])"
    )
    shell = ["sh", "-c", f'exec "$@" {closed}', "sh", sys.executable, "-P", "-c", script]
    assert subprocess.run(shell, cwd=tmp_path, stdout=subprocess.DEVNULL).returncode == 0


def test_an_input_that_is_closed_is_an_empty_one(tmp_path: Path) -> None:
    """Whatever would read it ends with a sentence, not with a traceback."""
    words = ["contest", "create", "numberwang", "cup", "--entrants-file", "-"]
    shell = ["sh", "-c", 'exec "$@" <&-', "sh", sys.executable, "-P", "-m", "battlebot"]
    finished = subprocess.run([*shell, *words], cwd=tmp_path, capture_output=True, text=True)
    assert finished.returncode == 2
    assert finished.stderr.endswith("No entrant is named.\n")


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="a device of Linux")
@pytest.mark.parametrize(
    "words",
    [
        ["worker"],
        ["verify", "nothing"],
        ["nonsense"],
        ["play-tcp", "--host", ":"],
        ["bots", "crossword-greedy", "--nats", ":"],
    ],
)
@pytest.mark.parametrize("nobody", ["a full disk", "a reader that has gone"])
def test_an_error_that_cannot_be_told_is_no_negative_result(words: list[str], nobody: str, tmp_path: Path) -> None:
    """Its status says the same as where it is told."""
    reader, stderr = os.pipe()
    os.close(reader)
    if nobody == "a full disk":
        os.close(stderr)
        stderr = os.open("/dev/full", os.O_WRONLY)
    command = [sys.executable, "-P", "-m", "battlebot", *words]
    try:
        assert subprocess.run(command, cwd=tmp_path, stdout=subprocess.DEVNULL, stderr=stderr).returncode == 2
    finally:
        os.close(stderr)


@pytest.mark.parametrize(
    "words",
    [["settings"], ["--help"], ["--version"], ["serve", "--help"], ["contest", "--help"], ["demo", "--exit"]],
)
def test_a_reader_that_has_gone_is_no_negative_result(words: list[str], tmp_path: Path) -> None:
    """Status 1 would say that the server refused, or that something is not as recorded."""
    read, write = os.pipe()
    os.close(read)
    with os.fdopen(write, "w") as pipe:
        finished = run_into(pipe, tmp_path, *words)
    assert (finished.returncode, finished.stderr) == (141, "")


@pytest.mark.parametrize("encoding", ["latin-1", "utf-8"])
def test_what_the_output_cannot_take_is_escaped_as_in_json(encoding: str, tmp_path: Path) -> None:
    """A command ends well that has done what it was told, and an answer in JSON stays valid."""
    name = "café-日本-🤖"
    words = [sys.executable, "-P", "-m", "battlebot", "settings"]
    environment = {**os.environ, "PYTHONIOENCODING": encoding, "BATTLEBOT_DATA": name}
    finished = subprocess.run(words, cwd=tmp_path, env=environment, capture_output=True, timeout=30)
    assert (finished.returncode, finished.stderr) == (0, b"")
    (line,) = (line for line in finished.stdout.decode(encoding).splitlines() if line.startswith("BATTLEBOT_DATA="))
    assert name in json.loads(f'"{line.replace(chr(34), chr(39))}"')


def test_the_version_is_told(battlebot: Run) -> None:
    """The installed one."""
    finished = battlebot("--version")
    assert (finished.returncode, finished.stdout, finished.stderr) == (0, f"battlebot {version('battlebot')}\n", "")


def run_into(output: TextIO, folder: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    """Runs `battlebot` with these arguments and that output."""
    words = [sys.executable, "-P", "-m", "battlebot", *arguments]
    return subprocess.run(words, cwd=folder, stdout=output, stderr=subprocess.PIPE, text=True)
