"""A conductor for tests: what it requests is heard by nobody, unless a test says by whom."""

from collections.abc import Callable
from typing import Any

from battlebot.arena.live import conduct


class Conductor(conduct.Conductor):
    """As the server's, which requires who is asked to archive, and to ask bots: a forgotten one fails in silence."""

    def __init__(
        self,
        *args: Any,
        ask_archive: Callable[[], None] = lambda: None,
        ask_bots: Callable[[str], None] = lambda match_id: None,
        **more: Any,
    ) -> None:
        super().__init__(*args, ask_archive=ask_archive, ask_bots=ask_bots, **more)
