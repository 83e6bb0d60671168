"""The Jinja2 templates of HTML pages. Every value is escaped unless a template marks it as safe; none does."""

from __future__ import annotations

from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from jinja2 import Environment

FOLDER = Path(__file__).parent


def render(template: str, folder: Path = FOLDER, **values: Any) -> str:
    """Render a template of `folder`. It may include templates of FOLDER too."""
    return environment(folder).get_template(template).render(**values)


@cache
def environment(folder: Path) -> Environment:
    """Return the environment for the templates of one folder. A misspelt name in a template is an error."""
    from jinja2 import Environment, FileSystemLoader, StrictUndefined

    from grader.report import shared_sentences
    from grader.report.curve_geometry import places
    from grader.report.picture_data import legend, shade_of
    from grader.support.i18n import _, ngettext

    made = Environment(
        loader=FileSystemLoader([folder, FOLDER]),
        autoescape=True,
        trim_blocks=True,
        lstrip_blocks=True,
        undefined=StrictUndefined,
    )
    made.globals.update(
        _=_, ngettext=ngettext, words=shared_sentences, legend=legend, shade_of=shade_of, curve_places=places
    )
    return made
