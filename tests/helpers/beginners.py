"""Forty answers of beginners to lesson 02, most of them wrong, and texts that must be shown for each.

The texts are compared after each run of whitespace became one space.

MASK and SOFTMAX are right answers to the two exercises. Each entry changes, replaces or extends them.
"""

from __future__ import annotations

from dataclasses import dataclass

HEAD = "import torch\n\n"
MASK = """\
def sequence_mask(X, valid_len, value=0):
    steps = torch.arange(X.shape[1])
    keep = steps[None, :] < valid_len[:, None]
    return X.masked_fill(~keep.reshape(keep.shape + (1,) * (X.dim() - 2)), value)


"""
SOFTMAX = """\
def masked_softmax(X, valid_lens):
    if valid_lens is None:
        return X.softmax(-1)
    lens = valid_lens[:, None] if valid_lens.dim() == 1 else valid_lens
    keep = torch.arange(X.shape[-1]) < lens[:, :, None]
    scores = X.masked_fill(~keep, torch.finfo(X.dtype).min)
    return scores.softmax(-1)


"""


@dataclass(frozen=True)
class Beginner:
    """One answer: the file, the exercise that is checked, its outcome, and texts in the report or about the file."""

    source: str
    exercise: str
    outcome: str
    says: tuple[str, ...]


def mask(*body: str) -> str:
    """Return a file whose `sequence_mask` has these lines as its body."""
    lines = "".join(f"    {line}\n" for line in body)
    return f"{HEAD}def sequence_mask(X, valid_len, value=0):\n{lines}\n\n{SOFTMAX}"


def softmax(old: str, new: str) -> str:
    """Return a file whose `masked_softmax` has `new` in place of `old`."""
    assert old in SOFTMAX, old
    return HEAD + MASK + SOFTMAX.replace(old, new)


def of_mask(source: str, outcome: str, *says: str) -> Beginner:
    return Beginner(source, "sequence_mask", outcome, says)


def of_softmax(source: str, outcome: str, *says: str) -> Beginner:
    return Beginner(source, "masked_softmax", outcome, says)


