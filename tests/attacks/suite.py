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

    `tries` says what it does, `success` what its success would be, besides the traces that every attack
    is checked for. `control`: it works in the tier `basic`, and runs there to show that it is a real attack.
    `exhausts`: it gets small limits, so that it ends soon. `before`: exercises of the same submission that
    are graded first. `data`: the bytes of a file called `name`, submitted instead of `source`.

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
    """Return a wrong answer after lines that try to get it accepted."""
    return Attack(id, tries, f"import os, sys, torch\n{dedent(before)}\n{WRONG}", **more)


def calling(id: str, tries: str, body: str, **more: Any) -> Attack:
    """Return an answer whose function runs these lines and returns a wrong result."""
    lines = indent(dedent(body).strip("\n"), "    ")
    source = f"import os, sys, torch\ndef masked_softmax(X, valid_lens):\n{lines}\n    return X.softmax(1) * 0.9 + 0.01\n"
    return Attack(id, tries, source, **more)


def gated(
    id: str, tries: str, body: str, success: str = "the right answer, which it gives only then", **more: Any
) -> Attack:
    """Return an answer that is right only if these lines, the body of a function, return True: the attack worked."""
    lines = indent(dedent(body).strip("\n"), "    ")
    source = (
        f"import os, sys, torch\ndef attempt():\n{lines}\n"
        "try:\n    DONE = bool(attempt())\nexcept BaseException:\n    DONE = False\n"
        f"if DONE:\n{indent(RIGHT, '    ')}\nelse:\n{indent(WRONG, '    ')}\n"
    )
    return Attack(id, tries, source, success=success, **more)
