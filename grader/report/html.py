"""The report as HTML: a fragment for the cell of a notebook, or a page. It needs no script and no other file."""

from __future__ import annotations

from pathlib import PurePath
from typing import Any

from grader.report import pruning_pictures
from grader.report.model import Report
from grader.report.shared_sentences import devices_checked
from grader.report.templates import render
from grader.support.i18n import _


def page(report: Report) -> str:
    """Render the report as a document of its own, with a summary and the code of what did not pass."""
    return render("page.html.jinja", is_page=True, **_values(report))


def fragment(report: Report) -> str:
    """Render the report as a part of any page."""
    return render("report.html.jinja", is_page=False, **_values(report))


def sentence(text: str) -> str:
    """Render a single message in the style of a report."""
    return render("sentence.html.jinja", text=text)


def _values(report: Report) -> dict[str, Any]:
    return {
        "report": report,
        "about": _about(report),
        "circumstances": _circumstances(report),
        "pruning": pruning_pictures.pictures([result.figures for result in report.exercises]),
    }


def _about(report: Report) -> str:
    """Return the student, the files and the assignments, as far as the report has them.

    A page names them because it may be read far from its folder. A class report may have pseudonyms.
    """
    graded = report.extra.get("submission") or PurePath(report.file).name
    files = [graded] if graded else [result.code.file for result in report.exercises if result.code]
    assignments = [result.assignment for result in report.exercises]
    return " · ".join(dict.fromkeys(filter(None, [report.extra.get("student"), *files, *assignments])))


def _circumstances(report: Report) -> str:
    """Return how the report was made: cases, sandbox, version, devices."""
    graded = (
        _("hidden cases · sandbox {tier} · grader {version}")
        if report.seed == "hidden"
        else _("public cases · sandbox {tier} · grader {version}")
    ).format(tier=report.sandbox, version=report.grader)
    return " · ".join(filter(None, (graded, devices_checked(report))))
