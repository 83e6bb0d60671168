"""Cache the self-tests of tiers until one of their `circumstances` changes, such as a restart of the machine."""

from __future__ import annotations

import contextlib
import json
import os
import stat
import sys
import tempfile
from dataclasses import asdict
from pathlib import Path

from grader.sandbox.base import Canary, TierReport
from grader.sandbox.tiers import CONFINED
from grader.support.files import cache_folder

if sys.platform != "linux":
    raise ImportError("this module needs Linux")


def get(tier: str) -> TierReport | None:
    """Return the cached report of a tier, or None if it is missing or anything changed since."""
    try:
        stored = json.loads(_read_own(_file()))
        if stored["circumstances"] != circumstances():
            return None
        report = stored["reports"][tier]
        canaries = tuple(Canary(**canary) for canary in report.pop("canaries"))
        return TierReport(**report, canaries=canaries)
    except (OSError, ValueError, KeyError, TypeError):
        return None


def put(report: TierReport) -> None:
    """Store a report. If /proc cannot be read or the cache folder cannot be written, the next run tests again."""
    others = [get(tier) for tier in CONFINED if tier != report.tier]
    reports = {one.tier: asdict(one) for one in [*others, report] if one is not None}
    with contextlib.suppress(OSError):
        _write_own(_file(), json.dumps({"circumstances": circumstances(), "reports": reports}))


def forget() -> None:
    """Remove the cache, so that the tiers are tested again."""
    with contextlib.suppress(OSError):
        _file().unlink()


def circumstances() -> dict[str, str]:
    """Return what must be unchanged: boot, kernel, user, container, privileges, Python, and the grader's code."""
    status = _status_fields(("CapEff", "Seccomp", "NoNewPrivs"))
    return {
        "boot": _text("/proc/sys/kernel/random/boot_id"),
        "kernel": os.uname().release,
        "user": str(os.geteuid()),
        "namespace": os.readlink("/proc/self/ns/user"),
        "python": sys.executable,
        "grader": getattr(sys.modules.get("grader"), "__version__", ""),
        "code": str(max(file.stat().st_mtime_ns for file in Path(__file__).parent.rglob("*.py"))),
        **status,
    }


def _status_fields(names: tuple[str, ...]) -> dict[str, str]:
    lines = (line.partition(":") for line in _text("/proc/self/status").splitlines())
    return {name: value.strip() for name, _, value in lines if name in names}


def _file() -> Path:
    return cache_folder() / "sandbox.json"


def _read_own(path: Path) -> str:
    """Read the cache only if this user owns it and no other user can read or write it."""
    with open(path, encoding="utf-8") as file:
        found = os.fstat(file.fileno())
        if found.st_uid != os.geteuid() or stat.S_IMODE(found.st_mode) & 0o077:
            raise OSError("other users can access the cache")
        return file.read()


def _write_own(path: Path, text: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    descriptor, name = tempfile.mkstemp(dir=path.parent)  # mode 600
    with open(descriptor, "w", encoding="utf-8") as file:
        file.write(text)
    os.replace(name, path)


def _text(path: str) -> str:
    with open(path, encoding="ascii") as file:
        return file.read().strip()
