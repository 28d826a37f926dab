"""constraints.txt: the versions that `make` and the image install."""

from __future__ import annotations

import ast
import sys
from importlib.metadata import packages_distributions
from pathlib import Path

import pytest
from house_rules import HOUSE, imports, module_of
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

ROOT = Path(__file__).parents[1]
# what another requirement is made of, and comes with in any version of it
PARTS = {"engineio", "kombu", "markupsafe", "webargs", "werkzeug"}


def _lines(file: str) -> list[Requirement]:
    lines = (ROOT / file).read_text().splitlines()
    return [Requirement(line) for line in lines if line[:1] not in ("", "#", "-")]


PINS = {canonicalize_name(line.name): line.specifier for line in _lines("constraints.txt")}


@pytest.mark.parametrize("file", ["requirements.txt", "requirements-dev.txt"])
def test_each_requirement_has_one_version_that_is_acceptable(file: str) -> None:
    """A dependency that is added or raised without `make upgrade` would be installed in whatever version is newest."""
    for needed in _lines(file):
        if needed.marker is not None and not needed.marker.evaluate({"sys_platform": "linux"}):
            continue
        [pin] = PINS[canonicalize_name(needed.name)]
        assert pin.operator == "=="
        assert needed.specifier.contains(pin.version), f"{needed} is pinned to {pin}"


def test_whatever_is_imported_is_required() -> None:
    """A library that only comes along with another one goes with it, too."""
    distributions = packages_distributions()
    required = {canonicalize_name(line.name) for line in _lines("requirements.txt")}
    files = [file for part in HOUSE for file in (*(ROOT / part).rglob("*.py"), ROOT / f"{part}.py") if file.exists()]
    used = {
        name.split(".")[0]: str(file)
        for file in files
        for _, name in imports(ast.parse(file.read_text()), module_of(file.relative_to(ROOT)), False)
    }
    theirs = used.keys() - sys.stdlib_module_names - {*HOUSE, "socketio2", *PARTS}
    names = {name: {canonicalize_name(one) for one in distributions.get(name, ())} for name in theirs}
    assert {name: used[name] for name in theirs if required.isdisjoint(names[name])} == {}


def test_the_image_and_every_install_of_the_makefile_use_it() -> None:
    """But for `make upgrade`, which finds out what is newest."""
    makefile = (ROOT / "Makefile").read_text().partition("\nupgrade:")
    rest = makefile[0] + makefile[2].partition("\nclean:")[2]
    [install] = [line for line in rest.splitlines() if "$(PIP) install" in line]
    assert install.startswith("INSTALL := ")
    assert "-c constraints.txt" in install
    assert rest.count("$(INSTALL)") == 2
    assert "--constraint constraints.txt" in (ROOT / "docker" / "Dockerfile").read_text()
