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
from collections.abc import Callable, Mapping, Sequence
from contextlib import nullcontext
from functools import lru_cache
from typing import Any

from msgspec import Struct, structs

from grader.worker import stand_in_modules
from grader.worker.demonstrations import Demonstrations
from grader.worker.errors import describe
from grader.worker.time_limit import TooLongError

Begin = Callable[[str, int], None]
_FUTURE_FLAGS = {name: getattr(__future__, name).compiler_flag for name in __future__.all_feature_names}


class Files(Struct, frozen=True, kw_only=True):
    """The files to load for one exercise, and how; `engine.load_request` asks for them.

    units: a file, or a notebook's cells, `{"name", "source"}` each.
    given: name → source, of the allowed building blocks.
    withheld: blocks that may be imported but not used.
    replace: name of a top-level definition → the building block that replaces it.
    keywords: name in `replace` → a keyword that the file uses → the block's keyword.
    skip: (unit, line) of statements that timed out before.
    parts: earlier files with parts that the student wrote, `{"units", "names"}` each; `names` maps a part to its
        name in that file. Each file is a module of its own.
    own: the same mapping for the parts that the submission itself defines. The student's parts replace the blocks
        only within the context `Loaded.with_own`.
    neighbours: files beside the submission, for imports that fail, `{"name", "source", "modules"}` each; `modules`:
        the names of modules that the file provides. The first file for a name counts.
    keep: names that stay even if a demonstration sets them: those of exercises.
    brief: leave out every loop and every call of the file's own definitions, except those that set a name of `keep`.
    """

    units: list[dict[str, Any]]
    given: dict[str, str]
    withheld: list[str] = []
    replace: dict[str, str] = {}
    keywords: dict[str, dict[str, str]] = {}
    skip: frozenset[tuple[str, int]] = frozenset()
    parts: list[dict[str, Any]] = []
    own: dict[str, str] = {}
    neighbours: list[dict[str, Any]] = []
    keep: frozenset[str] = frozenset()
    brief: bool = False


class Loaded:
    """A submission after its top level has run: its names, and notes on failed or skipped statements and on imports."""

    def __init__(self, asked: Files, begin: Begin):
        units = [unit for part in asked.parts for unit in part["units"]]
        self.files = frozenset(unit["name"] for unit in (*units, *asked.units, *asked.neighbours))
        self.asked, self.begin = asked, begin
        self.notes: list[dict[str, Any]] = []
        self.neighbours: dict[str, types.ModuleType] = {}  # file of a neighbour that was loaded → its module
        # Names that only demonstrations set, which were removed → the file and the line that set them.
        self.removed: dict[str, tuple[str, int]] = {}
        # A part that the student wrote → the namespace of its file, and its name in that file.
        self.own: dict[str, tuple[dict[str, Any], str]] = {}
        self.with_own: stand_in_modules.Switch = nullcontext
        self.start("submission")

    def start(self, name: str) -> None:
        """Begin with an empty module of this name."""
        self.module = types.ModuleType(name)
        self.demonstrations = Demonstrations(self.names)

    @property
    def names(self) -> dict[str, Any]:
        return self.module.__dict__


def load(asked: Files, begin: Begin = lambda file, line: None) -> Loaded:
    """Run the units in order in one fresh module.

    begin: called with the file and the line of each statement before it runs. It may raise TooLongError.
    """
    loaded = Loaded(asked, begin)
    loaded.with_own = stand_in_modules.install(asked.given, asked.withheld, loaded.own)
    for part in asked.parts:
        _run_part(loaded, part)
    loaded.own.update({name: (loaded.names, bound) for name, bound in asked.own.items()})
    sys.modules["submission"] = loaded.module
    # What a model is made of comes from the student's earlier files, also where its file imports it.
    with loaded.with_own() if asked.parts else nullcontext():
        for unit in asked.units:
            _run_unit(loaded, unit["name"], unit["source"])
    loaded.removed = loaded.demonstrations.remove(asked.keep)
    return loaded


def _run_part(loaded: Loaded, part: Mapping[str, Any]) -> None:
    """Load an earlier file. Its errors are not noted: they are reported when that file itself is graded."""
    names: dict[str, str] = part["names"]
    file = _beside(loaded, "submission", neighbours=[], given={}, keep=loaded.asked.keep | {*names.values()})
    file.neighbours, file.notes = {}, []
    sys.modules["submission"] = file.module
    with loaded.with_own():
        for unit in part["units"]:
            _run_unit(file, unit["name"], unit["source"])
    file.demonstrations.remove(file.asked.keep)
    found = {name: (file.names, bound) for name, bound in names.items() if bound in file.names}
    loaded.own.update(found)


def _beside(loaded: Loaded, name: str, **other: Any) -> Loaded:
    """Return a new module for another file, which is loaded with the same settings, but for those in `other`."""
    beside = copy.copy(loaded)
    beside.asked = structs.replace(loaded.asked, **other)
    beside.start(name)
    return beside


