"""Single keys from a terminal, without waiting for the return key; whatever happens, it is put back in order."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def keys() -> Iterator[int | None]:
    """Yield the descriptor to read keys from, or None where there is no terminal (or no such system)."""
    try:
        import termios
        import tty
    except ImportError:
        yield None
        return
    if not (sys.stdin.isatty() and sys.stdout.isatty()):
        yield None
        return
    terminal = sys.stdin.fileno()
    before = termios.tcgetattr(terminal)
    try:
        tty.setcbreak(terminal)
        yield terminal
    finally:
        termios.tcsetattr(terminal, termios.TCSADRAIN, before)


def pressed(terminal: int) -> str:
    """The keys that were pressed, as text; "" when the terminal is gone."""
    try:
        return os.read(terminal, 64).decode("utf-8", "ignore")
    except OSError:
        return ""
