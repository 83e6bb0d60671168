"""Notice saved files: the system's notifications and a clock say when to look, modification times what was saved.

Network file systems do not notify of saves on another machine, and some containers send no notifications at all.
"""

from __future__ import annotations

import os
import threading
from collections.abc import Callable, Sequence
from importlib import import_module
from pathlib import Path
from typing import Any

STEP, DEBOUNCE = 1, 20  # milliseconds: a save ends after STEP without a change, at the latest after DEBOUNCE
OFTEN = 250  # milliseconds between two looks without a notification

State = tuple[int, int] | None  # time in nanoseconds and size; None: there is no file


class SavedFiles:
    """Calls `send` with each of `files` that is saved, from a thread, until it is closed. root: their folder."""

    def __init__(self, root: Path, files: Sequence[Path], send: Callable[[Path], None]):
        self._root, self._send = root, send
        self._seen = {file: _state(file) for file in files}
        self._stop = threading.Event()
        self._thread = threading.Thread(target=self._watch, daemon=True)
        self._thread.start()

    def close(self) -> None:
        self._stop.set()
        self._thread.join()

    def _watch(self) -> None:
        watch: Callable[..., Any] = import_module("watchfiles").watch
        for _changes in watch(
            self._root,
            step=STEP,
            debounce=DEBOUNCE,
            stop_event=self._stop,
            rust_timeout=OFTEN,
            yield_on_timeout=True,
            raise_interrupt=False,
            watch_filter=lambda _change, path: path.endswith((".py", ".ipynb")),
        ):
            for file, before in list(self._seen.items()):
                now = _state(file)
                if now != before:
                    self._seen[file] = now
                    self._send(file)


def _state(file: Path) -> State:
    try:
        found = os.stat(file)
    except OSError:
        return None
    return found.st_mtime_ns, found.st_size
