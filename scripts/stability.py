"""Measure whether a report stays the same if a wrong answer is written differently.

    python scripts/stability.py [--limit N] [--rows FILE]

Each wrong answer of tests/answers, and each mistake of the bank in the reference, is graded as it is, and after each
rewrite of REWRITES that changes it; none changes what the code does. Outcome, names and first line must stay. A line is
the same if it is in the same statement; after a split, in either half. The order of answers is that of line_report.py.
"""

from __future__ import annotations

import ast
from collections import Counter
from collections.abc import Callable, Iterator
from itertools import pairwise

from line_report import WALL, Labelled, measured
from shared import ANSWERS, ROOT, submission_of

from grader.authoring.bank import apply
from grader.authoring.content import read_all
from grader.engine.engine import Engine
from grader.lines.find import Source, with_lines
from grader.lines.search import Budget
from grader.support.code import definitions

COMPOUND = (ast.Call, ast.BinOp, ast.Subscript, ast.Compare)
LIBRARIES = ("torch", "nn", "F", "math")
Functions = list[ast.FunctionDef]


# ---- rewrites of the functions of a tree; a statement keeps `origins`, the lines that it comes from


def rename_locals(functions: Functions) -> None:
    for function in functions:
        nodes = list(ast.walk(function))
        kept = {node.arg for node in nodes if isinstance(node, ast.arg)}
        names = [node for node in nodes if isinstance(node, ast.Name)]
        stored = [one.id for one in names if isinstance(one.ctx, ast.Store) and one.id not in kept]
        new = {name: f"local_{number}" for number, name in enumerate(dict.fromkeys(stored))}
        if not any(isinstance(node, (ast.Global, ast.Nonlocal)) for node in nodes):
            for one in names:
                one.id = new.get(one.id, one.id)


def exchange_matmul(functions: Functions) -> None:
    for node in [node for function in functions for node in ast.walk(function)]:
        for part in ast.iter_child_nodes(node):
            match part:
                case ast.BinOp(left, ast.MatMult(), right):
                    called = ast.Attribute(ast.Name("torch", ast.Load()), "matmul", ast.Load())
                    replace_part(node, part, ast.Call(called, [left, right], []))
                case ast.Call(ast.Attribute(ast.Name("torch"), "matmul"), [left, right], []):
                    replace_part(node, part, ast.BinOp(left, ast.MatMult(), right))


def split(functions: Functions) -> None:
    """Give the part that a statement evaluates first a statement of its own."""
    for _function, block in blocks(functions):
        for number, statement in enumerate(list(block)):
            value = getattr(statement, "value", None)
            part = first_part(value) if isinstance(statement, (ast.Assign, ast.Return)) else None
            if isinstance(part, COMPOUND):
                name = f"part_{number}"
                replace_part(value, part, ast.Name(name, ast.Load()))
                own = ast.Assign([ast.Name(name, ast.Store())], part)
                own.origins = statement.origins
                block.insert(block.index(statement), own)


def inline(functions: Functions) -> None:
    """Put a value that only the next statement reads, and reads first, into that statement."""
    for function, block in blocks(functions):
        counts = Counter(node.id for node in ast.walk(function) if isinstance(node, ast.Name))
        for one, other in list(pairwise(block)):
            match one, other:
                case ast.Assign([ast.Name(name)], value), ast.Assign(value=part) | ast.Return(part):
                    owner: ast.AST = other
                    while part is not None and not isinstance(part, ast.Name):
                        owner, part = part, first_part(part)
                    if part is not None and part.id == name and counts[name] == 2:
                        replace_part(owner, part, value)
                        other.origins = one.origins + other.origins
                        block.remove(one)


def reorder(functions: Functions) -> None:
    """Exchange neighbouring assignments that have nothing in common; those of a constructor may read the same sizes."""
    for function, block in blocks(functions):
        for place in range(0, len(block) - 1, 2):
            one, other = block[place : place + 2]
            if isinstance(one, ast.Assign) and isinstance(other, ast.Assign):
                stored, read = mentioned(*one.targets), mentioned(one.value)
                stored_too, read_too = mentioned(*other.targets), mentioned(other.value)
                shared = stored & (stored_too | read_too) or stored_too & read
                if not shared and (function.name == "__init__" or not read & read_too):
                    block[place : place + 2] = [other, one]


def add_dead_code(functions: Functions) -> None:
    for function in functions:
        new = ast.parse("unused = 0\nif unused:\n    unused = unused + 1").body
        for node in (node for statement in new for node in ast.walk(statement)):
            node.origins = []
        place = int(ast.get_docstring(function) is not None)
        function.body[place:place] = new


REWRITES: dict[str, Callable[[Functions], None]] = {
    "locals renamed": rename_locals,
    "`@` and `torch.matmul` exchanged": exchange_matmul,
    "expressions split": split,
    "expressions inlined": inline,
    "independent statements reordered": reorder,
    "dead code added": add_dead_code,
}


