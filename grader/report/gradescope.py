"""Gradescope's `results.json`: one test per exercise. See https://gradescope-autograders.readthedocs.io."""

from __future__ import annotations

import json
from typing import Any

from grader.report.model import ExerciseResult, Report
from grader.report.shared_sentences import advice_lines, diagnosis_lead, facet_name, outcome_name
from grader.support.i18n import _


def gradescope(report: Report) -> str:
    """Return the report as one JSON object. An exercise that could not be graded has no score and costs no points."""
    return json.dumps(
        {
            "output": _("Graded by Headway {version}, sandbox {tier}.").format(
                version=report.grader, tier=report.sandbox
            ),
            "output_format": "text",
            "execution_time": round(sum(result.seconds for result in report.exercises)),
            "visibility": "visible",
            "stdout_visibility": "hidden",
            "score": report.score,
            "tests": [_test(result) for result in report.exercises],
            "extra_data": {"sandbox": report.sandbox, "seed": report.seed, "torch": report.torch},
        },
        ensure_ascii=False,
        indent=1,
    )


def _test(result: ExerciseResult) -> dict[str, Any]:
    graded = result.score is not None
    return {
        "name": f"{result.assignment} {result.name}",
        **({"score": result.score, "max_score": result.points} if graded else {}),
        **({"status": "passed" if result.outcome == "passed" else "failed"} if graded else {}),
        "output": output(result),
        "output_format": "text",
    }


def output(result: ExerciseResult) -> str:
    """Return the text for a student: outcome and diagnosis, the checks one by one, then advice and remarks."""
    lines = [outcome_name(result.outcome), result.message, _says(result)]
    lines += [
        f"{outcome_name(check.outcome)}  {facet_name(check.facet)}: {check.title}  {check.message}".rstrip()
        for check in result.checks
    ]
    lines += [
        _("advice, which costs no points: {advice}").format(advice=": ".join(advice_lines(one)))
        for one in result.advice
    ]
    return "\n".join(filter(None, [*lines, *result.remarks]))


def _says(result: ExerciseResult) -> str:
    lead = diagnosis_lead(result.diagnosis.kind)
    return f"{lead}: {result.diagnosis.says}" if lead else result.diagnosis.says
