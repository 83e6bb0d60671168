"""The report as HTML: a fragment for the cell of a notebook, or a page. It needs no script and no other file.

Every value is escaped unless a template marks it as safe; none does.
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import date
from functools import cache
from pathlib import Path, PurePath
from typing import TYPE_CHECKING, Any

from grader.report import shared_sentences
from grader.report.code_frame import code_frame
from grader.report.model import Report
from grader.report.picture import Picture, legend, shade_of
from grader.support.i18n import _, ngettext

if TYPE_CHECKING:
    from jinja2 import Environment

FOLDER = Path(__file__).parent


def page(report: Report) -> str:
    """Render the report as a document of its own, with the student, the date, a progress bar and all of the code."""
    file = report.extra.get("submission") or PurePath(report.file).name
    files = [file] if file else [result.code.file for result in report.exercises if result.code]
    about = list(dict.fromkeys(filter(None, [report.extra.get("student"), *files])))
    return render("page.html.jinja", report=report, is_page=True, about=about)


def fragment(report: Report) -> str:
    """Render the report as a part of any page."""
    return render("report.html.jinja", report=report, is_page=False)


def sentence(text: str = "", pictures: Sequence[Picture] = ()) -> str:
    """Render a single message, or pictures, in the style of a report."""
    return render("sentence.html.jinja", text=text, drawn=pictures)


def render(template: str, folder: Path = FOLDER, **values: Any) -> str:
    """Render a template of `folder`. It may include templates of FOLDER too."""
    return environment(folder).get_template(template).render(**values)


@cache
def environment(folder: Path) -> Environment:
    """Return the environment for the templates of one folder. A misspelt name in a template is an error."""
    from jinja2 import Environment, FileSystemLoader, StrictUndefined

    made = Environment(
        loader=FileSystemLoader([folder, FOLDER]),
        autoescape=True,
        trim_blocks=True,
        lstrip_blocks=True,
        undefined=StrictUndefined,
    )
    made.globals.update(_=_, ngettext=ngettext, today=date.today, words=shared_sentences)
    made.globals.update(code_frame=code_frame, legend=legend, shade_of=shade_of)
    return made
