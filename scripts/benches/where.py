"""Measure the steps of grading one submission, with timers around functions of the engine."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any
from unittest.mock import patch

import grader.engine.result
from benches.measure import ROOT
from benches.nine import notebook
from grader.bundle.files import load_all
from grader.classroom.store import Store, StoreKey
from grader.engine import judged_cases
from grader.engine.engine import Engine
from grader.engine.session import Session
from grader.intake.read import submission_from
from grader.sandbox.choose import choose

STEPS = ("read", "start worker", "load", "run cases", "judge", "diagnose", "write", "end worker", "the rest")


class Clock:
    """Add up seconds per step."""

    def __init__(self) -> None:
        self.spent = dict.fromkeys(STEPS, 0.0)

    def around(self, step: str, function: Callable[..., Any]) -> Callable[..., Any]:
        """Return the function with a timer around it, which adds to `step`."""

        def wrapped(*args: Any, **kwargs: Any) -> Any:
            with self.on(step):
                return function(*args, **kwargs)

        return wrapped

    @contextmanager
    def on(self, step: str) -> Iterator[None]:
        started = time.perf_counter()
        try:
            yield
        finally:
            self.spent[step] += time.perf_counter() - started

    def asking(self, ask: Callable[..., Any]) -> Callable[..., Any]:
        """Return `Session.ask` with a timer around it, which adds to the step "load" or "run cases"."""

        def wrapped(session: Session, request: Any, *args: Any, **kwargs: Any) -> Any:
            with self.on("load" if request["op"] == "load" else "run cases"):
                return ask(session, request, *args, **kwargs)

        return wrapped


def where(folder: Path, count: int) -> dict[str, float]:
    """Return step → mean seconds per submission of `count` notebooks. Every third one is wrong in one exercise."""
    clock = Clock()
    store = Store(folder / "where.sqlite", StoreKey("bench", "bench", "bench"))
    launcher = choose(warm="full")
    engine = Engine(load_all(ROOT / "assignments"), launcher)
    try:
        _submissions(engine, store, Clock(), _notebooks(range(-2, 0)))  # not measured: start the server
        time.sleep(4.0)  # until the server is warm
        with ExitStack() as stack:
            for target, name, wrapped in (
                (launcher, "start", clock.around("start worker", launcher.start)),
                (Session, "ask", clock.asking(Session.ask)),
                (Session, "close", clock.around("end worker", Session.close)),
                (judged_cases, "judge_case", clock.around("judge", judged_cases.judge_case)),
                (grader.engine.result, "diagnose", clock.around("diagnose", grader.engine.result.diagnose)),
            ):
                stack.enter_context(patch.object(target, name, wrapped))
            texts = _notebooks(range(count))
            started = time.perf_counter()
            _submissions(engine, store, clock, texts)
            total = time.perf_counter() - started
    finally:
        engine.close()
        launcher.close()
        store.close()
    clock.spent["the rest"] = total - sum(clock.spent.values())
    return {step: clock.spent[step] / count for step in STEPS}


def _notebooks(marks: Sequence[int]) -> list[str]:
    """Return a notebook for each mark; it is wrong if the mark is a multiple of 3."""
    texts = {mark: notebook(mark) for mark in marks}
    return [
        text.replace("return X.masked_fill", "return 1 + X.masked_fill") if mark % 3 == 0 else text
        for mark, text in texts.items()
    ]


def _submissions(engine: Engine, store: Store, clock: Clock, texts: Sequence[str]) -> None:
    for text in texts:
        with clock.on("read"):
            submission = submission_from(Path("homework.ipynb"), text.encode())
        report = engine.grade(submission)
        with clock.on("write"):
            store.put(report.exercises)
