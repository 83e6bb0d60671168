"""The report for a terminal: readable without colour, and in 40 columns."""

from __future__ import annotations

import shlex
from collections.abc import Iterable, Iterator, Sequence
from io import StringIO
from itertools import groupby

from rich.cells import cell_len
from rich.console import Console, Group, RenderableType
from rich.padding import Padding
from rich.table import Column, Table
from rich.text import Text

from grader.report import shared_sentences as shared
from grader.report.code_frame import Frame, code_frame
from grader.report.model import CheckResult, ExerciseResult, Report
from grader.report.picture import drawn
from grader.report.shared_sentences import LOOKS, facet_name, first_failure, points
from grader.support.i18n import _, ngettext

NARROW = 50  # columns that a row of the overview needs
LONGEST_NAME = 9  # columns of a name beside its text
LEAST_CODE = 8  # columns that the code of a line gets in any case


def show(
    report: Report, console: Console, *, every: bool = False, full: bool = False, words: bool = False
) -> None:
    """Print the report: for one exercise its details, for several a table and the details of the first unsolved one.

    Unsolved exercises have been started and have not passed.
    every: the details of every unsolved exercise.
    full: the details of every exercise, with all checks one by one.
    words: sentences instead of marks and pictures; also if the terminal cannot draw.
    """
    first, rest = halves(report, console, every=every, full=full, words=words)
    console.print(first, rest, sep="\n")


def halves(
    report: Report,
    console: Console,
    *,
    every: bool = False,
    full: bool = False,
    words: bool = False,
    says_next: bool = True,
) -> tuple[Group, Group]:
    """Return what `show` prints in two parts: the lines to look at, which take longer to find, are in the second.

    says_next: name the next command. In `grader watch`, the keys do.
    """
    words, every = words or console.is_dumb_terminal, every or full
    several = len(report.exercises) > 1
    top: list[RenderableType] = []
    if several:
        by_assignment = groupby(report.exercises, lambda e: e.assignment)
        groups = [
            (Text(name, style="bold"), [(e.name, e.outcome, points(e.score, e.points)) for e in group])
            for name, group in by_assignment
        ]
        top += [*overview(groups, console.width), Text()]
    unsolved = [e for e in report.exercises if e.outcome not in ("passed", "not_started")]
    if report.file:
        unsolved = _cause_first(unsolved)
    detailed = report.exercises if full or not several else _detailed(report, unsolved, every)
    blocks: list[list[RenderableType]] = []
    for result in detailed:
        verdict = list(_verdict(result, console.width, words=words))
        details = list(_details(result, console.width, full=full, words=words))
        if blocks:
            blocks.append([*verdict, *details])
        else:  # the first verdict is in the first part
            top += verdict
            blocks.append(details)
    notes = [_("note: {remark}").format(remark=remark) for remark in report.remarks]
    if report.file:
        says = _("note on {name}: {remark}")
        passed = [e for e in report.exercises if e not in detailed and e.outcome == "passed"]
        notes += [says.format(name=e.name, remark=remark) for e in passed for remark in e.remarks]
    others: list[list[RenderableType]] = [
        [Text(note, style="dim") for note in notes],
        [*_advice(shared.advice_given(report.exercises))],
        [*_summary(report, unsolved, every, says_next)],
    ]
    blocks += filter(None, others)
    apart = [part for block in blocks for part in (Text(), *block)]
    return Group(*top), Group(*apart[1:])  # an empty line between two blocks


def _cause_first(unsolved: Sequence[ExerciseResult]) -> list[ExerciseResult]:
    """Sort exercises: first those that need no other one of them; among these, the largest loss of points."""
    names = {e.name for e in unsolved}

    def place(e: ExerciseResult) -> tuple[bool, float]:
        lost = e.points - e.score if e.score is not None else 0.0
        return not names.isdisjoint(e.fix_first), -lost

    return sorted(unsolved, key=place)


def _detailed(report: Report, unsolved: Sequence[ExerciseResult], every: bool) -> Sequence[ExerciseResult]:
    if unsolved:
        return unsolved if every else unsolved[:1]
    # What right answers measured, unless the report is about several assignments.
    is_one = len({e.assignment for e in report.exercises}) == 1
    return [e for e in report.exercises if e.picture is not None and (every or is_one)]


