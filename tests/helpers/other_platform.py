"""Let the grader see the standard library of another platform: `install("win32", TYPESHED)`.

Typeshed (the stubs that mypy installs) says which names a platform lacks: those that a stub defines for Linux but not
for the platform. A module without names on the platform cannot be imported. Only modules of `grader` see this. The
rest of Python is that of Linux, and so are paths, consoles and files. Stand-ins replace the modules and names that
only Windows has, and the calls that act differently there: `os.kill`, `os.replace`, `os.rename`, `select.select` and
`subprocess.Popen`.

A Python process that the grader starts with `subprocess.Popen` and `-c` sees the same platform.
"""

from __future__ import annotations

import ast
import builtins
import contextlib
import importlib
import os
import select
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from functools import cache
from pathlib import Path
from types import ModuleType, SimpleNamespace
from typing import Any

LINUX = "linux"


class Typeshed:
    """The stubs of typeshed: which names a module of the standard library has on a platform."""

    def __init__(self, folder: Path):
        self._folder = folder

    @cache  # noqa: B019 (one object for the whole process)
    def names(self, module: str, platform: str) -> frozenset[str]:
        """Return the public names of a module; empty for a module that the platform lacks."""
        path = self._folder.joinpath(*module.split("."))
        file = path / "__init__.pyi" if path.is_dir() else path.with_suffix(".pyi")
        if not file.is_file():
            return frozenset()
        found = self._defined(ast.parse(file.read_text("utf-8")).body, platform)
        return frozenset(name for name in found if not name.startswith("_"))

    def missing(self, module: str, platform: str) -> frozenset[str]:
        """Return the names that a module has on Linux but not on the platform."""
        return self.names(module, LINUX) - self.names(module, platform)

    def _defined(self, body: list[ast.stmt], platform: str) -> Iterator[str]:
        for node in body:
            if isinstance(node, ast.If):
                holds = _holds(node.test, platform)
                yield from self._defined(node.body if holds else node.orelse, platform)
            elif isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
                yield node.name
            elif isinstance(node, (ast.Assign, ast.AnnAssign)):
                targets = node.targets if isinstance(node, ast.Assign) else [node.target]
                yield from (target.id for target in targets if isinstance(target, ast.Name))
            elif isinstance(node, ast.ImportFrom) and node.names[0].name == "*":
                yield from self.names(node.module or "", platform)
            elif isinstance(node, ast.ImportFrom):  # only `import a as a` exports a name from a stub
                yield from (alias.asname for alias in node.names if alias.asname == alias.name)


def _holds(test: ast.expr, platform: str) -> bool:
    """Evaluate a condition of a stub on `sys.platform` and `sys.version_info`."""
    known = SimpleNamespace(platform=platform, version_info=sys.version_info)
    return bool(eval(compile(ast.Expression(test), "stub", "eval"), {"sys": known, "TYPE_CHECKING": True}))


class View(ModuleType):
    """A module without the names that the platform lacks, and with the stand-ins for it."""

    def __init__(self, real: ModuleType, missing: frozenset[str], instead: dict[str, Any]):
        self.__dict__.update(__real=real, __missing=missing, __instead=instead, __name__=real.__name__)

    def __getattr__(self, name: str) -> Any:
        inside = self.__dict__
        if name in inside["__instead"]:
            return inside["__instead"][name]
        if name in inside["__missing"]:
            raise AttributeError(f"{inside['__name__']}.{name} does not exist on this platform")
        return getattr(inside["__real"], name)

    def __setattr__(self, name: str, value: Any) -> None:
        setattr(self.__dict__["__real"], name, value)


def install(platform: str, typeshed: str) -> None:
    """Make every later import in a module of the grader see `platform`, "win32" or "darwin".

    typeshed: the folder of typeshed's stubs of the standard library.
    """
    stubs, real_import = Typeshed(Path(typeshed)), builtins.__import__
    instead = _stand_ins(platform, typeshed)

    def view(name: str, real: ModuleType | None = None) -> ModuleType:
        if name in instead and not stubs.names(name, LINUX):  # a module that only Windows has
            return View(ModuleType(name), frozenset(), instead[name])
        if stubs.names(name, LINUX) and not stubs.names(name, platform):
            raise ModuleNotFoundError(f"No module named {name!r} on {platform}", name=name)
        real = real or importlib.import_module(name)
        return View(real, stubs.missing(name, platform), instead.get(name, {}))

    def importing(
        name: str, globals: Any = None, locals: Any = None, fromlist: Any = (), level: int = 0
    ) -> Any:
        importer = (globals or {}).get("__name__", "")
        # A worker runs `grader/worker/__main__.py`, whose `__name__` is `__main__`.
        is_ours = importer.split(".")[0] == "grader" or (globals or {}).get("__package__") == "grader.worker"
        top = name.partition(".")[0]
        if not is_ours or level or (top not in sys.stdlib_module_names and top not in instead):
            return real_import(name, globals, locals, fromlist, level)
        if fromlist:
            return view(name)
        return view(top, real_import(name) if "." in name else None)  # `import a.b` binds a

    builtins.__import__ = importing


# ---- stand-ins


