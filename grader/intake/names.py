"""Find the definitions of a submission with their parameters, and whether they differ from the original stub."""

from __future__ import annotations

import ast
import hashlib
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import lru_cache
from pathlib import Path

from grader.intake.read import Blocked, Submission, Unit, submission_from, trees
from grader.intake.syntax import Fault, fault_of, parse, statements


@dataclass(frozen=True)
class Signature:
    """The parameters of a function or method, without `self`.

    needed: parameters without a default. extra_args, extra_keywords: it has `*args`, `**kwargs`.
    """

    positional: tuple[str, ...]
    keyword_only: tuple[str, ...]
    needed: frozenset[str]
    extra_args: bool
    extra_keywords: bool
    _node: ast.arguments = field(compare=False, repr=False)

    @property
    def names(self) -> frozenset[str]:
        return frozenset((*self.positional, *self.keyword_only))

    def accepts(self, count: int, keywords: Collection[str] = ()) -> bool:
        """Whether a call with `count` positional arguments and these keywords is possible."""
        by_position = set(self.positional[:count])
        if count > len(self.positional) and not self.extra_args:
            return False
        if by_position & set(keywords):
            return False
        if not set(keywords) <= self.names and not self.extra_keywords:
            return False
        return self.needed <= by_position | set(keywords)

    @property
    def text(self) -> str:
        """Return the parameters with their defaults and without annotations."""
        found = self._node
        shown = ast.arguments(
            posonlyargs=[],
            args=[ast.arg(name) for name in self.positional],
            vararg=found.vararg and ast.arg(found.vararg.arg),
            kwonlyargs=[ast.arg(name) for name in self.keyword_only],
            kw_defaults=found.kw_defaults,
            kwarg=found.kwarg and ast.arg(found.kwarg.arg),
            defaults=found.defaults[-len(self.positional) :] if self.positional else [],
        )
        try:
            return ast.unparse(shown)
        except RecursionError:  # a default that is nested too deeply to write
            return ", ".join(self.positional)


def signature_of(node: ast.FunctionDef, skip: int) -> Signature:
    """Return the signature of a function. skip: the number of parameters to leave out: 1 for a method."""
    found = node.args
    positional = [a.arg for a in (*found.posonlyargs, *found.args)]
    without_default = positional[: len(positional) - len(found.defaults)]
    keywords = zip(found.kwonlyargs, found.kw_defaults, strict=True)
    return Signature(
        positional=tuple(positional[skip:]),
        keyword_only=tuple(a.arg for a in found.kwonlyargs),
        needed=frozenset((*without_default[skip:], *(a.arg for a, default in keywords if default is None))),
        extra_args=found.vararg is not None,
        extra_keywords=found.kwarg is not None,
        _node=found,
    )


def method_of(node: ast.stmt, name: str) -> ast.FunctionDef | None:
    """Return the method that a class itself defines under a name; None if there is none. The last one counts."""
    body = reversed(node.body) if isinstance(node, ast.ClassDef) else ()
    return next((part for part in body if isinstance(part, ast.FunctionDef) and part.name == name), None)


@dataclass(frozen=True)
class Definition:
    """A top-level definition: a hash of its syntax tree, its first and last line, and its parameters."""

    name: str
    unit: str
    line: int
    end: int
    tree: str
    kind: str  # "def", "class" or "name"
    parameters: Signature | None = None  # of a function; of `__init__` if the class defines it
    forward: Signature | None = None  # of `forward` if the class defines it


@dataclass(frozen=True)
class Names:
    """All top-level definitions of a submission. Of several with one name, the last counts."""

    units: tuple[Unit, ...]
    definitions: Mapping[str, Definition]
    faults: tuple[Fault, ...] = ()
    # Functions and classes that a later function or class of the same name replaces.
    replaced: tuple[Definition, ...] = ()

    @property
    def lost(self) -> dict[str, Fault]:
        """Name → its syntax error, for names that are defined only in code that cannot be parsed."""
        return {name: fault for fault in self.faults for name in fault.lost if name not in self.definitions}


def read_names(submission: Submission) -> Names:
    """Parse every unit. A unit that cannot be parsed becomes one of the faults; the others are read."""
    found = _names_in(submission.units)
    return replace(found, faults=submission.faults + found.faults)


