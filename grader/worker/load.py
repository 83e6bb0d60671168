"""Execute a submission statement by statement, so that a failing demo does not affect the rest."""

from __future__ import annotations
import __future__

import ast
import io
import linecache
import sys
import types
from collections.abc import Collection, Mapping, Sequence
from contextlib import nullcontext
from functools import lru_cache
from typing import Any

from grader.worker import standins
from grader.worker.errors import describe

_FUTURE_FLAGS = {name: getattr(__future__, name).compiler_flag for name in __future__.all_feature_names}


class Loaded:
    """A submission after its top level has run: its names, and notes on statements that failed."""

    def __init__(self, files: Collection[str]):
        self.files = frozenset(files)
        self.module = types.ModuleType("submission")
        self.notes: list[dict[str, Any]] = []
        self.own: dict[
            str, tuple[dict[str, Any], str]
        ] = {}  # parts that the student wrote: the names of their file, and the name there
        self.with_own: standins.Switch = nullcontext

    @property
    def names(self) -> dict[str, Any]:
        return self.module.__dict__


def load(
    units: Sequence[Mapping[str, str]],
    given: Mapping[str, str],
    replace: Collection[str] = (),
    skip: Collection[tuple[str, int]] = (),
    withheld: Collection[str] = (),
    parts: Sequence[Mapping[str, Any]] = (),
    own: Mapping[str, str] | None = None,
) -> Loaded:
    """Run the units (a file, or a notebook's cells) in order in one fresh module.

    units: `{"name", "source"}` each. given: sources of the allowed building blocks. replace: names whose
    top-level definition gives way to the building block of the same name. skip: `(unit, line)` of
    statements that timed out before. withheld: blocks that may be imported, and not
    used. parts: earlier files with parts that the student wrote, `{"units", "names"}` each, where `names` says
    under which name a part stands there; each file is a module of its own. own: the same for the parts that
    the submission itself defines. Such parts are met within the context `with_own` alone.
    """
    files = [unit["name"] for part in parts for unit in part["units"]] + [unit["name"] for unit in units]
    loaded = Loaded(files)
    loaded.with_own = standins.install(given, withheld, loaded.own)
    for part in parts:
        _run_part(loaded, part, replace, skip)
    loaded.own.update({name: (loaded.names, bound) for name, bound in (own or {}).items()})
    sys.modules["submission"] = loaded.module
    for unit in units:
        _run_unit(loaded, unit["name"], unit["source"], replace, skip)
    return loaded


def _run_part(
    loaded: Loaded, part: Mapping[str, Any], replace: Collection[str], skip: Collection[tuple[str, int]]
) -> None:
    """Load an earlier file. Its errors are not noted here, but where that file itself is graded."""
    file = Loaded(loaded.files)
    sys.modules["submission"] = file.module
    with loaded.with_own():
        for unit in part["units"]:
            _run_unit(file, unit["name"], unit["source"], replace, skip)
    loaded.own.update(
        {name: (file.names, bound) for name, bound in part["names"].items() if bound in file.names}
    )


def _run_unit(
    loaded: Loaded, file: str, source: str, replace: Collection[str], skip: Collection[tuple[str, int]]
) -> None:
    linecache.cache[file] = (len(source), None, list(io.StringIO(source)), file)
    loaded.module.__file__ = file
    try:
        tree = _parsed(source, file)
    except (SyntaxError, ValueError, RecursionError, MemoryError) as error:
        loaded.notes.append(
            {
                "file": file,
                "line": getattr(error, "lineno", 0) or 0,
                "whole": True,
                **_error_note(error, loaded),
            }
        )
        return
    for place, node in enumerate(tree.body):
        first, last = node.lineno, node.end_lineno or node.lineno
        if any(name == file and first <= line <= last for name, line in skip):
            loaded.notes.append({"file": file, "line": first, "endless": True})
            continue
        before = dict(loaded.names) if isinstance(node, ast.ImportFrom) else {}
        try:
            exec(_compiled(source, file, place, frozenset(replace)), loaded.names)
        except BaseException as error:
            loaded.notes.append(
                {"file": file, "line": first, "defines": _defined(node), **_error_note(error, loaded)}
            )
        _restore(loaded.names, before)


def _restore(names: dict[str, Any], before: Mapping[str, Any]) -> None:
    """Restore names that an import replaced by a withheld block.

    A file of several lessons may import in one what it defines in another.
    """
    for name, value in before.items():
        if type(names.get(name)) is standins.Withheld:  # isinstance would ask the value itself
            names[name] = value


def _error_note(error: BaseException, loaded: Loaded) -> dict[str, Any]:
    return {"error": describe(error, loaded.files)}


# A worker loads the same file again for each exercise that may be shown more.
@lru_cache(maxsize=256)
def _parsed(source: str, file: str) -> ast.Module:
    return ast.parse(source, file)


@lru_cache(maxsize=4096)
def _compiled(source: str, file: str, place: int, replace: frozenset[str]) -> types.CodeType:
    """Compile one statement of a unit, or its replacement."""
    tree = _parsed(source, file)
    body = [_replaced(tree.body[place], replace)]
    return compile(ast.Module(body, []), file, "exec", flags=_future_flags(tree), dont_inherit=True)


def _future_flags(tree: ast.Module) -> int:
    """`from __future__ import …` at the top holds for every statement of the unit."""
    flags = 0
    for node in tree.body:
        if isinstance(node, ast.ImportFrom) and node.module == "__future__":
            for alias in node.names:
                flags |= _FUTURE_FLAGS.get(alias.name, 0)
    return flags


def _defined(node: ast.stmt) -> list[str]:
    """Names that a top-level statement would have defined."""
    if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
        return [node.name]
    if isinstance(node, (ast.Import, ast.ImportFrom)):
        return [alias.asname or alias.name.split(".")[0] for alias in node.names]
    if isinstance(node, ast.Assign):
        return [target.id for target in node.targets if isinstance(target, ast.Name)]
    return []


def _replaced(node: ast.stmt, names: Collection[str]) -> ast.stmt:
    """Return the same statement, or an import of the building block that replaces it."""
    wanted = [name for name in _defined(node) if name in names]
    if not wanted or isinstance(node, ast.Import):
        return node
    kept = (
        [alias for alias in node.names if (alias.asname or alias.name) not in names]
        if isinstance(node, ast.ImportFrom)
        else []
    )
    block = ast.ImportFrom("grader.given", [ast.alias(name, None) for name in wanted], 0)
    if kept:
        assert isinstance(node, ast.ImportFrom)
        block = ast.ImportFrom(node.module, kept, node.level)  # the replaced names were defined elsewhere
    return ast.fix_missing_locations(ast.copy_location(block, node))
