"""The tier that works anywhere: a new Python process per worker, with the limits the system offers."""

from __future__ import annotations

import contextlib
import os
import subprocess
import sys
import sysconfig
import tempfile
from pathlib import Path

from grader.sandbox.base import Exit, Limits, SandboxError
from grader.support.scratch_dirs import owned

_ONE_THREAD = dict.fromkeys(
    ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "VECLIB_MAXIMUM_THREADS"), "1"
)
_START = "import sys; sys.path[:0] = {paths!r}; import runpy; runpy.run_module('grader.worker', run_name='__main__')"


class ColdProcess:
    """One worker, started by exec with a clean environment in its own empty folder.

    cuda: it may use the GPUs. Their driver reserves more address space than any limit would leave.
    """

    def __init__(self, limits: Limits, cuda: bool = False):
        self.limits = limits
        self._scratch = tempfile.TemporaryDirectory(
            prefix=owned(Path(tempfile.gettempdir()), "headway"), ignore_cleanup_errors=True
        )
        request, self.to_worker = os.pipe()
        self.from_worker, reply = os.pipe()
        self.log, log = os.pipe()
        memory = 1 << 50 if cuda else limits.memory_bytes
        arguments = (request, reply, memory, limits.cpu_seconds, limits.file_bytes, os.getpid())
        try:
            self._process = subprocess.Popen(
                [sys.executable, "-I", "-S", "-c", _START.format(paths=_paths()), *map(str, arguments)],
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
                pass_fds=(request, reply),
                cwd=self._scratch.name,
                env=_environment(self._scratch.name, cuda),
                start_new_session=True,
            )
        except OSError as error:
            for fd in (self.to_worker, self.from_worker, self.log):
                os.close(fd)
            self._scratch.cleanup()
            raise SandboxError(f"start a worker: {error}") from error
        finally:
            for fd in (request, reply, log):
                os.close(fd)
        for fd in (self.to_worker, self.from_worker, self.log):
            os.set_blocking(fd, False)
        self._exit: Exit | None = None

    def kill(self) -> None:
        """Kill the whole session that it leads. A process that left the session stops at its limits."""
        if self._exit is None:  # not `poll`, which would reap it before `wait`
            with contextlib.suppress(OSError):
                os.killpg(self._process.pid, 9) if hasattr(os, "killpg") else self._process.kill()

    def wait(self, timeout: float = 5.0) -> Exit:
        if self._exit is None:
            self._exit = _reap(self._process, timeout)
        return self._exit

    def close(self) -> None:
        self.kill()
        self.wait()
        for fd in (self.to_worker, self.from_worker, self.log):
            with contextlib.suppress(OSError):
                os.close(fd)
        self._scratch.cleanup()


def _reap(process: subprocess.Popen[bytes], timeout: float) -> Exit:
    try:
        code = process.wait(timeout)
    except subprocess.TimeoutExpired:
        raise SandboxError(f"kill a worker: it still runs after {timeout:g} seconds") from None
    return Exit(code, None) if code >= 0 else Exit(None, -code)


def _paths() -> list[str]:
    """Folders where the worker finds torch and its own package; no folder of the course is among them."""
    here = str(Path(__file__).resolve().parents[2])
    return list(dict.fromkeys([here, sysconfig.get_path("purelib"), sysconfig.get_path("platlib")]))


def _environment(scratch: str, cuda: bool) -> dict[str, str]:
    names = ("SYSTEMROOT", "PATH", "LD_LIBRARY_PATH", *(["CUDA_VISIBLE_DEVICES"] if cuda else []))
    keep = {name: os.environ[name] for name in names if name in os.environ}
    return {
        **keep,
        **_ONE_THREAD,
        "HOME": scratch,
        "TMPDIR": scratch,
        "LC_ALL": "C.UTF-8",
        "PYTHONDONTWRITEBYTECODE": "1",
        **({} if cuda else {"CUDA_VISIBLE_DEVICES": ""}),
    }


class ColdLauncher:
    """Starts cold workers, which import torch for about a second each.

    The first one starts at once, so that it imports torch while the caller does other work.
    """

    tier = "basic"

    def __init__(self, cuda: bool = False) -> None:
        self._cuda = cuda
        self._ahead: ColdProcess | None = ColdProcess(Limits(), cuda)

    def start(self, limits: Limits) -> ColdProcess:
        ahead, self._ahead = self._ahead, None
        if ahead is not None and ahead.limits == limits:
            return ahead
        if ahead is not None:
            ahead.close()
        return ColdProcess(limits, self._cuda)

    def warm(self, level: str) -> None:
        """Do nothing: a cold worker imports what it needs when it needs it."""

    def close(self) -> None:
        """Close the worker started ahead. Callers close the workers that they got."""
        if self._ahead is not None:
            self._ahead.close()
            self._ahead = None
