"""Collect what must not be in a kit: code that solves an exercise, and tensors that the secret seed draws."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from textwrap import dedent

import numpy as np

from grader.authoring.bank import apply
from grader.authoring.content import Assignment
from grader.cases.draw import PUBLIC_SEED
from grader.release.trees import Body, functions, kinds, lines_of, shape, size
from grader.support.source import definition_span, owner_of
from grader.support.stub import BEGIN, END, stub

SMALL = 10  # nodes of a syntax tree; shorter code, such as `return X`, gives no answer away
MIN_NUMBERS = 6  # values of a tensor; two cases may share a smaller one by chance


@dataclass(frozen=True)
class Answer:
    """A piece of code that must not be in a kit.

    exercise: the top-level definition that contains it; "" if none does. owner: the dotted name of its function or
    class, or the module's name. kinds, shape: see `trees.py`. text: the code in the form of `lines_of`.
    """

    exercise: str
    owner: str
    kinds: tuple[str, ...]
    shape: str
    text: str


def answers(assignments: Sequence[Assignment]) -> list[Answer]:
    """Return the marked solutions, the bodies of the references, and the right answers written differently.

    Code of fewer than SMALL nodes is left out.
    """
    found: dict[tuple[str, str], Answer] = {}
    for assignment in assignments:
        for answer in (*_regions(assignment), *_references(assignment), *_variants(assignment)):
            found.setdefault((answer.owner, answer.shape), answer)
    return list(found.values())


def unmarked(assignment: Assignment) -> list[str]:
    """Return the exercises without a marked solution: their whole solution would stay in the stub."""
    text = assignment.source
    marked = [(m.start(), m.end()) for m in _marks(text)]
    return [
        name
        for name in _exercises(assignment)
        if not any(_overlap(span, definition_span(text, name)) for span in marked)
    ]


def _overlap(a: tuple[int, int], b: tuple[int, int]) -> bool:
    return a[0] < b[1] and b[0] < a[1]


def _marks(text: str) -> Iterator[re.Match[str]]:
    return re.finditer(rf"^[ ]*{re.escape(BEGIN)}\n(.*?)^[ ]*{re.escape(END)}$", text, re.S | re.M)


def _exercises(assignment: Assignment) -> list[str]:
    return [fields["name"] for fields in assignment.exercises]


def _regions(assignment: Assignment) -> Iterator[Answer]:
    text = assignment.source
    tree = ast.parse(text)
    for match in _marks(text):
        owner = owner_of(tree, text.count("\n", 0, match.start()) + 1)
        statements = tuple(ast.parse(dedent(match[1])).body)
        if not owner and all(isinstance(s, ast.ClassDef) for s in statements):
            # Top-level classes, such as a faulty class that the student repairs: each under its own name.
            for s in statements:
                yield from _answer(Body(getattr(s, "name", ""), (s,)), assignment)
        else:
            yield from _answer(Body(owner, statements), assignment)


def _references(assignment: Assignment) -> Iterator[Answer]:
    """Yield the functions of the exercises, without those that the stub has too."""
    yield from _not_in_stub(assignment, assignment.source, _exercises(assignment), _of_stub(assignment))


def _variants(assignment: Assignment) -> Iterator[Answer]:
    of_stub = _of_stub(assignment)
    for variant in assignment.variants():
        if variant.kind in ("same", "also"):  # the kinds of right answers
            yield from _not_in_stub(assignment, apply(variant, assignment.source), [variant.of], of_stub)


def _of_stub(assignment: Assignment) -> set[tuple[str, str]]:
    """Return the owner and the shape of each function in the stub, which every student gets."""
    return {(b.owner, shape(b.statements)) for b in functions(ast.parse(stub(assignment.source)))}


def _not_in_stub(
    assignment: Assignment, source: str, names: Sequence[str], of_stub: set[tuple[str, str]]
) -> Iterator[Answer]:
    for name in names:
        start, stop = definition_span(source, name)
        for body in functions(ast.parse(source[start:stop])):
            if (body.owner, shape(body.statements)) not in of_stub:
                yield from _answer(body, assignment)


def _answer(body: Body, assignment: Assignment) -> Iterator[Answer]:
    if body.statements and size(body.statements) >= SMALL:
        text = "\n".join(lines_of("\n".join(ast.unparse(s) for s in body.statements)))
        name = body.owner.split(".")[0]
        yield Answer(
            name, body.owner or assignment.module, kinds(body.statements), shape(body.statements), text
        )


def drawn(assignments: Sequence[Assignment], seed: str) -> set[bytes]:
    """Return the tensors of hidden cases: those that the secret seed draws, and two other seeds do not.

    So a tensor that depends on no seed, such as an identity matrix, is left out. Tensors of fewer than
    MIN_NUMBERS values are left out, too, and tensors of integers: two seeds often draw the same integers.
    """
    return (
        _tensors(assignments, seed) - _tensors(assignments, PUBLIC_SEED) - _tensors(assignments, "any other")
    )


def _tensors(assignments: Sequence[Assignment], seed: str) -> set[bytes]:
    return {
        np.ascontiguousarray(array).tobytes()
        for assignment in assignments
        for name in _exercises(assignment)
        for case in assignment.cases(name, seed)
        for array in (*case.tensors.values(), *case.for_judge.values())
        if array.size >= MIN_NUMBERS and array.dtype.kind == "f"
    }
