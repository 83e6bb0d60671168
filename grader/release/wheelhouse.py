"""Download the wheels that a kit needs, for computers without a connection.

uv chooses the versions, because pip evaluates markers such as `sys_platform` for the computer that it runs on.
pip downloads and compares hashes, and students install with pip alone.
"""

from __future__ import annotations

import hashlib
import os
import re
import subprocess
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from importlib.metadata import requires, version
from importlib.util import find_spec
from pathlib import Path

from grader.release.kit import WHEELS
from grader.release.wheel import DISTRIBUTION, student_requirements
from grader.support.errors import UsageError
from grader.support.sanitize import sanitize

WHEELHOUSE = "wheelhouse"


@dataclass(frozen=True)
class Target:
    """A platform: its name for uv, and its tags in the names of wheels, the newest first."""

    uv: str
    tags: tuple[str, ...]


_GLIBC = (28, 27, 26, 24, 17, 12, 5)  # minor versions of glibc 2 that wheels are built for
TARGETS = {
    "linux": Target("x86_64-manylinux_2_28", tuple(f"manylinux_2_{n}_x86_64" for n in _GLIBC)),
    # Wheels for this processor start at glibc 2.17.
    "linux-arm": Target("aarch64-manylinux_2_28", tuple(f"manylinux_2_{n}_aarch64" for n in _GLIBC[:5])),
    "macos": Target("aarch64-apple-darwin", ("macosx_14_0_arm64",)),
    "windows": Target("x86_64-pc-windows-msvc", ("win_amd64",)),
}


def add_wheelhouse(
    kit: Path, platforms: Sequence[str], python: str, tell: Callable[[str], None] = lambda what: None
) -> None:
    """Fill `kit/wheelhouse` with wheels, and a requirements file with hashes per platform.

    platforms: keys of TARGETS. python: the version of Python, such as "3.12". torch is the version that is installed
    here. Raises UsageError if uv is missing, a package has no such wheel, or a download fails.
    """
    if find_spec("uv") is None:
        raise UsageError("--wheelhouse needs the package uv: python -m pip install uv")
    folder = kit / WHEELHOUSE
    folder.mkdir()
    for name in platforms:
        tell(f"choosing versions for {name}")
        locked = _locked(TARGETS[name], python, name)
        listed = folder / f"{name}.txt"
        listed.write_text(locked, "utf-8")
        _download(listed, folder, TARGETS[name], python, tell)
        # The kit's own wheel is added after the download: no index has it.
        (own,) = (kit / WHEELS).glob("*.whl")
        digest = hashlib.sha256(own.read_bytes()).hexdigest()
        listed.write_text(f"{locked}./{WHEELS}/{own.name} --hash=sha256:{digest}\n", "utf-8")


def _locked(target: Target, python: str, name: str) -> str:
    """Return a requirements file with one version of each package, and its hashes."""
    torch = version("torch").split("+")[0]
    wanted = [*student_requirements(requires(DISTRIBUTION) or ()), f"torch=={torch}"]
    done = subprocess.run(
        [
            *(sys.executable, "-m", "uv", "pip", "compile", "-", "--quiet", "--no-header", "--no-annotate"),
            *("--generate-hashes", "--only-binary", ":all:", "--python-platform", target.uv),
            *("--python-version", python),
        ],
        input="\n".join(wanted),
        capture_output=True,
        text=True,
        env={**os.environ, "MACOSX_DEPLOYMENT_TARGET": "14.0"},  # as in TARGETS
    )
    if done.returncode:
        raise UsageError(f"no wheels for {name} and Python {python}: {_reason(done.stderr)}")
    return done.stdout


def _download(listed: Path, folder: Path, target: Target, python: str, tell: Callable[[str], None]) -> None:
    command = [
        *(sys.executable, "-m", "pip", "download", "--no-deps", "--require-hashes", "--only-binary", ":all:"),
        *("--python-version", python, "--dest", str(folder), "--requirement", str(listed)),
        *(word for tag in target.tags for word in ("--platform", tag)),
    ]
    count = len(re.findall(r"^\S+==", listed.read_text("utf-8"), re.M))
    said, began = "", 0
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True) as pip:
        assert pip.stdout is not None
        try:
            for line in pip.stdout:
                said += line
                if line.startswith(("Collecting ", "Processing ")):
                    began += 1
                    tell(f"{listed.stem}: package {began} of {count}, {Path(line.split()[1]).name}")
        except BaseException:  # the grader ends: the download need not be waited for
            pip.kill()
            raise
    if pip.returncode:
        raise UsageError(f"wheels were not downloaded: {_reason(said)}")


def _reason(output: str) -> str:
    """Return in one line pip's first error, or uv's reason, or else all that was printed."""
    found = re.search(r"^ERROR: (.+)$", output, re.M) or re.search(r"(Because .+?)(?=hint:|\Z)", output, re.S)
    words = re.sub(r"[│╰─▶×]", "", found[1] if found else output)
    return sanitize(" ".join(words.split()), 400)
