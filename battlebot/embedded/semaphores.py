"""Whether the system lets a process make semaphores: Celery's worker shares them with its processes."""

from __future__ import annotations

import multiprocessing

from battlebot.errors import EmbeddedError


def check_semaphores() -> None:
    """Raise EmbeddedError, with a sentence for the operator, if a worker could make none and so would never start."""
    try:
        # of this kind it is removed at once, and needs no process that would do so later
        multiprocessing.get_context("fork").Semaphore()
    except OSError as error:
        raise EmbeddedError(
            f"No semaphores can be made, which Celery's worker needs: {error.strerror}."
            " On Linux they are files in /dev/shm: mount a tmpfs there that can be written to."
        ) from error
