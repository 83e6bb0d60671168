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

# What edits change, in words that fit many of them; "" if the kind alone gives the edit away → kind of edit → how often
# such edits repair an answer, relative to other kinds: how many answers of the sample of line_report.py that are not
# held out they repair, and more for a kind that few answers offer, such as a layer that is never used.
WEIGHTS = {
    _("a constant"): {"axis": 11, "whole number": 9, "decimal number": 6, "truth value": 4},
    _("the values that it uses"): {
        "name": 16,
        "name for constant": 13,
        "name for argument": 5,
        "unknown name": 36,
        "none": 7,
        "attribute": 10,
        "unknown attribute": 15,
        "exchange": 8,
        "exchange layers": 6,
        "everywhere": 15,
        "argument order": 8,
        "add argument": 8,
        "drop argument": 6,
        "subscript": 6,
        "range": 4,
    },
    _("an operation"): {
        "drop side": 16,
        "comparison": 8,
        "operation": 7,
        "choice": 5,
        "sides": 3,
        "sign": 2,
        "factor": 4,
    },
    _("a call"): {"function": 12},
    _("the order of the axes"): {"insert transpose": 12},
    _("the order of the statements"): {"statement order": 4},
    _("what is stored or returned"): {"return": 6, "target order": 6, "assignment": 4},
    "": {
        "drop method": 30,
        "drop statement": 28,
        "drop call": 20,
        "move call": 14,
        "unused layer": 36,
        "own layer": 12,
        "insert statement": 36,
        "context": 2,
        "insert function": 6,
        "term": 2,
    },
}
KINDS = {kind: (count, words) for words, kinds in WEIGHTS.items() for kind, count in kinds.items()}

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
    Rule("sign", "~X", "X"),
    Rule("sign", "A.a(B, C)", "A.a(~B, C)"),
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
    Rule("range", "R(A, B, **K)", "R(A, B + 1, **K)", "R(A, B - 1, **K)", "R(A - 1, B - 1, **K)"),
    Rule("subscript", "A[B]", "A"),
    Rule("subscript", "A[B, C]", "A[C, B]"),
    Rule("subscript", "A[B, C, D]", "A[C, B, D]", "A[B, D, C]"),
    # ---- what is put in
    Rule("unused layer", "SITE", "self.UNUSED(SITE)", inserts=True),
    Rule("unused layer", "VALUE", "self.UNUSED(TENSOR, VALUE)", inserts=True),
    Rule("unused layer", "A + B", "self.UNUSED(A, B)"),
    *(
        Rule("insert function", "VALUE", f"VALUE.{name}()", inserts=True)
        for name in ("tanh", "relu", "exp", "abs")
    ),
    Rule("insert transpose", "SITE", "SITE.transpose(1, 2)", inserts=True),
    Rule("insert transpose", "SITE", "SITE.transpose(-2, -1)", "SITE.transpose(0, 1)", inserts=True),
    Rule("factor", "SITE", "SITE ** 2", "SITE * 2", "SITE / 2", inserts=True),
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
