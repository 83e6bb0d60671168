"""Recognise that a GPU ran out of memory, and say so."""

from __future__ import annotations

import re

from grader.judge.observation import StudentError
from grader.support.i18n import _
from grader.support.sanitize import sanitize

# Some libraries of CUDA raise a general exception, and only its message says that memory ran out.
_NO_MEMORY = re.compile(r"CUDA error: out of memory|CU\w+_STATUS_ALLOC_FAILED")


def ran_out_of_memory(error: StudentError) -> bool:
    """Whether a GPU ran out of memory. The answer is not to blame: before, it ran on the CPU with limited memory."""
    return error.type == "OutOfMemoryError" or (
        error.type in ("RuntimeError", "AcceleratorError") and bool(_NO_MEMORY.search(error.message))
    )


def out_of_memory_message(error: StudentError | None = None) -> str:
    """Return a sentence about a GPU out of memory. Without an error it quotes nothing, so hidden cases may show it."""
    says = _("GPU out of memory: close other programs and run the check again")
    if error is None or not error.message:
        return says
    return _("{sentence} ({error})").format(sentence=says, error=sanitize(error.message.splitlines()[0], 200))
