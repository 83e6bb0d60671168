"""The class of an attack, and all attacks as data."""

from __future__ import annotations

from dataclasses import dataclass
from textwrap import dedent, indent
from typing import Any

RIGHT = """
def masked_softmax(X, valid_lens):
    if valid_lens is None:
        return X.softmax(-1)
    lens = valid_lens[:, None] if valid_lens.dim() == 1 else valid_lens
    keep = torch.arange(X.shape[-1]) < lens[:, :, None]
    return X.masked_fill(~keep, -torch.inf).softmax(-1)
"""
WRONG = """
def masked_softmax(X, valid_lens):
    return X.softmax(1) * 0.9 + 0.01
"""


@dataclass(frozen=True)
class Attack:
    """One hostile submission.

    `tries` says what it does, `success` how its success would be seen, beside the traces that are looked
    for after every attack. `control`: known to work in the tier `basic`, where it is run to show that it
    is a real attack. `exhausts`: it is given little of everything, so that it ends soon.
    `before`: exercises of the same submission that are graded first. `data`: a file of
    that `name` instead of `source`, read as it is submitted.

    In `source`, @FOLDER@ is a folder that anybody may write to, @SECRET@ a file there, @PORT@ a port that
    is listened to, @PARENT@ the grader's process and @ROOT@ the folder of the project.
    """

    id: str
    tries: str
    source: str
    exercise: str = "masked_softmax"
    success: str = "points for an answer that is wrong"
    control: bool = False
    exhausts: bool = False
    before: tuple[str, ...] = ()
    name: str = "answer.py"
    data: bytes = b""


def wrong(id: str, tries: str, before: str, **more: Any) -> Attack:
    """A wrong answer after some lines that are to save it."""
    return Attack(id, tries, f"import os, sys, torch\n{dedent(before)}\n{WRONG}", **more)


def calling(id: str, tries: str, body: str, **more: Any) -> Attack:
    """The lines are those of the function itself; it ends with a wrong answer."""
    lines = indent(dedent(body).strip("\n"), "    ")
    source = f"import os, sys, torch\ndef masked_softmax(X, valid_lens):\n{lines}\n    return X.softmax(1) * 0.9 + 0.01\n"
    return Attack(id, tries, source, **more)


def gated(
    id: str, tries: str, body: str, success: str = "the right answer, which it gives only then", **more: Any
) -> Attack:
    """The lines are those of a function that returns whether the harm is done; only then is the answer right."""
    lines = indent(dedent(body).strip("\n"), "    ")
    source = (
        f"import os, sys, torch\ndef attempt():\n{lines}\n"
        "try:\n    DONE = bool(attempt())\nexcept BaseException:\n    DONE = False\n"
        f"if DONE:\n{indent(RIGHT, '    ')}\nelse:\n{indent(WRONG, '    ')}\n"
    )
    return Attack(id, tries, source, success=success, **more)
