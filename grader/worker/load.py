"""Execute a submission statement by statement, so that a failing demo does not affect the rest."""

from __future__ import annotations
import __future__

import ast
import copy
import functools
import importlib
import io
import linecache
import sys
import types
from collections.abc import Callable, Collection, Mapping, Sequence
from contextlib import nullcontext
from functools import lru_cache
from types import MappingProxyType
from typing import Any

from grader.worker import stand_in_modules
from grader.worker.demonstrations import Demonstrations
from grader.worker.errors import describe
from grader.worker.time_limit import TooLongError

Begin = Callable[[str, int], None]
_FUTURE_FLAGS = {name: getattr(__future__, name).compiler_flag for name in __future__.all_feature_names}


class Loaded:
    """A submission after its top level has run: its names, and notes on failed or skipped statements and on imports."""

    def __init__(self, files: Collection[str], neighbours: Sequence[Mapping[str, Any]] = ()):
        self.files = frozenset(files)
        # Reversed, so that the first file for a name counts.
        self.neighbours = {name: one for one in reversed(neighbours) for name in one["modules"]}
        self.modules: dict[str, types.ModuleType] = {}  # file of a neighbour that was loaded → its module
        self.skip: Collection[tuple[str, int]] = ()  # (unit, line) of statements that timed out before
        self.replace: Mapping[str, str] = {}  # name of a definition → the block in its place
        # Name of a definition → a keyword that the file uses → the block's keyword.
        self.keywords: Mapping[str, Mapping[str, str]] = {}
        self.offered: frozenset[str] = frozenset()  # blocks that may replace a name whose import fails
        self.module = types.ModuleType("submission")
        self.notes: list[dict[str, Any]] = []
        self.begin: Begin = lambda file, line: None
        self.keep: frozenset[str] = frozenset()  # names of exercises
        self.brief = False
        self.demonstrations = Demonstrations(self.names)
        # Names that only demonstrations set, which were removed → the file and the line that set them.
        self.removed: dict[str, tuple[str, int]] = {}
        # A part that the student wrote → the namespace of its file, and its name in that file.
        self.own: dict[str, tuple[dict[str, Any], str]] = {}
        self.with_own: stand_in_modules.Switch = nullcontext

    @property
    def names(self) -> dict[str, Any]:
        return self.module.__dict__


def load(
    units: Sequence[Mapping[str, str]],
    given: Mapping[str, str],
    replace: Mapping[str, str] = MappingProxyType({}),
    skip: Collection[tuple[str, int]] = (),
    withheld: Collection[str] = (),
    parts: Sequence[Mapping[str, Any]] = (),
    own: Mapping[str, str] | None = None,
    neighbours: Sequence[Mapping[str, Any]] = (),
    keywords: Mapping[str, Mapping[str, str]] = MappingProxyType({}),
    begin: Begin = lambda file, line: None,
    keep: Collection[str] = (),
    brief: bool = False,
) -> Loaded:
    """Run the units (a file, or a notebook's cells) in order in one fresh module.

    units: `{"name", "source"}` each.
    given: name → source, of the allowed building blocks.
    replace: name of a top-level definition → the building block that replaces it.
    skip: (unit, line) of statements that timed out before.
    withheld: blocks that may be imported but not used.
    parts: earlier files with parts that the student wrote, `{"units", "names"}` each; `names` maps a part to its
        name in that file. Each file is a module of its own.
    own: the same mapping for the parts that the submission itself defines. The student's parts replace the blocks
        only within the context `with_own`.
    neighbours: files beside the submission, for imports that fail, `{"name", "source", "modules"}` each; `modules`:
        the names of modules that the file provides.
    keywords: name in `replace` → a keyword that the file uses → the block's keyword.
    begin: called with the file and the line of each statement before it runs. It may raise TooLongError.
    keep: names that stay even if a demonstration sets them: those of exercises.
    brief: leave out every loop and every call of the file's own definitions, except those that set a name of `keep`.
    """
    every = [unit for part in parts for unit in part["units"]] + [*units, *neighbours]
    loaded = Loaded([unit["name"] for unit in every], neighbours)
    loaded.offered, loaded.skip, loaded.replace = frozenset(given), skip, replace
    loaded.keywords, loaded.begin, loaded.keep, loaded.brief = keywords, begin, frozenset(keep), brief
    loaded.with_own = stand_in_modules.install(given, withheld, loaded.own)
    for part in parts:
        _run_part(loaded, part)
    loaded.own.update({name: (loaded.names, bound) for name, bound in (own or {}).items()})
    sys.modules["submission"] = loaded.module
    for unit in units:
        _run_unit(loaded, unit["name"], unit["source"])
    loaded.removed = loaded.demonstrations.remove(loaded.keep)
    return loaded