@lru_cache(maxsize=8)
def _names_in(units: tuple[Unit, ...]) -> Names:
    found: dict[str, Definition] = {}
    faults: list[Fault] = []
    replaced: list[Definition] = []
    for unit in units:
        try:
            for definition in _definitions(unit):
                earlier = found.pop(definition.name, None)
                if earlier and {earlier.kind, definition.kind} <= {"def", "class"}:
                    replaced.append(earlier)
                found[definition.name] = definition
        except SyntaxError as error:
            faults.append(fault_of(error, unit.name, unit.source))
    return Names(units, found, tuple(faults), tuple(replaced))


def _definitions(unit: Unit) -> Iterator[Definition]:
    for node in statements(parse(unit.source).body):
        names = _bound(node)
        if names:
            place = (unit.name, node.lineno, node.end_lineno or node.lineno)
            tree = hash_of(node)
            built, forward = method_of(node, "__init__"), method_of(node, "forward")
            parameters = signature_of(built, skip=1) if built else None
            if isinstance(node, ast.FunctionDef):
                parameters = signature_of(node, skip=0)
            called = signature_of(forward, skip=1) if forward else None
            yield from (Definition(name, *place, tree, kind, parameters, called) for name, kind in names)


def hash_of(node: ast.stmt, bare: bool = False) -> str:
    """Return a hash of a syntax tree without its positions. Unlike `ast.dump`, this takes a tree of any depth.

    bare: leave out docstrings and the name that the statement itself defines.
    """
    parts: list[str] = []
    waiting: list[object] = [node]
    while waiting:
        item = waiting.pop()
        kind = type(item).__name__
        if isinstance(item, ast.AST):
            known = vars(item)
            fields = [known[name] for name in item._fields if name in known]
            if bare and isinstance(item, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
                first = item.body[0]
                has_text = isinstance(first, ast.Expr) and isinstance(first.value, ast.Constant)
                rest = [field for field in fields if field is not item.body and field is not item.name]
                fields = [*rest, item.body[has_text:], *([] if item is node else [item.name])]
            parts.append(f"{kind}{len(fields)} ")
            waiting += reversed(fields)
        elif isinstance(item, list):
            parts.append(f"list{len(item)} ")
            waiting += reversed(item)
        else:  # Python does not write very long integers as decimals
            parts.append(f"{kind} {hex(item) if type(item) is int else repr(item)} ")
    return hashlib.sha256("".join(parts).encode("utf-8", "backslashreplace")).hexdigest()


def _bound(node: ast.stmt) -> list[tuple[str, str]]:
    """Return the names that a statement defines, each with its kind: "def", "class" or "name"."""
    if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)):
        # The decorator `d2l.add_to_class` makes a function a method; its name is then not bound.
        calls = (decorator.func for decorator in node.decorator_list if isinstance(decorator, ast.Call))
        named = [(getattr(call, "attr", ""), getattr(call, "id", "")) for call in calls]
        return [] if any("add_to_class" in names for names in named) else [(node.name, "def")]
    if isinstance(node, ast.ClassDef):
        return [(node.name, "class")]
    if isinstance(node, ast.Assign):
        return [(target.id, "name") for target in node.targets if isinstance(target, ast.Name)]
    if isinstance(node, ast.AnnAssign) and isinstance(node.target, ast.Name) and node.value is not None:
        return [(node.target.id, "name")]
    return []


def plain(name: str) -> str:
    """Return a name without case and underscores: the same for `Multi_Head_Attention` and `multiheadAttention`."""
    return name.replace("_", "").lower()


def untouched(name: str, names: Names, stub: Names) -> bool:
    """Whether the definition has the same syntax tree as in the original stub."""
    mine, original = names.definitions.get(name), stub.definitions.get(name)
    return mine is not None and original is not None and mine.tree == original.tree


def is_changed(path: Path, read: Callable[[], bytes], stub: str, exercises: Sequence[str]) -> bool:
    """Whether a file lacks one of the exercises, or defines one differently than the stub.

    A file that cannot be read, or that has a syntax error, counts as changed.
    """
    found, original = _names(path, read), stub_names(stub)
    if found is None or found.faults:
        return True
    return any(not untouched(name, found, original) for name in exercises)


def answers(path: Path, read: Callable[[], bytes], stub: str, exercises: Sequence[str]) -> bool:
    """Whether a file defines one of the exercises, and not as the stub does."""
    found, original = _names(path, read), stub_names(stub)
    mine = [name for name in exercises if found is not None and name in found.definitions]
    return found is not None and any(not untouched(name, found, original) for name in mine)


def _names(path: Path, read: Callable[[], bytes]) -> Names | None:
    try:
        return read_names(submission_from(path, read()))
    except (Blocked, OSError):
        return None


