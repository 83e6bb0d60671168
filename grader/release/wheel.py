"""The grader as students get it: one wheel, without the instructor's modules and the blocks not needed.

A wheel is a zip archive with three small texts beside the package (PEP 427), so it is written directly: the
same bytes at every release, and nothing has to be installed or downloaded to make it.
"""

from __future__ import annotations

import ast
import base64
import hashlib
import zipfile
from collections.abc import Collection, Mapping
from importlib.metadata import Distribution, distribution
from pathlib import Path

import grader
from grader.given import BLOCKS

DISTRIBUTION = "headway"
STUDENT_COMMANDS = ("check", "watch", "hint", "reset", "explain", "doctor")
STUDENT_EXTRAS = ("watch",)
# These are parts of one machine, and some of them are found by name: they go as a whole.
_WHOLE = ("worker", "sandbox", "intake", "judge", "report")
_DATA = ("locale", *_WHOLE)
_ENTRANCES = (
    "cli/main.py",
    "cli/map.py",
    "pytest_plugin.py",
    *(f"cli/{name}.py" for name in STUDENT_COMMANDS),
)
_INSTRUCTOR_ONLY = ("hidden.py",)  # asked for by student modules, where solutions/ lies beside the course
_LONG_AGO = (1980, 1, 1, 0, 0, 0)


def write(folder: Path, blocks: Collection[str], label: str) -> Path:
    """Pack the package with these blocks. The version tells what was packed: a changed kit installs over an old one."""
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
    """The files of the package that belong to a kit, by their names below it.

    They are those that a student's command can come to by following imports, also the late ones inside
    functions; a module that only an instructor's command needs is left out without being listed anywhere.
    """
    found: set[str] = set()
    waiting = [name for name in _ENTRANCES if (package / name).is_file()]
    waiting += [str(p.relative_to(package)) for room in _WHOLE for p in (package / room).rglob("*.py")]
    while waiting:
        name = waiting.pop()
        if name not in found and name not in _INSTRUCTOR_ONLY and not name.startswith("given/"):
            found.add(name)
            waiting += _imports(package, name)
    found |= {"given/__init__.py", *(f"given/{BLOCKS[block]}" for block in blocks)}
    found |= {
        str(p.relative_to(package))
        for room in _DATA
        for p in (package / room).rglob("*")
        if p.is_file() and p.suffix not in (".py", ".pyc")
    }
    return sorted(found)


def _imports(package: Path, name: str) -> set[str]:
    """Files of the package that a module imports, and the packages that these lie in."""
    named: set[str] = set()
    for node in ast.walk(ast.parse((package / name).read_text("utf-8"))):
        if isinstance(node, ast.Import):
            named |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module:
            named |= {node.module, *(f"{node.module}.{alias.name}" for alias in node.names)}
    named.add(".".join(["grader", *Path(name).parent.parts]))
    out = set()
    for module in named:
        parts = module.split(".")
        if parts[0] == "grader":
            for stop in range(1, len(parts) + 1):
                base = "/".join(parts[1:stop])
                out |= {
                    f for f in (f"{base}.py", f"{base}/__init__.py".lstrip("/")) if (package / f).is_file()
                }
    return out


def _described(about: Distribution, version: str, files: Mapping[str, bytes]) -> dict[str, bytes]:
    """The three texts that make a zip archive a wheel."""
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
    needs = [
        line
        for line in about.requires or ()
        if "extra ==" not in line or any(f"'{e}'" in line or f'"{e}"' in line for e in STUDENT_EXTRAS)
    ]
    lines = [
        "Metadata-Version: 2.1",
        f"Name: {DISTRIBUTION}",
        f"Version: {version}",
        f"Summary: {known['Summary']}",
        f"Requires-Python: {known['Requires-Python']}",
        *(f"Requires-Dist: {line}" for line in needs),
        *(f"Provides-Extra: {extra}" for extra in STUDENT_EXTRAS),
    ]
    return "\n".join(lines) + "\n"


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
            entry.external_attr = 0o644 << 16
            archive.writestr(entry, data)
