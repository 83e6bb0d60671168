"""Order the candidates that are tried. The most promising come first.

A candidate's value: how often edits of its kind repair an answer, divided by the number of candidates of this kind,
times how likely its statement is to be wrong. The kind is `Edit.operator`.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Mapping

from grader.lines.search import Candidate
from grader.lines.suspects import Statement

# How often edits of a kind repair an answer, relative to other kinds. Measured on the answers of tests/answers that
# are not held out.
REPAIRS = {
    "unused layer": 12.0,
    "unknown name": 12.0,
    "names for constants": 10.0,
    "name for constant": 8.0,
    "name for argument": 3.0,
    "insert statement": 12.0,
    "insert store": 4.0,
    "insert assignment": 6.0,
    "own layer": 4.0,
    "drop method": 10.0,
    "axis": 8.0,
    "drop side": 8.0,
    "attribute": 7.0,
    "name": 7.0,
    "function": 7.0,
    "whole number": 6.0,
    "decimal number": 6.0,
    "drop call": 6.0,
    "comparison": 6.0,
    "insert layer": 6.0,
    "truth value": 5.0,
    "drop statement": 5.0,
    "argument order": 5.0,
    "unknown attribute": 5.0,
    "insert transpose": 4.0,
    "insert call": 4.0,
    "move call": 4.0,
    "none": 4.0,
    "add argument": 4.0,
    "operation": 4.0,
    "factor": 4.0,
    "exchange": 4.0,
    "exchange layers": 4.0,
    "target": 3.0,
    "target order": 3.0,
    "range": 3.0,
    "add arguments": 3.0,
    "drop argument": 3.0,
    "subscript": 3.0,
    "statement order": 2.0,
    "return": 2.0,
    "term": 2.0,
    "insert function": 2.0,
}
USUAL = 1.5  # for kinds of edits that are not in REPAIRS


def ordered(candidates: Iterable[Candidate], scores: Mapping[Statement, float]) -> list[Candidate]:
    """Sort candidates, each once. scores: see `suspects.prior`."""
    # Of equal edits, the last one is used.
    unique = list({(one.place.unit, one.edit.pieces): one for one in candidates}.values())
    counts = Counter(one.edit.operator for one in unique)

    def worth(one: Candidate) -> float:
        kind = one.edit.operator
        return REPAIRS.get(kind, USUAL) / counts[kind] * math.exp(scores.get(one.statement, 0.0))

    return sorted(unique, key=worth, reverse=True)
