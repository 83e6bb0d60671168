"""The edits of a place: those that change one expression, as a table of rewrite rules; and the order of all.

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

# What edits change, in words that fit many of them → the kinds of these edits. The other kinds alone would give the edit
# away.
WORDS = {
    _("a constant"): ("axis", "whole number", "decimal number", "truth value"),
    _("the values that it uses"): (
        "name",
        "name for constant",
        "name for argument",
        "none",
        "attribute",
        "exchange",
        "everywhere",
        "argument order",
        "add argument",
        "subscript",
    ),
    _("an operation"): ("drop side", "comparison", "operation", "sign", "choice", "factor"),
    _("a call"): ("function",),
    _("the order of the axes"): ("insert transpose",),
    _("what is returned"): ("return",),
}
CHANGES = {kind: words for words, kinds in WORDS.items() for kind in kinds}

# Kinds of edits that repair more answers than their number lets expect → how many times as early they are tried.
EARLY = {"insert statement": 20, "unused layer": 20, "drop method": 2, "insert transpose": 2, "function": 2}

# Each sign, and those that may be meant instead.
OPERATIONS = {"+": "-*", "-": "+", "*": "/+@", "/": "*", "|": "&", "&": "|"}
COMPARISONS = ("<", "<=", ">", ">=", "==", "!=")

RULES = (
    # ---- names and constants
    Rule("name", "V", "NAME"),
    Rule("none", "None", "NAME"),
    Rule("name for constant", "CONSTANT", "NAME"),
    Rule("name for argument", "ARGUMENT", "NAME"),
    Rule("attribute", "self.a", "self.ATTRIBUTE"),
    Rule("truth value", "True", "False"),
    Rule("truth value", "False", "True"),
    # ---- operations
    *(Rule("drop side", f"A {sign} B", "A", "B") for sign in OPERATIONS),
    *(
        Rule("operation", f"A {sign} B", *(f"A {other} B" for other in others))
        for sign, others in OPERATIONS.items()
    ),
    *(
        Rule(
            "comparison",
            f"A {sign} B",
            f"A {sign} B + 1",
            f"A {sign} B - 1",
            *(f"A {other} B" for other in COMPARISONS if other != sign),
        )
        for sign in COMPARISONS
    ),
    Rule("comparison", "A in B", "A not in B"),
    Rule("sign", "~A", "A"),
    Rule("sign", "A.masked_fill(B, C)", "A.masked_fill(~B, C)"),
    Rule("choice", "A if B else C", "A", "C", "C if B else A"),
    # ---- calls, tuples and subscripts
    Rule("drop call", "B(*A, **K)", "A"),
    Rule("drop method", "O.a(*A, **K)", "O"),
    *(Rule("drop method", f"V.{name}", "V") for name in ("data", "T")),
    Rule(
        "argument order",
        "A.permute(B, C, D, E)",
        *(f"A.permute({', '.join(axes)})" for axes in permutations("BCDE")),
    ),
    Rule("subscript", "A[B]", "A"),
    Rule("subscript", "A[B, C]", "A[C, B]"),
    Rule("return", "A, B", "A", "B"),
    # ---- what is put in
    Rule("unused layer", "SITE", "self.UNUSED(SITE)", inserts=True),
    Rule("unused layer", "VALUE", "self.UNUSED(NAME, VALUE)", inserts=True),
    *(
        Rule("insert function", "VALUE", f"VALUE.{name}()", inserts=True)
        for name in ("tanh", "relu", "exp", "abs")
    ),
    Rule("insert transpose", "SITE", "SITE.transpose(1, 2)", inserts=True),
    Rule("insert transpose", "SITE", "SITE.transpose(-2, -1)", "SITE.transpose(0, 1)", inserts=True),
    Rule("factor", "SITE", "SITE ** 2", "SITE * 2", "SITE / 2", inserts=True),
    Rule("term", "VALUE", "NAME + VALUE", inserts=True),
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
        return EARLY.get(one.kind, 1) * math.exp(scores.get(one.statement, 0.0)) / counts[one.kind]

    return sorted(unique, key=worth, reverse=True)
