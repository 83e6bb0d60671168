"""The modules beside a submitted file that it imports: text only, inside its folder, and bounded."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator
from dataclasses import replace
from pathlib import Path

from grader.intake.limits import MAX_SOURCE_BYTES
from grader.intake.names import statements
from grader.intake.read import Blocked, Neighbour, Submission, Unit, read_text
from grader.intake.syntax import CannotParse, parse

MAX_NEIGHBOURS = 20


def with_neighbours(submission: Submission) -> Submission:
    """The submission with the modules in its folder, and below, that it or one of them imports.

    A worker takes a module from here only if the import of that name fails. Links are not followed.
    """
    root = submission.path.parent
    found: dict[Path, Neighbour] = {}
    size = 0
    waiting = [(root, unit) for unit in submission.units]
    while waiting:
        folder, unit = waiting.pop(0)
        for module in imported_modules([unit]):
            path = _file_of(module, folder, root)
            if path is None or path == submission.path:
                continue
            if path in found:
                known = found[path]
                found[path] = replace(known, modules=tuple(dict.fromkeys((*known.modules, module))))
                continue
            try:
                source = read_text(path)
            except Blocked:
                continue
            size += len(source.encode("utf-8", "surrogatepass"))
            if len(found) >= MAX_NEIGHBOURS or size > MAX_SOURCE_BYTES:
                return replace(submission, neighbours=tuple(found.values()))
            name = path.relative_to(root).as_posix()
            found[path] = Neighbour(name, source, (module,))
            waiting.append((path.parent, Unit(name, source)))
    return replace(submission, neighbours=tuple(found.values()))


def imported_modules(units: Iterable[Unit]) -> Iterator[str]:
    """The modules that import statements name, as they are written: "attention", ".layers.norm".

    `from a import b` names "a" and, since b may be a module, "a.b".
    """
    for unit in units:
        try:
            body = parse(unit.source).body
        except CannotParse:
            continue
        for node in statements(body):
            if isinstance(node, ast.Import):
                yield from (alias.name for alias in node.names)
            elif isinstance(node, ast.ImportFrom):
                module = "." * node.level + (node.module or "")
                yield from ([module] if node.module else [])
                stem = module if module.endswith(".") else f"{module}."
                yield from (stem + alias.name for alias in node.names if alias.name != "*")


def _file_of(module: str, folder: Path, root: Path) -> Path | None:
    """The file of a module: its whole dotted name below `folder` or `root`, else the end of that name."""
    parts = module.lstrip(".").split(".")
    for first in range(len(parts)):
        for base in dict.fromkeys((folder, root)):
            for path in (
                base.joinpath(*parts[first:]).with_suffix(".py"),
                base.joinpath(*parts[first:], "__init__.py"),
            ):
                if _is_inside(path, root):
                    return path
    return None


def _is_inside(path: Path, root: Path) -> bool:
    """Whether this is a plain file below `root`, with no link on the way."""
    try:
        steps = [path, *(p for p in path.parents if p != root and root in p.parents)]
        return path.is_file() and root in path.parents and not any(step.is_symlink() for step in steps)
    except (OSError, ValueError):
        return False