def _run_part(loaded: Loaded, part: Mapping[str, Any]) -> None:
    """Load an earlier file. Its errors are not noted: they are reported when that file itself is graded."""
    file = _beside(loaded, "submission")
    file.neighbours, file.modules, file.offered, file.notes = {}, {}, frozenset(), []
    file.keep = loaded.keep | {*part["names"].values()}
    sys.modules["submission"] = file.module
    with loaded.with_own():
        for unit in part["units"]:
            _run_unit(file, unit["name"], unit["source"])
    file.demonstrations.remove(file.keep)
    loaded.own.update(
        {name: (file.names, bound) for name, bound in part["names"].items() if bound in file.names}
    )


def _beside(loaded: Loaded, name: str) -> Loaded:
    """Return a new module for another file, which is loaded with the same settings."""
    other = copy.copy(loaded)
    other.module = types.ModuleType(name)
    other.demonstrations = Demonstrations(other.names)
    return other


def _run_unit(loaded: Loaded, file: str, source: str) -> None:
    """Run one unit statement by statement. Note the statements that fail, and provide names whose import fails."""
    linecache.cache[file] = (len(source), None, list(io.StringIO(source)), file)
    loaded.module.__file__ = file
    try:
        tree = _parsed(source, file)
    except (SyntaxError, ValueError, RecursionError, MemoryError) as error:
        line = getattr(error, "lineno", 0) or 0
        loaded.notes.append({"file": file, "line": line, "whole": True, **_error_note(error, loaded)})
        return
    replace = frozenset(loaded.replace.items())
    for place, node in enumerate(tree.body):
        first, last = node.lineno, node.end_lineno or node.lineno
        if any(name == file and first <= line <= last for name, line in loaded.skip):
            loaded.notes.append({"file": file, "line": first, "endless": True})
            continue
        if (
            loaded.brief
            and loaded.demonstrations.may_take_long(node)
            and loaded.keep.isdisjoint(_defined(node))
        ):
            continue
        before = dict(loaded.names)
        raised = None
        loaded.begin(file, first)
        try:
            exec(_compiled(source, file, place, replace), loaded.names)
        except TooLongError:
            raise
        except BaseException as error:
            raised = error
        if raised is None and replace and not isinstance(node, ast.Import):  # `import x` is never replaced
            for name in _defined(node):
                if name in loaded.replace:
                    loaded.names[name] = _accepting(loaded.names[name], loaded.keywords.get(name, {}))
        loaded.demonstrations.ran(node, file, before)
        if not isinstance(node, ast.ImportFrom):
            before = {}
        if raised is None and not isinstance(node, ast.Try):
            _restore(loaded.names, before)
            continue
        # A `try` that raised nothing may have caught the exception of an import.
        found = _imports(node) if raised is None or isinstance(raised, ImportError) else []
        if raised is not None and not found:
            note = {"file": file, "line": first, "defines": _defined(node), "missing": [], "module": ""}
            loaded.notes.append({**note, **_error_note(raised, loaded)})
        _bring_all(loaded, found, file, raised)
        _restore(loaded.names, before)


