"""The output formats of a report, by the name that `grader check --format` takes.

To add a format, write a function from Report to str in this package and add it to FORMATS.
"""

from __future__ import annotations

from collections.abc import Callable

from grader.report.model import Report


def as_text(report: Report) -> str:
    """Return every check in 80 columns, without colour."""
    from grader.report.terminal import plain

    return plain(report)


def as_json(report: Report) -> str:
    """Return one JSON object; `to_json` has its fields."""
    import json

    from grader.report.model import to_json

    return json.dumps(to_json(report), ensure_ascii=False, indent=2)


def as_junit(report: Report) -> str:
    """Return JUnit XML."""
    from grader.report.junit import junit

    return junit(report)


def as_html(report: Report) -> str:
    """Return a page that needs no script and no other file."""
    from grader.report.html import page

    return page(report)


def as_github(report: Report) -> str:
    """Return workflow commands. `grader check` also adds the table to the summary of the workflow."""
    from grader.report.github import commands

    return commands(report)


def as_markdown(report: Report) -> str:
    """Return a table in Markdown."""
    from grader.report.github import table

    return table(report)


FORMATS: dict[str, Callable[[Report], str]] = {
    "text": as_text,
    "json": as_json,
    "junit": as_junit,
    "html": as_html,
    "github": as_github,
    "markdown": as_markdown,
}
