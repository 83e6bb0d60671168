"""`grader explain`: list the known mistakes, or show one and the page about its family."""

from __future__ import annotations

from pathlib import Path

import click

from grader.cli.shared_options import course_option
from grader.support.i18n import _

EXAMPLES = _("""\b
Examples:
  grader explain                      all known mistakes, one line each
  grader explain MultiHeadAttention   the known mistakes of one exercise
  grader explain mha-keys-through-wq  one mistake, and a page about it and those like it
""")


@click.command(
    help=_("Show what a known mistake is, what it does to a model, and how to see it yourself."),
    epilog=EXAMPLES,
)
@click.argument("name", required=False)
@course_option
def command(name: str | None, course: Path | None) -> None:
    from rich.console import Console
    from rich.markdown import Markdown
    from rich.text import Text

    from grader.intake.course import find

    known = [
        (e, m)
        for b in find(course).bundles
        for e in b.exercises
        for m in e.mistakes
        if e.level >= 3  # PAGE in bundle/rules.py: the course allows pages about mistakes
    ]
    console = Console(highlight=False)
    chosen = next((m for _e, m in known if m.id == name), None)
    if chosen is not None:
        console.print(Text(chosen.id, style="bold"))
        console.print(Text(_(chosen.says)))
        console.print(Text(_(chosen.asks), style="italic"))
        console.print()
        console.print(Markdown(_(chosen.page)))
        return
    listed = [(e, m) for e, m in known if name in (None, e.name, e.assignment)]
    if not listed:
        from difflib import get_close_matches

        near = get_close_matches(name or "", [m.id for _e, m in known], n=3)
        raise click.UsageError(
            _("no known mistake {name}; did you mean {near}?").format(name=name, near=", ".join(near))
            if near
            else _("no known mistake {name}; `grader explain` lists them all").format(name=name)
        )
    for exercise, mistake in listed:
        line = Text.assemble((mistake.id, "bold"), f"  {exercise.name}: {_(mistake.says)}")
        if console.is_terminal:
            line = Text("\n    ").join(line.wrap(console, console.width - 4))
        console.print(line, soft_wrap=True)  # one line each in a pipe, for grep
