"""The output formats of a report, by the name that `grader check --format` takes.

To add a format, write a function from Report to str and add it to FORMATS. The command line imports this to list the
names, so a format is imported when it is written.
"""

from __future__ import annotations

import json
from pkgutil import resolve_name
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from grader.report.model import Report

FORMATS = {
    "text": "grader.report.terminal:plain",
    "json": "grader.report.formats:as_json",
    "junit": "grader.report.ci:junit",
    "html": "grader.report.html:page",
    "github": "grader.report.ci:github",
    "markdown": "grader.report.ci:markdown",
}


def written(form: str, report: Report) -> str:
    """Return a report in a format of FORMATS."""
    return str(resolve_name(FORMATS[form])(report))


def as_json(report: Report) -> str:
    """Return one JSON object; `to_json` has its fields."""
    from grader.report.model import to_json

    return json.dumps(to_json(report), ensure_ascii=False, indent=2)
