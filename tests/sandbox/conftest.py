"""Launchers of the real tiers with a small test program, and functions to talk to it."""

import json
import os
import select
import struct
import subprocess
import sys
import textwrap
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from grader.sandbox.base import CONFINED, Limits, Program
from grader.sandbox.choose import report_on
from grader.sandbox.launcher import SandboxedProcess, SandboxLauncher

ROOT = Path(__file__).resolve().parents[2]  # `entries/report.py` runs without `helpers`
ENTRIES = Path(__file__).with_name("entries")


class Worker:
    """A worker that runs the test program, and functions to talk to it."""

    def __init__(self, process: SandboxedProcess) -> None:
        self.process = process
        os.set_blocking(process.log, False)

    def ask(self, source: str, seconds: float = 120.0) -> Any:
        """Run `source` in the worker. Return {"answer": its variable `answer`}, {"error": "Type: text"}; if the worker
        ended, what `wait` returns.
        """
        request = textwrap.dedent(source).encode()
        os.write(self.process.to_worker, struct.pack("<I", len(request)) + request)
        deadline = time.monotonic() + seconds
        try:
            (size,) = struct.unpack("<I", self._read(4, deadline))
            return json.loads(self._read(size, deadline))
        except EOFError:
            return self.process.wait()

    @property
    def log(self) -> str:
        try:
            return os.read(self.process.log, 1 << 16).decode()
        except BlockingIOError:
            return ""

    @property
    def pid(self) -> int:
        """Return the pid of the worker outside its sandbox."""
        lines = Path(f"/proc/self/fdinfo/{self.process._pidfd}").read_text().splitlines()
        return int(next(line for line in lines if line.startswith("Pid:")).split()[1])

    def status(self) -> dict[str, str]:
        """Return /proc/PID/status from outside the sandbox."""
        lines = Path(f"/proc/{self.pid}/status").read_text().splitlines()
        return {name: value.strip() for name, _, value in (line.partition(":") for line in lines)}

    @property
    def capabilities(self) -> list[str]:
        """Return the worker's four sets of capabilities, without repetition."""
        status = self.status()
        return sorted({status[name] for name in ("CapInh", "CapPrm", "CapEff", "CapAmb")})

    def _read(self, count: int, deadline: float) -> bytes:
        data = b""
        poll = select.poll()
        poll.register(self.process.from_worker, select.POLLIN)
        while len(data) < count:
            if not poll.poll(max(0.0, deadline - time.monotonic()) * 1000):
                raise TimeoutError(f"the worker did not answer; it printed {self.log!r}")
            part = os.read(self.process.from_worker, count - len(data))
            if not part:
                raise EOFError
            data += part
        return data


def skip_without(tier: str) -> None:
    """Skip the test if this machine cannot set up the tier. Fail it if the tier is set up and does not confine."""
    report = report_on(tier)
    if report.available:
        return
    refused = (
        "not permitted",
        "No space left",
        "not implemented",
        "needs Linux",
        "no Landlock",
        "unsupported CPU",
    )
    if not report.canaries and any(words in report.reason for words in refused):
        pytest.skip(f"no {tier} sandbox on this machine: {report.reason}")
    pytest.fail(f"the {tier} sandbox does not hold: {report.reason}")


@pytest.fixture(scope="session", params=CONFINED)
def tier(request: pytest.FixtureRequest) -> str:
    skip_without(request.param)
    return str(request.param)


@pytest.fixture(scope="session")
def plain() -> Program:
    """Return the test program without torch. Its server starts faster than one with torch."""
    return Program("standin:serve", code=(str(ENTRIES),))


@pytest.fixture(scope="session")
def with_torch() -> Program:
    return Program("standin:serve", prepare="standin:import_torch", code=(str(ENTRIES),))


@pytest.fixture(scope="session")
def launcher(tier: str, with_torch: Program) -> Iterator[SandboxLauncher]:
    """Start a launcher with torch. All tests of a tier share it, so no test may end its server."""
    with SandboxLauncher(tier, with_torch) as made:
        made.start(Limits()).close()  # starts the server; it makes files that it removes only when it ends
        yield made


@pytest.fixture
def own_launcher(tier: str, plain: Program) -> Iterator[SandboxLauncher]:
    """Start a launcher for one test, which may also end its server."""
    with SandboxLauncher(tier, plain) as made:
        yield made


@pytest.fixture
def start(launcher: SandboxLauncher) -> Iterator[Callable[..., Worker]]:
    """Return a function that starts a worker, which is closed after the test.

    Its arguments: another launcher, limits.
    """
    started: list[Worker] = []

    def start_worker(other: SandboxLauncher | None = None, **limits: Any) -> Worker:
        started.append(Worker((other or launcher).start(Limits(**limits))))
        return started[-1]

    yield start_worker
    for worker in started:
        worker.process.close()


@pytest.fixture
def worker(start: Callable[..., Worker]) -> Worker:
    return start()


@pytest.fixture(scope="session")
def run_python() -> Callable[..., subprocess.CompletedProcess[str]]:
    """Return a function that runs Python in a new process, for steps that cannot be undone."""

    def run(source: str, *arguments: str, **options: Any) -> subprocess.CompletedProcess[str]:
        prelude = f"import sys; sys.path.insert(0, {str(ROOT)!r})\n"
        return subprocess.run(
            [sys.executable, "-c", prelude + textwrap.dedent(source), *arguments],
            **{"capture_output": True, "text": True, "timeout": 30} | options,
        )

    return run
