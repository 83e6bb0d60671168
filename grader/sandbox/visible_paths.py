"""The part of the file system that a worker sees: Python, torch and the code of the worker.

A layout is a list of visible folders and of hidden entries below them, each at the path that it has outside the
sandbox. The tiers enforce it differently: `strict` with mounts, `landlock` with grants.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

# Shared libraries that torch and numpy load, the file that the dynamic loader finds them by, and the time zone.
_SYSTEM_LIBRARIES = ("/lib", "/lib64", "/usr/lib", "/usr/lib64", "/etc/ld.so.cache", "/etc/localtime")
# Facts about the processor. torch chooses its kernels by them, and must choose the same as outside the sandbox.
_PROCESSOR = ("/proc/cpuinfo", "/sys/devices/system/cpu")
DEVICES = ("/dev/null", "/dev/zero", "/dev/random", "/dev/urandom")
SITE_NAMES = ("site-packages", "dist-packages")


@dataclass(frozen=True)
class Layout:
    """The visible paths.

    shown: folders and files. hidden: entries below them that are left out. code: folders of the worker's program,
    visible even below a hidden entry. path: the worker's sys.path.
    """

    shown: tuple[str, ...]
    hidden: tuple[str, ...]
    code: tuple[str, ...]
    path: tuple[str, ...]


def plan(package: str, site_folders: Sequence[str], code: Sequence[str] = ()) -> Layout:
    """Return the layout for a project.

    package: the folder of its `grader` package. site_folders: folders of installed packages. code: more folders to
    import from.
    """
    sites = [os.path.realpath(site) for site in site_folders if os.path.isdir(site)]
    # Where the interpreter's libpython is, conda and uv put more libraries.
    own = [*_standard_path(), os.path.join(sys.base_prefix, "lib")]
    libraries = _both_names([*own, *_SYSTEM_LIBRARIES, *_PROCESSOR])
    libraries = [path for path in libraries if not _is_below_any(path, libraries)]  # the outermost
    served = _both_names([os.path.join(package, "worker"), *code])
    hidden = [entry for site in sites for entry in _project_entries(site)]
    hidden += _unused_sites(libraries, sites)
    # Also the project's folder, unless it is site-packages itself.
    hidden += [folder for folder in (package, os.path.dirname(package)) if folder not in sites]
    # A site below a library is visible already, unless something above it is hidden.
    visible = [site for site in sites if _is_below_any(site, libraries) and not _is_below_any(site, hidden)]
    shown = [*libraries, *(site for site in sites if site not in visible)]
    return Layout(
        shown=tuple(shown),
        hidden=tuple(sorted({entry for entry in hidden if _is_below_any(entry, shown)})),
        code=tuple(served),
        path=(*_standard_path(), *sites, *code),
    )


def steps(layout: Layout) -> Iterator[tuple[str, str]]:
    """Yield ("show" or "hide", path), so that an inner path comes after an outer one and overrides it."""
    marked = [(path, "show") for path in (*layout.shown, *layout.code)]
    marked += [(path, "hide") for path in layout.hidden]
    for path, act in sorted(set(marked), key=lambda item: (item[0].count(os.sep), item)):
        yield act, path


def readable_entries(layout: Layout) -> tuple[list[str], list[str]]:
    """Return the layout as grants, for a mechanism that cannot hide: (entries to read, folders to list).

    A folder with something hidden below it is granted entry by entry. It can be listed, because Python's import
    system lists every folder on its path.
    """
    read: list[str] = list(layout.code)
    listed: list[str] = []
    for top in layout.shown:
        _collect(top, layout, read, listed)
    return read, listed


def _collect(path: str, layout: Layout, read: list[str], listed: list[str]) -> None:
    if path in layout.hidden:
        return
    if not any(_is_below(entry, path) for entry in layout.hidden):
        read.append(path)
        return
    listed.append(path)
    for name in os.listdir(path):
        _collect(os.path.join(path, name), layout, read, listed)


def _standard_path() -> list[str]:
    standard = os.path.dirname(os.__file__)
    dynamic = [folder for folder in sys.path if os.path.basename(folder) == "lib-dynload"]
    return [standard, *dynamic]


def _project_entries(site: str) -> list[str]:
    """Return the entries of a package folder that belong to this project, and all that can add folders to the path."""

    def ours(name: str) -> bool:
        low = name.lower()
        return (
            "headway" in low
            or low == "grader"
            or low.startswith(("grader-", "__editable__"))
            or low.endswith((".pth", ".egg-link"))
        )

    return [os.path.join(site, name) for name in os.listdir(site) if ours(name)]


def _unused_sites(libraries: Iterable[str], used: Iterable[str]) -> list[str]:
    found: list[str] = []
    for library in filter(os.path.isdir, libraries):
        pythons = [name for name in os.listdir(library) if name.startswith("python")]
        found += [os.path.join(library, python, name) for name in SITE_NAMES for python in ("", *pythons)]
    return [folder for folder in found if os.path.isdir(folder) and os.path.realpath(folder) not in used]


def _both_names(paths: Iterable[str]) -> list[str]:
    """Return the paths that exist, as named and resolved: /lib may be a link, and loaded modules keep their first name."""
    there = [path for path in paths if os.path.exists(path)]
    return list(dict.fromkeys(name for path in there for name in (path, os.path.realpath(path))))


def _is_below(path: str, folder: str) -> bool:
    return path.startswith(folder.rstrip("/") + "/")


def _is_below_any(path: str, folders: Iterable[str]) -> bool:
    return any(_is_below(path, folder) for folder in folders)
