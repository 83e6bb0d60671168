"""The class report as one HTML page: no script, nothing to fetch, every name and text escaped by the template."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from pathlib import Path

from grader.classroom.class_run import GradedSubmission
from grader.classroom.summary import addresses, could_not, remarks, summarise, unread
from grader.report.templates import render

FOLDER = Path(__file__).parent


def page(entries: Sequence[GradedSubmission]) -> str:
    """Return the class report as HTML: numbers per exercise and mistakes first, then a row per submission."""
    summary = summarise(entries)
    return render(
        "html_page.html.jinja",
        FOLDER,
        summary=summary,
        entries=[entry for entry in entries if entry.report.exercises],
        students=len({entry.student for entry in entries if entry.submission}),
        submissions=sum(bool(entry.submission) for entry in entries),
        addresses=partial(addresses, entries),
        unread=unread(entries),
        could_not=could_not(entries),
        remarks=remarks(entries),
        first=entries[0].report if entries else None,
    )
