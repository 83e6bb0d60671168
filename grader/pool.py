"""Processes that share work of our own, and leave Ctrl-C to whoever asked for it."""

from __future__ import annotations

import multiprocessing
import signal
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import ProcessPoolExecutor
from contextlib import contextmanager
from typing import Any

context = multiprocessing.get_context("spawn")  # a fork would inherit threads and locks


@contextmanager
def pool(
    jobs: int, begin: Callable[..., None] | None = None, given: tuple[Any, ...] = ()
) -> Iterator[ProcessPoolExecutor]:
    """Up to `jobs` processes, in each of which `begin(*given)` is called first. An error in the body ends them at once."""
    executor = ProcessPoolExecutor(jobs, mp_context=context, initializer=begin, initargs=given)
    try:
        with uninterrupted():
            for _n in range(jobs):
                executor.submit(int)  # each starts one, as long as none is idle
        yield executor
    except BaseException:
        for process in multiprocessing.active_children():
            process.terminate()
        raise
    finally:
        executor.shutdown(cancel_futures=True)


@contextmanager
def uninterrupted() -> Iterator[None]:
    """Processes started here do not hear Ctrl-C: this one decides when they end."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    before = signal.signal(signal.SIGINT, signal.SIG_IGN)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)
