"""Trained weights that a student hands in beside the code, for a case that measures them."""

from __future__ import annotations

from msgspec import structs

from grader.bundle.model import RecordedCase
from grader.bundle.safetensors import decode
from grader.report.finding import Finding
from grader.support.errors import BadData
from grader.support.sanitize import sanitize
from grader.worker.steps import HANDED_IN

MAX_BYTES = 1_500_000  # the model of the course has 202,752 weights of 4 bytes


def with_handed_in(case: RecordedCase, weights: bytes) -> RecordedCase | Finding:
    """Return the case with the handed-in weights as tensors, or why it cannot have them."""
    if not weights:
        return Finding("handed-in/none")
    if len(weights) > MAX_BYTES:
        return Finding("handed-in/large", {"limit": f"{MAX_BYTES / 1e6:g}"})
    try:
        found = decode(weights)
    except BadData as error:
        return Finding("handed-in/unreadable", {"why": sanitize(str(error), 100)})
    handed = {HANDED_IN + name: values for name, values in found.items()}
    return structs.replace(case, tensors={**case.tensors, **handed})
