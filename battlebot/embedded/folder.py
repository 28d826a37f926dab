"""The data folder of one server: its lock, secret key and socket folder. The servers' own data are not handled here."""

from __future__ import annotations

import fcntl
import hashlib
import os
import secrets
import shutil
import stat
import tempfile
from pathlib import Path

from battlebot.config import are_keys
from battlebot.errors import EmbeddedError

KEY_FILE = "secret_key"
_SOCKET_PATH_BYTES = 100  # sun_path holds 108 on Linux and 104 on macOS, with the closing zero
_READ_OTHERWISE = set(":,?#[%")  # mongod's addresses and Valkey's URL with one of them in a path would mean another


class DataFolder:
    """A data folder locked for this process. Call `close` after everything that uses it has stopped."""

    def __init__(self, path: Path) -> None:
        """Create (mode 0700) and lock the folder.

        Raises EmbeddedError if it cannot be written, is in use by another server, or, without a lock, as `check_owner`.
        """
        self.path = Path(path).expanduser().absolute()
        try:
            if not (self.path / "lock").exists():
                # as after a backup is restored; what root makes now, its owner's server could not open
                self.check_owner()
            self.path.mkdir(mode=0o700, parents=True, exist_ok=True)
            for name in ("valkey", "mongod", "logs"):
                (self.path / name).mkdir(mode=0o700, exist_ok=True)
            self._lock = os.open(self.path / "lock", os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
        except OSError as error:
            raise self._unwritable(error) from error
        try:
            self._take_lock()
            self.sockets = socket_folder(self.path)
            os.write(self._lock, os.fsencode(self.sockets) + b"\n")
        except BaseException as error:
            os.close(self._lock)
            if isinstance(error, OSError):
                raise self._unwritable(error) from error
            raise

    def _unwritable(self, error: OSError) -> EmbeddedError:
        return EmbeddedError(
            f"The data folder {self.path} cannot be written: {error.strerror}."
            " Choose another by BATTLEBOT_DATA or --data."
        )

    def _take_lock(self) -> None:
        try:
            fcntl.flock(self._lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError as error:
            holder = os.read(self._lock, 20).decode(errors="replace").partition("\n")[0] or "unknown"
            raise EmbeddedError(
                f"Another Battlebot (process {holder}) uses the data folder {self.path}."
                " Stop it, or choose another folder by BATTLEBOT_DATA or --data."
            ) from error
        os.ftruncate(self._lock, 0)
        os.write(self._lock, f"{os.getpid()}\n".encode())

    def check_owner(self) -> None:
        """Raise EmbeddedError if we are root, and a server of another user has used the folder.

        That one could not read what root's stores write, and would not start any more.
        """
        used = self.path / "mongod"
        if os.geteuid() == 0 and used.exists() and used.stat().st_uid != 0:
            raise EmbeddedError(f"The files in {self.path} belong to another user: do this as that one, not as root.")

    def secret_key(self) -> str:
        """The key stored in the folder, created before anything else is kept there.

        Raises EmbeddedError if it is none, or is missing where a database has been kept.
        """
        path = self.path / KEY_FILE
        try:
            if not path.exists() and not (self.path / "mongod" / "WiredTiger").exists():
                # a truncated key would lock every bot out
                write_secret(path, secrets.token_hex(32))
        except OSError as error:
            raise EmbeddedError(f"The secret key {path} cannot be read or written: {error.strerror}.") from error
        return kept_key(self.path)

    def close(self) -> None:
        """Remove the sockets and release the lock. The data stay."""
        shutil.rmtree(self.sockets, ignore_errors=True)
        os.close(self._lock)


def kept_key(folder: Path) -> str:
    """The secret key stored in a data folder. Raises EmbeddedError if there is none, or what is there is none."""
    path = folder / KEY_FILE
    try:
        key = path.read_text().strip()
    except FileNotFoundError:
        raise EmbeddedError(
            f"The secret key {path} is missing, and by another no bot of this folder could log in:"
            " restore it, or set SECRET_KEY as before."
        ) from None
    except OSError as error:
        raise EmbeddedError(f"The secret key {path} cannot be read or written: {error.strerror}.") from error
    except UnicodeDecodeError:
        raise EmbeddedError(f"The secret key {path} is not text: restore it, or set SECRET_KEY.") from None
    if not key:
        raise EmbeddedError(f"The secret key {path} is empty: restore it, or set SECRET_KEY.")
    # a crash of the machine may leave zeros, or the beginning alone
    if "\0" in key or not are_keys(key):
        raise EmbeddedError(f"The secret key {path} is damaged: restore it, or set SECRET_KEY.")
    return key


def write_secret(path: Path, secret: str) -> None:
    """Write a file (mode 0600) with the secret: all of it, or none if this is interrupted. Raises OSError."""
    fresh = path.with_suffix(".new")
    fresh.unlink(missing_ok=True)
    with os.fdopen(os.open(fresh, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "w") as stream:
        stream.write(secret + "\n")
        stream.flush()
        os.fsync(stream.fileno())
    fresh.replace(path)


def sockets_in_use(data: Path) -> Path | None:
    """The folder of the sockets of the server that uses a data folder; None while it has noted none.

    Another user, or a shell with another TMPDIR, could not derive it. Raises EmbeddedError if it cannot be read.
    """
    try:
        noted = (data / "lock").read_bytes().split(b"\n")[1:2]
    except OSError as error:
        raise EmbeddedError(f"The lock of {data} cannot be read: {error.strerror}.") from error
    return Path(os.fsdecode(noted[0])) if noted and noted[0] else None


def socket_folder(data: Path) -> Path:
    """A private folder with a short path for unix sockets, normally the same at each start with one data folder.

    The path of the data folder may be too long: sockets have a shorter limit than files. The name is derived from it,
    so that the folder a killed server left behind is reused. Raises EmbeddedError if no such folder can be made.
    """
    name = f"battlebot-{os.geteuid()}-{hashlib.sha256(os.fsencode(data.resolve())).hexdigest()[:12]}"
    # that of temporary files may be relative, and the stores go to folders of their own
    temporary = os.path.abspath(tempfile.gettempdir())  # noqa: PTH100 - `Path.absolute` would keep `..`
    root = temporary if _fits_sockets(temporary) else "/tmp"  # noqa: S108
    folder = Path(root) / name
    try:
        if make_private(folder):
            return folder
    except OSError as error:
        raise EmbeddedError(f"No folder for sockets can be made in {root}: {error.strerror}.") from error
    # Another user has taken the name (/tmp is shared): any other name will do
    return Path(tempfile.mkdtemp(prefix="battlebot-", dir=root))


def make_private(folder: Path) -> bool:
    """Make a folder (mode 0700) unless it is there; whether it is a folder that only we may enter. Raises OSError."""
    try:
        folder.mkdir(mode=0o700, exist_ok=True)
    except FileExistsError:
        return False
    found = folder.lstat()
    return stat.S_ISDIR(found.st_mode) and found.st_uid == os.geteuid() and not found.st_mode & 0o077


def _fits_sockets(root: str) -> bool:
    """Whether a socket in a folder of ours in `root` can be addressed."""
    return len(os.fsencode(root)) + 50 <= _SOCKET_PATH_BYTES and _READ_OTHERWISE.isdisjoint(root)
