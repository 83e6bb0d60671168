"""A package imports only packages before it in `LAYERS`, and no modules import each other in a cycle.

`LAYERS` must list every package. No module may be directly in `grader/`. File names are unique, with few exceptions.
"""

from __future__ import annotations

import ast
from collections import Counter
from collections.abc import Iterator
from functools import cache
from pathlib import Path

GRADER = Path(__file__).resolve().parents[1] / "grader"

# From the bottom up. A package may import itself and the packages before it.
LAYERS = (
    "support",
    "given",
    "worker",
    "sandbox",
    "bundle",
    "intake",
    "report",
    "judge",
    "diagnosis",
    "cases",
    "engine",
    "lines",
    "authoring",
    "student",
    "release",
    "classroom",
    "nbgrader",
    "cli",
)
# These import no other package. Students read `given`; `worker` runs in the process of student code.
ALONE = ("support", "given", "worker")
FILES = {"__init__.py", "py.typed"}
MAX_ENTRIES, MAX_LEVELS = 20, 12  # entries of `grader/`; packages in the longest chain of imports
# File names in several packages: report/formats.py is for one submission, classroom/formats.py for many.
SHARED_FILE_NAMES = {"__init__", "check", "course", "errors", "formats", "measures", "model", "terminal"}


def modules() -> dict[str, Path]:
    """Return the path of every module by its dotted name below `grader`."""
    found = {}
    for path in GRADER.rglob("*.py"):
        parts = path.relative_to(GRADER).with_suffix("").parts
        found[".".join(parts[:-1] if parts[-1] == "__init__" else parts)] = path
    return found


MODULES = modules()


def imports(path: Path) -> Iterator[str]:
    """Yield the modules of `grader` that a file imports, also those imported inside functions."""
    for node in ast.walk(ast.parse(path.read_text("utf-8"))):
        named = []
        if isinstance(node, ast.Import):
            named = [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom) and node.module:
            # Each is a module, or a name in a module.
            full = [f"{node.module}.{alias.name}" for alias in node.names]
            named = [name if name.removeprefix("grader.") in MODULES else node.module for name in full]
        yield from (name.removeprefix("grader.") for name in named if name.startswith("grader."))


@cache
def graph() -> dict[str, list[str]]:
    """Return module → the modules that it imports, without `grader/__init__.py`, whose name here would be ""."""
    return {name: sorted(set(imports(path)) - {name}) for name, path in MODULES.items() if name}


def package(module: str) -> str:
    return module.partition(".")[0]


def test_every_entry_of_the_package_is_in_layers():
    entries = {p.name for p in GRADER.iterdir() if p.name != "__pycache__"}
    assert entries - FILES - {"locale"} == set(LAYERS)
    assert len(entries) <= MAX_ENTRIES


def test_packages_import_only_packages_before_them():
    wrong = [
        f"{module} imports {other}"
        for module, others in graph().items()
        for other in others
        if package(other) != package(module) and LAYERS.index(package(other)) >= LAYERS.index(package(module))
    ]
    assert wrong == []


def test_packages_that_stand_alone_import_no_other():
    wrong = [
        f"{module} imports {other}"
        for module, others in graph().items()
        for other in others
        if package(module) in ALONE and package(other) != package(module)
    ]
    assert wrong == []


def test_only_listed_file_names_occur_more_than_once():
    """Files of cli/ are left out, because they have the names of the commands."""
    names = Counter(p.stem for p in GRADER.rglob("*.py") if "cli" not in p.parts)
    assert {name for name, files in names.items() if files > 1} == SHARED_FILE_NAMES


def test_no_modules_import_each_other_in_a_cycle():
    assert cycles(graph()) == []


def test_packages_have_few_levels():
    imported: dict[str, set[str]] = {name: set() for name in LAYERS}
    for module, others in graph().items():
        imported[package(module)] |= {package(other) for other in others} - {package(module)}
    level: dict[str, int] = {}
    for name in LAYERS:
        level[name] = 1 + max((level[other] for other in imported[name]), default=0)
    assert max(level.values()) <= MAX_LEVELS, level


def cycles(graph: dict[str, list[str]]) -> list[list[str]]:
    """Return the groups of modules that reach each other (Tarjan's strongly connected components)."""
    index: dict[str, int] = {}
    low: dict[str, int] = {}
    stack: list[str] = []
    found: list[list[str]] = []

    def visit(node: str) -> None:
        index[node] = low[node] = len(index)
        stack.append(node)
        for other in graph.get(node, ()):
            if other not in index:
                visit(other)
                low[node] = min(low[node], low[other])
            elif other in stack:
                low[node] = min(low[node], index[other])
        if low[node] == index[node]:
            group = stack[stack.index(node) :]
            del stack[stack.index(node) :]
            if len(group) > 1:
                found.append(sorted(group))

    for node in graph:
        if node not in index:
            visit(node)
    return found


def test_a_cycle_of_three_modules_is_found():
    assert cycles({"a": ["b"], "b": ["c"], "c": ["a"], "d": ["a"]}) == [["a", "b", "c"]]
