"""`grader explain`: a page about a known mistake."""

from __future__ import annotations

from pathlib import Path

import click

from grader.cli.options import course_option
from grader.support.i18n import _

EXAMPLES = """\b
Examples:
  grader explain                                  all that are known, one line each
  grader explain MultiHeadAttention               those of one exercise
  grader explain mha-keys-through-wq              a page about one
"""


@click.command(epilog=EXAMPLES)
@click.argument("name", required=False)
@course_option
def command(name: str | None, course: Path | None) -> None:
    """Show what a known mistake is, what it does to a model, and how to see it yourself."""
    from rich.console import Console
    from rich.markdown import Markdown
    from rich.text import Text

    from grader.intake.course import find

    known = [
        (e, m)
        for b in find(course or Path.cwd()).bundles
        for e in b.exercises
        for m in e.mistakes
        if e.level >= 3
    ]
    console = Console(highlight=False)
    page = next((m for _e, m in known if m.id == name), None)
    if page is not None:
        console.print(Text(page.id, style="bold"))
        console.print(Text(_(page.says)))
        console.print()
        console.print(Markdown(_(page.page) if page.page else f"> {_(page.asks)}"))
        return
    listed = [(e, m) for e, m in known if name in (None, e.name, e.assignment)]
    if not listed:
        from difflib import get_close_matches

        near = get_close_matches(name or "", [m.id for _e, m in known], n=3)
        raise click.UsageError(
            _("no mistake is called {name}").format(name=name)
            + (_("; near: {near}").format(near=", ".join(near)) if near else "")
        )
    for exercise, mistake in listed:
        line = Text.assemble((mistake.id, "bold"), f"  {exercise.name}: {_(mistake.says)}")
        if console.is_terminal:
            line = Text("\n    ").join(line.wrap(console, console.width - 4))
        console.print(line, soft_wrap=True)  # whole where it goes into a pipe, so that grep finds it
