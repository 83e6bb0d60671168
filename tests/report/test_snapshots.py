"""Whole reports must equal the files in `snapshots/`.

To accept a change, run `pytest tests/report --write-snapshots` and look at the difference.
"""

import io
import re
from dataclasses import replace
from datetime import date
from pathlib import Path

import pytest
from helpers.pictures import ONE_OF_EACH
from helpers.samples import CLASS, FAILED, KNOWN, PASSED, RESULTS, entry, failed, result
from rich.console import Console

from grader.classroom.formats import FORMATS as CLASS_FORMATS
from grader.classroom.roster import Person
from grader.report.formats import written
from grader.report.model import Advice, Diagnosis, ExerciseResult, Line, Report
from grader.report.terminal import show

SNAPSHOTS = Path(__file__).parent / "snapshots"

SUSPECTED = Line("masking.py", 41, "return X", "suspected")
FACTS = Diagnosis(
    "unknown", says="All values have the wrong sign.", lines=(SUSPECTED, replace(SUSPECTED, line=7))
)
FILL = Advice(
    "precision", "the fill value is out of range for float16", "", "float16: raised RuntimeError", "line 8"
)
WRONG_SIGN = result(
    "wrong_sign", "failed", 0.5, checks=RESULTS[0].checks[:2], diagnosis=FACTS, printed="X is here"
)
ADVISED = replace(FAILED, outcome="advice", policy="precision", message="raised RuntimeError", where="line 8")
COURSE = Report(
    (
        RESULTS[0],
        replace(RESULTS[1], checks=(PASSED, ADVISED), advice=(FILL,)),
        RESULTS[2],
        replace(RESULTS[3], message=f"{RESULTS[3].message}\n  def f(:"),
        RESULTS[4],
        result("AddNorm2", "other_interface", 0.0, message="this file builds it as `AddNorm2(d)`"),
        WRONG_SIGN,
        *(ONE_OF_EACH[name] for name in ("masking", "shapes", "cost")),
    ),
    sandbox="landlock",
    torch="2.13.0",
    grader="0.1.0",
    remarks=("masking.py: both files were changed",),
)


def only(*results: ExerciseResult) -> Report:
    return replace(COURSE, exercises=results)


ADA = Person(
    "ada",
    {"first_name": "Ada", "last_name": "Lovelace", "email": "ada@x.org", "section": "A", "canvas_id": "17"}
    | {"sis_user_id": "S1", "idnumber": "4711"},
)
SMALL_CLASS = [
    replace(entry("ada", replace(failed(KNOWN), advice=(FILL,))), person=ADA),
    *(one for one in CLASS if one.student in ("eve", "fay", "gus", "hal", "ivy")),
    entry("=cmd", result("sequence_mask", "failed", 0.1, checks=RESULTS[0].checks)),
]


def screen(report: Report, words: bool = False) -> str:
    """Return what `grader check` prints with the details of every unsolved exercise."""
    out = io.StringIO()
    to = Console(file=out, width=80, highlight=False)
    show(report, to, every=True, words=words)
    return "".join(f"{line.rstrip()}\n" for line in out.getvalue().splitlines())


def page_without_style() -> str:
    text = written("html", only(COURSE.exercises[1], ONE_OF_EACH["masking"]))
    text = text.replace(date.today().isoformat(), "DATE")
    return re.sub(r"\n\s*\n+", "\n", re.sub(r"<style>.*?</style>", "", text, flags=re.DOTALL))


def for_ci() -> str:
    report = only(*COURSE.exercises[:6])
    junit = written("junit", replace(report, remarks=()))
    return "\n".join([written("github", report), written("markdown", report), junit])


def for_platforms() -> str:
    tables = [CLASS_FORMATS[form](SMALL_CLASS) for form in ("csv", "canvas", "moodle")]
    return "\n".join(
        [*tables, *(CLASS_FORMATS[form](SMALL_CLASS[:1]) for form in ("gradescope", "prairielearn"))]
    )


WRITTEN = {
    "course.txt": lambda: screen(COURSE),
    "words.txt": lambda: screen(only(*COURSE.exercises[-3:-1]), words=True),
    "page.html": page_without_style,
    "report.json": lambda: written("json", only(replace(RESULTS[0], checks=(FAILED,), advice=(FILL,)))),
    "ci.txt": for_ci,
    "class.txt": lambda: CLASS_FORMATS["text"](SMALL_CLASS),
    "platforms.txt": for_platforms,
}


@pytest.mark.parametrize("name", WRITTEN)
def test_a_report_is_as_it_was_accepted(name, request):
    found, path = WRITTEN[name](), SNAPSHOTS / name
    if request.config.getoption("--write-snapshots", default=False):
        path.write_text(found, "utf-8", newline="")
    assert found == path.read_bytes().decode()


def test_no_other_snapshot_exists():
    assert {path.name for path in SNAPSHOTS.iterdir()} == set(WRITTEN)
