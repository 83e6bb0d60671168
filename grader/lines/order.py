"""The order in which candidates are tried: by how often an operator repairs, per candidate that it makes."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable

from grader.lines.edit import Edit

# Repairs per thousand answers, counted on the answers of tests/answers that are not held out.
REPAIRS: dict[str, float] = {}
USUAL = 5.0


def ordered(edits: Iterable[Edit], first_lines: frozenset[int] = frozenset()) -> list[Edit]:
    """Sort candidates, each once; those of the lines where an exception was raised come first."""
    unique = list({edit.pieces: edit for edit in edits}.values())
    counts = Counter(edit.operator for edit in unique)

    def worth(edit: Edit) -> float:
        return REPAIRS.get(edit.operator, USUAL) / counts[edit.operator]

    return sorted(unique, key=lambda edit: (edit.statement not in first_lines, -worth(edit)))