def _run_unit(loaded: Loaded, file: str, source: str) -> None:
    """Run one unit statement by statement. Note the statements that are left out."""
    linecache.cache[file] = (len(source), None, list(io.StringIO(source)), file)
    loaded.module.__file__ = file
    asked = loaded.asked
    try:
        tree = _parsed(source, file)
    except (SyntaxError, ValueError, RecursionError, MemoryError) as error:
        line = getattr(error, "lineno", 0) or 0
        loaded.notes.append({"file": file, "line": line, "whole": True, **_error_note(error, loaded)})
        return
    replace = frozenset(asked.replace.items())
    for place, node in enumerate(tree.body):
        first, last = node.lineno, node.end_lineno or node.lineno
        takes_long = asked.brief and loaded.demonstrations.may_take_long(node)
        if any(name == file and first <= line <= last for name, line in asked.skip):
            loaded.notes.append({"file": file, "line": first, "endless": True})
        elif not takes_long or not asked.keep.isdisjoint(_defined(node)):
            loaded.begin(file, first)
            _run_statement(loaded, node, file, functools.partial(_compiled, source, file, place, replace))


def _run_statement(loaded: Loaded, node: ast.stmt, file: str, compiled: Callable[[], types.CodeType]) -> None:
    """Run one statement. Note that it fails, or provide the names of a failed import."""
    before, raised, replace = dict(loaded.names), None, loaded.asked.replace
    try:
        exec(compiled(), loaded.names)
    except TooLongError:
        raise
    except BaseException as error:
        raised = error
    if raised is None and not isinstance(node, ast.Import):  # `import x` is never replaced
        for name in filter(replace.__contains__, _defined(node)):
            loaded.names[name] = _accepting(loaded.names[name], loaded.asked.keywords.get(name, {}))
    loaded.demonstrations.ran(node, file, before)
    # A `try` that raised nothing may have caught the exception of an import.
    failed = isinstance(raised, ImportError) or (raised is None and isinstance(node, ast.Try))
    found = _imports(node) if failed else []
    if raised is not None and not found:
        note = {"file": file, "line": node.lineno, "defines": _defined(node), "missing": [], "module": ""}
        loaded.notes.append({**note, **_error_note(raised, loaded)})
    _bring(loaded, found, file, raised)
    if isinstance(node, ast.ImportFrom):
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


def _bring(loaded: Loaded, imports: Sequence[_Import], file: str, raised: BaseException | None) -> None:
    """Bind the names of failed imports: from the module itself, a neighbour, or a building block. Note the others.

    raised: the exception of the statement; None for a `try` statement that raised nothing: its imports worked, or it
    caught their exceptions. If `raised` is None, or if there are several imports, only names that are not bound yet are
    provided.
    """
    missing: dict[str, _Import] = {}
    for node in imports:
        for alias in node.names:
            bound = alias.asname or alias.name.split(".")[0]
            if bound in loaded.names and (len(imports) > 1 or raised is None):
                continue
            try:
                loaded.names.update(_brought(loaded, node, alias, file))
            except ImportError:
                missing.setdefault(bound, node)
    for node in imports:
        names = [name for name, of in missing.items() if of is node and name not in loaded.names]
        if names:
            module = node.names[0].name
            if isinstance(node, ast.ImportFrom):
                module = "." * node.level + (node.module or module)
            error = raised or ModuleNotFoundError(f"No module named {module.lstrip('.')!r}")
            note = {"file": file, "line": node.lineno, "defines": names, "missing": names, "module": module}
            loaded.notes.append({**note, **_error_note(error, loaded)})


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
    try:
        return _of_neighbour(loaded, module, alias)
    except ImportError:
        if alias.name not in loaded.asked.given:
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
    found = vars(_neighbour(loaded, module)) if _file_of(loaded, module) else {}
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


def _file_of(loaded: Loaded, module: str) -> Mapping[str, Any] | None:
    """Return the neighbour that provides a module; None if there is none."""
    return next((one for one in loaded.asked.neighbours if module in one["modules"]), None)


def _neighbour(loaded: Loaded, module: str) -> types.ModuleType:
    """Return the module that a neighbour provides; load it first if need be. Raises ImportError if there is none."""
    one = _file_of(loaded, module)
    if one is None:
        raise ImportError(module)
    if one["name"] not in loaded.neighbours:
        inner = _beside(loaded, f"submission.{one['name']}", keep=frozenset())
        # Code may look up its own module in sys.modules.
        stand_in_modules.offer({inner.module.__name__: inner.module})
        loaded.neighbours[one["name"]] = inner.module  # before it runs: neighbours may import one another
        loaded.notes.append({"file": one["name"], "line": 0, "neighbour": True})
        _run_unit(inner, one["name"], one["source"])
    return loaded.neighbours[one["name"]]


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
