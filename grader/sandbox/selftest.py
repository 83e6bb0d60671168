"""Test whether a tier works on this machine: a worker of the tier tries canary attacks.

Reports are cached until one of their `circumstances` changes, such as a restart of the machine.
"""

from __future__ import annotations

import json
import os
import select
import socket
import stat
import struct
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

import msgspec

from grader.sandbox.base import CONFINED, TIERS, Canary, Limits, Program, SandboxError, TierReport
from grader.sandbox.launcher import SandboxLauncher, site_folders
from grader.support.files import cache_folder, owned, write_atomically
from grader.support.version import __version__

if sys.platform != "linux":
    raise ImportError("this module needs Linux")

_CANARY = "a canary that no worker may read"
_LIMITS = Limits(cpu_seconds=5, memory_bytes=1 << 30, file_bytes=1 << 20, processes=12)
_SECONDS = 10.0  # until the worker has sent all results


def examine(tier: str) -> TierReport:
    """Try `tier` on this machine. Takes a fifth of a second; nothing of torch is imported."""
    try:
        results = _attack(tier)
    except (SandboxError, OSError) as error:
        return TierReport(tier, False, str(error))
    canaries = tuple(
        Canary(name, held=achieved is None or not promised, promised=promised, achieved=achieved or "")
        for name, achieved in results.items()
        for promised in [name not in TIERS[tier].not_promised]
    )
    broken = [canary for canary in canaries if not canary.held]
    reason = "; ".join(f"{canary.name.replace('_', ' ')}: {canary.achieved}" for canary in broken)
    return TierReport(tier, not broken, reason, canaries)


def _attack(tier: str) -> dict[str, str | None]:
    program = Program("attacks:serve", code=(str(Path(__file__).with_name("canaries")),))
    # The prefix has this process's id, so that a later run can remove what a killed one left.
    prefix = owned(Path(tempfile.gettempdir()), "headway")
    with (
        SandboxLauncher(tier, program, ahead=False) as launcher,
        tempfile.TemporaryDirectory(prefix=prefix) as folder,
        _targets(folder) as (targets, listener),
    ):
        process = launcher.start(_LIMITS)
        try:
            request = json.dumps(targets).encode()
            os.write(process.to_worker, struct.pack("<I", len(request)) + request)
            results: dict[str, str | None] = json.loads(_read_all(process.from_worker))
        except ValueError:
            raise SandboxError(f"run the canaries: the worker ended early, {process.wait()}") from None
        finally:
            process.close()
        return results | _traces(targets, listener)


@contextmanager
def _targets(folder: str) -> Iterator[tuple[dict[str, Any], socket.socket]]:
    """Yield what the attacks try to reach or exceed, by name; only the sandbox protects it. And the open port."""
    os.chmod(folder, 0o777)
    file = os.path.join(folder, "canary.txt")
    Path(file).write_text(_CANARY)
    os.chmod(file, 0o666)
    torch = [os.path.join(site, "torch", "__init__.py") for site in site_folders()]
    with socket.create_server(("127.0.0.1", 0)) as listener:
        listener.setblocking(False)
        targets = {
            "folder": folder,
            "file": file,
            "port": listener.getsockname()[1],
            "parent": os.getpid(),
            "program": os.path.realpath(sys.executable),
            "needed": [os.__file__, *filter(os.path.exists, torch)],
            # 64 MiB more than the limit: a process may use what it has freed of its own memory since the limit was set.
            "memory_bytes": _LIMITS.memory_bytes + (64 << 20),
            "file_bytes": _LIMITS.file_bytes,
        }
        yield targets, listener


def _read_all(descriptor: int) -> bytes:
    deadline = time.monotonic() + _SECONDS
    poll = select.poll()
    poll.register(descriptor, select.POLLIN)
    data = b""
    while poll.poll(max(0.0, deadline - time.monotonic()) * 1000):
        part = os.read(descriptor, 1 << 16)
        if not part:
            return data
        data += part
    raise SandboxError("run the canaries: it took too long")


def _traces(targets: dict[str, Any], listener: socket.socket) -> dict[str, str]:
    """Return the effects of attacks that the parent sees itself. These override the report of the worker."""
    found = {}
    if Path(targets["file"]).read_text() != _CANARY:
        found["change_a_file"] = "a file outside was changed"
    if os.listdir(targets["folder"]) != ["canary.txt"]:
        found["write_a_file"] = "a file was written outside"
    try:
        connection, _ = listener.accept()
    except BlockingIOError:
        return found
    connection.close()
    return found | {"connect_out": "a connection arrived"}


# ---- the cache of reports


class _Cache(msgspec.Struct):
    circumstances: dict[str, str]
    reports: dict[str, TierReport]


def cached(tier: str) -> TierReport | None:
    """Return the cached report of a tier, or None if it is missing or anything changed since."""
    try:
        stored = msgspec.json.decode(_read_own(_file()), type=_Cache)
        return stored.reports.get(tier) if stored.circumstances == circumstances() else None
    except (OSError, msgspec.MsgspecError, KeyError):
        return None


def store(report: TierReport) -> None:
    """Store a report. If /proc cannot be read or the cache folder cannot be written, the next run tests again."""
    known = {tier: report if tier == report.tier else cached(tier) for tier in CONFINED}
    reports = {tier: one for tier, one in known.items() if one is not None}
    with suppress(OSError):
        text = msgspec.json.encode(_Cache(circumstances(), reports))
        _file().parent.mkdir(parents=True, exist_ok=True)
        _file().unlink(missing_ok=True)  # the new one does not get the permissions of the old one
        write_atomically(_file(), text, mode=0o600)


def circumstances() -> dict[str, str]:
    """Return what must be unchanged: boot, kernel, user, container, privileges, Python, and the grader's code."""
    status = dict(line.partition(":")[::2] for line in _text("/proc/self/status").splitlines())
    return {
        "boot": _text("/proc/sys/kernel/random/boot_id"),
        "kernel": os.uname().release,
        "user": str(os.geteuid()),
        "namespace": os.readlink("/proc/self/ns/user"),
        "python": sys.executable,
        "grader": __version__,
        "code": str(max(file.stat().st_mtime_ns for file in Path(__file__).parent.rglob("*.py"))),
        **{name: status[name].strip() for name in ("CapEff", "Seccomp", "NoNewPrivs")},
    }


def _file() -> Path:
    return cache_folder() / "sandbox.json"


def _read_own(path: Path) -> bytes:
    """Read the cache only if this user owns it and no other user can read or write it."""
    with open(path, "rb") as file:
        found = os.fstat(file.fileno())
        if found.st_uid != os.geteuid() or stat.S_IMODE(found.st_mode) & 0o077:
            raise OSError("other users can access the cache")
        return file.read()


def _text(path: str) -> str:
    with open(path, encoding="ascii") as file:
        return file.read().strip()
