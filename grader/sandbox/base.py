"""The interface between the engine and the sandbox: start a worker, talk over three pipes, stop it.

The default limits, the timeouts for starting workers, and the table of tiers are here, too. The command line imports
this to list its options: keep it light.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal, Protocol

from grader.support.errors import GraderError

if TYPE_CHECKING:
    from socket import socket

# Timeouts in seconds. A bundle cannot change them.
START_SECONDS = 120.0  # until a worker is ready: torch is imported first, and a cold disk reads it slowly
SHORT_SECONDS = 60.0  # the longest time limit for loading a file and for a case that is not costly

# Of the environment of servers and cold workers.
ONE_THREAD = {f"{library}_NUM_THREADS": "1" for library in ("OMP", "OPENBLAS", "MKL", "NUMEXPR")}
ONE_THREAD["VECLIB_MAXIMUM_THREADS"] = "1"


# What a worker server imports of torch before it forks: nothing more, what cases without a training use, or all.
Warm = Literal["", "cases", "training"]


@dataclass(frozen=True)
class Limits:
    """Limits of one worker in seconds, bytes and counts. A bundle may replace the defaults of the first four.

    `wall_seconds` is the time limit of a request; a request without a costly case gets at most SHORT_SECONDS of it.
    The tier `basic` does not limit `processes` on Linux and macOS, `file_bytes` on Windows, and `memory_bytes` on
    macOS; with CUDA it limits even less (see `ColdProcess`).
    """

    wall_seconds: float = 10.0
    cpu_seconds: int = 30
    memory_bytes: int = 3 << 30  # beyond what Python and torch themselves take
    output_bytes: int = 1 << 20  # what the worker may print
    file_bytes: int = 32 << 20  # of all files in the worker's folder together; in `basic`, of each file
    processes: int = 64  # processes and threads together


@dataclass(frozen=True)
class Program:
    """The program of a server.

    entry: called in each worker. prepare: called once before any fork. Both are "module:function". code: folders to
    import them from, besides `grader/worker/`.
    """

    entry: str = "grader.worker.main:serve"
    prepare: str = ""
    code: tuple[str, ...] = ()


@dataclass(frozen=True)
class Tier:
    """How a tier is implemented.

    implementation: "module:class"; a `forkserver.ConfinedTier` if `confined`, else a `Launcher`. confined: the kernel
    confines the workers, so the tier also suits submissions that are not trusted.
    not_promised: attacks of the self-test that the tier may let through.
    """

    implementation: str
    confined: bool
    not_promised: frozenset[str] = frozenset()


# The order is the rank: the best tier first. To add a tier, add a file for its class and a row here.
TIERS = {
    # Linux with namespaces, as root or as a user who may make user namespaces.
    "strict": Tier("grader.sandbox.strict:Strict", confined=True),
    # Linux 5.13 or newer with Landlock.
    "landlock": Tier("grader.sandbox.landlock:LandlockTier", True, not_promised=frozenset({"see_processes"})),
    # It needs nothing, and is always the last.
    "basic": Tier("grader.sandbox.basic:ColdLauncher", confined=False),
}
CONFINED = tuple(name for name, tier in TIERS.items() if tier.confined)
AUTO = "auto"  # the best tier that works on this machine
CHOICES = (AUTO, *TIERS)


@dataclass(frozen=True)
class Canary:
    """One attack of the self-test.

    promised: the tier promises to refuse it. held: it was refused, or the tier does not promise to refuse it.
    achieved: its effect, or "".
    """

    name: str
    held: bool
    promised: bool
    achieved: str


@dataclass(frozen=True)
class TierReport:
    """Whether a tier can be used on this machine, and the result of each canary.

    reason: why it cannot be used, or ""; for `basic`, what it does not promise.
    """

    tier: str
    available: bool
    reason: str
    canaries: tuple[Canary, ...] = ()


class Process(Protocol):
    """A running worker, and this side of its pipes. `Channel` reads and writes them."""

    to_worker: int
    from_worker: int
    log: int  # standard output and standard error of the worker

    def kill(self) -> None:
        """Kill the worker and, as far as the tier can, all it started. Safe to call twice."""

    def wait(self, timeout: float = 5.0) -> int:
        """Wait until the worker exits, after `kill` or after its pipe closed. Return its exit code; if a signal killed
        it, minus the number of the signal.

        Raises SandboxError after `timeout` seconds.
        """

    def close(self) -> None:
        """Kill if needed, wait, and close the descriptors."""


class Launcher(Protocol):
    """Starts workers of one tier. The code that makes a launcher must close it."""

    tier: str  # "strict" | "landlock" | "basic"

    def start(self, limits: Limits) -> Process:
        """Return a fresh worker. Raises SandboxError if any step of the tier fails."""

    def warm(self) -> None:
        """Import more of torch for later workers, in the background. May do nothing."""

    def close(self) -> None:
        """Stop what this launcher started; in `basic`, not the workers that `start` returned."""


class SharedServer(Protocol):
    """A worker server for several processes of this one's. The code that makes it must close it."""

    def share(self) -> socket:
        """Return a socket over which another process may ask for workers, see `SandboxLauncher`."""

    def close(self) -> None:
        """Stop the server and its workers."""


class SandboxError(GraderError):
    """A step of a tier failed, or the tier cannot be used; the message names the step or the reason.

    Student code is never the cause.
    """

    exit_status = 3
