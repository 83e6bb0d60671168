"""A package imports only the packages that `MAY_USE` allows it, and no modules import each other in a cycle."""

import ast
import re
from collections.abc import Iterator
from graphlib import TopologicalSorter
from pathlib import Path

GRADER = Path(__file__).resolve().parents[1] / "grader"

# Students read `given`; `worker` runs in the process of student code. Every package may use `support`.
MAY_USE = {
    "support": "",
    "given": "",
    "worker": "",
    "sandbox": "worker",
    "bundle": "worker",
    "intake": "bundle given",
    "report": "bundle",
    "judge": "bundle report worker",
    "diagnosis": "bundle judge report worker",
    "cases": "bundle worker",
    "engine": "bundle diagnosis given intake judge report sandbox worker",
    "lines": "bundle engine intake judge report sandbox worker",
    "authoring": "bundle cases diagnosis engine given intake judge lines report sandbox worker",
    "student": "authoring bundle engine given intake lines report sandbox worker",
    "release": "authoring bundle cases engine given intake",
    "classroom": "authoring bundle engine intake lines report sandbox student",
    "nbgrader": "authoring bundle classroom engine intake report sandbox",
    "cli": "authoring bundle classroom engine intake nbgrader release report sandbox student",
}
ALONE = ("support", "given", "worker")


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


def test_packages_import_only_what_they_may():
    wrong = []
    for module, path in MODULES.items():
        package = module.partition(".")[0]
        if not package or package == "locale":
            continue
        allowed = {package, *MAY_USE[package].split(), *(() if package in ALONE else ("support",))}
        wrong += [
            f"{module} imports {other}" for other in imports(path) if other.partition(".")[0] not in allowed
        ]
    assert wrong == []


def test_no_module_reads_a_step_by_string():
    """Steps are types (grader/worker/steps.py): mypy sees a misspelt field, which a key would hide."""
    by_string = re.compile(r"""\w(\[|\.get\()["'](do|args|kwargs|on|wrt|upstream)["']""")
    assert [name for name, path in MODULES.items() if by_string.search(path.read_text("utf-8"))] == []


def test_nothing_is_imported_in_a_cycle():
    TopologicalSorter({name: used.split() for name, used in MAY_USE.items()}).prepare()  # raises CycleError
    # `grader/__init__.py` is left out: its name here would be "".
    TopologicalSorter({name: set(imports(path)) - {name} for name, path in MODULES.items() if name}).prepare()
