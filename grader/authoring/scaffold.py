"""The files of a tiny exercise that verifies: subtract from every row its mean. An author turns it into another.

Function and class differ in four places only, so there is one set of texts with places to fill in.
"""

from __future__ import annotations

import ast
import keyword
import re
import tomllib
from collections.abc import Mapping
from pathlib import Path

from grader.intake.names import plain
from grader.support.atomic_files import write_atomically

MODULE, MANIFEST, CASES, MISTAKES, VARIANTS = (
    "module",
    "exercise.toml",
    "cases.py",
    "mistakes.py",
    "variants.py",
)


class NotScaffolded(Exception):
    """The exercise cannot be begun; the message is a sentence that says why."""


def scaffold(solutions: Path, assignment: str, exercise: str) -> list[Path]:
    """Write, or append to, the five files of an assignment. Returns their paths; raises NotScaffolded."""
    _require_names(assignment, exercise)
    _require_new(solutions, exercise)
    folder = solutions / assignment
    is_new = not folder.exists()
    texts = _texts(assignment, exercise)
    module = f"{assignment.split('_', 1)[1]}.py"
    written = {}
    for part, text in texts.items():
        path = folder / (module if part == MODULE else part)
        old = path.read_text("utf-8") if path.exists() else _beginning(part, assignment)
        written[path] = _joined(old, text)
    if is_new:
        folder.mkdir()
    for path, text in written.items():
        write_atomically(path, text.encode())
    return list(written)


def _require_names(assignment: str, exercise: str) -> None:
    if not re.fullmatch(r"\d\d_[a-z][a-z0-9_]*", assignment):
        raise NotScaffolded(
            f"{assignment!r} is no name for an assignment: two digits and words in small letters, like 12_normalising"
        )
    if not re.fullmatch(r"[A-Za-z][A-Za-z0-9_]*", exercise) or keyword.iskeyword(exercise):
        raise NotScaffolded(f"{exercise!r} cannot be the name of a function or a class")


def _require_new(solutions: Path, exercise: str) -> None:
    """Names that differ in capitals and underscores alone are one name to the grader."""
    for manifest in sorted(solutions.glob("[0-9][0-9]_*/exercise.toml")):
        try:
            known = tomllib.loads(manifest.read_text("utf-8")).get("exercise", [])
        except tomllib.TOMLDecodeError as error:
            raise NotScaffolded(f"{manifest}: {error}") from None
        for fields in known:
            if plain(str(fields.get("name"))) == plain(exercise):
                raise NotScaffolded(f"{manifest.parent.name} already has an exercise {fields['name']}")


def _joined(old: str, text: str) -> str:
    """The old text, then the new one without the docstring and the imports that are there already.

    A list that is there already (`MISTAKES`, `VARIANTS`) grows.
    """
    if not old:
        return text.lstrip("\n")
    there = _imported(old)
    lines = [line for line in text.splitlines() if not line.startswith('"""')]
    lines = [line for line in lines if not (names := _imported(line)) or not names <= there]
    joined = "\n".join(lines).strip("\n")
    for name in ("MISTAKES", "VARIANTS"):
        if re.search(rf"^{name} = ", old, re.M):
            joined = joined.replace(f"{name} = [", f"{name} = [\n    *{name},", 1)
    joined = re.sub(r"^# %%\n\n", "", joined)  # a cell whose imports are all there
    gap = "\n\n\n" if joined.startswith(("def ", "class ")) else "\n\n"
    return f"{old.rstrip(chr(10))}{gap}{joined}\n"


def _imported(source: str) -> set[str]:
    """What a Python source imports, each thing as a statement of its own."""
    try:
        body = ast.parse(source).body
    except SyntaxError:
        return set()  # exercise.toml, or a line from the middle of something
    out = {f"import {alias.name}" for node in body if isinstance(node, ast.Import) for alias in node.names}
    return out | {
        f"from {node.module} import {alias.name}"
        for node in body
        if isinstance(node, ast.ImportFrom)
        for alias in node.names
    }


def _texts(assignment: str, exercise: str) -> dict[str, str]:
    is_class = exercise[0].isupper()
    words: dict[str, str] = {
        "NAME": exercise,
        "STEM": re.sub(r"(?<=[a-z0-9])(?=[A-Z])|_", "-", exercise).strip("-").lower(),
        "NUMBER": assignment[:2],
        "BUILD": f'module = case.build("{exercise}")\n        ' if is_class else "",
        "ON": ", on=module" if is_class else "",
    }
    return {
        MODULE: _filled(_MODULE_OF_CLASS if is_class else _MODULE_OF_FUNCTION, words),
        MANIFEST: _filled(_MANIFEST, words),
        CASES: _filled(_CASES, words),
        MISTAKES: _filled(_MISTAKES, words),
        VARIANTS: _variants(words, is_class),
    }


def _filled(text: str, words: Mapping[str, str]) -> str:
    for word, value in words.items():
        text = text.replace(f"@{word}@", value)
    return text


def _variants(words: Mapping[str, str], is_class: bool) -> str:
    """Every answer is one expression; a class wraps it in a `forward`."""
    head = (
        "class @NAME@(nn.Module):\n            def forward(self, X):\n                "
        if is_class
        else "def @NAME@(X):\n            "
    )
    made = [
        f'    {kind}("@STEM@-{id}", "@NAME@", """\n        {head}return {expression}\n        """),'
        for kind, id, expression in _ANSWERS
    ]
    return _filled("\n".join([_VARIANTS_HEAD, *made, "]", ""]), words)