def _stand_ins(platform: str, typeshed: str) -> dict[str, dict[str, Any]]:
    """Return module → name → the object that the grader gets instead of the real one."""
    popen = _popen(platform, typeshed)
    common = {"sys": {"platform": platform}, "subprocess": {"Popen": popen}}
    if platform != "win32":
        return common
    import multiprocessing.connection

    return {
        **common,
        "subprocess": {"Popen": popen, "CREATE_NO_WINDOW": 0x08000000},
        "ctypes": {"WinDLL": _Library, "get_last_error": lambda: 0},
        "msvcrt": {"getwch": lambda: os.read(0, 1).decode() or "\x04"},  # Ctrl-D at the end of the input
        "multiprocessing.connection": {"PipeConnection": multiprocessing.connection.Connection},
        "os": {"kill": _kill, "replace": _renaming(os.replace), "rename": _renaming(os.rename)},
        "select": {"select": _select},
    }


def _kill(pid: int, number: int) -> None:
    if number == 0:
        raise RuntimeError("os.kill(pid, 0) sends Ctrl-C on Windows")
    os.kill(pid, signal.SIGKILL)


def _renaming(real: Callable[..., None]) -> Callable[..., None]:
    def rename(source: Any, target: Any, **options: Any) -> None:
        opened = {os.path.realpath(f"/proc/self/fd/{n}") for n in os.listdir("/proc/self/fd")}
        if {os.path.realpath(source), os.path.realpath(target)} & opened:
            raise PermissionError(13, "Windows renames no open file", str(source))
        real(source, target, **options)

    return rename


def _select(readers: Any, writers: Any, errors: Any, timeout: float | None = None) -> Any:
    if not all(hasattr(end, "getsockname") for end in (*readers, *writers, *errors)):
        raise OSError("Windows can select among sockets only")
    return select.select(readers, writers, errors, timeout)


def _popen(platform: str, typeshed: str) -> type:
    """Return a `subprocess.Popen` that accepts the arguments of the platform.

    A Python process that it starts with `-c` sees the platform, too.
    """
    here = str(Path(__file__).parent)
    prelude = (
        f"import sys; sys.path.insert(0, {here!r}); import other_platform; sys.path.remove({here!r})\n"
        f"other_platform.install({platform!r}, {typeshed!r})\n"
    )

    class Popen(subprocess.Popen):  # type: ignore[type-arg]
        def __init__(self, command: list[str], **options: Any):
            flags = options.pop("creationflags", 0)
            if platform == "win32" and {"pass_fds", "preexec_fn"} & options.keys():
                raise ValueError("pass_fds and preexec_fn are not supported on Windows platforms")
            if platform == "win32":
                options.pop("start_new_session", None)  # Windows ignores it
            if command[0] in (sys.executable, sys._base_executable) and "-c" in command:
                place = command.index("-c") + 1
                command = [*command[:place], prelude + command[place], *command[place + 1 :]]
            super().__init__(command, **options)
            self._handle = self.pid  # on Windows, the attribute has the handle of the process
            if flags & 0x4:  # CREATE_SUSPENDED
                os.kill(self.pid, signal.SIGSTOP)

    return Popen


class _Library:
    """The functions of kernel32 and ntdll that the grader calls, emulated for processes of Linux."""

    jobs: dict[int, list[int]] = {}  # noqa: RUF012 (job → its process ids; all instances share it)

    def __init__(self, name: str, use_last_error: bool = False):
        assert name in ("kernel32", "ntdll")
        self.CreateJobObjectW = _Function(self._create)

    def _create(self, security: None, name: None) -> int:
        number = 1000 + len(self.jobs)
        self.jobs[number] = []
        return number

    def SetInformationJobObject(self, job: Any, kind: int, limits: Any, size: int) -> int:  # noqa: N802
        # 9: JobObjectExtendedLimitInformation; 144: its size on 64-bit Windows.
        return int(job.value in self.jobs and kind == 9 and size == 144)

    def AssignProcessToJobObject(self, job: Any, handle: Any) -> int:  # noqa: N802
        self.jobs[job.value].append(handle.value)
        return 1

    def TerminateJobObject(self, job: Any, code: int) -> int:  # noqa: N802
        for pid in self.jobs[job.value]:
            _end(pid)
        return 1

    def NtResumeProcess(self, handle: Any) -> int:  # noqa: N802
        os.kill(handle.value, signal.SIGCONT)
        return 0

    def CloseHandle(self, handle: Any) -> int:  # noqa: N802
        return 1

    def OpenProcess(self, rights: int, inherit: bool, pid: int) -> int:  # noqa: N802
        return pid if os.path.exists(f"/proc/{pid}") else 0

    def WaitForSingleObject(self, handle: int, milliseconds: int) -> int:  # noqa: N802
        return 258  # WAIT_TIMEOUT: the process still runs


class _Function:
    """A function of a library, with the attribute `restype` that ctypes' functions have."""

    restype: Any = None

    def __init__(self, call: Callable[..., Any]):
        self._call = call

    def __call__(self, *arguments: Any) -> Any:
        return self._call(*arguments)


def _end(pid: int) -> None:
    """Kill a process and all that it started."""
    try:
        children = Path(f"/proc/{pid}/task/{pid}/children").read_text("ascii").split()
    except OSError:
        children = []
    for child in children:
        _end(int(child))
    with contextlib.suppress(ProcessLookupError):
        os.kill(pid, signal.SIGKILL)
