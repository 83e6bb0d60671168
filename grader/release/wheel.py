"""The grader as students get it: one wheel without the instructor's modules, and with only some building blocks.

A wheel is a zip archive with four small texts beside the package (PEP 427), so it is written directly: the
same files give the same bytes, and nothing has to be installed or downloaded to make it.
"""

from __future__ import annotations

import base64
import hashlib
import zipfile
from collections.abc import Collection, Iterable, Mapping
from importlib.metadata import Distribution, distribution
from pathlib import Path

import grader
from grader.given import BLOCKS

DISTRIBUTION = "headway"
STUDENT_EXTRAS = ("watch",)
# The packages that students get, except for _NOT_SHIPPED. Of `given`, a kit has only the building blocks that it needs.
STUDENT_PACKAGES = (
    *("support", "worker", "sandbox", "bundle", "intake", "report", "judge", "diagnosis", "engine"),
    *("lines", "student", "cli"),
)
_NOT_SHIPPED = ("cli/instructor/",)
_LONG_AGO = (1980, 1, 1, 0, 0, 0)


def write(folder: Path, blocks: Collection[str], label: str) -> Path:
    """Pack the package with these building blocks into `folder`, and return the path of the wheel.

    The version has `label` and a hash of the files, so that a changed kit replaces an older one.
    """
    package = Path(grader.__file__).parent
    files = {f"grader/{name}": (package / name).read_bytes() for name in members(package, blocks)}
    about = distribution(DISTRIBUTION)
    digest = hashlib.sha256(repr(sorted(files.items())).encode()).hexdigest()[:8]
    version = f"{grader.__version__}+kit{label}.{digest}"
    folder.mkdir(parents=True)
    path = folder / f"{DISTRIBUTION}-{version}-py3-none-any.whl"
    _zip(path, {**files, **_described(about, version, files)})
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


def _described(about: Distribution, version: str, files: Mapping[str, bytes]) -> dict[str, bytes]:
    """Return the four texts that make a zip archive a wheel, by their paths in it."""
    folder = f"{DISTRIBUTION}-{version}.dist-info"
    described = {
        f"{folder}/METADATA": _metadata(about, version),
        f"{folder}/WHEEL": "Wheel-Version: 1.0\nGenerator: headway\nRoot-Is-Purelib: true\nTag: py3-none-any\n",
        f"{folder}/entry_points.txt": _entry_points(about),
    }
    texts = {name: text.encode() for name, text in described.items()}
    record = "".join(
        f"{name},sha256={_digest(data)},{len(data)}\n" for name, data in {**files, **texts}.items()
    )
    return {**texts, f"{folder}/RECORD": f"{record}{folder}/RECORD,,\n".encode()}


def _metadata(about: Distribution, version: str) -> str:
    known = about.metadata
    lines = [
        "Metadata-Version: 2.1",
        f"Name: {DISTRIBUTION}",
        f"Version: {version}",
        f"Summary: {known['Summary']}",
        f"Requires-Python: {known['Requires-Python']}",
        *(f"Requires-Dist: {line}" for line in student_requirements(about.requires or ())),
    ]
    return "\n".join(lines) + "\n"


def student_requirements(requirements: Iterable[str]) -> list[str]:
    """Return the requirements of a kit: those without an extra, and those of STUDENT_EXTRAS."""
    needs = [line.split(";")[0].strip() if _is_for_students(line) else line for line in requirements]
    return [line for line in needs if "extra ==" not in line]


def _is_for_students(requirement: str) -> bool:
    return any(f"extra == '{e}'" in requirement or f'extra == "{e}"' in requirement for e in STUDENT_EXTRAS)


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
