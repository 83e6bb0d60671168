"""Read single keys from a terminal, without waiting for the return key."""

from __future__ import annotations

import os
import re
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager

# An arrow is one key, sent as an escape sequence.
_KEY = re.compile(r"\x1b[\[O][0-9;]*[A-Za-z~]|.", re.DOTALL)
CLOSED = "\x04"  # Ctrl-D; also what is sent when the terminal is closed
QUIT = "qQ" + CLOSED


@contextmanager
def single_keys(send: Callable[[str], None]) -> Iterator[bool]:
    """Call `send` with each key, from a thread. Yield whether there is a terminal, and restore it at the end."""
    if not (sys.stdin.isatty() and sys.stdout.isatty()):
        yield False
        return
    with _without_line_buffering():
        threading.Thread(target=_read, args=(send,), daemon=True).start()
        yield True


def _read(send: Callable[[str], None]) -> None:
    while keys := _next_keys():
        for key in _KEY.findall(keys):
            send(key)
    send(CLOSED)


if sys.platform == "win32":
    import msvcrt

    def _next_keys() -> str:
        key = msvcrt.getwch()
        if key in "\x00\xe0":  # an arrow or a function key: its code follows; a space does nothing
            return {"H": "\x1b[A", "P": "\x1b[B"}.get(msvcrt.getwch(), " ")
        return key

    @contextmanager
    def _without_line_buffering() -> Iterator[None]:
        yield

else:
    import termios
    import tty

    def _next_keys() -> str:
        try:
            return os.read(sys.stdin.fileno(), 64).decode("utf-8", "ignore")
        except OSError:
            return ""

    @contextmanager
    def _without_line_buffering() -> Iterator[None]:
        terminal = sys.stdin.fileno()
        before = termios.tcgetattr(terminal)
        try:
            tty.setcbreak(terminal)
            yield
        finally:
            termios.tcsetattr(terminal, termios.TCSADRAIN, before)
