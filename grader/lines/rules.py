"""The edits of a place: those that change one expression or statement, as a table of rewrite rules; and their order.

How to read a rule: `matching.py`. A rule that never repairs an answer of tests/answers that is held out may go; measure
with scripts/line_report.py.
"""

from __future__ import annotations

import math
import time
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from itertools import permutations

from grader.lines import structural
from grader.lines.matching import Rule
from grader.lines.places import Edit, Place, Statement
from grader.lines.scope import scopes
from grader.support.i18n import _

# The limit of what the edits of a place put in, in characters. Each edit also counts as so many. Answers of
# tests/answers have up to 5,800 edits with 130,000 characters.
MAX_TEXT, PER_EDIT = 1_500_000, 100

# What an edit of a kind changes, in words that fit many edits.
CONSTANT, VALUES, OPERATION = _("a constant"), _("the values that it uses"), _("an operation")
RESULT, CALL = _("what is stored or returned"), _("a call")
AXES, ORDER = _("the order of the axes"), _("the order of the statements")
# Kind of an edit → how often edits of this kind repair an answer, relative to other kinds, and what they change; "" if
# the kind alone gives the edit away. Measured on the answers of tests/answers that are not held out.
KINDS = {
    "unused layer": (12.0, ""),
    "unknown name": (12.0, VALUES),
    "insert statement": (12.0, ""),
    "names for constants": (10.0, VALUES),
    "drop method": (10.0, ""),
    "name for constant": (8.0, VALUES),
    "axis": (8.0, CONSTANT),
    "drop side": (8.0, OPERATION),
    "attribute": (7.0, VALUES),
    "name": (7.0, VALUES),
    "function": (7.0, CALL),
    "whole number": (6.0, CONSTANT),
    "decimal number": (6.0, CONSTANT),
    "drop call": (6.0, ""),
    "comparison": (6.0, OPERATION),
    "insert layer": (6.0, ""),
    "truth value": (5.0, CONSTANT),
    "drop statement": (5.0, ""),
    "argument order": (5.0, VALUES),
    "unknown attribute": (5.0, VALUES),
    "own layer": (4.0, ""),
    "insert transpose": (4.0, AXES),
    "move call": (4.0, ""),
    "none": (4.0, VALUES),
    "add argument": (4.0, VALUES),
    "operation": (4.0, OPERATION),
    "factor": (4.0, OPERATION),
    "exchange": (4.0, VALUES),
    "exchange layers": (4.0, VALUES),
    "name for argument": (3.0, VALUES),
    "target order": (3.0, RESULT),
    "range": (3.0, VALUES),
    "add arguments": (3.0, VALUES),
    "drop argument": (3.0, VALUES),
    "subscript": (3.0, VALUES),
    "statement order": (2.0, ORDER),
    "return": (2.0, RESULT),
    "term": (2.0, ""),
    "insert function": (2.0, ""),
    "everywhere": (1.5, VALUES),
    "large number": (1.5, CONSTANT),
    **dict.fromkeys(("sides", "choice", "sign", "drop sign"), (1.5, OPERATION)),
    "assignment": (1.5, RESULT),
    "context": (1.5, ""),
}

OPERATIONS = ("+", "-", "*", "/", "@", "//", "**", "%", "&", "|")


def _permute(axes: Iterable[str]) -> str:
    return f"A.permute({', '.join(axes)})"


