"""The edits that change one expression or statement, as a table of rewrite rules, and the weights of all edits.

How to read a rule: `matching.py`. A rule that never repairs an answer of tests/answers that is held out may go; measure
with scripts/line_report.py.
"""

from __future__ import annotations

from collections.abc import Iterable
from itertools import permutations

from grader.lines.matching import Rule

# What an edit of a kind changes, as a report says it; see `find.kind_of_change`.
CONSTANT, VALUES, OPERATION, RESULT = "constant", "values", "operation", "result"
CALL, AXES, ORDER = "call", "axes", "order"
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
    "insert assignment": (6.0, RESULT),
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
    "target": (3.0, RESULT),
    "target order": (3.0, RESULT),
    "range": (3.0, VALUES),
    "add arguments": (3.0, VALUES),
    "drop argument": (3.0, VALUES),
    "subscript": (3.0, VALUES),
    "statement order": (2.0, ORDER),
    "return": (2.0, RESULT),
    "term": (2.0, ""),
    "insert function": (2.0, ""),
    **dict.fromkeys(("everywhere", "slice", "slice axis"), (1.5, VALUES)),
    "large number": (1.5, CONSTANT),
    **dict.fromkeys(("sides", "choice", "condition", "sign", "drop sign"), (1.5, OPERATION)),
    "assignment": (1.5, RESULT),
    "context": (1.5, ""),
}


_OPERATIONS = ("+", "-", "*", "/", "@", "//", "**", "%", "&", "|")


def _permute(axes: Iterable[str]) -> str:
    return f"A.permute({', '.join(axes)})"


UNNORMALISED = ("exp", "relu", "sigmoid", "tanh")  # functions that may be used where softmax is right

