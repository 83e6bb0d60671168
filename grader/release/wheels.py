"""The wheels of a kit: the grader without the instructor's modules, and those that it needs without a connection.

A wheel is a zip archive with four small texts beside the package (PEP 427), so it is written directly: the
same files give the same bytes, and nothing has to be installed or downloaded to make it.

Of the wheels to download, uv chooses the versions, because pip evaluates markers such as `sys_platform` for the computer
that it runs on. pip downloads and compares hashes, and students install with pip alone.
"""

from __future__ import annotations

import base64
import hashlib
import os
import re
import subprocess
import sys
import zipfile
from collections.abc import Callable, Collection, Mapping, Sequence
from importlib.metadata import Distribution, distribution, version
from importlib.util import find_spec
from pathlib import Path

import grader
from grader.given import BLOCKS
from grader.support.errors import UsageError
from grader.support.sanitize import sanitize

WHEELS = "wheels"
DISTRIBUTION = "headway"
STUDENT_EXTRAS = ("watch",)
# The packages that students get, except for _NOT_SHIPPED. Of `given`, a kit has only the building blocks that it needs.
STUDENT_PACKAGES = (
    *("support", "worker", "sandbox", "bundle", "intake", "report", "judge", "diagnosis", "engine"),
    *("lines", "student", "cli"),
)
_NOT_SHIPPED = ("cli/instructor/",)
_LONG_AGO = (1980, 1, 1, 0, 0, 0)


def write_wheel(folder: Path, blocks: Collection[str], label: str) -> Path:
    """Pack the package with these building blocks into `folder`, and return the path of the wheel.

    label: of the kit, such as "04". With a hash of the files it is in the version: a changed kit replaces an older one.
    """
    package = Path(grader.__file__).parent
    files = {f"grader/{name}": (package / name).read_bytes() for name in members(package, blocks)}
    about = distribution(DISTRIBUTION)
    digest = hashlib.sha256(repr(sorted(files.items())).encode()).hexdigest()[:8]
    number = f"{grader.__version__}+kit{label}.{digest}"
    folder.mkdir(parents=True)
    path = folder / f"{DISTRIBUTION}-{number}-py3-none-any.whl"
    _zip(path, {**files, **_described(about, number, files)})
    return path


def members(package: Path, blocks: Collection[str]) -> list[str]:
    """Return the files of the wheel, relative to `package`.

    These are the files directly in `package`, those of STUDENT_PACKAGES, the blocks and translations, without
    _NOT_SHIPPED.
    """
    files = [
        *(p for p in package.iterdir() if p.is_file()),
        *(p for name in STUDENT_PACKAGES for p in (package / name).rglob("*") if p.is_file()),
        *((package / "locale").rglob("*.mo")),
    ]
    names = {p.relative_to(package).as_posix() for p in files if p.suffix != ".pyc"}
    names |= {"given/__init__.py", *(f"given/{BLOCKS[block]}" for block in blocks)}
    return sorted(name for name in names if not name.startswith(_NOT_SHIPPED))


def _described(about: Distribution, number: str, files: Mapping[str, bytes]) -> dict[str, bytes]:
    """Return the four texts that make a zip archive a wheel, by their paths in it."""
    folder = f"{DISTRIBUTION}-{number}.dist-info"
    metadata = [
        "Metadata-Version: 2.1",
        f"Name: {DISTRIBUTION}",
        f"Version: {number}",
        f"Summary: {about.metadata['Summary']}",
        f"Requires-Python: {about.metadata['Requires-Python']}",
        *(f"Requires-Dist: {line}" for line in _requirements(about)),
    ]
    described = {
        f"{folder}/METADATA": "\n".join(metadata) + "\n",
        f"{folder}/WHEEL": "Wheel-Version: 1.0\nGenerator: headway\nRoot-Is-Purelib: true\nTag: py3-none-any\n",
        f"{folder}/entry_points.txt": _entry_points(about),
    }
    texts = {name: text.encode() for name, text in described.items()}
    record = "".join(
        f"{name},sha256={_digest(data)},{len(data)}\n" for name, data in {**files, **texts}.items()
    )
    return {**texts, f"{folder}/RECORD": f"{record}{folder}/RECORD,,\n".encode()}


