"""Notice saved files: by the notifications of the system, and by modification times where there are none.

Network file systems do not notify of saves on another machine, and some containers send no notifications at all.
The times of the few files that are graded are therefore compared as well. After a change without a notification,
they are compared often.
"""

from __future__ import annotations

import os
import threading
import time
from collections.abc import Callable, Sequence
from importlib import import_module
from pathlib import Path
from typing import Any

STEP, DEBOUNCE = 10, 60  # milliseconds: a save ends after STEP without a change, at the latest after DEBOUNCE
SELDOM, OFTEN = 1.5, 0.25  # seconds between two comparisons of times

State = tuple[int, int] | None  # time in nanoseconds and size; None: there is no file


class SavedFiles:
    """Calls `send` with each saved file, from a thread, until it is closed.

    files: those whose times are compared.
    """

    def __init__(self, root: Path, files: Sequence[Path], send: Callable[[Path], None]):
        self.polls = False  # whether a change was seen without a notification
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
        compared = time.monotonic()
        changed: set[Path] = set()  # at the last comparison; a notification may still arrive
        for changes in watch(
            self._root,
            step=STEP,
            debounce=DEBOUNCE,
            stop_event=self._stop,
            rust_timeout=int(OFTEN * 1000),
            yield_on_timeout=True,
            raise_interrupt=False,
            watch_filter=lambda _change, path: path.endswith((".py", ".ipynb")),
        ):
            for path in sorted({Path(path) for _change, path in changes}):
                # If `polls`, a comparison has already sent a file whose state is the stored one.
                if self._note(path) or not self.polls:
                    self._send(path)
            if time.monotonic() - compared >= (OFTEN if self.polls else SELDOM):
                compared = time.monotonic()
                before, changed = changed, {f for f, state in self._seen.items() if _state(f) != state}
                for file in sorted(changed if self.polls else changed & before):
                    self.polls = True
                    self._note(file)
                    self._send(file)

    def _note(self, path: Path) -> bool:
        """Store the state of one of `files`. Return whether it differs from the one that was stored before.

        For another file, nothing is stored: return whether it exists.
        """
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
