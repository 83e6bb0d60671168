"""Edits of statements: drop, move or insert one, change what it assigns to, take a block out of its condition."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence
from itertools import pairwise

from grader.lines.operators import MAX_EXCHANGED, MODELS, Operator, edit, whole_text
from grader.lines.scope import Scope
from grader.lines.source_edit import Edit


def _dropped(scope: Scope) -> Iterator[Edit]:
    for statement in scope.statements():
        may_go = isinstance(statement, (ast.Assign, ast.AugAssign, ast.Expr, ast.If, ast.For, ast.Return))
        if may_go and not _is_text(statement):
            yield edit(scope, "drop statement", statement, "pass", statement)


def _line_before(
    scope: Scope, kind: str, line: str, statement: ast.stmt, at: ast.stmt, inserts: bool = True
) -> Edit:
    """Return the edit that puts a line before a statement. at: the statement that a report names."""
    start = scope.text.span(statement)[0]
    new = f"{line}\n{' ' * statement.col_offset}"
    return Edit(kind, ((start, start, new),), scope.text.span(at), at.lineno, inserts)


def _line_after(scope: Scope, kind: str, line: str, statement: ast.stmt) -> Edit:
    start, stop = scope.text.span(statement)
    new = f"\n{' ' * statement.col_offset}{line}"
    return Edit(kind, ((stop, stop, new),), (start, stop), statement.lineno, inserts=True)


def _is_text(statement: ast.stmt) -> bool:
    return isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Constant)


def _conditions(scope: Scope) -> Iterator[Edit]:
    """Run a block always or never; leave out a `with` or a decorator, such as `no_grad`; drop `break` or `continue`."""
    for statement in scope.statements():
        if isinstance(statement, ast.If):
            yield edit(scope, "condition", statement.test, "True", statement)
            yield edit(scope, "condition", statement.test, "False", statement)
        elif isinstance(statement, ast.With) and statement.items[-1].optional_vars is None:
            whole = (scope.text.span(statement)[0], scope.text.span(statement.items[-1].context_expr)[1])
            yield Edit("context", ((*whole, "if True"),), whole, statement.lineno)
        elif isinstance(statement, (ast.Break, ast.Continue)):
            yield edit(scope, "drop statement", statement, "pass", statement)
    if scope.function is not None:
        for decorator in scope.function.decorator_list:
            start, stop = scope.text.span(decorator)
            # `start - 1` is the place of "@".
            yield Edit("context", ((start - 1, stop, "# "),), (start, stop), decorator.lineno)


def _assignments(scope: Scope) -> Iterator[Edit]:
    """`x += y` → `x = x + (y)` or `x = y`; `x = y` → `x = x + y`; assign to another name; exchange two
    targets; assign a result that is not assigned; return another value.
    """
    for statement in scope.statements():
        if isinstance(statement, ast.AugAssign):
            target, value = scope.text.of(statement.target), scope.text.of(statement.value)
            # The source between target and value, such as " += (": the operator is "+".
            between = scope.text.between(statement.target, statement.value)
            symbol = between.strip().rstrip("=(").strip("= ")
            yield edit(scope, "assignment", statement, f"{target} = {target} {symbol} ({value})", statement)
            yield edit(scope, "assignment", statement, f"{target} = {value}", statement)
        elif isinstance(statement, ast.Assign) and len(statement.targets) == 1:
            target = scope.text.of(statement.targets[0])
            value = whole_text(scope, statement.value)
            if isinstance(statement.targets[0], (ast.Name, ast.Subscript)) and not scope.is_constructor:
                new = f"{target} = {target} + {value}"
                yield edit(scope, "term", statement, new, statement, inserts=True)
            if isinstance(statement.targets[0], ast.Name) and not scope.is_constructor:
                for name in scope.near(statement):
                    if name != target and (name in scope.sizes) == (target in scope.sizes):
                        yield edit(scope, "target", statement.targets[0], name, statement)
            elif isinstance(statement.targets[0], ast.Tuple):
                yield from _target_order(scope, statement, statement.targets[0])
        elif isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Call):
            callee = statement.value.func
            if isinstance(callee, ast.Attribute) and isinstance(callee.value, (ast.Name, ast.Attribute)):
                new = f"{scope.text.of(callee.value)} = {scope.text.of(statement)}"
                yield edit(scope, "assignment", statement, new, statement)
        elif isinstance(statement, ast.Return) and statement.value is not None:
            yield from _returned(scope, statement, statement.value)


def _target_order(scope: Scope, statement: ast.Assign, target: ast.Tuple) -> Iterator[Edit]:
    texts = [scope.text.of(t) for t in target.elts]
    for i in range(len(texts)):
        for j in range(i + 1, min(len(texts), i + MAX_EXCHANGED)):
            new = list(texts)
            new[i], new[j] = new[j], new[i]
            yield edit(scope, "target order", target, ", ".join(new), statement)


def _returned(scope: Scope, statement: ast.Return, value: ast.expr) -> Iterator[Edit]:
    names = scope.tensors(value)[:10]
    if isinstance(value, ast.Tuple):
        others = [scope.text.of(part) for part in value.elts]
    else:
        others = [f"{scope.text.of(value)}, {name}" for name in names]
    for new in (*others, *(names if not isinstance(value, ast.Name) else ())):
        yield edit(scope, "return", value, new, statement)


def _moved(scope: Scope) -> Iterator[Edit]:
    """Exchange two statements that follow each other; move the last statement of a block out of it."""
    blocks = [scope.body]
    for statement in scope.statements():
        for name in ("body", "orelse"):
            inner = getattr(statement, name, None)
            if isinstance(inner, list) and inner and isinstance(inner[0], ast.stmt):
                blocks.append(inner)
    for block in blocks:
        for one, other in pairwise(block):
            if _is_text(one) or isinstance(other, (ast.Return, ast.FunctionDef)):
                continue
            first, second = scope.text.span(one), scope.text.span(other)
            pieces = ((*first, scope.text.of(other)), (*second, scope.text.of(one)))
            yield Edit("statement order", pieces, first, one.lineno)
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
    if indent.strip() or last.lineno != last.end_lineno or len(indent) < 8:
        return
    pieces = ((line, stop, f"{indent}pass\n{indent[:-4]}{scope.text.of(last)}"),)
    yield Edit("statement order", pieces, (start, stop), last.lineno)


def _added(scope: Scope) -> Iterator[Edit]:
    """Return a name at the end; call `eval()` or `train()` of a parameter that is a model, before its first use."""
    if scope.function is None or scope.is_constructor:
        return
    if scope.body[0].lineno == scope.function.lineno:  # no line can follow a body in the line of `def`
        return
    last = scope.body[-1]
    if not isinstance(last, (ast.Return, ast.Raise)):
        # The new line follows the last line of a block, so a report names that line and not the block's head.
        above = max((one for one in ast.walk(last) if isinstance(one, ast.stmt)), key=lambda one: one.lineno)
        stop = scope.text.span(last)[1]
        for name in scope.tensors(last):
            new = f"\n{' ' * scope.body[0].col_offset}return {name}"
            yield Edit("return", ((stop, stop, new),), scope.text.span(above), above.lineno, inserts=True)
    for argument in scope.function.args.args[:3]:
        if argument.arg in MODELS:
            for statement in _before_use(scope, argument.arg):
                for mode in ("eval", "train"):
                    line = f"{argument.arg}.{mode}()"
                    yield _line_before(scope, "insert statement", line, statement, statement)


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


def _unused_layers(scope: Scope) -> Iterator[Edit]:
    """Put the line `x = self.layer(x)` before a statement, with a layer that the class never reads."""
    if scope.is_constructor:
        return
    for layer in scope.unused[:2]:
        for before, statement in pairwise([None, *scope.body[:12]]):
            if statement is None or _is_text(statement):
                continue
            for name in scope.tensors(statement)[:6]:
                # If the line above assigns the name, perhaps that line lacks the layer: report it. But a `pass`
                # here probably stands where the line with the layer was removed: then report the `pass`.
                made_above = isinstance(before, ast.Assign) and scope.text.of(before.targets[0]) == name
                at = before if before and made_above and not isinstance(statement, ast.Pass) else statement
                yield _line_before(scope, "unused layer", f"{name} = self.{layer}({name})", statement, at)


def _again_in_loop(scope: Scope) -> Iterator[Edit]:
    """Copy an assignment to the start of the body of each `for` in one of the three statements after it."""
    blocks = [scope.body, *(s.body for s in scope.statements() if isinstance(s, (ast.For, ast.With, ast.If)))]
    for block in blocks:
        for place, statement in enumerate(block):
            before = [one for one in block[max(place - 3, 0) : place] if isinstance(one, ast.Assign)]
            if not before:
                continue
            loops = [part for part in ast.walk(statement) if isinstance(part, ast.For)]
            for loop in loops:
                first = loop.body[0]
                if first.lineno == loop.lineno:  # no line can be put into a body in the line of `for`
                    continue
                for one in before:
                    yield _line_before(
                        scope, "statement order", scope.text.of(one), first, one, inserts=False
                    )


def _own_layers(scope: Scope) -> Iterator[Edit]:
    """`self.a = self.b` → `self.a = Layer(…)`, as `self.b` was made."""
    made: dict[str, str] = {}
    if not scope.is_constructor:
        return
    for statement in scope.statements():
        if isinstance(statement, ast.Assign) and isinstance(statement.targets[0], ast.Attribute):
            value = scope.text.of(statement.value)
            if value in made:
                yield edit(scope, "own layer", statement.value, made[value], statement)
            if isinstance(statement.value, ast.Call):
                made[scope.text.of(statement.targets[0])] = value


def _updated_in_loop(scope: Scope) -> Iterator[Edit]:
    """At the end of a loop, store a result of the loop in a name that the loop reads and never assigns."""
    targets = (part for one in scope.statements() if isinstance(one, ast.Assign) for part in one.targets)
    assigned = {part.id for part in targets if isinstance(part, ast.Name)} - scope.sizes
    for loop in scope.statements():
        if not isinstance(loop, (ast.For, ast.While)) or loop.body[0].lineno == loop.lineno:
            continue
        inside = [node for one in loop.body for node in ast.walk(one)]
        called = {id(node.func) for node in inside if isinstance(node, ast.Call)}
        names = [node for node in inside if isinstance(node, ast.Name) and id(node) not in called]
        stored = {node.id for node in names if isinstance(node.ctx, ast.Store)}.intersection(scope.names)
        read = {node.id for node in names} & (assigned - stored)
        for name in sorted(read):
            for result in sorted(stored - scope.sizes):
                yield _line_after(scope, "insert assignment", f"{name} = {result}", loop.body[-1])


def _stored(scope: Scope) -> Iterator[Edit]:
    """Store a name in an entry, such as `cache[i]`, that the function compares by `is` and never writes."""
    if scope.is_constructor or scope.function is None:
        return
    inside = list(ast.walk(scope.function))
    written = {
        scope.text.of(n) for n in inside if isinstance(n, ast.Subscript) and isinstance(n.ctx, ast.Store)
    }
    entries = [entry for entry in dict.fromkeys(_asked_for(scope, inside)) if entry not in written]
    for statement in scope.body:
        names = (part for part in ast.walk(statement) if isinstance(part, ast.Name))
        for name in dict.fromkeys(part.id for part in names if isinstance(part.ctx, ast.Store)):
            for entry in entries if name not in scope.sizes else ():
                yield _line_after(scope, "insert store", f"{entry} = {name}", statement)


def _asked_for(scope: Scope, inside: Sequence[ast.AST]) -> Iterator[str]:
    """Yield the entries, such as `cache[i]`, that are compared by `is`, directly or after an assignment to a name."""
    named = {
        n.targets[0].id: n.value
        for n in inside
        if isinstance(n, ast.Assign)
        and isinstance(n.targets[0], ast.Name)
        and isinstance(n.value, ast.Subscript)
    }
    for node in inside:
        if isinstance(node, ast.Compare) and isinstance(node.ops[0], (ast.Is, ast.IsNot)):
            left = named.get(node.left.id) if isinstance(node.left, ast.Name) else node.left
            if isinstance(left, ast.Subscript):
                yield scope.text.of(left)


STATEMENTS: tuple[Operator, ...] = (
    _dropped,
    _conditions,
    _assignments,
    _moved,
    _added,
    _unused_layers,
    _again_in_loop,
    _own_layers,
    _updated_in_loop,
    _stored,
)