def stub_names(stub: str) -> Names:
    """Return the definitions of an original stub."""
    return read_names(Submission(Path("stub.py"), (Unit("stub.py", stub),)))


MAX_BASES = 10  # base classes that are followed to find a method
# Base classes whose subclasses must define `forward`.
BARE_BASES = frozenset(
    {"nn.Module", "torch.nn.Module", "Module", "d2l.Module", "Encoder", "Decoder", "AttentionDecoder"}
    | {f"d2l.{name}" for name in ("Encoder", "Decoder", "AttentionDecoder")}
)


def function_of(names: Names, name: str, method: str = "") -> ast.FunctionDef | None:
    """Return a function, or a method that a class or a base class in the same file defines.

    Return None if the text does not decide it, for example because of a decorator, several base classes, a base class
    from elsewhere, or a name that is assigned.
    """
    for _step in range(MAX_BASES):
        node = _definition(names, name)
        if node is None or node.decorator_list:
            return None
        if isinstance(node, ast.FunctionDef):
            return None if method else node
        if found := method_of(node, method):
            return None if found.decorator_list else found
        if len(node.bases) != 1 or not isinstance(node.bases[0], ast.Name) or node.bases[0].id == name:
            return None
        name = node.bases[0].id
    return None


def signature(names: Names, name: str, method: str = "") -> Signature | None:
    """Return the signature of what `function_of` returns; None if that is None."""
    node = function_of(names, name, method)
    return signature_of(node, skip=1 if method else 0) if node else None


def attributes_of(names: Names, name: str, variable: str) -> frozenset[str]:
    """Return the attributes of a variable that a class or function reads."""
    node = _definition(names, name)
    reads = (part for part in ast.walk(node) if isinstance(part, ast.Attribute)) if node else ()
    return frozenset(
        part.attr for part in reads if isinstance(part.value, ast.Name) and part.value.id == variable
    )


def words_of(names: Names, name: str) -> frozenset[str]:
    """Return the names, attributes and parameters that occur in a class or function, as `plain` writes them."""
    node = _definition(names, name)
    words = (getattr(part, what, None) for part in (ast.walk(node) if node else ()) for what in _WORDS)
    return frozenset(plain(word) for word in words if isinstance(word, str))


_WORDS = ("id", "attr", "arg")


def without_code(names: Names, name: str) -> str:
    """Return the function, class or `forward` of a class that has no statement besides a docstring, `...`, `pass` or
    `raise NotImplementedError`; "" if it has one.

    A class without code must also inherit no `forward`: its base class is one of BARE_BASES, or a class of this file
    of which the same is true.
    """
    node = _definition(names, name)
    if node is None:
        return ""
    if forward := method_of(node, "forward"):
        return f"{name}.forward" if _is_bare(forward) else ""
    return name if _is_bare(node) and not _may_inherit_forward(names, node) else ""


def _is_bare(node: ast.FunctionDef | ast.ClassDef) -> bool:
    for statement in node.body:
        match statement:
            case ast.Pass() | ast.Expr(ast.Constant()):
                continue
            case ast.Raise(ast.Name("NotImplementedError") | ast.Call(ast.Name("NotImplementedError"))):
                continue
        return False
    return True


def _may_inherit_forward(names: Names, node: ast.stmt | None) -> bool:
    """Also True if a base class is not known."""
    if isinstance(node, ast.FunctionDef):
        return False
    for _step in range(MAX_BASES):
        if not isinstance(node, ast.ClassDef) or len(node.bases) != 1:
            return True
        base = ast.unparse(node.bases[0])
        if base in BARE_BASES:
            return False
        node = _definition(names, base)
        if node is None or method_of(node, "forward"):
            return True
    return True


def _definition(names: Names, name: str) -> ast.FunctionDef | ast.ClassDef | None:
    known = names.definitions.get(name)
    found = statements_on(names.units).get((known.unit, known.line), ()) if known is not None else ()
    for _unit, node in found:
        if isinstance(node, (ast.FunctionDef, ast.ClassDef)) and node.name == name:
            return node
    return None


@lru_cache(maxsize=4)  # asked for by each exercise, of a submission and of the stub
def statements_on(units: tuple[Unit, ...]) -> Mapping[tuple[str, int], list[tuple[str, ast.stmt]]]:
    """Return unit and line → the statements that begin there. Each name defined there needs what they all use."""
    found: dict[tuple[str, int], list[tuple[str, ast.stmt]]] = {}
    for unit, tree in trees(units):
        for node in statements(tree.body):
            found.setdefault((unit, node.lineno), []).append((unit, node))
    return found