def outer_functions(tree: ast.AST) -> Iterator[ast.FunctionDef]:
    for part in ast.iter_child_nodes(tree):
        if isinstance(part, ast.FunctionDef):
            yield part
        else:
            yield from outer_functions(part)


def blocks(functions: Functions) -> list[tuple[ast.FunctionDef, list[ast.stmt]]]:
    nodes = [(function, node) for function in functions for node in ast.walk(function)]
    found = [(function, getattr(node, name, 0)) for function, node in nodes for name in ("body", "orelse")]
    return [pair for pair in found if isinstance(pair[1], list)]


def first_part(value: ast.expr | None) -> ast.expr | None:
    """Return the part that an expression evaluates first; None if that is not clear."""
    match value:
        case ast.BinOp(left=part) | ast.Subscript(value=part) | ast.Compare(left=part):
            return part
        case ast.Call(ast.Name() | ast.Attribute(ast.Name("self" | "torch" | "nn" | "F")), [part, *_]):
            return part
        case ast.Call(ast.Attribute(part)):
            return part
    return None


def replace_part(owner: ast.AST, part: ast.AST, new: ast.AST) -> None:
    for node in (owner, getattr(owner, "func", owner)):
        for name, value in ast.iter_fields(node):
            if value is part:
                setattr(node, name, new)
            elif isinstance(value, list) and part in value:
                value[value.index(part)] = new


def mentioned(*parts: ast.expr) -> set[str]:
    """Return the names in some expressions, and the attributes of `self`."""
    nodes = [node for part in parts for node in ast.walk(part)]
    attributes = {ast.unparse(node) for node in nodes if isinstance(node, ast.Attribute)}
    names = {node.id for node in nodes if isinstance(node, ast.Name)} - {"self", *LIBRARIES}
    return names | {text for text in attributes if text.count(".") == 1 and text.startswith("self.")}


def rewritten(source: str, rewrite: Callable[[Functions], None]) -> tuple[str, dict[int, list[int]]]:
    """Return the source after a rewrite, and line → the lines of the statements that it comes from."""
    tree = ast.parse(source)
    for node in ast.walk(tree):
        node.origins = [getattr(node, "lineno", 0)]
    rewrite(list(outer_functions(tree)))
    text = ast.unparse(ast.fix_missing_locations(tree)) + "\n"
    before, after = ([n for n in ast.walk(t) if isinstance(n, ast.stmt)] for t in (tree, ast.parse(text)))
    return text, {new.lineno: old.origins for old, new in zip(before, after, strict=True)}


# ---- what the grader says


def row(engine: Engine, answer: Labelled) -> dict:
    """Return what the report says of the answer, and rewrite → what differs after it."""
    plain, _lines = rewritten(answer.source, lambda _functions: None)
    before, found = said(engine, answer.exercise, plain), {}
    for title, rewrite in REWRITES.items() if before["outcome"] == "failed" else ():
        text, origins = rewritten(plain, rewrite)
        if text != plain:
            after = said(engine, answer.exercise, text)
            if before["line"] in origins.get(after["line"], []):
                after["line"] = before["line"]
            found[title] = [what for what in before if before[what] != after[what]]
    return {"name": answer.name, "found": found}


def said(engine: Engine, exercise: str, source: str) -> dict[str, object]:
    """Return the outcome, the names, and the first line, 0 without one."""
    submission = submission_of(source)
    (result,) = engine.grade(submission, [exercise]).exercises
    result = with_lines(engine, Source(submission), result, Budget(wall=WALL))
    lines = [line.line for line in result.diagnosis.lines]
    names = sorted(sorted(one) for one in result.diagnosis.alternatives)
    return {"outcome": result.outcome, "names": names, "line": lines[0] if lines else 0}


def report(rows: list[dict]) -> str:
    """Return a table with a row per rewrite, and the answers that are not stable."""
    out = ["| rewrite | answers | same outcome | same names | same first line |", "|---" * 5 + "|"]
    every = [(one["name"], title, differs) for one in rows for title, differs in one["found"].items()]
    for title in (*REWRITES, "all"):
        mine = [differs for _name, of, differs in every if title in (of, "all")]
        shares = [
            sum(what not in d for d in mine) / max(len(mine), 1) for what in ("outcome", "names", "line")
        ]
        out.append(f"| {title} | {len(mine)} | {' | '.join(f'{100 * share:.1f} %' for share in shares)} |")
    return "\n".join([*out, "", *(f"- {name}, {of}: {', '.join(d)}" for name, of, d in every if d)])


def wrong_answers() -> Iterator[Labelled]:
    for answer in ANSWERS:
        if answer.name.startswith("wrong_"):
            yield Labelled(answer.id, "answers", answer.exercise, answer.source, frozenset())
    for content in read_all(ROOT / "solutions"):
        for mistake in content.mistakes():
            if mistake.kind == "mistake":
                name, source = f"{mistake.of}/{mistake.id}", apply(mistake, definitions(content.source))
                yield Labelled(name, "bank", mistake.of, source, frozenset())


if __name__ == "__main__":
    print(report(measured(__doc__, list(wrong_answers()), row)))