ANSWERS: dict[str, Beginner] = {
    "missing_colon": of_mask(HEAD + MASK.replace("value=0):", "value=0)") + SOFTMAX, "blocked", "line 3", "expected ':'", "def sequence_mask(X, valid_len, value=0) ^"),
    "unclosed_bracket": of_mask(HEAD + MASK.replace("[:, None]\n", "[:, None\n") + SOFTMAX, "blocked", "was never closed"),
    "tab": of_mask(HEAD + MASK.replace("    keep", "\tkeep") + SOFTMAX, "blocked", "line 5", "inconsistent use of tabs"),
    "error_in_the_other": of_softmax(HEAD + MASK.replace("value=0):", "value=0)") + SOFTMAX, "passed", "masking.py, line 3 has a syntax error", "from line 9 on was graded", "the file has an error"),
    "no_import": of_softmax(softmax("X.softmax(-1)", "F.softmax(X, -1)"), "passed", "masking.py, line 11 uses `F`: add `import torch.nn.functional as F`", "All checks passed"),
    "return_forgotten": of_mask(mask("X = X * 1"), "failed", "None", "did you forget `return`?"),
    "print_instead_of_return": of_mask(mask("print(X)"), "failed", "None", "did you forget `return`?"),
    "wrong_shape": of_mask(mask("return X[0]"), "failed", "expected (5, 4)"),
    "endless_loop": of_mask(mask("i = 0", "while i < 3:", "    X = X * 1", "return X"), "failed", "seconds; is there a loop that never ends?", "nothing in this `while` loop changes `i`", "line 5"),
    "missing_package": of_mask(mask("import einops_of_mine", "return X"), "failed", "No module named 'einops_of_mine'", "put it beside this one", "line 4"),
    "near_name": of_softmax(HEAD + MASK + SOFTMAX.replace("def masked_softmax", "def mask_softmax"), "blocked", "masking.py, line 9 defines mask_softmax, but the exercise is called masked_softmax: rename it"),
    "parameter_missing": of_mask(HEAD + "def sequence_mask(X):\n    return X\n", "other_interface", "the course calls `sequence_mask(X, valid_len, value=0)`"),
    "pass": of_mask(mask("pass"), "not_started"),
    "only_a_docstring": of_mask(mask('"""Keep the first steps."""'), "not_started"),
    "only_dots": of_mask(mask("..."), "not_started"),
    "returns_none": of_mask(mask("return None"), "failed", "expected a tensor, got None"),
    "numpy_with_gradient": of_mask(mask("return torch.tensor(X.numpy())"), "failed", "NumPy computes no gradients", "line 4"),
    "input": of_mask(mask("n = input('how many? ')", "return X"), "failed", "the grader gives no keyboard input; use the arguments"),
    "breakpoint": of_mask(mask("breakpoint()", "return X"), "failed", "remove `breakpoint()` before", "line 4"),
    "set_trace": of_mask(mask("import pdb", "pdb.set_trace()", "return X"), "failed", "remove `pdb.set_trace()` before", "line 5"),
    "exits": of_mask(mask("import sys", "sys.exit(0)"), "failed", "the code ends Python: remove", "line 5"),
    "recursion": of_mask(mask("return sequence_mask(X, valid_len, value)"), "failed", "calls itself without end", "line 4"),
    "much_memory": of_mask(mask("return torch.ones(1 << 40)"), "failed", "the code asked for 4,096.0 GiB", "line 4"),
    "mask_ignored": of_softmax(softmax("X.masked_fill(~keep, torch.finfo(X.dtype).min)", "X"), "failed", "known mistake"),
    "mask_after_softmax": of_softmax(softmax("    return scores.softmax(-1)", "    return X.softmax(-1) * keep"), "failed", "known mistake"),
    "wrong_axis": of_softmax(softmax("scores.softmax(-1)", "scores.softmax(1)").replace("X.softmax(-1)", "X.softmax(1)"), "failed", "known mistake"),
    "wrong_only_for_lengths_per_query": of_softmax(softmax("else valid_lens\n", "else valid_lens[:, :1]\n"), "failed", "known mistake"),
    "minus_1e4": of_softmax(softmax("torch.finfo(X.dtype).min", "-1e4"), "passed"),
    "minus_inf": of_softmax(softmax("torch.finfo(X.dtype).min", "float('-inf')"), "passed"),
    "defined_twice": of_mask(HEAD + MASK + SOFTMAX + "def sequence_mask(X, valid_len, value=0):\n    return X\n", "failed", "sequence_mask is defined twice", "the last one counts, the other is at masking.py, line 3"),
    "crash_beside": of_mask(HEAD + MASK + SOFTMAX + "1 / 0\n", "passed", "line 18 raised an exception and was skipped: ZeroDivisionError", "the file has an error"),
    "list_returned": of_mask(mask("return X.tolist()"), "failed", "list"),
    "tuple_returned": of_mask(mask("return X, valid_len"), "failed", "tuple"),
    "in_place": of_mask(mask("for n, length in enumerate(valid_len):", "    X[n, length:] = value", "return X"), "passed"),
    "undefined_name": of_mask(mask("return Y"), "failed", "name 'Y' is not defined", "line 4"),
    "wrong_attribute": of_mask(mask("return X.maskfill(value)"), "failed", "no attribute 'maskfill'. Did you mean `masked_fill`?", "line 4"),
    "sizes_do_not_fit": of_mask(mask("return X * valid_len"), "failed", "size", "line 4", "X (5, 4) valid_len (5,) expected output (5, 4)"),
    "always_zero": of_mask(mask("return X * 0"), "failed", "All values are 0."),
    "one_step_too_many": of_mask(HEAD + MASK.replace("] < valid", "] <= valid") + SOFTMAX, "failed", "known mistake"),
    "value_argument_ignored": of_mask(HEAD + MASK.replace(", value)\n", ", 0)\n") + SOFTMAX, "failed", "known mistake"),
}  # fmt: skip
