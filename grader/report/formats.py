"""The output formats of a report, by the name that `grader check --format` takes.

To add a format, write a function from Report to str and add it to FORMATS.
"""

from __future__ import annotations

import json
from collections.abc import Callable

from grader.report.ci import github, junit, markdown
from grader.report.html import page
from grader.report.model import Report, to_json
from grader.report.terminal import plain


def as_json(report: Report) -> str:
    """Return one JSON object; `to_json` has its fields."""
    return json.dumps(to_json(report), ensure_ascii=False, indent=2)


FORMATS: dict[str, Callable[[Report], str]] = {
    "text": plain,
    "json": as_json,
    "junit": junit,
    "html": page,
    "github": github,
    "markdown": markdown,
}
