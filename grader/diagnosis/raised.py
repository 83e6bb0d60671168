"""The state of an exception in a signature: what two forms of one mistake have in common in their messages."""

from __future__ import annotations

import hashlib
import re

from grader.judge.observation import StudentError

# The messages of the mistake bank name float64, those of a student float32.
_DTYPES = re.compile(r"torch\.\w*Tensor|\b(Float|Double|float|double)\b")
# Names that the code chose, in messages of Python.
_NAMES = re.compile(r"'[^']*'|\"[^\"]*\"|\b\w+(\.<?\w+>?)*\(\)")
# The requested shape depends on how an answer is written; the number of values does not.
_FORM = re.compile(r"shape '\[[^]]*\]' is invalid for input of size (\d+)")
# Messages of torch about two sizes that do not match. The operation that raises depends on how a product is written.
_SIZES = (
    re.compile(r"to be: \[(\d+), \d+\] but got: \[(?!\1,)(\d+), \d+\]"),
    re.compile(r"to be: \[(\d+), (\d+)\] but got: \[\1, (\d+)\]"),
    re.compile(r"has size (\d+) for operand \d+ which does not broadcast with previously seen size (\d+)"),
    re.compile(r"shape of the mask \[(\d++)[^\]]*\] at index 0 does not match .*tensor \[(\d+)"),
    re.compile(r"size[^(]*\((\d+)\) must match the (?:existing )?size[^(]*\((\d+)\)"),
)


def raised(error: StudentError) -> str:
    """Return an exception as a state: its type, the step that raised it, and a hash of its message.

    The message is without sizes, and without names or dtypes (see `_said`). Two sizes that do not match stay, and the
    number of values of a tensor that cannot be reshaped.
    """
    words = _said(error)
    if sizes := sizes_in(error):
        words = "sizes " + " ".join(sorted(sizes))
    elif form := _FORM.search(words):
        words = f"reshape {form[1]}"
    else:
        words = re.sub(r"\d+", "#", words)
    return f"!{error.type} {error.step} {hashlib.sha256(words.encode('utf-8', 'backslashreplace')).hexdigest()[:8]}"


def sizes_in(error: StudentError) -> tuple[str, ...]:
    """Return the two sizes that do not match, in the order of the message; () if the exception is about none."""
    for sizes in _SIZES:
        if found := sizes.search(_said(error)):
            return found.groups()[-2:]  # one pattern has a group before them
    return ()


def _said(error: StudentError) -> str:
    """Return the first line of the message: of a RuntimeError without dtypes, of others without names."""
    # Older versions of torch write at:: in the name of a dtype.
    first = error.message.split("\n")[0].replace(" at::", " c10::")
    return _DTYPES.sub("", first) if error.type == "RuntimeError" else _NAMES.sub("", first)
