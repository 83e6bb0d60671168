"""The report in a terminal: in any width, without colour, in words, with any text from a student's code.

`test_snapshots.py` has whole reports.
"""

import io
import re
from dataclasses import replace

import pytest
from helpers.pictures import ONE_OF_EACH
from helpers.samples import FAILED, RESULTS, result
from rich.cells import cell_len
from rich.console import Console

from grader.report.model import Advice, Code, Diagnosis, Line, Report
from grader.report.terminal import show
from grader.support.sanitize import sanitize

MARKUP = "[/foo] [bold]not bold[/bold] [link=http://x]y[/link] :smile:"
HOSTILE = sanitize(f"{MARKUP} \x1b[31m\u202e 注意" + "x" * 200)
ROWS = 20


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
    row = "0.3000✗  0.5000✗ │0.2000✗" if width == 400 else "▒▒✗  ▓▓✗ │░░✗"  # numbers if they fit
    assert row in shown, "a row of a picture is not broken"
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


def test_only_the_first_unsolved_exercise_of_a_course_has_details():
    blocked = result("earlier", "blocked", 0.0, message="it is blocked")
    results = (blocked, result("second", "failed", 0.0, message="no name"), *RESULTS)
    text = " ".join(printed(*results).split())
    assert "it is blocked" in text
    assert "no name" not in text
    assert "5 more exercises did not pass. For details: grader check second " in text
    assert "no name" in printed(*results, every=True)


def test_a_file_named_with_file_gets_its_command_and_no_next_task():
    passed = replace(RESULTS[1], remarks=("built by position",))
    text = printed(passed, *RESULTS, file="my notes.py", width=200)
    assert text.splitlines()[-1].startswith("grader check --file 'my notes.py' ")
    assert "note on masked_softmax: built by position" in text
    assert "Next:" not in text
    assert "built by position" not in printed(passed, passed)


def test_of_a_file_the_cause_comes_first():
    small = replace(RESULTS[1], name="small", outcome="failed", score=2.0, message="small loss")
    large = replace(small, name="large", score=1.0, message="large loss")
    user = replace(small, name="user", score=0.0, message="uses large", fix_first=("large",))
    for results in ((small, user, large), (user, large, small)):
        shown = printed(*results, file="a.py", every=True)
        assert [word for word in shown.split() if word in ("large", "uses", "small")]
        assert shown.index("large loss") < shown.index("small loss") < shown.index("uses large")
        assert printed(*results, file="a.py").splitlines()[-1] == "grader check --file a.py small user"


PASSED, FIRST, NEW = (
    result(name, outcome, 0.0)
    for name, outcome in (("p", "passed"), ("first", "failed"), ("g", "not_started"))
)
ADVISED = replace(PASSED, advice=(Advice("precision", "", "", "reason"),))
USER = replace(FIRST, name="user", fix_first=("f",))


@pytest.mark.parametrize(
    ("results", "last"),
    [
        ([PASSED, FIRST, USER], "Next: fix first. Stuck? `grader hint first`"),
        ([USER, FIRST], "Next: write or fix f and check again."),
        ([PASSED, NEW], "Next: implement g."),
        ([PASSED], "All checks passed."),
        ([ADVISED], "All checks that count passed."),
    ],
)
def test_the_last_line_names_the_next_thing_to_do(results, last):
    assert printed(*results).strip().splitlines()[-1] == last


# ---- the line to look at

CODE = Code(
    "masking.py",
    40,
    ("def mask(n, valid_len):", "    columns = torch.arange(n)", "    return columns <= valid_len", "", "x"),
)
LINE = Line("masking.py", 42, "return columns <= valid_len", "repaired", touched=(15, 17))


def framed(*lines, check=FAILED, code=CODE, width=80, words=False, **diagnosis):
    known = Diagnosis("none", lines=lines, **diagnosis)
    return printed(
        result("f", "failed", 0.0, checks=(check,), diagnosis=known, code=code), width=width, words=words
    )


def test_a_repaired_line_is_shown_between_its_neighbours_with_a_caret():
    shown = framed(replace(LINE, change="a comparison")).splitlines()
    at = shown.index("look at masking.py:42   (a comparison)")
    assert [line.rstrip() for line in shown[at + 1 : at + 5]] == [
        "  41 | columns = torch.arange(n)",
        "  42 | return columns <= valid_len",
        "     |                ^^",
        "  43 |",
    ]
    assert f"look at masking.py:42: {LINE.text}" in framed(LINE, words=True)


def test_a_suspected_line_is_marked_whole_and_names_the_others():
    suspected = replace(LINE, certainty="suspected", touched=(0, 0))
    shown = framed(suspected, replace(suspected, line=41), replace(suspected, line=3))
    assert "perhaps masking.py:42, or lines 41, 3" in shown
    assert f"| {'^' * len(LINE.text)}\n" in shown


@pytest.mark.parametrize("width", [40, 20])
def test_long_code_is_cut_so_that_the_marked_part_is_seen(width):
    code = replace(CODE, lines=(*CODE.lines[:2], f"    return columns {'+ 0 ' * 20}<= valid_len"))
    shown = framed(replace(LINE, touched=(95, 97)), code=code, width=width).splitlines()
    at, caret = (next(n for n, line in enumerate(shown) if mark in line) for mark in ("  42 |", "^"))
    assert caret == at + 1
    begin = shown[caret].index("^")
    assert shown[at][begin : begin + 2] == "<="


def test_without_the_code_around_it_a_line_stands_alone():
    shown = framed(replace(LINE, file="b.py"))
    assert "look at b.py:42\n  42 | return columns <= valid_len\n" in shown
    assert "look at" not in framed(code=None)


def test_the_line_of_an_exception_comes_before_one_that_is_only_likely():
    raised = replace(FAILED, rule="exception", file="masking.py", line=41, where="masking.py, line 41")
    likely = replace(LINE, certainty="suspected")
    assert "stopped at masking.py:41" in framed(likely, check=raised)
    assert "look at masking.py:42" in framed(LINE, check=raised)
    assert "look at masking.py:41" in framed(file="masking.py", line=41)
