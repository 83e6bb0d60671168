"""Run a reader over many inputs in processes with limits; count crashes and hangs, and measure memory."""

import json
import multiprocessing
import resource
import time
import traceback
from dataclasses import dataclass, field
from pathlib import Path

from .readers import read_seed

SECONDS = 20.0  # per input
START_SECONDS = 20.0  # in addition for the first input of a process, which imports the grader first
MEMORY = 2 << 30  # bytes of address space
GROWTH = 64 << 20  # bytes that a process may grow by after its first inputs
WARM_UP = 200  # inputs of a process before its growth is measured; if it reads no more inputs, growth is 0
BATCH = 20_000  # inputs per process, at most

_spawn = multiprocessing.get_context("spawn")


@dataclass
class Findings:
    """The findings about one reader. crashes: inputs whose reading raised an exception or ended the process.

    faults: (seed, what happened) of each crash and hang.
    """

    inputs: int = 0
    crashes: int = 0
    hangs: int = 0
    growth: int = 0  # bytes: the largest growth of a process
    faults: list[tuple[int, str]] = field(default_factory=list)

    @property
    def is_clean(self) -> bool:
        return not self.faults and self.growth <= GROWTH

    def __add__(self, other: "Findings") -> "Findings":
        return Findings(
            self.inputs + other.inputs,
            self.crashes + other.crashes,
            self.hangs + other.hangs,
            max(self.growth, other.growth),
            [*self.faults, *other.faults],
        )

    def __str__(self) -> str:
        return f"{self.inputs} inputs, {self.crashes} crashes, {self.hangs} hangs, growth {self.growth >> 20} MiB"


def recorded(file: Path | None) -> dict[str, Findings]:
    """Return reader → the findings of earlier calls."""
    if file is None or not file.exists():
        return {}
    return {name: Findings(**fields) for name, fields in json.loads(file.read_text("utf-8")).items()}


def fuzz(name: str, first: int = 0, inputs: int | None = None, seconds: float | None = None) -> Findings:
    """Read the inputs of the seeds from `first` on, until `inputs` are read or `seconds` have passed."""
    findings, seed = Findings(), first
    end = None if seconds is None else time.monotonic() + seconds
    while (inputs is None or findings.inputs < inputs) and (end is None or time.monotonic() < end):
        count = BATCH if inputs is None else min(BATCH, inputs - findings.inputs)
        seed = _batch(name, seed, count, end, findings)
    return findings


def _batch(name: str, seed: int, count: int, end: float | None, findings: Findings) -> int:
    """Read up to `count` inputs in one process, and add to the findings. Return the next seed."""
    connection, child_end = _spawn.Pipe()
    seconds = None if end is None else end - time.monotonic()
    process = _spawn.Process(target=_serve, args=(child_end, name, seed, count, seconds), daemon=True)
    process.start()
    child_end.close()
    first = seed
    try:
        while True:
            if not connection.poll(SECONDS + START_SECONDS if seed == first else SECONDS):
                findings.hangs += 1
                findings.faults.append((seed, "hangs"))
                findings.inputs += 1
                return seed + 1
            kind, value, *more = connection.recv()
            if kind == "read":
                findings.inputs += value + 1 - seed
                seed = value + 1
            elif kind == "fault":
                findings.crashes += 1
                findings.faults.append((value, more[0]))
            else:
                findings.growth = max(findings.growth, value)
                return seed
    except EOFError:
        findings.crashes += 1
        findings.faults.append((seed, "ended the process"))
        findings.inputs += 1
        return seed + 1
    finally:
        process.kill()
        process.join()


def _serve(connection, name: str, seed: int, count: int, seconds: float | None) -> None:
    """Read inputs. For each, send ("read", seed); before that, ("fault", seed, traceback) if reading raised.

    At the end, send ("grown", bytes).
    """
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
    end = None if seconds is None else time.monotonic() + seconds
    start = 0
    for number in range(seed, seed + count):
        try:
            read_seed(name, number)
        except BaseException:
            connection.send(("fault", number, traceback.format_exc(limit=-4)))
        connection.send(("read", number))
        if number == seed + WARM_UP:
            start = _resident()
        if end is not None and time.monotonic() > end:
            break
    connection.send(("grown", max(0, _resident() - start) if start else 0))


def _resident() -> int:
    with open("/proc/self/statm") as file:
        return int(file.read().split()[1]) * resource.getpagesize()
