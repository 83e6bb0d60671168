"""Run one job at a time in another thread, so that keys and saves are noticed meanwhile."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from functools import partial

from grader.sandbox.channel import Stopped

Show = Callable[[], None]  # what a job wants to show; the main thread calls it


class Background:
    """Runs jobs, which yield what is to be shown. A new job ends the one before, of which nothing more is shown.

    One thread runs all jobs until `close`: on Linux, a worker of `basic` ends when the thread that started it ends.

    stop: the event that makes a job raise Stopped. clean_up: called in the thread after a job raised Stopped. post:
    called in the thread with what the main thread is to call: it shows something, or raises the exception of a job.
    """

    def __init__(self, stop: threading.Event, clean_up: Callable[[], None], post: Callable[[Show], None]):
        self._stop, self._clean_up, self._post = stop, clean_up, post
        self._pool = ThreadPoolExecutor(1, "headway-grading")
        self._running: Future[None] | None = None
        self._job: Iterator[Show] | None = None  # whose shows are up to date
        self._started = 0.0

    def start(self, job: Iterator[Show]) -> None:
        """End the job that is running, and start another one."""
        self.end()
        self._job, self._started = job, time.monotonic()
        self._running = self._pool.submit(self._run, job)

    def end(self) -> None:
        """End the job that is running, if there is one, and wait until it has ended."""
        if self._running is not None:
            self._stop.set()
            self._running.result()
            self._running = self._job = None
            self._stop.clear()

    def close(self, last: Callable[[], None]) -> None:
        """End the job and the thread. last: called in the thread before it ends."""
        self.end()
        self._pool.submit(last).result()
        self._pool.shutdown()

    @property
    def seconds(self) -> float | None:
        """Return how long the job has been running, in seconds; None if no job is running."""
        running = self._running is not None and not self._running.done()
        return time.monotonic() - self._started if running else None

    def _run(self, job: Iterator[Show]) -> None:
        try:
            for show in job:
                self._post(partial(self._show, job, show))
        except Stopped:
            self._clean_up()
        except BaseException as error:
            self._post(partial(_raise, error))

    def _show(self, job: Iterator[Show], show: Show) -> None:
        if job is self._job:
            show()


def _raise(error: BaseException) -> None:
    raise error
