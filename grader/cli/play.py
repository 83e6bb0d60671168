"""`grader play`: let a language model write, and see what its heads look at."""

from __future__ import annotations

import random
from pathlib import Path
from queue import Empty, SimpleQueue

import click
from rich.console import Console, Group, RenderableType
from rich.live import Live
from rich.text import Text
from torch import set_num_threads

from grader.cli.shared_options import FILE, course_option
from grader.intake.course import find
from grader.student import progress
from grader.student.terminal_keys import QUIT, single_keys
from grader.student.writer import PARTS, Writer, load_module
from grader.support.errors import UsageError
from grader.support.i18n import _

BEGIN = "\n"  # the line break before a verse
ROOM = 160  # characters: the model was trained with no more
PACE = 0.06  # seconds between two characters
SHOWN = 4  # characters that a head looks at most
BAR = 20  # columns

EXAMPLES = _("""\b
Examples:
  grader play                      write until you press q
  grader play --verses 3 --seed 7  print three verses
  grader play mine.safetensors     use other weights

\b
Keys:
  t  lower the temperature   T      raise it
  p  lower top-p             P      raise it
  h  go to the next head     space  stop; then begin a new verse
  q  quit
""")


@click.command(
    help=_(
        "Let your language model write, and see what a head looks at. This runs your code as Python does."
    ),
    epilog=EXAMPLES,
)
@click.argument("weights", type=FILE, required=False)
@click.option("--verses", type=click.IntRange(1, 1000), help=_("Print this many verses, without keys."))
@click.option("--seed", type=int, help=_("Write the same text again; default: another text each time."))
@click.option("--temperature", type=click.FloatRange(0, 5), default=1.0, show_default=True)
@click.option("--top-p", type=click.FloatRange(0, 1), default=0.9, show_default=True)
@course_option
def play(
    weights: Path | None,
    verses: int | None,
    seed: int | None,
    temperature: float,
    top_p: float,
    course: Path | None,
) -> None:
    set_num_threads(1)  # the tensors are small, and more threads would be many times slower
    console, events = Console(highlight=False), SimpleQueue[str]()
    page = Page(_writer(weights, course), random.Random(seed), temperature, top_p)
    with single_keys(events.put) as has_keys:
        if has_keys and not verses:
            _show(page, events, console)
            return
    for _number in range(verses or 1):
        page.begin()
        while page.writes:
            page.step()
        console.print(page.text.strip("\n"), "", sep="\n", markup=False)


def _writer(weights: Path | None, named: Path | None) -> Writer:
    """Return the student's model, with the course's blocks for what has not passed. Raises UsageError."""
    course = find(named)
    bundle = next((b for b in course.bundles if any(e.name == PARTS[0] for e in b.exercises)), None)
    if bundle is None:
        says = _("this course has no language model: {name} is not one of its exercises")
        raise UsageError(says.format(name=PARTS[0]))
    file = weights or course.folder_of(bundle) / f"{bundle.module}.safetensors"
    if not file.exists():
        says = _("there are no weights in {file}; the lesson of {assignment} trains the model and saves them")
        raise UsageError(says.format(file=file, assignment=bundle.assignment))
    known = progress.load(course.root)
    passed = [name for name in PARTS if known[name].outcome == "passed"]
    for name in PARTS:
        if name not in passed:
            says = _("{name} has not passed yet, so the course's own is used.")
            click.echo(says.format(name=name), err=True)
    folders = [course.folder_of(one) for one in course.bundles]
    own = load_module(course.file_for(bundle), folders) if passed else None
    return Writer(own, passed, file)


class Page:
    """A verse that grows, and how it is shown."""

    def __init__(self, writer: Writer, draws: random.Random, temperature: float, top_p: float):
        self._writer, self._draws = writer, draws
        self._temperature, self._top_p = temperature, top_p
        self._head = 0
        self.begin()

    def begin(self) -> None:
        """Begin a new verse."""
        self.text, self.writes = BEGIN, True

    def step(self) -> None:
        """Write one character. A verse ends with an empty line."""
        self.text += self._writer.next(self.text, self._draws.random, self._temperature, self._top_p)
        self.writes = not self.text.endswith("\n\n") and len(self.text) < ROOM

    def press(self, key: str) -> bool:
        """Act on one key. Return whether to quit."""
        match key:
            case "t" | "T":
                change = 0.1 if key == "T" else -0.1
                self._temperature = min(5.0, max(0.0, round(self._temperature + change, 1)))
            case "p" | "P":
                change = 0.05 if key == "P" else -0.05
                self._top_p = min(1.0, max(0.0, round(self._top_p + change, 2)))
            case "h":
                self._head = (self._head + 1) % len(self._writer.heads)
            case " " if self.writes:
                self.writes = False
            case " ":
                self.begin()
        return key in QUIT

    def __rich__(self) -> RenderableType:
        """The verse, in which the characters that the head looks at most are underlined, and their weights."""
        block, head = self._writer.heads[self._head]
        weights = self._writer.looks(self.text, block, head)
        most = sorted(range(len(weights)), key=lambda n: -weights[n])[:SHOWN]
        verse = Text(self.text)
        for n in most:
            verse.stylize("bold underline", n, n + 1)
        verse.append("▏" if self.writes else "")
        lines = [self._place(n) for n in most]
        width = max(map(len, lines), default=0)
        rows = [
            Text(f"{line:{width}}  {weights[n]:4.2f}  " + "━" * round(BAR * weights[n]))
            for n, line in zip(most, lines, strict=True)
        ]
        looks = _("Block {block}, head {head}, at the last character, looks at:")
        if not weights:
            looks = _("The parts of your model have names of their own, so its heads are not shown.")
        state = _("temperature {temperature:.1f} · top-p {top_p:.2f}")
        keys = _("t/T temperature · p/P top-p · h next head · space stop, new verse · q quit")
        return Group(
            verse,
            Text(),
            Text(looks.format(block=block + 1, head=head + 1)),
            *rows,
            Text(),
            Text(state.format(temperature=self._temperature, top_p=self._top_p)),
            Text(keys, style="dim"),
        )

    def _place(self, n: int) -> str:
        """Name a character of the verse; the first one is the line break before it."""
        if not n:
            return _("the beginning")
        line, column = self.text.count("\n", 1, n) + 1, n - self.text.rfind("\n", 0, n)
        says = _("{character} in line {line}, column {column}")
        return says.format(character=repr(self.text[n]), line=line, column=column)


def _show(page: Page, events: SimpleQueue[str], console: Console) -> None:
    with Live(page, console=console, screen=True, auto_refresh=False) as live:
        while True:
            try:
                if page.press(events.get(timeout=PACE)):
                    return
            except Empty:
                if page.writes:
                    page.step()
                else:
                    continue
            live.refresh()
