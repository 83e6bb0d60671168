"""The class `Attack`, and functions that make the hostile submissions of all families."""

from dataclasses import dataclass
from textwrap import dedent, indent
from typing import Any

from helpers.beginners import SOFTMAX as RIGHT

WRONG = """
def masked_softmax(X, valid_lens):
    return X.softmax(1) * 0.9 + 0.01
"""


@dataclass(frozen=True)
class Attack:
    """One hostile submission.

    tries: what the submission does; `success`: what it would gain. docs/attacks.md shows both.
    control: the attack succeeds in the tier `basic`. A test runs it there, to show that it is a real attack.
    every_tier: its success depends on the tier, or on the limits of the tier. It runs in all of them; controls do, too.
    exhausts: the submission gets small limits, so that it ends soon.
    before: exercises of the same submission that are graded first.
    data: the bytes of a file called `name`, submitted instead of `source`.

    `source` and `data` may contain these marks: @FOLDER@ is a folder that every user may write to, @SECRET@
    is a file in it, @PORT@ is a port on which a socket listens, @PARENT@ is the pid of the grader, and @ROOT@
    is the folder of the project.
    """

    id: str
    tries: str
    source: str
    exercise: str = "masked_softmax"
    success: str = "points for an answer that is wrong"
    control: bool = False
    every_tier: bool = False
    exhausts: bool = False
    before: tuple[str, ...] = ()
    name: str = "answer.py"
    data: bytes = b""


def wrong(id: str, tries: str, statements: str, **more: Any) -> Attack:
    """Return an attack that runs `statements` when it is loaded, and then defines a wrong answer."""
    return Attack(id, tries, f"import os, sys, torch\n{dedent(statements)}\n{WRONG}", **more)


def calling(id: str, tries: str, body: str, **more: Any) -> Attack:
    """Return an attack that runs `body` in the function, which then returns a wrong result."""
    lines = indent(dedent(body).strip("\n"), "    ")
    source = f"import os, sys, torch\ndef masked_softmax(X, valid_lens):\n{lines}\n    return X.softmax(1) * 0.9 + 0.01\n"
    return Attack(id, tries, source, **more)


def gated(
    id: str,
    tries: str,
    body: str,
    success: str = "full points: its answer is right only if the attempt succeeds",
    **more: Any,
) -> Attack:
    """Return an attack whose answer is right only if `body`, the body of a function, returns a true value.

    The function runs when the file is loaded. An exception counts as a false value.
    """
    lines = indent(dedent(body).strip("\n"), "    ")
    source = (
        f"import os, sys, torch\ndef attempt():\n{lines}\n"
        "try:\n    DONE = bool(attempt())\nexcept BaseException:\n    DONE = False\n"
        f"if DONE:\n{indent(RIGHT, '    ')}\nelse:\n{indent(WRONG, '    ')}\n"
    )
    return Attack(id, tries, source, success=success, **more)


def control(*parts: str, **more: Any) -> Attack:
    """Return an attack as `gated` does. It succeeds in the tier `basic`."""
    return gated(*parts, control=True, **more)