def _accepting(block: Any, keywords: Mapping[str, str]) -> Any:
    """Return a version of the block that also accepts the keywords of the definition that it replaces."""
    if not keywords:
        return block

    def call(function: Any, *args: Any, **given: Any) -> Any:
        return function(*args, **{keywords.get(name, name): value for name, value in given.items()})

    if not isinstance(block, type):
        return functools.partial(call, block)
    init = block.__init__  # type: ignore[misc]
    return type(block.__name__, (block,), {"__init__": lambda self, *a, **k: call(init, self, *a, **k)})


_Import = ast.Import | ast.ImportFrom


def _imports(node: ast.stmt) -> list[_Import]:
    """Return an import statement itself, the imports inside a `try`, or [] for other statements."""
    if isinstance(node, _Import):
        return [node]
    if not isinstance(node, ast.Try):
        return []
    handled = [statement for handler in node.handlers for statement in handler.body]
    inner = [*node.body, *handled, *node.orelse, *node.finalbody]
    return [statement for statement in inner if isinstance(statement, _Import)]


def _bring_all(loaded: Loaded, imports: Sequence[_Import], file: str, raised: BaseException | None) -> None:
    """Bind the names of failed imports, and note those that nothing provides.

    raised: the exception of the statement; None for a `try` statement that raised nothing: its imports worked, or it
    caught their exceptions. If `raised` is None, or if there are several imports, only names that are not bound yet are
    provided.
    """
    missing: dict[str, _Import] = {}
    for node in imports:
        known = loaded.names if len(imports) > 1 or raised is None else {}
        wanting = bring(loaded, node, file, known)
        missing |= {name: node for name in wanting if name not in missing}
    for node in imports:
        names = [name for name, of in missing.items() if of is node and name not in loaded.names]
        if names:
            module = node.names[0].name
            if isinstance(node, ast.ImportFrom):
                module = "." * node.level + (node.module or module)
            error = raised or ModuleNotFoundError(f"No module named {module.lstrip('.')!r}")
            note = {"file": file, "line": node.lineno, "defines": names, "missing": names, "module": module}
            loaded.notes.append({**note, **_error_note(error, loaded)})


def bring(loaded: Loaded, node: _Import, file: str, known: Mapping[str, Any]) -> list[str]:
    """Bind the names of a failed import: from the module itself, a neighbour, or a building block.

    known: names that are bound already; they are skipped. Returns the names that nothing provides.
    """
    missing = []
    for alias in node.names:
        bound = alias.asname or alias.name.split(".")[0]
        if bound in known:
            continue
        try:
            values = _brought(loaded, node, alias, file)
        except ImportError:
            missing.append(bound)
        else:
            loaded.names.update(values)
    return missing


def _brought(loaded: Loaded, node: _Import, alias: ast.alias, file: str) -> dict[str, Any]:
    """Return the names that one alias of an import binds. Raises ImportError if nothing provides them."""
    bound = alias.asname or alias.name
    if isinstance(node, ast.Import):
        if "." in bound:  # `import a.b` without `as`: not provided
            raise ImportError(bound)
        return {bound: _imported(alias.name) or _neighbour(loaded, alias.name)}
    module = "." * node.level + (node.module or "")
    there = _imported(module)
    if there is not None and hasattr(there, alias.name):
        return {bound: getattr(there, alias.name)}
    is_block = alias.name in loaded.offered
    # The neighbour for a module is a guess if only the end of the module's name fits the file.
    is_guess = module in loaded.neighbours.get(module, {}).get("guessed", ())
    if not (is_block and is_guess):
        try:
            return _of_neighbour(loaded, module, alias)
        except ImportError:
            if not is_block:
                raise
    loaded.notes.append({"file": file, "line": node.lineno, "block": alias.name, "module": module})
    return {bound: getattr(sys.modules["grader.given"], alias.name)}


def _of_neighbour(loaded: Loaded, module: str, alias: ast.alias) -> dict[str, Any]:
    """Return the names that one alias of `from module import …` binds, from a neighbour. Raises ImportError."""
    if alias.name == "*":
        found = vars(_neighbour(loaded, module))
        public = found.get("__all__") or [name for name in found if not name.startswith("_")]
        return {name: found[name] for name in public if name in found}
    bound = alias.asname or alias.name
    found = vars(_neighbour(loaded, module)) if module in loaded.neighbours else {}
    if alias.name in found:
        return {bound: found[alias.name]}
    dot = "" if module.endswith(".") else "."
    return {bound: _neighbour(loaded, f"{module}{dot}{alias.name}")}


