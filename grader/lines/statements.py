"""Edits of statements: drop, move or insert one, or change what it assigns to. Each function takes one scope."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from itertools import combinations, pairwise

from grader.lines.edit import Edit
from grader.lines.scope import MODELS, Scope
from grader.lines.structural import MAX_EXCHANGED, exchanged, replaced


def changed_statements(scope: Scope) -> Iterator[Edit]:
    """Drop a statement, leave out a `with` or a decorator, such as `no_grad`, or assign to another name.

    Exchange two targets; in a constructor, make a layer of its own: `self.a = self.b` → `self.a = Layer(…)`.
    """
    drops = (ast.Assign, ast.AugAssign, ast.Expr, ast.If, ast.For, ast.Return, ast.Break, ast.Continue)
    made: dict[str, str] = {}
    for statement in scope.statements():
        if isinstance(statement, drops) and not _is_text(statement):
            yield replaced(scope, "drop statement", statement, "pass", statement)
        match statement:
            case ast.With(items=[*_, ast.withitem(context_expr=last, optional_vars=None)]):
                whole = (scope.text.span(statement)[0], scope.text.span(last)[1])
                yield Edit("context", ((*whole, "if True"),), whole, statement.lineno)
            case ast.Assign(targets=[ast.Name(id=own) as target]) if not scope.is_constructor:
                for name in scope.alike(target):
                    if name != own:
                        yield replaced(scope, "target", target, name, statement)
            case ast.Assign(targets=[ast.Tuple(elts=parts)]):
                for one, other in combinations(parts[:MAX_EXCHANGED], 2):
                    yield exchanged(scope, "target order", one, other, statement)
            case ast.Assign(targets=[ast.Attribute() as target], value=value) if scope.is_constructor:
                text = scope.text.of(value)
                if text in made:
                    yield replaced(scope, "own layer", value, made[text], statement)
                if isinstance(value, ast.Call):
                    made[scope.text.of(target)] = text
    for decorator in scope.function.decorator_list if scope.function else ():
        start, stop = scope.text.span(decorator)
        # `start - 1` is the place of "@".
        yield Edit("context", ((start - 1, stop, "# "),), (start, stop), decorator.lineno)


def moved(scope: Scope) -> Iterator[Edit]:
    """Exchange two statements that follow each other; move the last statement of a block out of it."""
    blocks = [scope.body]
    for statement in scope.statements():
        inner = [getattr(statement, name, None) for name in ("body", "orelse")]
        blocks += [block for block in inner if block and isinstance(block, list)]
    for block in blocks:
        for one, other in pairwise(block):
            if not _is_text(one) and not isinstance(other, (ast.Return, ast.FunctionDef)):
                yield exchanged(scope, "statement order", one, other, one)
        last = block[-1]
        if block is not scope.body and isinstance(last, (ast.Return, ast.Assign, ast.AugAssign, ast.Expr)):
            yield from _out_of_block(scope, last)


def _out_of_block(scope: Scope, last: ast.stmt) -> Iterator[Edit]:
    """Indent the last statement of a block four spaces less, and put `pass` in its place.

    Skip a statement of several lines, and one that does not begin its line.
    """
    start, stop = scope.text.span(last)
    line = scope.text.line_start(last.lineno)
    indent = scope.text.raw[line:start].decode("utf-8", "replace")
    if not indent.strip() and last.lineno == last.end_lineno and len(indent) >= 8:
        pieces = ((line, stop, f"{indent}pass\n{indent[:-4]}{scope.text.of(last)}"),)
        yield Edit("statement order", pieces, (start, stop), last.lineno)


def in_loops(scope: Scope) -> Iterator[Edit]:
    """At the start of a loop, repeat an assignment above it; at its end, store a result in a name that it only reads."""
    before: list[ast.stmt] = []
    assigned: set[str] = set()
    for statement in scope.statements():
        if isinstance(statement, (ast.For, ast.While)) and statement.body[0].lineno > statement.lineno:
            for one in before[-3:]:
                new = scope.text.of(one)
                yield _line_before(scope, "statement order", new, statement.body[0], one, inserts=False)
            inside = [node for one in statement.body for node in ast.walk(one) if isinstance(node, ast.Name)]
            stored = {node.id for node in inside if isinstance(node.ctx, ast.Store)} & set(scope.names)
            for name in sorted({node.id for node in inside} & assigned - stored):
                for result in sorted(stored - scope.sizes):
                    last = statement.body[-1]
                    yield _line_after(scope, "insert assignment", f"{name} = {result}", last, last)
        if isinstance(statement, ast.Assign):
            before.append(statement)
            assigned |= {t.id for t in statement.targets if isinstance(t, ast.Name)} - scope.sizes


def added(scope: Scope) -> Iterator[Edit]:
    """Return a name at the end; call `eval()` or `train()` of a parameter that is a model, before its first use."""
    # No line can follow a body in the line of `def`.
    if scope.function is None or scope.is_constructor or scope.body[0].lineno == scope.function.lineno:
        return
    last = scope.body[-1]
    if not isinstance(last, (ast.Return, ast.Raise)):
        # The new line follows the last line of a block, so a report names that line and not the block's head.
        above = max((one for one in ast.walk(last) if isinstance(one, ast.stmt)), key=lambda one: one.lineno)
        for name in scope.tensors(last):
            yield _line_after(scope, "return", f"return {name}", last, above)
    for model in [one.arg for one in scope.function.args.args[:3] if one.arg in MODELS]:
        for statement in _before_use(scope, model):
            for mode in ("eval", "train"):
                yield _line_before(scope, "insert statement", f"{model}.{mode}()", statement, statement)


def _before_use(scope: Scope, model: str) -> list[ast.stmt]:
    """Return the statement that first passes something to a model, and each `pass` before it.

    A `pass` probably stands where a line was removed. If nothing is passed to a model, return the first statement.
    """
    body = [one for one in scope.body if not _is_text(one)]
    for place, statement in enumerate(body):
        for node in ast.walk(statement):
            if isinstance(node, ast.Call) and node.args and scope.text.of(node.func).split(".")[0] == model:
                return [statement, *(one for one in body[:place] if isinstance(one, ast.Pass))]
    return body[:1]


def unused_layers(scope: Scope) -> Iterator[Edit]:
    """Put the line `x = self.layer(x)` before a statement, with a layer that the class never reads."""
    for layer in () if scope.is_constructor else scope.owner.unused[:2]:
        for before, statement in pairwise([None, *scope.body[:12]]):
            if statement is None or _is_text(statement):
                continue
            for name in scope.tensors(statement):
                # If the line above assigns the name, perhaps that line lacks the layer: report it. But a `pass`
                # here probably stands where the line with the layer was removed: then report the `pass`.
                made_above = isinstance(before, ast.Assign) and scope.text.of(before.targets[0]) == name
                at = before if before and made_above and not isinstance(statement, ast.Pass) else statement
                yield _line_before(scope, "unused layer", f"{name} = self.{layer}({name})", statement, at)


def _is_text(statement: ast.stmt) -> bool:
    return isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Constant)


def _line_before(
    scope: Scope, kind: str, line: str, statement: ast.stmt, at: ast.stmt, inserts: bool = True
) -> Edit:
    """Return the edit that puts a line before a statement. at: the statement that a report names."""
    start = scope.text.span(statement)[0]
    new = f"{line}\n{' ' * statement.col_offset}"
    return Edit(kind, ((start, start, new),), scope.text.span(at), at.lineno, inserts)


def _line_after(scope: Scope, kind: str, line: str, statement: ast.stmt, at: ast.stmt) -> Edit:
    stop = scope.text.span(statement)[1]
    new = f"\n{' ' * statement.col_offset}{line}"
    return Edit(kind, ((stop, stop, new),), scope.text.span(at), at.lineno, inserts=True)


MAKERS = (changed_statements, moved, in_loops, added, unused_layers)