def plain(report: Report, *, full: bool = True) -> str:
    """Return the report as text, 80 columns wide and without colour. full: see `show`."""
    text = StringIO()
    # Without these settings rich would use the colours of a kernel, and display by itself in a notebook.
    console = Console(
        file=text, width=80, color_system=None, force_terminal=False, force_jupyter=False, highlight=False
    )
    show(report, console, full=full)
    return "".join(f"{line.rstrip()}\n" for line in text.getvalue().rstrip().splitlines())


def outcome_text(outcome: str, name: str = "") -> Text:
    """Return the mark and the name of an outcome; name: another name for it."""
    look = LOOKS[outcome]
    return Text(f"{look.mark} {name or shared.outcome_name(outcome)}", style=look.style)


def overview(
    groups: Iterable[tuple[Text, Sequence[tuple[str, str, str]]]], width: int
) -> Iterator[RenderableType]:
    """Yield the heading of each group, and a table with the name, the outcome and the points of its exercises.

    The tables line up. In a narrow terminal, outcome and points are below the name.
    """
    texts = [
        (heading, [(Text(f"  {name}"), outcome_text(outcome), Text(score)) for name, outcome, score in rows])
        for heading, rows in groups
    ]
    columns = zip(*(row for _heading, rows in texts for row in rows), strict=True)
    widths = [max(text.cell_len for text in column) for column in columns]
    for heading, rows in texts:
        yield heading
        if sum(widths) + 4 <= width:
            table = Table.grid(
                *(Column(no_wrap=True, min_width=size) for size in widths), padding=(0, 2, 0, 0)
            )
            table.columns[-1].justify = "right"
            for row in rows:
                table.add_row(*row)
            yield table
        else:
            for name, outcome, score in rows:
                yield from (name, Text.assemble("    ", outcome, "  ", score))


def _verdict(result: ExerciseResult, width: int, *, words: bool) -> Iterator[RenderableType]:
    """Yield outcome and points, and the mistake or what was noticed."""
    outcome = Text(shared.outcome_name(result.outcome)) if words else outcome_text(result.outcome)
    score = _("{score} points").format(score=points(result.score, result.points))
    head, about = Text.assemble(outcome, "  ", (result.name, "bold")), f" ({result.title})"
    if result.title and head.cell_len + cell_len(about) + 2 + cell_len(score) <= width:
        head.append(about, style="dim")
    yield head.append(f"  {score}")
    message, _line, code = result.message.partition("\n")  # that of a syntax error ends with lines of code
    yield from (Text(text) for text in (message, code) if text)
    if result.diagnosis.says:
        lead = shared.diagnosis_lead(result.diagnosis.kind) or _("noticed")
        yield Text.assemble((f"{lead}: ", "bold"), result.diagnosis.says)


def _details(result: ExerciseResult, width: int, *, full: bool, words: bool) -> Iterator[RenderableType]:
    """Yield the code to look at, what was expected and what the code gave, and below it the facets and notes.

    With the verdict, 20 rows of 80 columns are enough. full: every check, one by one.
    """
    frame = code_frame(result)
    if frame is not None:
        yield from [_frame_in_words(frame)] if words else _frame(frame, width)
    yield from _rows(_findings(result, frame is not None), width)
    if result.picture is not None:
        yield Padding.indent(drawn(result.picture, width - 2, words), 2)
    if result.checks and full:
        yield _all_checks(result.checks)
    elif result.checks:
        yield from _facets(result.checks, width, words)
    for remark in result.remarks:
        yield Text(_("note: {remark}").format(remark=remark), style="dim")


def _frame(frame: Frame, width: int) -> Iterator[Text]:
    """Yield the lead, and the lines with their numbers; code that is too long is cut, the marked part is seen."""
    size = len(str(frame.first + len(frame.lines) - 1))
    room = max(width - size - 5, LEAST_CODE)
    start, stop = frame.mark
    cut = min(start, max(0, stop - room + 1))  # columns on the left
    yield Text(frame.lead, style="bold")
    for number, line in enumerate(frame.lines, frame.first):
        here = number == frame.line
        code = Text(f"…{line[cut + 1 :]}" if cut else line, style="" if here else "dim")
        code.truncate(room, overflow="ellipsis")
        yield Text.assemble((f"  {number:{size}} | ", "dim"), code)
        if here:
            caret = "^" * max(1, min(stop - cut, room) - (start - cut))
            yield Text.assemble((f"  {'':{size}} | ", "dim"), " " * (start - cut), (caret, "red"))


def _frame_in_words(frame: Frame) -> Text:
    return Text(_("{lead}: {code}").format(lead=frame.lead, code=frame.text.strip()))


