"""The forms of a report that are text: one function each, chosen by name.

To add a form: a function (Report) -> str in a file of this folder, and its name here.
"""

from __future__ import annotations

from collections.abc import Callable

from grader.report.model import Report


def as_json(report: Report) -> str:
    """One JSON object; the record every other form can be made from."""
    import json

    from grader.report.model import to_json

    return json.dumps(to_json(report), ensure_ascii=False, indent=2)


def as_junit(report: Report) -> str:
    from grader.report.junit import junit

    return junit(report)


def as_github(report: Report) -> str:
    """Workflow commands; `grader check` also puts the table into the summary of the run."""
    from grader.report.github import commands

    return commands(report)


def as_markdown(report: Report) -> str:
    from grader.report.github import table

    return table(report)


def as_html(report: Report) -> str:
    """A page that needs nothing but itself."""
    from grader.report.html import page

    return page(report)


FORMS: dict[str, Callable[[Report], str]] = {
    "json": as_json,
    "junit": as_junit,
    "html": as_html,
    "github": as_github,
    "markdown": as_markdown,
}