def _requirements(about: Distribution) -> list[str]:
    """Return the requirements of a kit: those without an extra, and those of STUDENT_EXTRAS."""
    is_for_students = re.compile(rf"""extra == ['"]({"|".join(STUDENT_EXTRAS)})['"]""")
    lines = about.requires or ()
    needs = [line.split(";")[0].strip() if is_for_students.search(line) else line for line in lines]
    return [line for line in needs if "extra ==" not in line]


def _entry_points(about: Distribution) -> str:
    groups: dict[str, list[str]] = {}
    for point in about.entry_points:
        if point.group in ("console_scripts", "pytest11"):
            groups.setdefault(point.group, []).append(f"{point.name} = {point.value}")
    return "\n".join(
        f"[{group}]\n" + "\n".join(sorted(points)) + "\n" for group, points in sorted(groups.items())
    )


def _digest(data: bytes) -> str:
    return base64.urlsafe_b64encode(hashlib.sha256(data).digest()).rstrip(b"=").decode()


def _zip(path: Path, files: Mapping[str, bytes]) -> None:
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, data in files.items():
            entry = zipfile.ZipInfo(name, _LONG_AGO)
            entry.compress_type = zipfile.ZIP_DEFLATED
            entry.external_attr = 0o644 << 16  # the upper 16 bits are the permissions
            archive.writestr(entry, data)


# ---- wheels to download

WHEELHOUSE = "wheelhouse"


_GLIBC = (28, 27, 26, 24, 17, 12, 5)  # minor versions of glibc 2 that wheels are built for
# Platform → its name for uv, and its tags in the names of wheels, the newest first.
TARGETS = {
    "linux": ("x86_64-manylinux_2_28", [f"manylinux_2_{n}_x86_64" for n in _GLIBC]),
    # Wheels for this processor start at glibc 2.17.
    "linux-arm": ("aarch64-manylinux_2_28", [f"manylinux_2_{n}_aarch64" for n in _GLIBC[:5]]),
    "macos": ("aarch64-apple-darwin", ["macosx_14_0_arm64"]),
    "windows": ("x86_64-pc-windows-msvc", ["win_amd64"]),
}


def add_wheelhouse(kit: Path, platforms: Sequence[str], python: str, tell: Callable[[str], None]) -> None:
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
        locked = _locked(name, python)
        listed = folder / f"{name}.txt"
        listed.write_text(locked, "utf-8")
        _download(listed, python, tell)
        # The kit's own wheel is added after the download: no index has it.
        (own,) = (kit / WHEELS).glob("*.whl")
        digest = hashlib.sha256(own.read_bytes()).hexdigest()
        listed.write_text(f"{locked}./{WHEELS}/{own.name} --hash=sha256:{digest}\n", "utf-8")


def _locked(platform: str, python: str) -> str:
    """Return a requirements file with one version of each package, and its hashes."""
    torch = version("torch").split("+")[0]
    wanted = [*_requirements(distribution(DISTRIBUTION)), f"torch=={torch}"]
    done = subprocess.run(
        [
            *(sys.executable, "-m", "uv", "pip", "compile", "-", "--quiet", "--no-header", "--no-annotate"),
            *("--generate-hashes", "--only-binary", ":all:", "--python-platform", TARGETS[platform][0]),
            *("--python-version", python),
        ],
        input="\n".join(wanted),
        capture_output=True,
        text=True,
        env={**os.environ, "MACOSX_DEPLOYMENT_TARGET": "14.0"},  # as in TARGETS
    )
    if done.returncode:
        raise UsageError(f"no wheels for {platform} and Python {python}: {_reason(done.stderr)}")
    return done.stdout


def _download(listed: Path, python: str, tell: Callable[[str], None]) -> None:
    """Download the packages of a file of requirements, which has the name of a platform, into its folder."""
    command = [
        *(sys.executable, "-m", "pip", "download", "--no-deps", "--require-hashes", "--only-binary", ":all:"),
        *("--python-version", python, "--dest", str(listed.parent), "--requirement", str(listed)),
        *(word for tag in TARGETS[listed.stem][1] for word in ("--platform", tag)),
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
