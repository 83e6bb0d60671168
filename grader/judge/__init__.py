"""Judge an observation against a recorded case. Pure functions of data; no student code, no torch.

A judge takes (check, case, observation) and returns a Finding, or raises `Wrong` with one. Its docstring says when the
check passes; names in backticks such as `tol` are keys of `check.params`; `of` is `check.of`. To add a judge, write a
function in a file of this folder and put its name into the table here.
"""

from __future__ import annotations

from collections.abc import Callable

from grader.bundle.model import Check, RecordedCase
from grader.judge.dropout import dropped_elements, dropped_regions, dropped_weights, varies
from grader.judge.equal import equal, one_of, precise
from grader.judge.finding import Finding, Wrong
from grader.judge.generated_text import accuracy, moved, sentences, trained
from grader.judge.observation import Observation
from grader.judge.properties import carries, cost, kept_weights, same, sums_to_one, witnessed
from grader.judge.removals import accuracies, all_rows, drawn, in_order, ranks
from grader.judge.structure import parameters, raises, shape, unchanged, value

Judge = Callable[[Check, RecordedCase, Observation], Finding]

JUDGES: dict[str, Judge] = {
    judge.__name__: judge
    for judge in (
        equal,
        one_of,
        precise,
        shape,
        unchanged,
        parameters,
        raises,
        value,
        same,
        sums_to_one,
        carries,
        witnessed,
        kept_weights,
        dropped_weights,
        dropped_elements,
        dropped_regions,
        varies,
        cost,
        ranks,
        all_rows,
        accuracies,
        in_order,
        drawn,
        accuracy,
        sentences,
        trained,
        moved,
    )
}


def decide(check: Check, case: RecordedCase, observation: Observation) -> Finding:
    """Return the finding of a check's judge. Raises whatever the judge raises for values that it cannot read."""
    try:
        return JUDGES[check.judge](check, case, observation)
    except Wrong as wrong:
        return wrong.finding