RULES = (
    # ---- statements
    *(Rule("assignment", f"A {sign}= B", f"A = A {sign} B", "A = B") for sign in OPERATIONS),
    Rule("assignment", "V.a(*A, **K);", "V = V.a(*A, **K)"),
    Rule("return", "return A", "return TENSOR"),
    Rule("return", "return X", "return X, TENSOR"),
    Rule("return", "return A, B", "return A", "return B"),
    Rule("return", "return A, B, C", "return A", "return B", "return C"),
    # ---- names and constants
    Rule("name", "V", "ALIKE"),
    Rule("none", "None", "NAME"),
    Rule("name for constant", "CONSTANT", "NAME"),
    Rule("name for argument", "ARGUMENT", "TENSOR"),
    Rule("unknown name", "UNKNOWN", "NAME"),
    Rule("unknown attribute", "MISSING", "self.ATTRIBUTE"),
    Rule("attribute", "self.a", "self.ALIKE"),
    Rule("truth value", "True", "False"),
    Rule("truth value", "False", "True"),
    # ---- operations
    *(Rule("drop side", f"A {sign} B", "A") for sign in OPERATIONS),
    *(Rule("drop side", f"A {sign} X", "X") for sign in OPERATIONS),
    Rule("drop side", "A and B", "A", "B"),
    Rule("drop side", "A or B", "A", "B"),
    *(Rule("sides", f"A {sign} B", f"B {sign} A") for sign in ("-", "/", "@", "//")),
    Rule("operation", "A + B", "A - B", "A * B"),
    Rule("operation", "A - B", "A + B"),
    Rule("operation", "A * B", "A / B", "A + B", "A @ B"),
    Rule("operation", "A / B", "A * B", "A // B"),
    Rule("operation", "A // B", "A % B", "A * B"),
    Rule("operation", "A @ B", "A * B"),
    Rule("operation", "A & B", "A | B"),
    Rule("operation", "A | B", "A & B"),
    Rule("operation", "A and B", "A or B"),
    Rule("operation", "A or B", "A and B"),
    Rule("drop sign", "-X", "X"),
    Rule("drop sign", "~X", "X"),
    Rule("drop sign", "not X", "X"),
    Rule("choice", "A if B else C", "A", "C", "C if B else A"),
    Rule("comparison", "A < B", "A <= B", "A >= B", "A > B", "A < B + 1", "A < B - 1"),
    Rule("comparison", "A <= B", "A < B", "A > B", "A >= B", "A <= B + 1", "A <= B - 1"),
    Rule("comparison", "A > B", "A >= B", "A <= B", "A < B", "A > B + 1", "A > B - 1"),
    Rule("comparison", "A >= B", "A > B", "A < B", "A <= B", "A >= B + 1", "A >= B - 1"),
    Rule("comparison", "A == B", "A != B", "A == B + 1", "A == B - 1"),
    Rule("comparison", "A != B", "A == B", "A != B + 1", "A != B - 1"),
    Rule("comparison", "A is B", "A is not B"),
    Rule("comparison", "A is not B", "A is B"),
    Rule("comparison", "A in B", "A not in B"),
    Rule("comparison", "A not in B", "A in B"),
    # ---- calls and subscripts
    Rule("drop call", "F(*A, **K)", "A"),
    Rule("drop method", "O.a(*A, **K)", "O"),
    *(Rule("drop method", f"V.{name}", "V") for name in ("data", "T", "mT")),
    *(
        Rule("function", f"A.{name}(*B)", "A.softmax(*B, dim=-1)")
        for name in ("exp", "relu", "sigmoid", "tanh")
    ),
    Rule("function", "A.max(*B, **K).values", "A.sum(*B, **K)", "A.mean(*B, **K)"),
    *(Rule("argument order", *map(_permute, permutations(axes))) for axes in ("BC", "BCD", "BCDF")),
    Rule("range", "R(A, **K)", "R(A + 1, **K)", "R(A - 1, **K)", "R(1, A + 1, **K)"),
    Rule("range", "R(A, B, **K)", "R(A, B + 1, **K)", "R(A, B - 1, **K)"),
    Rule("range", "R(A, B, **K)", "R(A + 1, B + 1, **K)", "R(A - 1, B - 1, **K)"),
    Rule("range", "R(N, **K)", "R(len(TENSOR), **K)"),
    Rule("subscript", "A[B]", "A"),
    Rule("subscript", "A[B, C]", "A[C, B]"),
    Rule("subscript", "A[B, C, D]", "A[C, B, D]", "A[B, D, C]"),
    # ---- what is put in
    Rule("insert layer", "SITE", "self.LAYER(SITE)", inserts=True),
    Rule("unused layer", "SITE", "self.UNUSED(SITE)", inserts=True),
    Rule("unused layer", "VALUE", "self.UNUSED(TENSOR, VALUE)", inserts=True),
    Rule("unused layer", "A + B", "self.UNUSED(A, B)"),
    *(
        Rule("insert function", "VALUE", f"VALUE.{name}()", inserts=True)
        for name in ("tanh", "relu", "exp", "abs")
    ),
    Rule("insert transpose", "SITE", "SITE.transpose(1, 2)", inserts=True),
    Rule("insert transpose", "SITE", "SITE.transpose(-2, -1)", "SITE.transpose(0, 1)", inserts=True),
    Rule("sign", "RESULT", "~RESULT", "-RESULT", inserts=True),
    Rule(
        "factor",
        "RESULT",
        "RESULT * 2",
        "RESULT / 2",
        "RESULT ** 2",
        "RESULT + 1",
        "RESULT - 1",
        inserts=True,
    ),
    Rule("term", "VALUE", "TENSOR + VALUE", inserts=True),
)
MAKERS = (*(rule.edits for rule in RULES), *structural.MAKERS)


def edits(place: Place, until: float = math.inf) -> Iterator[Edit]:
    """Yield the edits of all kinds, up to MAX_TEXT. until: when to stop, see `time.monotonic`."""
    left = MAX_TEXT
    for edit in _edits(place):
        left -= PER_EDIT + sum(len(new) for _start, _stop, new in edit.pieces)
        if left < 0 or time.monotonic() >= until:
            return
        yield edit


def _edits(place: Place) -> Iterator[Edit]:
    for scope in scopes(place):
        made = []
        for make in MAKERS:
            for edit in make(scope):
                yield edit
                made.append(edit)
        yield from structural.everywhere(scope, made)


def ordered(made: Iterable[Edit], scores: Mapping[Statement, float]) -> list[Edit]:
    """Sort edits, each once. scores: see `suspects.prior`."""
    # Of equal edits, the last one is used.
    unique = list({(one.place.unit, one.pieces): one for one in made}.values())
    counts = Counter(one.kind for one in unique)

    def worth(one: Edit) -> float:
        return KINDS[one.kind][0] / counts[one.kind] * math.exp(scores.get(one.statement, 0.0))

    return sorted(unique, key=worth, reverse=True)
