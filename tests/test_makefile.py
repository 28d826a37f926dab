"""The Makefile: what `make` would do, by its own account."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
INPUTS = ("Makefile", "constraints.txt", "requirements.txt", "requirements-dev.txt", "pyproject.toml")

pytestmark = pytest.mark.skipif(not shutil.which("make"), reason="make is not installed")


@pytest.fixture
def copy(tmp_path: Path) -> Path:
    """Returns a folder with an environment in which everything is installed, by its stamps; its Python is ours."""
    for name in INPUTS:
        shutil.copy(ROOT / name, tmp_path)
    (tmp_path / ".venv" / "bin").mkdir(parents=True)
    for stamp in ("run.stamp", "dev.stamp"):
        (tmp_path / ".venv" / stamp).touch()
    _installed(tmp_path, tmp_path)
    return tmp_path


def _installed(copy: Path, where: Path) -> None:
    """Has the Python of `copy` find Battlebot in `where`."""
    package = where / "battlebot" / "__init__.py"
    package.parent.mkdir(exist_ok=True)
    package.touch()
    python = copy / ".venv" / "bin" / "python"
    # -I, as in the Makefile, lets nothing else say where
    program = f"import sys; sys.path.insert(0, {str(where)!r}); exec(sys.argv[1])"
    python.write_text(f"""#!/bin/sh\nexec {sys.executable} -I -c "{program}" "$3"\n""")
    python.chmod(0o755)


def _would_do(copy: Path, target: str, **variables: str) -> list[str]:
    environment = {key: value for key, value in os.environ.items() if not key.startswith("MAKE")} | variables
    command = ["make", "--no-print-directory", "--dry-run", target]
    return subprocess.run(
        command, cwd=copy, env=environment, check=True, capture_output=True, text=True
    ).stdout.splitlines()


@pytest.mark.parametrize("target", ["demo", "test"])
def test_a_second_call_installs_nothing(copy: Path, target: str) -> None:
    """It goes straight to the program."""
    assert len(_would_do(copy, target)) == 1


@pytest.mark.parametrize("target", ["demo", "test"])
def test_an_environment_of_another_folder_is_made_anew(
    copy: Path, target: str, tmp_path_factory: pytest.TempPathFactory
) -> None:
    """The folder was copied, environment and all: otherwise the code of the first would run."""
    _installed(copy, tmp_path_factory.mktemp("first"))
    made, *_, last = [line for line in _would_do(copy, target) if " -m venv " in line or "stamp" in line]
    assert "--clear" in made
    assert last.startswith("touch ")


@pytest.mark.parametrize("target", ["demo", "test"])
def test_an_environment_of_another_python_is_made_anew(copy: Path, target: str) -> None:
    """After an upgrade of the system `python3` is the next version, which finds nothing installed."""
    shutil.rmtree(copy / "battlebot")
    assert any(" -m venv --clear " in line for line in _would_do(copy, target))


def test_a_link_to_another_folders_environment_leaves_that_alone(
    copy: Path, tmp_path_factory: pytest.TempPathFactory
) -> None:
    """As in a second working tree of git: the link gives way to an environment of its own."""
    first = tmp_path_factory.mktemp("first")
    _installed(copy, first)
    shutil.move(copy / ".venv", first)
    (copy / ".venv").symlink_to(first / ".venv")
    environment = {key: value for key, value in os.environ.items() if not key.startswith("MAKE")}
    command = ["make", f"PYTHON={sys.executable}", ".venv/bin/python"]
    subprocess.run(command, cwd=copy, env=environment, check=True, capture_output=True)
    assert (first / ".venv" / "run.stamp").exists()
    assert not (copy / ".venv").is_symlink()
    assert (copy / ".venv" / "bin" / "python").exists()


def test_the_tests_have_one_encoding_on_every_machine(copy: Path) -> None:
    """Otherwise those that read a file would fail where the language has another: with LC_ALL=C, say."""
    python = copy / ".venv" / "bin" / "python"
    python.write_text(python.read_text().replace("\nexec", '\ntest "$2" != pytest || exec env\nexec'))
    environment = os.environ | {"LC_ALL": "C", "PYTHONUTF8": "0"}
    shown = subprocess.run(["make", "test"], cwd=copy, env=environment, check=True, capture_output=True, text=True)
    assert "PYTHONUTF8=1" in shown.stdout.splitlines()


def test_a_folder_that_nothing_is_installed_from_is_one_clear_line(tmp_path: Path) -> None:
    """setuptools would take what follows the dollar for a variable of its own, and fail by a traceback."""
    folder = tmp_path / "a$b"
    folder.mkdir()
    for name in INPUTS:
        shutil.copy(ROOT / name, folder)
    command = ["make", f"PYTHON={sys.executable}", ".venv/bin/python"]
    ended = subprocess.run(command, cwd=folder, capture_output=True, text=True)
    assert ended.returncode == 2
    told, _ = ended.stderr.splitlines()
    assert told == "make: setuptools installs nothing from a folder with a $ in its path; rename it"
    assert not (folder / ".venv").exists()


def test_settings_for_other_programs_are_kept_from_ours(copy: Path) -> None:
    """`user = true` is common in pip's settings, and refused in a virtual environment; others install elsewhere."""
    meant_for_others = ("PYTHONPATH", "PYTHONHOME", "PYTHONOPTIMIZE", "PYTHONWARNINGS", "PYTHONSAFEPATH")
    meant_for_others += ("PIP_TARGET", "PIP_PREFIX", "PIP_ROOT", "PIP_DRY_RUN", "PIP_NO_DEPS")
    with (copy / "Makefile").open("a") as stream:
        stream.write("\nshown:\n\t@env\n")
    environment = os.environ | dict.fromkeys(meant_for_others, "1") | {"PIP_USER": "1"}
    shown = subprocess.run(["make", "shown"], cwd=copy, env=environment, check=True, capture_output=True, text=True)
    variables = dict(line.split("=", 1) for line in shown.stdout.splitlines() if "=" in line)
    assert variables["PIP_USER"] == "0"
    assert not variables.keys() & set(meant_for_others)
