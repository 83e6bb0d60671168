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
from grader.report.finding import EXCEPTION
from grader.report.model import CheckResult, ExerciseResult, Line, Report
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

    Unsolved exercises have been started and have not passed. Those that failed come first.
    every: the details of every unsolved exercise.
    full: the details of every exercise, with all checks one by one.
    words: sentences instead of marks and pictures; also if the terminal cannot draw.
    """
    words, every = words or console.is_dumb_terminal, every or full
    several = len(report.exercises) > 1
    parts: list[RenderableType] = []
    if several:
        by_assignment = groupby(report.exercises, lambda e: e.assignment)
        groups = [
            (Text(name, style="bold"), [(e.name, e.outcome, points(e.score, e.points)) for e in group])
            for name, group in by_assignment
        ]
        parts += overview(groups, console.width)
    parts += [Text(remark) for remark in report.remarks]
    unsolved = [e for e in report.exercises if e.outcome not in ("passed", "not_started")]
    unsolved.sort(key=lambda e: e.outcome != "failed")  # both parts in the order of the course
    detailed = report.exercises if full or not several else _detailed(report, unsolved, every)
    for result in detailed:
        screen = _exercise(result, console.width, full=full, words=words)
        parts += [*([Text()] if parts else []), *screen]
    if report.file:
        says = _("note on {name}: {remark}")
        passed = [e for e in report.exercises if e not in detailed and e.outcome == "passed"]
        notes = (says.format(name=e.name, remark=remark) for e in passed for remark in e.remarks)
        parts += [Text(note, style="dim") for note in notes]
    if advice := shared.advice_given(report.exercises):
        parts += [Text(), *_advice(advice)]
    console.print(Group(*parts, Text(), *_summary(report, unsolved, every)))


def _detailed(report: Report, unsolved: Sequence[ExerciseResult], every: bool) -> Sequence[ExerciseResult]:
    if unsolved:
        return unsolved if every else unsolved[:1]
    # What right answers measured, unless the report is about several assignments.
    is_one = len({e.assignment for e in report.exercises}) == 1
    return [e for e in report.exercises if e.picture is not None and (every or is_one)]


def show_lines(report: Report, console: Console) -> None:
    """Print the lines to look at, each in one row if the terminal is wide enough for code."""
    width = console.width if console.width >= NARROW else 0
    for line in lines_to_look_at(report.exercises, width):
        console.print(line)


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


def _exercise(result: ExerciseResult, width: int, *, full: bool, words: bool) -> Iterator[RenderableType]:
    """Yield outcome and points, the facets, the mistake, the place and one picture.

    Without `full`, 24 rows of 80 columns are enough. full: every check, one by one.
    """
    outcome = Text(shared.outcome_name(result.outcome)) if words else outcome_text(result.outcome)
    score = _("{score} points").format(score=points(result.score, result.points))
    head, about = Text.assemble(outcome, "  ", (result.name, "bold")), f" ({result.title})"
    if result.title and head.cell_len + cell_len(about) + 2 + cell_len(score) <= width:
        head.append(about, style="dim")
    yield head.append(f"  {score}")
    if result.checks and full:
        yield _all_checks(result.checks)
    elif result.checks:
        yield from _facets(result.checks, width, words)
    rows = _findings(result)
    if rows:
        yield Text()
        yield from _rows(rows, width)
    if result.picture is not None:
        yield Text()
        yield Padding.indent(drawn(result.picture, width - 2, words), 2)
    for remark in result.remarks:
        yield Text(_("note: {remark}").format(remark=remark), style="dim")


def _facets(checks: Sequence[CheckResult], width: int, words: bool) -> Iterator[Text]:
    """Yield the facets with the number of checks that passed, as many in a line as fit; why checks were skipped."""
    line = Text() if words else Text(_("checks passed:"))
    for count in shared.facet_counts(checks):
        text = shared.facet_in_words(count) if words else shared.facet_with_mark(count)
        if line and line.cell_len + 3 + cell_len(text) > width:
            yield line
            line = Text()
        line.append("   " if line else "").append(text, style=LOOKS[count.outcome].style)
    why = shared.why_skipped(checks)
    fits = line.cell_len + cell_len(f"   ({why})") <= width
    if why and fits:
        line.append(f"   ({why})", style="dim")
    yield line
    if why and not fits:
        yield Text(f"({why})", style="dim")


def _all_checks(checks: Sequence[CheckResult]) -> Table:
    columns = Column(no_wrap=True, min_width=8), Column(no_wrap=True, min_width=9), Column()
    table = Table.grid(*columns, padding=(0, 2, 0, 0))
    for check in checks:
        outcome = outcome_text(check.outcome, shared.short_outcome_name(check.outcome))
        table.add_row(outcome, Text(facet_name(check.facet)), Text(check.title))
    return table


def _findings(result: ExerciseResult) -> list[tuple[str, Text]]:
    first = first_failure(result.checks)
    # The message about a syntax error has a sentence, then lines with the code.
    rows = [
        (_("reason"), result.message.partition("\n")[0]),
        (_("code"), result.message.partition("\n")[2]),
        (shared.diagnosis_lead(result.diagnosis.kind) or _("noticed"), result.diagnosis.says),
        (_("problem"), first.message if first else ""),
        (_("where"), shared.place(result)),
        (_("checked"), first.title if first else ""),
    ]
    if first is not None and result.picture is None:
        rows += [(_("expected"), first.expected or ""), (_("got"), first.got or "")]
    rows += [*(("", line.plain) for line in lines_to_look_at([result])), (_("printed"), result.printed)]
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
    yield outcome_text("advice", _("advice, which costs no points"))
    for names, (first, *rest) in advice:
        yield Padding.indent(Text.assemble((f"{names}: ", "bold"), first), 2)
        yield from (Padding.indent(Text(line), 4) for line in rest)


def _summary(report: Report, unsolved: Sequence[ExerciseResult], every: bool) -> Iterator[Text]:
    if len(report.exercises) > 1:
        yield Text(shared.total_points(report), style="bold")
    lines = [shared.devices_checked(report), shared.grader_error(report.exercises)]
    if not every and len(unsolved) > 1:
        rest = len(unsolved) - 1
        command = f"grader check{f' --file {shlex.quote(report.file)}' if report.file else ''} NAME"
        says = ngettext(
            "{n} more exercise did not pass. Run `{command}` for details.",
            "{n} more exercises did not pass. Run `{command}` for details.",
            rest,
        )
        lines.append(says.format(n=rest, command=command))
    lines.append(_next_step(report, unsolved))
    yield from (Text(line) for line in lines if line)


def _next_step(report: Report, unsolved: Sequence[ExerciseResult]) -> str:
    """Return the next thing to do; for a file that is not of the course, only that all checks passed, or ""."""
    if report.file:
        return shared.all_passed(report) if report.exit_status == 0 else ""
    to_fix = next((e for e in unsolved if e.outcome in ("failed", "blocked", "other_interface")), None)
    needed = (name for e in ([to_fix] if to_fix else report.exercises) for name in e.fix_first)
    if first := next(needed, ""):
        return _("Next: write or fix {name} and check again.").format(name=first)
    if to_fix is not None:
        return _("Next: fix {name}. Hint: `grader hint {name}`.").format(name=to_fix.name)
    not_started = next((e.name for e in report.exercises if e.outcome == "not_started"), "")
    if not_started and not unsolved:
        return _("Next: implement {name}.").format(name=not_started)
    return shared.all_passed(report) if report.exit_status == 0 else ""


def lines_to_look_at(results: Sequence[ExerciseResult], width: int = 0) -> list[Text]:
    """Return one text per exercise that has a line to look at. The part that a change touches is underlined.

    width: columns of a text; its code is cut to fit. 0: the code is not cut.
    Suspected lines are left out if the report names a line already (see `_is_named`).
    """
    with_lines = [result for result in results if result.diagnosis.lines and not _is_named(result)]
    return [_look(r.diagnosis.lines, r.name if len(with_lines) > 1 else "", width) for r in with_lines]


def _is_named(result: ExerciseResult) -> bool:
    """Whether an exception was raised at the first suspected line, or the diagnosis begins with a line of its file."""
    line, first = result.diagnosis.lines[0], first_failure(result.checks)
    if line.certainty == "repaired":  # always shown
        return False
    raised_there = (
        first is not None
        and first.rule.startswith(EXCEPTION)
        and (first.file, first.line) == (line.file, line.line)
    )
    return raised_there or result.diagnosis.file == line.file


def _look(lines: Sequence[Line], name: str, width: int) -> Text:
    line = lines[0]
    code = Text(line.text)
    code.stylize("underline", *line.touched)
    place = f"{line.file}:{line.line}"
    certain = line.certainty == "repaired"
    lead = (_("look at {place}") if certain else _("perhaps look at {place}")).format(place=place)
    before = Text.assemble((f"{name}: " if name else ""), (lead, "bold"), "   ")
    after = Text()
    if line.change:
        after.append("   " + _("({change})").format(change=line.change), style="dim")
    if lines[1:] and not certain:
        others = [f"{one.line}" if one.file == line.file else f"{one.file}:{one.line}" for one in lines[1:]]
        says = ngettext("or at line {places}", "or at lines {places}", len(others))
        after.append("   " + says.format(places=", ".join(others)), style="bold")
    if width:
        code = _cut(code, line.touched, max(width - before.cell_len - after.cell_len, LEAST_CODE))
    return before.append_text(code).append_text(after)


def _cut(code: Text, touched: tuple[int, int], room: int) -> Text:
    """Cut the code to `room` columns: from its start, or if that hides the touched part, from that part on."""
    if code.cell_len > room and touched[1] >= room:
        # Begin at the touched part, or earlier if the code from there on does not fill the room.
        code = Text("…").append_text(code[min(touched[0], len(code) - room + 1) :])
    code.truncate(room, overflow="ellipsis")
    return code
