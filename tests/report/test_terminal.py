"""The report in a terminal: in any width, without colour, in words, with any text from a student's code.

`test_snapshots.py` has whole reports.
"""

import io
import re
from dataclasses import replace

import pytest
from helpers.pictures import ONE_OF_EACH
from helpers.samples import FAILED, KNOWN, RESULTS, SKIPPED, result
from rich.cells import cell_len
from rich.console import Console

from grader.report.model import Advice, CheckResult, Diagnosis, Line, Report
from grader.report.terminal import lines_to_look_at, show
from grader.support.sanitize import sanitize

MARKUP = "[/foo] [bold]not bold[/bold] [link=http://x]y[/link] :smile:"
HOSTILE = sanitize(f"{MARKUP} \x1b[31m\u202e 注意" + "x" * 200)
ROWS = 24


def printed(*results, width=80, words=False, file="", remarks=(), every=False, full=False, **console):
    out = io.StringIO()
    report = Report(results, "basic", "2.13.0", "0.1.0", remarks=remarks, file=file)
    to = Console(file=out, width=width, highlight=False, legacy_windows=False, **console)
    show(report, to, every=every, full=full, words=words)
    return out.getvalue()


# ---- any terminal


@pytest.mark.parametrize("width", [400, 80, 60, 40])
@pytest.mark.parametrize("full", [False, True])
def test_no_line_is_longer_than_the_terminal_is_wide_and_markup_is_text(width, full):
    check = replace(FAILED, message=HOSTILE, expected=HOSTILE, got=HOSTILE, where=HOSTILE)
    hostile = result("f", "failed", 1.0, message=HOSTILE, checks=(check,), remarks=(HOSTILE,))
    table = replace(FAILED, got="\n".join(["  ".join(["0.1234"] * 12)] * 4))
    all_results = (*RESULTS, *ONE_OF_EACH.values(), result("g", "failed", 0.0, checks=(table,)), hostile)
    shown = printed(*all_results, width=width, full=full, every=True, remarks=(HOSTILE,))
    assert all(cell_len(line) <= width for line in shown.splitlines())
    for words in ("masked_softmax ✓ passed 3 / 3", "AddNorm ? could not be graded – / 3"):
        assert words in " ".join(shown.split())
    assert "▒▒✗  ▓▓✗ │░░✗" in shown, "a row of a picture is not broken"
    if width == 400:
        assert shown.count(MARKUP) == 7  # in each text of a student, also in those of its check
    assert "\x1b" not in shown


@pytest.mark.parametrize("name", ONE_OF_EACH)
def test_without_colour_nothing_is_lost_on_one_screen(name, monkeypatch):
    plain = printed(ONE_OF_EACH[name])
    assert len(plain.splitlines()) < ROWS
    monkeypatch.setenv("NO_COLOR", "1")
    uncoloured = printed(ONE_OF_EACH[name], force_terminal=True)
    monkeypatch.delenv("NO_COLOR")
    coloured = printed(ONE_OF_EACH[name], force_terminal=True, color_system="truecolor")
    assert "\x1b[31m" in coloured
    assert "\x1b[31m" not in uncoloured
    for text in (uncoloured, coloured):
        assert re.sub(r"\x1b\[[\d;]*m", "", text).split() == plain.split()


def test_a_terminal_that_cannot_draw_gets_words(monkeypatch):
    words = printed(*ONE_OF_EACH.values(), every=True, words=True)
    details = words.partition("\n\n")[2]  # below the overview
    assert not set(details) & set("✓✗░▒▓█│→")
    monkeypatch.setenv("TERM", "dumb")
    assert printed(*ONE_OF_EACH.values(), every=True, force_terminal=True).split() == words.split()


# ---- which details, and what to do next


