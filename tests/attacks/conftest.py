"""Fixtures of the attacks: an engine per tier, targets to attack, and checks of what an attack changed."""

import os
import socket
import tempfile
from collections.abc import Callable, Iterator
from contextlib import ExitStack, closing
from pathlib import Path

import psutil
import pytest
from attacks.suite import RIGHT, Attack
from helpers.command_line import ROOT
from helpers.minimal import submission_of
from helpers.waiting import runs

from grader.bundle.model import Bundle
from grader.engine.engine import Engine
from grader.intake.read import Submission, read_submission
from grader.report.model import ExerciseResult
from grader.sandbox.base import CONFINED, Limits
from grader.sandbox.choose import choose, report_on

# The limits of attacks that exhaust time, memory, disk or processes.
LITTLE = Limits(
    wall_seconds=0.35,
    cpu_seconds=2,
    memory_bytes=1200 << 20,
    output_bytes=1 << 16,
    file_bytes=1 << 20,
    processes=16,
)
# The tiers that confine a worker and that this machine has, the strongest first.
TIERS_HERE = [tier for tier in CONFINED if report_on(tier).available]
SERVER_PROCESSES = 3  # a guard, the server, and a worker that is ready
SECRET = "a secret that no worker may read"


class Targets:
    """Files, a port and processes that attacks try to reach."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        folder.mkdir(mode=0o777)
        folder.chmod(0o777)
        self.secret = folder / "seed"
        self.secret.write_text(SECRET)
        self.secret.chmod(0o666)
        self.listener = socket.create_server(("127.0.0.1", 0))
        self.listener.setblocking(False)

    def fill(self, text: str) -> str:
        """Replace the marks of `Attack` in a text."""
        values = {
            "FOLDER": self.folder,
            "SECRET": self.secret,
            "PORT": self.listener.getsockname()[1],
            "PARENT": os.getpid(),
            "ROOT": ROOT,
        }
        for name, value in values.items():
            text = text.replace(f"@{name}@", str(value))
        return text

    def touched(self) -> list[str]:
        """Return sentences about changes to the targets, and undo the changes."""
        changes = [f"{name} is in the folder" for name in os.listdir(self.folder) if name != "seed"]
        if not self.secret.exists() or self.secret.read_text() != SECRET:
            changes.append("the secret is not what it was")
        try:
            connection, _ = self.listener.accept()
            connection.close()
            changes.append("a connection arrived")
        except BlockingIOError:
            pass
        for name in os.listdir(self.folder):
            (self.folder / name).unlink()
        self.secret.write_text(SECRET)
        return changes


class TierUnderTest:
    """A tier: its engine, and functions that grade a hostile and an honest submission in it.

    allowed_processes: descendants of this process that may still run after an attack.
    """

    def __init__(self, engine: Engine, targets: Targets, folder: Path) -> None:
        self.engine = engine
        self.targets = targets
        self.folder = folder
        self.allowed_processes = SERVER_PROCESSES

    def grade(self, attack: Attack) -> ExerciseResult:
        submission = self.submission(attack)
        for name in attack.before:
            self.engine.grade(submission, [name])
        return self.engine.grade(submission, [attack.exercise]).exercises[0]

    def submission(self, attack: Attack) -> Submission:
        """Return the submission of an attack. Raises Blocked if its file is refused."""
        if attack.data:
            path = self.folder / attack.name
            path.write_bytes(self.targets.fill(attack.data.decode("latin-1")).encode("latin-1"))
            return read_submission(path)
        return submission_of(self.targets.fill(attack.source), attack.name)

    def grade_honest(self) -> ExerciseResult:
        return self.engine.grade(submission_of("import torch\n" + RIGHT), ["masked_softmax"]).exercises[0]


@pytest.fixture(scope="module")
def temporary(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """Make a folder for the temporary files of a module. A worker with another user id may enter it."""
    tmp_path_factory.getbasetemp()  # first, so that pytest's own folder is not in the new one
    made = Path(tempfile.mkdtemp(prefix="attacks-"))
    made.chmod(0o755)
    before, tempfile.tempdir = tempfile.tempdir, str(made)
    yield made
    tempfile.tempdir = before
    made.rmdir()  # fails if a file is left


@pytest.fixture(scope="module")
def targets(temporary: Path) -> Iterator[Targets]:
    made = Targets(temporary / "open")
    yield made
    made.listener.close()
    made.secret.unlink()
    made.folder.rmdir()


@pytest.fixture(scope="module")
def tiers(
    bundles: list[Bundle], targets: Targets, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Callable[[str], TierUnderTest]]:
    """Return a function that returns a tier, after it has ended the one before."""
    started: dict[str, TierUnderTest] = {}
    with ExitStack() as open_now:

        def tier(name: str) -> TierUnderTest:
            if name not in started:
                started.clear()
                open_now.close()
                others = processes()
                launcher = open_now.enter_context(closing(choose(name)))
                engine = open_now.enter_context(closing(Engine(bundles, launcher)))
                made = started[name] = TierUnderTest(engine, targets, tmp_path_factory.mktemp(name))
                made.allowed_processes = others + SERVER_PROCESSES
                made.grade_honest()  # starts the server, which makes files that it removes only when it ends
                engine.close()  # ends the worker, not the server; the next grading starts a new worker
            return started[name]

        yield tier


@pytest.fixture
def under_test(request: pytest.FixtureRequest, tiers: Callable[[str], TierUnderTest]) -> TierUnderTest:
    """Return the tier that is the parameter of the test."""
    return tiers(request.param)


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    terminalreporter.write_line(f"the strongest sandbox for attacks here: {', then '.join(TIERS_HERE)}")


def processes() -> int:
    """Return the number of running descendants of this process."""
    return sum(map(runs, psutil.Process().children(recursive=True)))