RULES = (
    # ---- statements
    Rule("term", "V = A", "V = V + A", inserts=True),
    Rule("term", "V[A] = B", "V[A] = V[A] + B", inserts=True),
    *(Rule("assignment", f"A {sign}= B", f"A = A {sign} B", "A = B") for sign in _OPERATIONS),
    Rule("assignment", "V.a(*A, **K)", "V = V.a(*A, **K)", when="alone"),
    Rule("return", "A", "TENSOR", when="returned"),
    Rule("return", "X", "X, TENSOR", when="returned"),
    Rule("return", "A, B", "A", "B", when="returned"),
    Rule("return", "A, B, C", "A", "B", "C", when="returned"),
    # ---- names and constants
    Rule("name", "V", "ALIKE"),
    Rule("none", "None", "NAME"),
    Rule("name for constant", "A", "NAME", when="constant"),
    Rule("name for argument", "A", "TENSOR", when="computed argument"),
    Rule("unknown name", "G", "NAME", when="unknown"),
    Rule("unknown attribute", "self.a", "self.ATTRIBUTE", when="unknown"),
    Rule("attribute", "self.a", "self.ALIKE"),
    Rule("truth value", "True", "False"),
    Rule("truth value", "False", "True"),
    # ---- operations
    *(Rule("drop side", f"A {sign} B", "A") for sign in _OPERATIONS),
    *(Rule("drop side", f"A {sign} X", "X") for sign in _OPERATIONS),
    Rule("drop side", "A and B", "A", "B"),
    Rule("drop side", "A or B", "A", "B"),
    *(Rule("sides", f"A {sign} B", f"B {sign} A") for sign in ("-", "/", "@", "//")),
    Rule("operation", "A + B", "A - B", "A * B"),
    Rule("operation", "A - B", "A + B"),
    Rule("operation", "A * B", "A / B", "A + B", "A @ B"),
    Rule("operation", "A / B", "A * B", "A // B"),
    Rule("operation", "A // B", "A % B", "A * B"),
    Rule("operation", "A % B", "A // B"),
    Rule("operation", "A @ B", "A * B"),
    Rule("operation", "A ** B", "A * B", "A / B"),
    Rule("operation", "A & B", "A | B"),
    Rule("operation", "A | B", "A & B"),
    Rule("operation", "A and B", "A or B"),
    Rule("operation", "A or B", "A and B"),
    Rule("drop sign", "-X", "X"),
    Rule("drop sign", "~X", "X"),
    Rule("drop sign", "not X", "X"),
    Rule("choice", "A if B else C", "A", "C", "C if B else A"),
    Rule("comparison", "A < B", "A <= B", "A >= B", "A > B", "A < B + 1", "A < B - 1", "B < A"),
    Rule("comparison", "A <= B", "A < B", "A > B", "A >= B", "A <= B + 1", "A <= B - 1", "B <= A"),
    Rule("comparison", "A > B", "A >= B", "A <= B", "A < B", "A > B + 1", "A > B - 1", "B > A"),
    Rule("comparison", "A >= B", "A > B", "A < B", "A <= B", "A >= B + 1", "A >= B - 1", "B >= A"),
    Rule("comparison", "A == B", "A != B", "A == B + 1", "A == B - 1"),
    Rule("comparison", "A != B", "A == B", "A != B + 1", "A != B - 1"),
    Rule("comparison", "A is B", "A is not B"),
    Rule("comparison", "A is not B", "A is B"),
    Rule("comparison", "A in B", "A not in B"),
    Rule("comparison", "A not in B", "A in B"),
    Rule("condition", "A", "True", "False", "not A", when="tested"),
    # ---- calls and subscripts
    Rule("drop call", "F(*A, **K)", "A", when="used"),
    Rule("drop method", "O.a(*A, **K)", "O", when="used"),
    *(Rule("drop method", f"V.{name}", "V") for name in ("data", "T", "mT")),
    *(Rule("function", f"A.{name}(*B)", "A.softmax(*B, dim=-1)") for name in UNNORMALISED),
    *(
        Rule("function", f"A.{name}(*B, **K).values", "A.sum(*B, **K)", "A.mean(*B, **K)")
        for name in ("max", "min")
    ),
    *(Rule("argument order", *map(_permute, permutations(axes))) for axes in ("BC", "BCD", "BCDF")),
    Rule("range", "F(A, **K)", "F(0, A + 1, **K)", "F(0, A - 1, **K)", when="range"),
    Rule("range", "F(A, **K)", "F(1, A + 1, **K)", "F(-1, A - 1, **K)", when="range"),
    Rule("range", "F(A, B, **K)", "F(A, B + 1, **K)", "F(A, B - 1, **K)", when="range"),
    Rule("range", "F(A, B, **K)", "F(A + 1, B + 1, **K)", "F(A - 1, B - 1, **K)", when="range"),
    Rule("range", "F(N, **K)", "F(len(TENSOR), **K)", when="range"),
    Rule("subscript", "A[B]", "A"),
    Rule("subscript", "A[B, C]", "A[C, B]"),
    Rule("subscript", "A[B, C, D]", "A[C, B, D]", "A[B, D, C]"),
    Rule("slice axis", "A[X]", "A[:, X]"),
    Rule("slice axis", "A[:, B]", "A[B]"),
    Rule("slice axis", "A[:, B, C]", "A[B, C]"),
    Rule("slice axis", "A[:, B, C, D]", "A[B, C, D]"),
    Rule("slice", "A:B", "B:A", "A:", ":B"),
    Rule("slice", "A:X", "A:X + 1", "A:X - 1"),
    Rule("slice", "X:A", "X + 1:A", "X - 1:A"),
    Rule("slice", ":A", "A:"),
    Rule("slice", "A:", ":A"),
    Rule("slice", ":X", ":X + 1", ":X - 1"),
    Rule("slice", "X:", "X + 1:", "X - 1:"),
    # ---- what is put in
    Rule("insert layer", "A", "self.LAYER(A)", when="site", inserts=True),
    Rule("unused layer", "A", "self.UNUSED(A)", when="site", inserts=True),
    Rule("unused layer", "A", "self.UNUSED(TENSOR, A)", when="value", inserts=True),
    Rule("unused layer", "A + B", "self.UNUSED(A, B)", when="site"),
    Rule("insert function", "A", "A.LACKING()", when="value", inserts=True),
    Rule("insert transpose", "A", "A.transpose(1, 2)", when="site", inserts=True),
    Rule("insert transpose", "A", "A.transpose(-2, -1)", "A.transpose(0, 1)", when="site", inserts=True),
    Rule("sign", "A", "~A", "-A", when="result", inserts=True),
    Rule("factor", "A", "A * A.shape[-1] ** 0.5", "A * SIZE ** 0.5", when="result", inserts=True),
    Rule("factor", "A", "A / A.shape[-1] ** 0.5", "A / SIZE ** 0.5", when="result", inserts=True),
    Rule("factor", "A", "A * 2", "A / 2", "A ** 2", "A + 1", "A - 1", when="result", inserts=True),
    Rule("term", "A", "TENSOR + A", when="value", inserts=True),
)
