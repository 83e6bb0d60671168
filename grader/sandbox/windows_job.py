"""A worker of the basic tier and all that it starts, as a Job Object. Windows only.

Windows ends the job when its last handle is closed, so a worker never outlives the grader. The job limits
memory, processor time and the number of processes; Windows has no limit on the size of files.

Source: learn.microsoft.com, "Job Objects" and JOBOBJECT_EXTENDED_LIMIT_INFORMATION.
"""

from __future__ import annotations

import contextlib
import ctypes
import subprocess
import sys
from ctypes import c_int64, c_size_t, c_uint32, c_uint64, c_void_p
from typing import Any

from grader.sandbox.base import Limits, SandboxError

if sys.platform != "win32":
    raise ImportError("this module needs Windows")

# A worker starts suspended, so that it cannot start a process before it is in the job. It has no console, so
# that Ctrl-C reaches only the grader.
_CREATE_SUSPENDED = 0x4
START_OPTIONS: dict[str, Any] = {"creationflags": _CREATE_SUSPENDED | subprocess.CREATE_NO_WINDOW}

_LIBRARIES = 2 << 30  # bytes for Python and torch, beyond the limit of student code
_EXTENDED_LIMITS = 9  # JobObjectExtendedLimitInformation
_PROCESS_TIME, _ACTIVE_PROCESSES, _PROCESS_MEMORY, _KILL_ON_CLOSE = 0x2, 0x8, 0x100, 0x2000
_KILLED = 1  # the exit code of a killed worker


class _BasicLimits(ctypes.Structure):
    _fields_ = (
        ("per_process_user_time", c_int64),
        ("per_job_user_time", c_int64),
        ("flags", c_uint32),
        ("minimum_working_set", c_size_t),
        ("maximum_working_set", c_size_t),
        ("active_processes", c_uint32),
        ("affinity", c_size_t),
        ("priority", c_uint32),
        ("scheduling", c_uint32),
    )


class _ExtendedLimits(ctypes.Structure):
    _fields_ = (
        ("basic", _BasicLimits),
        ("io_counters", c_uint64 * 6),
        ("process_memory", c_size_t),
        ("job_memory", c_size_t),
        ("peak_process_memory", c_size_t),
        ("peak_job_memory", c_size_t),
    )


def python() -> str:
    """Return the Python to start workers with.

    In a virtual environment, this is the base Python: `sys.executable` would start it as a second process.
    """
    return getattr(sys, "_base_executable", "") or sys.executable


class ProcessTree:
    """The job of one worker, which was started suspended. Raises SandboxError if Windows refuses it."""

    def __init__(self, leader: subprocess.Popen[bytes]):
        self._kernel = ctypes.WinDLL("kernel32", use_last_error=True)
        self._kernel.CreateJobObjectW.restype = c_void_p
        self._job = c_void_p(self._kernel.CreateJobObjectW(None, None))
        try:
            self._set(_ExtendedLimits(basic=_BasicLimits(flags=_KILL_ON_CLOSE)))
            handle = c_void_p(int(getattr(leader, "_handle")))  # noqa: B009 (missing in typeshed)
            self._require("put a worker into a job", self._kernel.AssignProcessToJobObject(self._job, handle))
            status = ctypes.WinDLL("ntdll").NtResumeProcess(handle)
            self._require("resume a worker", status == 0)
        except BaseException:
            leader.kill()
            self.close()
            raise

    def limit(self, limits: Limits) -> None:
        """Limit memory, processor time and processes from now on."""
        flags = _KILL_ON_CLOSE | _PROCESS_TIME | _ACTIVE_PROCESSES | _PROCESS_MEMORY
        basic = _BasicLimits(
            flags=flags,
            per_process_user_time=limits.cpu_seconds * 10**7,  # units of 100 ns
            active_processes=limits.processes,
        )
        with contextlib.suppress(SandboxError):  # it has exited
            self._set(_ExtendedLimits(basic=basic, process_memory=limits.memory_bytes + _LIBRARIES))

    def kill(self) -> None:
        self._kernel.TerminateJobObject(self._job, _KILLED)

    def close(self) -> None:
        """Close the job, which ends all that is left of it."""
        self._kernel.CloseHandle(self._job)

    def _set(self, limits: _ExtendedLimits) -> None:
        size = ctypes.sizeof(limits)
        done = self._kernel.SetInformationJobObject(self._job, _EXTENDED_LIMITS, ctypes.byref(limits), size)
        self._require("limit a job", done)

    def _require(self, step: str, done: object) -> None:
        if not done:
            raise SandboxError(f"{step}: Windows error {ctypes.get_last_error()}")
