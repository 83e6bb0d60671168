"""Notice saved files: by the notifications of the system, and by modification times where there are none.

Network file systems do not notify of saves on another machine, and some containers send no notifications at all.
The times of the few files that are graded are therefore compared as well. After a change without a notification,
they are compared often.
"""

from __future__ import annotations

import os
import threading
from collections.abc import Callable, Sequence
from importlib import import_module
from pathlib import Path
from typing import Any

STEP, DEBOUNCE = 10, 60  # milliseconds: a save ends after STEP without a change, at the latest after DEBOUNCE
SELDOM, OFTEN = 2.0, 0.25  # seconds between two comparisons of times
LATE = 1.0  # seconds within which a notification arrives, if ever

State = tuple[int, int] | None  # time in nanoseconds and size; None: there is no file


class SavedFiles:
    """Calls `send` with each saved file, from two threads, until it is closed.

    files: those whose times are compared.
    """

    def __init__(self, root: Path, files: Sequence[Path], send: Callable[[Path], None]):
        self.polls = False  # whether a change was seen without a notification
        self._root, self._send = root, send
        self._lock = threading.Lock()
        self._seen = {file: _state(file) for file in files}
        self._stop = threading.Event()
        self._threads = [threading.Thread(target=work, daemon=True) for work in (self._listen, self._compare)]
        for thread in self._threads:
            thread.start()

    def close(self) -> None:
        self._stop.set()
        for thread in self._threads:
            thread.join()

    def _listen(self) -> None:
        watch: Callable[..., Any] = import_module("watchfiles").watch
        for changes in watch(
            self._root,
            step=STEP,
            debounce=DEBOUNCE,
            stop_event=self._stop,
            rust_timeout=200,
            raise_interrupt=False,
            watch_filter=lambda _change, path: path.endswith((".py", ".ipynb")),
        ):
            for path in sorted({Path(path) for _change, path in changes}):
                # If `polls`, `_compare` has already sent a file whose state is the stored one.
                if self._note(path) or not self.polls:
                    self._send(path)

    def _compare(self) -> None:
        while not self._stop.wait(OFTEN if self.polls else SELDOM):
            with self._lock:
                changed = [file for file, state in self._seen.items() if _state(file) != state]
            for file in changed:
                if not self.polls:  # a notification may still arrive
                    self._stop.wait(LATE)
                if self._note(file):
                    self.polls = True
                    self._send(file)

    def _note(self, path: Path) -> bool:
        """Store the state of one of `files`. Return whether it differs from the one that was stored before.

        For another file, nothing is stored: return whether it exists.
        """
        with self._lock:
            before, now = self._seen.get(path), _state(path)
            if path in self._seen:
                self._seen[path] = now
            return before != now


def _state(file: Path) -> State:
    try:
        found = os.stat(file)
    except OSError:
        return None
    return found.st_mtime_ns, found.st_size