def test_only_the_first_failed_exercise_of_a_course_has_details():
    blocked = result("earlier", "blocked", 0.0, message="it is blocked")
    results = (blocked, result("first", "failed", 0.0, message="no name"), *RESULTS)
    text = " ".join(printed(*results).split())
    assert "no name" in text
    assert "it is blocked" not in text
    assert "5 more exercises did not pass. Run `grader check NAME`" in text
    assert "it is blocked" in printed(*results, every=True)


def test_a_file_named_with_file_gets_its_command_and_no_next_task():
    passed = replace(RESULTS[1], remarks=("built by position",))
    text = printed(passed, *RESULTS, file="my notes.py", width=200)
    assert "Run `grader check --file 'my notes.py' NAME` for details." in text
    assert "note on masked_softmax: built by position" in text
    assert "Next:" not in text
    assert "built by position" not in printed(passed, passed)


PASSED, FIRST, NEW = (
    result(name, outcome, 0.0)
    for name, outcome in (("p", "passed"), ("first", "failed"), ("g", "not_started"))
)
ADVISED = replace(PASSED, advice=(Advice("precision", "", "", "reason"),))
USER = replace(FIRST, name="user", fix_first=("f",))


@pytest.mark.parametrize(
    ("results", "last"),
    [
        ([PASSED, FIRST, USER], "Next: fix first. Hint: `grader hint first`."),
        ([USER, FIRST], "Next: write or fix f and check again."),
        ([PASSED, NEW], "Next: implement g."),
        ([PASSED], "All checks passed."),
        ([ADVISED], "All checks that count passed."),
    ],
)
def test_the_last_line_names_the_next_thing_to_do(results, last):
    assert printed(*results).strip().splitlines()[-1] == last


def test_a_long_lead_does_not_indent_the_other_rows():
    different = result(
        "f", "failed", 0.0, checks=(FAILED, SKIPPED), diagnosis=replace(KNOWN, kind="different")
    )
    lines = printed(different).splitlines()
    (lead,) = [line for line in lines if line.startswith("a valid design")]
    assert "one step" in lead
    assert any(line.startswith("problem   all 168") for line in lines)


# ---- the line to look at

CODE = "return torch.arange(n)[None, :] <= valid_len[:, None]"


def looked_at(certainty="repaired", touched=(7, 53), numbers=(41,), width=0, begins_with=("", 0), **line):
    lines = tuple(Line("masking.py", n, CODE, certainty, touched=touched, **line) for n in numbers)
    one = result(
        "f", "failed", 0.0, diagnosis=Diagnosis("none", lines=lines, file=begins_with[0], line=begins_with[1])
    )
    return lines_to_look_at([one], width)


def test_a_repaired_line_has_its_code_and_the_kind_of_change():
    (text,) = looked_at(change="a comparison")
    assert text.plain == f"look at masking.py:41   {CODE}   (a comparison)"
    assert [text.plain[s.start : s.end] for s in text.spans if "underline" in str(s.style)] == [CODE[7:]]


def test_long_code_is_cut_so_that_the_touched_part_is_seen():
    (text,) = looked_at(touched=(44, 53), width=50)
    assert text.cell_len == 50
    assert re.fullmatch(r"look at masking\.py:41   ….*\[:, None\]", text.plain)
    (text,) = looked_at("suspected", touched=(0, 0), numbers=(41, 30), width=60)
    assert text.cell_len == 60
    assert text.plain.endswith("…   or at line 30")


def test_a_suspected_line_that_the_report_names_is_not_repeated():
    check = CheckResult("c/x", "values", "result", "failed", rule="exception", file="masking.py", line=41)
    suspected = result(
        "f", "failed", 0.0, diagnosis=Diagnosis("none", lines=(Line("masking.py", 41, CODE, "suspected"),))
    )
    assert lines_to_look_at([replace(suspected, checks=(check,))]) == []
    for other in ({"line": 4}, {"file": "b.py"}, {"rule": "lost/time"}):
        assert len(lines_to_look_at([replace(suspected, checks=(replace(check, **other),))])) == 1
    assert looked_at("suspected", begins_with=("masking.py", 3)) == []