def _beginning(part: str, assignment: str) -> str:
    title = assignment.split("_", 1)[1].replace("_", " ").capitalize()
    words = {"TITLE": title, "NUMBER": assignment[:2]}
    return _filled({MODULE: _NEW_MODULE, MANIFEST: _NEW_MANIFEST}.get(part, ""), words)


_NEW_MODULE = """\
# %% [markdown]
# # @NUMBER@ · @TITLE@
#
# The idea in a paragraph, the formula with its source, then the shapes:
#
# | name | shape | meaning |
# |---|---|---|
# | `X` | `(B, T)` | a batch of rows |
#
# **By hand.** The row $(1, 2, 6)$ has the mean 3 and becomes $(-2, -1, 3)$.
#
# **What goes wrong.** The mean over the wrong axis fits just as well, as long as nobody looks.
"""

_MODULE_OF_FUNCTION = '''
# %%
import torch

# %% [markdown]
# ## Exercise: `@NAME@`
#
# Subtract from every row its mean.

# %% exercise="@NAME@"
def @NAME@(X: torch.Tensor) -> torch.Tensor:
    """Every row with its mean subtracted.

    X: (B, T). Returns (B, T); every row sums to zero.
    """
    ### BEGIN SOLUTION
    mean = X.mean(dim=1, keepdim=True)  # (B, 1)
    return X - mean  # (B, T)
    ### END SOLUTION
'''

_MODULE_OF_CLASS = '''
# %%
import torch
from torch import nn

# %% [markdown]
# ## Exercise: `@NAME@`
#
# Subtract from every row its mean.

# %% exercise="@NAME@"
class @NAME@(nn.Module):
    """Subtracts from every row its mean."""

    def forward(self, X: torch.Tensor) -> torch.Tensor:
        """X: (B, T). Returns (B, T); every row sums to zero."""
        ### BEGIN SOLUTION
        mean = X.mean(dim=1, keepdim=True)  # (B, 1)
        return X - mean  # (B, T)
        ### END SOLUTION
'''

_NEW_MANIFEST = """\
title = "@TITLE@"
summary = "One sentence about what this assignment is for."
minutes = 15
difficulty = 1
given = []
"""

_MANIFEST = """
[[exercise]]
name = "@NAME@"
title = "Subtract the mean of every row"
points = 1.0
needs = []
hints = [
  "Write down the shape of the mean before you subtract it from anything.",
  "Along which axis must the mean be taken so that there is one of it for every row?",
  "Lesson @NUMBER@, the example by hand: three numbers, one mean, three differences.",
]
"""

_CASES = '''"""Cases: sizes that differ, numbers of unit variance, a random upstream gradient."""

from grader.cases.case import Case


def @NAME@(draw):
    for id in ("small", "other"):
        B, T = draw.sizes(2, low=3, high=7)
        case = Case(id, "@NAME@")
        @BUILD@X = case.input("X", draw.normal(B, T), grad=True)
        Y = case.call(X@ON@, axes=("row", "step"))
        case.check_shape(Y)
        case.check_values(Y, f"every row has lost its mean ({B} rows of {T})")
        case.check_gradients(case.gradients(Y, draw.normal(B, T), wrt=[X]), f"gradient of every number ({B} rows of {T})")
        case.check_unchanged(X)
        yield case
'''

_MISTAKES = '''"""Known mistakes: each an edit of the reference, a sentence that says what it equals, and a question."""

from grader.authoring.bank import mistake

MISTAKES = [
    mistake(
        "@STEM@-over-columns",
        of="@NAME@",
        swap={"dim=1": "dim=0"},
        says="the mean is taken over the rows of the batch instead of over the numbers of a row",
        asks="How many means should there be for a batch of five rows?",
    ),
    mistake(
        "@STEM@-one-mean-for-all",
        of="@NAME@",
        swap={"X.mean(dim=1, keepdim=True)": "X.mean()"},
        says="one mean over the whole batch is subtracted from everything",
        asks="Should a row change when another row of the batch does?",
    ),
    mistake(
        "@STEM@-added",
        of="@NAME@",
        swap={"X - mean": "X + mean"},
        says="the mean is added instead of subtracted",
        asks="What should a row of equal numbers become?",
    ),
    mistake(
        "@STEM@-mean-detached",
        of="@NAME@",
        swap={"X - mean": "X - mean.detach()"},
        says="no gradient flows through the mean, only through the numbers themselves",
        asks="When one number of a row grows, what happens to the others in your result?",
    ),
]
'''

_VARIANTS_HEAD = '''"""Right answers written differently, and answers that compute nothing."""

from grader.authoring.bank import trivial, variant

VARIANTS = ['''

_ANSWERS = (
    ("variant", "sum", "X - X.sum(1, keepdim=True) / X.shape[1]"),
    ("variant", "loop", "torch.stack([row - row.mean() for row in X])"),
    ("variant", "matrix", "X - X @ X.new_full((X.shape[1], X.shape[1]), 1 / X.shape[1])"),
    ("trivial", "zeros", "torch.zeros_like(X)"),
    ("trivial", "identity", "X"),
)
