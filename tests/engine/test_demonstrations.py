"""An answer that reads a name which only a demonstration sets fails, and the report names both lines."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from grader.engine.engine import Engine
from grader.intake.read import Submission, submission_from
from grader.report.model import ExerciseResult
from grader.student.notebook_check import executed_units

CELLS = [
    "import torch\nfrom torch import nn\nEPS = 0.0\nFILL = torch.tensor(-1e9)\n",
    """class PositionalEncoding(nn.Module):
    def __init__(self, num_hiddens, dropout, max_len=1000):
        super().__init__()
        self.dropout = nn.Dropout(dropout)
        self.P = torch.zeros((1, max_len, num_hiddens))
        steps = torch.arange(max_len, dtype=torch.float32).reshape(-1, 1)
        angles = steps / 10000 ** (torch.arange(0, num_hiddens, 2, dtype=torch.float32) / num_hiddens)
        self.P[:, :, 0::2] = torch.sin(angles) + EPS
        self.P[:, :, 1::2] = torch.cos(angles[:, : num_hiddens // 2])

    def forward(self, T):
        return self.dropout(T + self.P[:, : T.shape[1], :].to({name}.device) + 0 * FILL)
""",
    "for EPS in (1.0, 2.0):\n    X = torch.ones((2, 4, 6))\nprint(PositionalEncoding(6, 0.0)(X).shape)\n",
]
SENTENCE = (
    "{} reads `X`, which only the demonstration in {} sets. While an exercise is graded, demonstrations are not there:"
    " pass `X` as an argument, or create it in your function or class."
)


def submissions(name: str) -> list[tuple[Submission, str, str]]:
    """Return the same code as a file, as a notebook, and as cells that a kernel ran, with the two lines of `X`."""
    cells = [cell.replace("{name}", name) for cell in CELLS]
    notebook = {
        "cells": [
            {"cell_type": "code", "metadata": {}, "source": cell, "outputs": [], "execution_count": None}
            for cell in cells
        ],
        "metadata": {},
        "nbformat": 4,
        "nbformat_minor": 4,
    }
    return [
        (submission_from(Path("a.py"), "".join(cells).encode()), "a.py, line 16", "a.py, line 17"),
        (
            submission_from(Path("a.ipynb"), json.dumps(notebook).encode()),
            "a.ipynb cell 2, line 12",
            "a.ipynb cell 3, line 1",
        ),
        (
            Submission(Path("kernel"), executed_units(["", *cells])),
            "cell [2], line 12",
            "cell [3], line 1",
        ),
    ]


def graded(engine: Engine, submission: Submission) -> ExerciseResult:
    return engine.grade(submission, ["PositionalEncoding"]).exercises[0]


@pytest.mark.parametrize("form", range(3), ids=["file", "notebook", "kernel"])
def test_a_name_of_a_demonstration_fails_with_both_lines(engine, form):
    submission, reads, sets = submissions("X")[form]
    result = graded(engine, submission)
    assert (result.outcome, result.score) == ("failed", 0)
    first = next(check for check in result.checks if check.outcome == "failed")
    assert first.message.endswith(SENTENCE.format(reads, sets))


@pytest.mark.parametrize("form", range(3), ids=["file", "notebook", "kernel"])
def test_constants_keep_their_values_beside_demonstrations(engine, form):
    """The loop sets `EPS` to another value."""
    assert graded(engine, submissions("T")[form][0]).outcome == "passed"


def test_a_hidden_report_does_not_show_which_name_is_missing(engine):
    result = graded(engine.with_options(hidden=True), submissions("X")[0][0])
    first = next(check for check in result.checks if check.outcome == "failed")
    assert (first.message, first.where) == ("raised NameError", "a.py, line 16")


@pytest.mark.parametrize(
    "made",
    [
        "class Made:\n    def __call__(self, X, num_heads): return mine(X, num_heads)\ntranspose_qkv = Made()\n",
        "def make(): return lambda X, num_heads: mine(X, num_heads)\ntranspose_qkv = make()\n",
        "import functools\ntranspose_qkv = functools.partial(mine)\n",
        "for one in [mine]:\n    transpose_qkv = one\n",
        "Transpose = type('Transpose', (), {'__call__': lambda self, X, num_heads: mine(X, num_heads)})\n"
        "transpose_qkv = Transpose()\n",
    ],
    ids=["an object", "a factory", "partial", "a loop", "a class that type makes"],
)
def test_an_exercise_that_a_statement_defines_is_found(engine, made):
    source = (
        "def mine(X, num_heads):\n"
        "    X = X.reshape(X.shape[0], X.shape[1], num_heads, -1).permute(0, 2, 1, 3)\n"
        "    return X.reshape(-1, X.shape[2], X.shape[3])\n"
    )
    submission = submission_from(Path("a.py"), (source + made).encode())
    assert engine.grade(submission, ["transpose_qkv"]).exercises[0].outcome == "passed"
