"""The tier that works anywhere: a new Python process per worker, with the limits the system offers.

A worker talks over its standard streams. Windows lets a process inherit nothing else without a helper.
"""

from __future__ import annotations

import contextlib
import os
import signal
import struct
import subprocess
import sys
import sysconfig
import tempfile
from pathlib import Path
from typing import Any

from grader.sandbox.base import ONE_THREAD, Limits, SandboxError
from grader.support.files import owned

if sys.platform == "win32":
    from grader.sandbox.windows_job import START_OPTIONS, ProcessTree, python
else:
    START_OPTIONS: dict[str, Any] = {"start_new_session": True}

    def python() -> str:
        """Return the Python to start workers with."""
        return sys.executable

    class ProcessTree:
        """Kills the worker's whole process group. A process that has left the group runs until its own limits."""

        def __init__(self, leader: subprocess.Popen[bytes]):
            self._leader = leader

        def limit(self, limits: Limits) -> None:
            """Do nothing: the worker limits itself before it runs student code."""

        def kill(self) -> None:
            with contextlib.suppress(OSError):
                os.killpg(self._leader.pid, signal.SIGKILL)

        def close(self) -> None:
            """Do nothing: a process group needs no descriptor."""


# The process starts with the pipes of requests and replies as stdin and stdout. This runs first: it moves them to new
# descriptors, whose numbers it puts into sys.argv. Then stdout goes to the log, and stdin is empty.
_STREAMS = """
import os, sys
sys.argv[1:1] = map(str, (os.dup(0), os.dup(1)))
os.dup2(2, 1)
with open(os.devnull, "rb") as nothing:
    os.dup2(nothing.fileno(), 0)
"""
_START = "sys.path[:0] = {paths!r}; import runpy; runpy.run_module('grader.worker', run_name='__main__')"
_LIMITS = struct.Struct("<QQQ")  # bytes of memory, seconds of processor time, bytes of a file
_UNLIMITED = 1 << 50  # bytes, more than a worker can use


class ColdProcess:
    """One worker, started by exec with a clean environment in its own empty folder.

    It imports torch as soon as it starts. Then it waits for its limits, which `limit` sends, and then for requests.

    cuda: it may use the GPUs. It has no memory limit then, because their driver reserves very much address space; on
    Windows it has no limits at all.
    warm: it also imports what torch loads on first use.
    """

    def __init__(self, cuda: bool, warm: bool):
        self._cuda = cuda
        self._scratch = tempfile.TemporaryDirectory(
            # The prefix has this process's id, so that a later run can remove what a killed one left.
            prefix=owned(Path(tempfile.gettempdir()), "headway"),
            ignore_cleanup_errors=True,
        )
        request, self.to_worker = os.pipe()
        self.from_worker, reply = os.pipe()
        self.log, output = os.pipe()
        self._exit: int | None = None
        self._closed = False
        try:
            self._process = subprocess.Popen(
                _command(warm),
                stdin=request,
                stdout=reply,
                stderr=output,
                cwd=self._scratch.name,
                env=_environment(self._scratch.name, cuda),
                **START_OPTIONS,
            )
            self._tree = ProcessTree(self._process)
        except (OSError, SandboxError) as error:
            self._close_descriptors()
            self._scratch.cleanup()
            raise SandboxError(f"start a worker: {error}") from error
        finally:
            for descriptor in (request, reply, output):
                os.close(descriptor)

    def limit(self, limits: Limits) -> None:
        """Set what it may use. The caller must do so once, before it sends a request."""
        memory = _UNLIMITED if self._cuda else limits.memory_bytes
        with contextlib.suppress(OSError):  # it has exited; the caller notices when it reads the reply
            os.write(self.to_worker, _LIMITS.pack(memory, limits.cpu_seconds, limits.file_bytes))
        if not self._cuda:
            self._tree.limit(limits)

    def is_alive(self) -> bool:
        return self._process.poll() is None

    def kill(self) -> None:
        """Kill it and all it started, as far as the platform can."""
        if self._exit is None:  # even if `poll` reports an exit: children of the worker may still run
            self._tree.kill()

    def wait(self, timeout: float = 5.0) -> int:
        if self._exit is None:
            try:
                self._exit = self._process.wait(timeout)
            except subprocess.TimeoutExpired:
                raise SandboxError(f"kill a worker: it still runs after {timeout:g} seconds") from None
        return self._exit

    def close(self) -> None:
        if self._closed:
            return
        self._closed = True
        self.kill()
        self.wait()
        self._tree.close()
        self._close_descriptors()
        self._scratch.cleanup()

    def _close_descriptors(self) -> None:
        for descriptor in (self.to_worker, self.from_worker, self.log):
            os.close(descriptor)


def _command(warm: bool) -> list[str]:
    here = str(Path(__file__).resolve().parents[2])  # site-packages or, in a checkout, the repository
    paths = list(dict.fromkeys([here, sysconfig.get_path("purelib"), sysconfig.get_path("platlib")]))
    source = _STREAMS + _START.format(paths=paths)
    return [python(), "-I", "-S", "-X", "utf8", "-c", source, str(os.getpid()), "warm" if warm else ""]


def _environment(scratch: str, cuda: bool) -> dict[str, str]:
    names = ["SYSTEMROOT", "PATH", "LD_LIBRARY_PATH"]
    if cuda:
        names.append("CUDA_VISIBLE_DEVICES")
    keep = {name: os.environ[name] for name in names if name in os.environ}
    no_gpus = {} if cuda else {"CUDA_VISIBLE_DEVICES": ""}
    homes = ("HOME", "USERPROFILE", "APPDATA", "LOCALAPPDATA", "TMPDIR", "TEMP", "TMP")
    return {
        **keep,
        **ONE_THREAD,
        **dict.fromkeys(homes, scratch),
        "USERNAME": "student",
        "LC_ALL": "C.UTF-8",
        "PYTHONDONTWRITEBYTECODE": "1",
        "TORCHDYNAMO_DISABLE": "1",  # as in the other tiers; see lockdown.py
        **no_gpus,
    }


class ColdLauncher:
    """Starts cold workers, which import torch for about a second each.

    The first worker starts at once, and imports torch while the caller does other work. When it is warm, a spare worker
    always waits for the next `start`. Each worker is used once.
    """

    tier = "basic"

    def __init__(self, cuda: bool = False, warm: bool = False) -> None:
        self._cuda = cuda
        self._warm = warm
        self._spare: ColdProcess | None = ColdProcess(cuda, warm)

    def start(self, limits: Limits) -> ColdProcess:
        process, self._spare = self._spare, None
        if process is not None and not process.is_alive():
            process.close()
            process = None
        process = process or ColdProcess(self._cuda, self._warm)
        process.limit(limits)
        if self._warm:
            self.warm()
        return process

    def warm(self) -> None:
        """Keep a spare from now on."""
        self._warm = True
        if self._spare is None:
            with contextlib.suppress(SandboxError):  # the next `start` tries again, and says why it fails
                self._spare = ColdProcess(self._cuda, warm=True)

    def close(self) -> None:
        """Close the spare. Callers close the workers that they got."""
        if self._spare is not None:
            self._spare.close()
            self._spare = None
