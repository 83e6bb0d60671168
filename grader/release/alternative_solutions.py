"""A page of right answers written differently, for after the deadline."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path

from grader.authoring.bank import KnownAnswer, apply
from grader.authoring.content import Assignment, read_all
from grader.support.atomic_files import write_atomically
from grader.support.i18n import _
from grader.support.source import definition_span


def write_alternative_solutions(solutions: Path, target: Path) -> int:
    """Write the page. Return the number of its answers."""
    assignments = read_all(solutions)
    lines = [
        "# " + _("Other right answers"),
        "",
        _("Every answer on this page passes its exercise. The reference solution is one of many."),
        "",
    ]
    for assignment in assignments:
        lines += [f"## {assignment.name}", "", *_of_assignment(assignment)]
    write_atomically(target, "\n".join(lines).encode())
    return sum(len(_right(assignment)) for assignment in assignments)


def _right(assignment: Assignment) -> Sequence[KnownAnswer]:
    """Return the variants that are right answers."""
    return [variant for variant in assignment.variants() if variant.kind in ("same", "also")]


def _of_assignment(assignment: Assignment) -> Iterator[str]:
    for variant in _right(assignment):
        changed = apply(variant, assignment.source)
        start, stop = definition_span(changed, variant.of)
        yield f"### `{variant.of}`: {variant.id.replace('-', ' ')}"
        yield ""
        yield "```python"
        yield changed[start:stop].rstrip("\n")
        yield "```"
        yield ""