def _facets(checks: Sequence[CheckResult], width: int, words: bool) -> Iterator[Text]:
    """Yield the facets with the number of checks that passed, as many in a line as fit."""
    line = ""
    for count in shared.facet_counts(checks):
        text = shared.facet_in_words(count) if words else shared.facet_with_mark(count)
        if line and cell_len(line) + 3 + cell_len(text) > width:
            yield Text(line, style="dim")
            line = ""
        line += f"{'   ' if line else ''}{text}"
    yield Text(line, style="dim")


def _all_checks(checks: Sequence[CheckResult]) -> Table:
    columns = Column(no_wrap=True, min_width=8), Column(no_wrap=True, min_width=9), Column()
    table = Table.grid(*columns, padding=(0, 2, 0, 0))
    for check in checks:
        outcome = outcome_text(check.outcome, shared.short_outcome_name(check.outcome))
        table.add_row(outcome, Text(facet_name(check.facet)), Text(check.title))
    return table


def _findings(result: ExerciseResult, has_frame: bool) -> list[tuple[str, Text]]:
    """Return the first check that failed. has_frame: the report shows the line."""
    first = first_failure(result.checks)
    if first is None:
        return []
    rows = [
        (_("problem"), shared.problem(result, first)),
        (
            _("where"),
            shared.spot(result, first) or ("" if has_frame or not first.line else shared.place(result)),
        ),
        (_("checked"), first.title),
    ]
    if result.picture is None:
        rows += [(_("expected"), first.expected or ""), (_("got"), first.got or "")]
    rows.append((_("printed"), result.printed))
    tensor = Text(no_wrap=True, overflow="ellipsis")  # its rows are cut at the edge of a narrow terminal
    return [(name, tensor.copy().append(text) if "\n" in text else Text(text)) for name, text in rows if text]


def _rows(rows: Sequence[tuple[str, Text]], width: int) -> Iterator[RenderableType]:
    """Yield names with their texts in two columns; first, in paragraphs, long names, or all in a narrow terminal."""
    table = Table.grid(Column(no_wrap=True, style="bold"), Column(), padding=(0, 2, 0, 0))
    for name, text in rows:
        if width < NARROW or cell_len(name) > LONGEST_NAME:
            yield Text.assemble((f"{name}:" if name else "", "bold"), " " * bool(name), text)
        else:
            table.add_row(name, text)
    if table.row_count:
        yield table


def _advice(advice: Sequence[tuple[str, Sequence[str]]]) -> Iterator[RenderableType]:
    if advice:
        yield outcome_text("advice", _("advice, which costs no points"))
    for names, (first, *rest) in advice:
        yield Padding.indent(Text.assemble((f"{names}: ", "bold"), first), 2)
        yield from (Padding.indent(Text(line), 4) for line in rest)


def _summary(
    report: Report, unsolved: Sequence[ExerciseResult], every: bool, says_next: bool
) -> Iterator[Text]:
    if len(report.exercises) > 1:
        yield Text(shared.total_points(report.halves), style="bold")
    lines = [shared.devices_checked(report), shared.grader_error(report.exercises)]
    if not every and len(unsolved) > 1:
        rest = [e.name for e in unsolved[1:]]
        words = ("grader", "check", *(("--file", report.file) if report.file else ()), *rest)
        says = ngettext(
            "{n} more exercise did not pass. For details:",
            "{n} more exercises did not pass. For details:",
            len(rest),
        )
        lines += [says.format(n=len(rest)), shlex.join(words)]
    lines += [_next_step(report, unsolved) if says_next else "", *report.outlook]
    yield from (Text(line) for line in lines if line)


def _next_step(report: Report, unsolved: Sequence[ExerciseResult]) -> str:
    """Return the one thing to do next; for a file that is not of the course, only that all checks passed, or ""."""
    to_fix = next((e for e in unsolved if e.outcome in ("failed", "blocked", "other_interface")), None)
    needed = (name for e in ([to_fix] if to_fix else report.exercises) for name in e.fix_first)
    if not report.file and (first := next(needed, "")):
        return _("Next: write or fix {name} and check again.").format(name=first)
    if report.exit_status == 0:
        return "" if report.outlook and not report.faulty else shared.all_passed(report)
    if report.file:
        return ""
    if to_fix is not None:
        return _("Next: fix {name}. Stuck? `grader hint {name}`").format(name=to_fix.name)
    not_started = next((e.name for e in report.exercises if e.outcome == "not_started"), "")
    return _("Next: implement {name}.").format(name=not_started) if not_started and not unsolved else ""
