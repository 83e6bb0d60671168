"""Judge an observation against a recorded case. Pure functions of data; no student code, no torch.

A judge takes (check, case, observation) and returns a Finding, or raises `Wrong` with one. Its docstring says when the
check passes; names in backticks such as `tol` are keys of `check.params`; `of` is `check.of`. To add a judge, write a
function with the decorator `judge` in a file of this folder, and the sentences of its findings in
grader/report/sentences.py; a case asks for it with `Case.check`.
"""

from __future__ import annotations

from grader.bundle.model import Check, RecordedCase
from grader.judge import dropout, equal, generated_text, properties, removals, structure
from grader.judge.finding import JUDGES, Wrong
from grader.judge.observation import Observation
from grader.report.finding import Finding

FILES = (dropout, equal, generated_text, properties, removals, structure)  # each registers its judges


def decide(check: Check, case: RecordedCase, observation: Observation) -> Finding:
    """Return the finding of a check's judge. Raises whatever the judge raises for values that it cannot read."""
    try:
        return JUDGES[check.judge](check, case, observation)
    except Wrong as wrong:
        return wrong.finding
