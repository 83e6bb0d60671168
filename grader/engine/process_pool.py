"""Processes that share work of our own, and leave Ctrl-C to whoever asked for it."""

from __future__ import annotations

import multiprocessing
import os
import signal
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from contextlib import contextmanager
from multiprocessing import resource_tracker
from multiprocessing.connection import wait
from typing import Any

from grader.sandbox.base import SandboxError
from grader.support.i18n import _

context = multiprocessing.get_context("spawn")  # a fork would inherit threads and locks


@contextmanager
def pool(
    jobs: int, begin: Callable[..., None] | None = None, given: tuple[Any, ...] = ()
) -> Iterator[ProcessPoolExecutor]:
    """Up to `jobs` processes, in each of which `begin(*given)` is called first. An error in the body ends them at once.

    `given` must be small: it goes through a pipe, and if a process ends before it has read more than that holds,
    this one waits for ever.

    Raises SandboxError when one of them dies.
    """
    executor = ProcessPoolExecutor(jobs, mp_context=context, initializer=_begin, initargs=(begin, given))
    try:
        with uninterrupted():
            for _process in range(jobs):
                executor.submit(int)  # each starts one, as long as none is idle
        yield executor
    except BaseException as error:
        for process in multiprocessing.active_children():
            process.terminate()
        if isinstance(error, BrokenProcessPool):
            raise SandboxError(
                _("one of the processes that share the work was ended, perhaps for want of memory: try again")
            ) from None
        raise
    finally:
        executor.shutdown(cancel_futures=True)


def _begin(begin: Callable[..., None] | None, given: tuple[Any, ...]) -> None:
    threading.Thread(target=_end_with_parent, daemon=True).start()
    if begin is not None:
        begin(*given)


def _end_with_parent() -> None:
    """A process that waits for work would wait for ever when whoever gives it out was killed."""
    parent = multiprocessing.parent_process()
    if parent is not None:
        wait([parent.sentinel])
        os._exit(1)


@contextmanager
def uninterrupted() -> Iterator[None]:
    """Processes started here do not hear Ctrl-C: this one decides when they end. It hears of it afterwards."""
    if not hasattr(signal, "pthread_sigmask"):  # Windows: there they hear it too
        with _heard_later():
            yield
        return
    resource_tracker.ensure_running()  # its start would let the signal through
    with _heard_later():
        before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})  # which they inherit
        try:
            yield
        finally:
            signal.pthread_sigmask(signal.SIG_SETMASK, before)


@contextmanager
def _heard_later() -> Iterator[None]:
    """Ctrl-C waits until the end. A mask is not enough: the signal goes to any thread, and numpy has some."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    heard: list[int] = []
    before = signal.signal(signal.SIGINT, lambda number, _frame: heard.append(number))
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)
        if heard:
            signal.raise_signal(signal.SIGINT)
