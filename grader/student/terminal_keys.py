"""Read single keys from a terminal, without waiting for the return key."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def single_keys() -> Iterator[int | None]:
    """Yield the descriptor to read keys from, or None without a terminal. Restores the terminal at the end."""
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


def read_keys(terminal: int) -> str:
    """Return the pressed keys as text; "" if the terminal is closed."""
    try:
        return os.read(terminal, 64).decode("utf-8", "ignore")
    except OSError:
        return ""
