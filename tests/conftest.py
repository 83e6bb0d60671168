"""Fixtures for all tests: the public bundles, a shared engine, and a check of what a test leaves behind.

The hooks of pytest choose the order of the tests.
"""

from __future__ import annotations

import os
import shutil
import signal
import sys
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
import torch
from helpers.command_line import ROOT
from helpers.leftovers import isolate, left_since, traces
from helpers.minimal import submission_of

import grader
import grader.given  # loaded here so that OWN contains it
from grader.bundle.files import load_all
from grader.bundle.model import Bundle
from grader.engine.engine import Engine
from grader.engine.grading import GradingOptions
from grader.report.model import ExerciseResult, Report
from grader.sandbox import choose as choose_module
from grader.sandbox.base import Launcher, Limits

if TYPE_CHECKING:
    from xdist.remote import Producer
    from xdist.scheduler import LoadFileScheduling

_shared: list[Engine] = []
NBGRADER = "tests/nbgrader/"
ANSWERS = "tests/course/test_answers.py"

# Names (or beginnings of names) of the modules that loading a submission puts into sys.modules.
STAND_INS = ("grader.given", "d2l", "submission")
# The real modules of these names.
OWN = {name: module for name, module in sys.modules.items() if name.startswith(STAND_INS)}


@pytest.fixture(autouse=True)
def no_stand_ins() -> Iterator[None]:
    """Undo the changes to sys.modules that loading a submission in this process makes.

    This also happens before each test, because a fixture for the whole module may have loaded a submission.
    """
    _remove_stand_ins()
    yield
    _remove_stand_ins()


def _remove_stand_ins() -> None:
    if sys.modules.get("grader.given") is OWN["grader.given"]:
        return  # no submission was loaded: loading replaces this module
    for name in [name for name in sys.modules if name.startswith(STAND_INS)]:
        del sys.modules[name]
    sys.modules.update(OWN)
    vars(grader).pop("check", None)  # then `grader` loads the real `check` on its next use
    grader.given = OWN["grader.given"]


def pytest_configure() -> None:
    """Give the tests their own /dev/shm (see `isolate`), and enable Ctrl-C, which a run in the background ignores."""
    isolate()
    if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
        signal.signal(signal.SIGINT, signal.default_int_handler)
    # The tensors are tiny, and with more threads parallel tests would slow each other down.
    torch.set_num_threads(1)


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    # The tests of nbgrader run one after another in one process, so they start first; then the longest tests.
    first = (NBGRADER, ANSWERS, "tests/classroom/", "tests/release/", "tests/fuzz/")
    items.sort(
        key=lambda item: next((n for n, start in enumerate(first) if item.nodeid.startswith(start)), 9)
    )


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config: pytest.Config, log: Producer) -> LoadFileScheduling | None:
    """Run test files in parallel, but those of nbgrader in one process: they share made-up classes of students.

    Each test of all the answers to an exercise takes as long as a file, so it may run in any process.
    """
    if config.getoption("dist") != "loadfile":
        return None
    from xdist.scheduler import LoadFileScheduling

    class Together(LoadFileScheduling):
        def _split_scope(self, nodeid: str) -> str:
            if nodeid.startswith(NBGRADER):
                return NBGRADER
            return nodeid if nodeid.startswith(ANSWERS) else super()._split_scope(nodeid)

    return Together(config, log)


@pytest.fixture(scope="session", autouse=True)
def temporary_files(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """Make a folder for the temporary files of this run, so that `leaves_nothing` reports no files of other programs."""
    tmp_path_factory.getbasetemp()  # first, so that pytest's own folder is not inside the new one
    made = Path(tempfile.mkdtemp(prefix="headway-tests-"))
    made.chmod(0o755)  # a worker may be another user
    old_folder, old_variable = tempfile.tempdir, os.environ.get("TMPDIR")
    tempfile.tempdir = os.environ["TMPDIR"] = str(made)
    yield made
    tempfile.tempdir = old_folder
    os.environ.pop("TMPDIR")
    if old_variable is not None:
        os.environ["TMPDIR"] = old_variable
    shutil.rmtree(made)


@pytest.fixture(autouse=True)
def leaves_nothing(temporary_files: Path, request: pytest.FixtureRequest) -> Iterator[None]:
    """Fail a test that leaves a process, file, mount, listening socket or shared memory behind."""
    if "under_test" in request.fixturenames:  # a tier that many attacks share
        request.getfixturevalue("under_test")
    before = traces()
    yield
    if left_since(before, seconds=0.0):
        for engine in _shared:
            engine.close()  # the engine keeps a worker between tests; `left_since` must not report it
    left = left_since(before)
    assert not left, f"the test left {left}"


@pytest.fixture(scope="session")
def bundles() -> list[Bundle]:
    found = load_all(ROOT / "assignments")
    assert found, "assignments/ is empty: run `grader build`"
    return found


@pytest.fixture(scope="session")
def engine(bundles: list[Bundle]) -> Iterator[Engine]:
    launcher = choose_module.choose()
    # Start a worker before the first test: `leaves_nothing` would report what this leaves in the launcher.
    launcher.start(Limits()).close()
    engine = Engine(bundles, launcher, GradingOptions(torch_version="tested"))  # any name: it is only shown
    _shared.append(engine)
    yield engine
    _shared.remove(engine)
    engine.close()
    launcher.close()


@pytest.fixture
def shared_launcher(engine: Engine, monkeypatch: pytest.MonkeyPatch) -> Launcher:
    """Return the launcher of all tests, which has already imported torch; `grader check` in this process uses it."""
    own = choose_module.choose

    def shared(tier: str) -> Launcher:
        return engine.launcher if tier in ("auto", engine.launcher.tier) else own(tier)

    monkeypatch.setattr(choose_module, "choose", shared)
    monkeypatch.setattr(engine.launcher, "close", lambda: None)
    return engine.launcher


@pytest.fixture
def grade(engine: Engine) -> Callable[..., Report]:
    """Return a function that grades source text as a file of the given name."""

    def graded(source: str, wanted: list[str] | None = None, name: str = "answer.py") -> Report:
        return engine.grade(submission_of(source, name), wanted)

    return graded


@pytest.fixture
def grade_one(grade: Callable[..., Report]) -> Callable[[str, str], ExerciseResult]:
    """Return a function that grades one exercise of a source text."""

    def graded(source: str, name: str) -> ExerciseResult:
        return grade(source, [name]).exercises[0]

    return graded