def _imported(module: str) -> types.ModuleType | None:
    """Import a module and return it; None if `import` does not find it, and for relative names."""
    if module.startswith(".") or not module:
        return None
    try:
        return importlib.import_module(module)
    except ImportError:
        return None


def _neighbour(loaded: Loaded, module: str) -> types.ModuleType:
    """Return a file beside the submission as a module. Raises ImportError if there is none."""
    one = loaded.neighbours.get(module)
    if one is None:
        raise ImportError(module)
    if one["name"] not in loaded.modules:
        inner = _beside(loaded, f"submission.{one['name']}")
        inner.keep = frozenset()
        # Code may look up its own module in sys.modules.
        stand_in_modules.offer({inner.module.__name__: inner.module})
        loaded.modules[one["name"]] = inner.module  # before it runs: neighbours may import one another
        loaded.notes.append({"file": one["name"], "line": 0, "neighbour": True})
        _run_unit(inner, one["name"], one["source"])
    return loaded.modules[one["name"]]


def _restore(names: dict[str, Any], before: Mapping[str, Any]) -> None:
    """Restore names that an import replaced by a withheld block.

    A file of several lessons may define a name in one lesson and import it in another.
    """
    for name, value in before.items():
        # `isinstance` would read `__class__`, which student code may define.
        if type(names.get(name)) is stand_in_modules.Withheld:
            names[name] = value


def _error_note(error: BaseException, loaded: Loaded) -> dict[str, Any]:
    return {"error": describe(error, loaded.files)}


# Cached, because a worker loads the same file again for exercises with other visible blocks.
@lru_cache(maxsize=256)
def _parsed(source: str, file: str) -> ast.Module:
    return ast.parse(source, file)


@lru_cache(maxsize=4096)
def _compiled(source: str, file: str, place: int, replace: frozenset[tuple[str, str]]) -> types.CodeType:
    """Compile one statement of a unit, or its replacement."""
    tree = _parsed(source, file)
    body = _replaced(tree.body[place], dict(replace))
    return compile(ast.Module(body, []), file, "exec", flags=_future_flags(tree), dont_inherit=True)


def _future_flags(tree: ast.Module) -> int:
    """Return the compiler flags of `from __future__ import …`: they apply to every statement of the unit."""
    flags = 0
    for node in tree.body:
        if isinstance(node, ast.ImportFrom) and node.module == "__future__":
            for alias in node.names:
                flags |= _FUTURE_FLAGS.get(alias.name, 0)
    return flags


def _defined(node: ast.stmt) -> list[str]:
    """Return the names that a definition, an import or a plain assignment binds; [] for other statements."""
    if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
        return [node.name]
    if isinstance(node, (ast.Import, ast.ImportFrom)):
        return [alias.asname or alias.name.split(".")[0] for alias in node.names]
    if isinstance(node, ast.Assign):
        return [target.id for target in node.targets if isinstance(target, ast.Name)]
    return []


def _replaced(node: ast.stmt, blocks: Mapping[str, str]) -> list[ast.stmt]:
    """Return the same statement, or an import of the building block that replaces it."""
    wanted = [name for name in _defined(node) if name in blocks]
    if not wanted or isinstance(node, ast.Import):
        return [node]
    new: list[ast.stmt] = [
        ast.ImportFrom("grader.given", [ast.alias(blocks[name], name) for name in wanted], 0)
    ]
    if isinstance(node, ast.ImportFrom):
        kept = [alias for alias in node.names if (alias.asname or alias.name) not in blocks]
        if kept:
            new.append(ast.ImportFrom(node.module, kept, node.level))
    return [ast.fix_missing_locations(ast.copy_location(one, node)) for one in new]
