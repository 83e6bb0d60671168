"""`grader grade` on a small class: outcomes, options, formats, refusals."""

import csv
import io
import json
import re
from pathlib import Path

import pytest
from helpers.command_line import WRONG as KNOWN_MISTAKE
from helpers.files import fill
from helpers.html_reader import HtmlReader
from helpers.report_rules import assert_obeys
from helpers.school import (
    ANSWER,
    SHARED,
    WRONG,
    make_school,
    outcome,
    records_of,
    rows,
    run,
    store_of,
)

from grader import given
from grader.classroom.formats import csv_text

HOSTILE = "import os\ndef transpose_qkv(X, num_heads):\n    os._exit(0)\n"

CLASS = {
    "ada.py": ANSWER,
    "bob.py": KNOWN_MISTAKE,
    "cyd.py": WRONG,
    "dee.py": SHARED,
    "eve.py": "def transpose_qkv(:\n",
    "fay.py": "",
    "gus.py": HOSTILE,
    "=cmd|' ,C'!A0.py": ANSWER,
    "hal/04_heads/heads.py": ANSWER,
    "ivy/04_heads/heads.py": ANSWER,
    "jon/04_heads/heads.ipynb": json.dumps({"cells": [{"cell_type": "code", "source": ANSWER}]}),
    "kim/answers.py": ANSWER,
    "kim/helper.py": "x = 1\n",
    "lea/homework.docx": "x",
}


@pytest.fixture(scope="module")
def school(tmp_path_factory) -> Path:
    root = make_school(tmp_path_factory.mktemp("school"))
    fill(root / "class", CLASS)
    return root


@pytest.fixture(scope="module")
def records(school) -> dict[str, dict]:
    """Return submission → record of a first run over the whole class."""
    done = run(school, "grade", "class", "--format", "jsonl", "--jobs", 2)
    assert done.returncode == 1, done.stderr
    return {record["submission"]: record for record in records_of(done)}


# ---- a class


def test_each_answer_gets_the_deserved_outcome(records):
    for name in (
        "ada.py",
        "=cmd|' ,C'!A0.py",
        "hal/04_heads/heads.py",
        "ivy/04_heads/heads.py",
        "jon/04_heads/heads.ipynb",
        "kim/answers.py",
    ):
        assert outcome(records[name]) == "passed", name
    for name in ("bob.py", "cyd.py", "dee.py", "gus.py"):
        assert outcome(records[name]) == "failed", name
    assert records["gus.py"]["score"] == 0
    hal = {e["name"]: e["outcome"] for e in records["hal/04_heads/heads.py"]["exercises"]}
    assert hal == {"transpose_qkv": "passed", "transpose_output": "blocked"}, "it lacks an exercise"
    assert records["bob.py"]["exercises"][0]["diagnosis"]["kind"] == "exact"


def test_files_that_cannot_be_read_are_listed_and_helpers_are_not(records):
    eve = records["eve.py"]["exercises"][0]
    assert (eve["name"], eve["outcome"]) == ("transpose_qkv", "blocked")
    assert "Python cannot read transpose_qkv: eve.py, line 1: invalid syntax" in eve["message"]
    assert records["fay.py"]["remarks"] == ["fay.py is empty"]
    assert "kim/helper.py" not in records
    assert "it holds homework.docx" in records["lea"]["remarks"][0]


def test_records_obey_the_rules_and_name_student_and_sandbox(records):
    for record in records.values():
        assert record["exercises"] or record["remarks"]
        if record["exercises"]:
            assert_obeys(record)
        assert record["seed"] == "hidden"
        assert record["sandbox"] in ("strict", "landlock")
    assert records["jon/04_heads/heads.ipynb"]["student"] == "jon"
    assert len(records["ada.py"]["content"]) == 64


@pytest.mark.slow
def test_the_class_report_comes_from_the_store_and_shows_mistakes(school, records):
    store = store_of(school, school / "class")
    before = rows(store)
    shown = " ".join(run(school, "grade", "class").stdout.split())
    graded = sum(bool(record["exercises"]) for record in records.values())
    assert f"0 graded now, {graded} from the store" in shown
    assert rows(store) == before
    assert records["hal/04_heads/heads.py"]["content"] == records["ivy/04_heads/heads.py"]["content"]
    assert "heads-cut-straight" in shown
    assert "2 submissions share this in transpose_qkv; the smallest is cyd.py" in shown
    assert "fay.py: fay.py is empty" in shown


@pytest.mark.slow
def test_only_chosen_exercises_are_graded(school, records):
    store = store_of(school, school / "class")
    before = rows(store)
    folder = fill(school / "lately", {"hal/04_heads/heads.py": CLASS["hal/04_heads/heads.py"]})
    for wanted in (["transpose_output"], ["transpose_output", "transpose_qkv"]):
        only = [part for name in wanted for part in ("--only", name)]
        done = run(school, "grade", folder, *only, "--store", store, "--format", "jsonl")
        (record,) = records_of(done)
        assert sorted(e["name"] for e in record["exercises"]) == sorted(wanted)
        assert record["points"] == 3 * len(wanted)
    assert rows(store) == before, "equal files have the same results"


FORMULAS = [
    "=1+1",
    "+a",
    "-2+3",
    "@sum",
    "\u2003=1",
    "\u200b=1",
    "\ufeff=1",
    '"=1',
    "|x",
    "%x",
    "\x00=1",
    "＝1",
]


@pytest.mark.parametrize("formula", [*FORMULAS, " =1"])
@pytest.mark.parametrize("before", ["", "x;", "x\t", "x\n", "x\r\n", "x\u2028", "=1;x;"])
def test_no_separator_makes_a_cell_that_is_a_formula(before, formula):
    text = csv_text([["ada", before + formula, "end"]])
    assert next(csv.reader(io.StringIO(text, newline="")))[2] == "end"
    # What a program may take for a cell: all between two separators of any kind.
    for part in re.split("[,;\t\n\r\u2028]", text):
        seen = "".join(char for char in part if char not in ' "\u2003\u200b\ufeff\x00')
        assert seen[:1] not in tuple("=+-@|%＝")


@pytest.mark.parametrize("cell", ["ada", "-1", "+1.5e-3", "a=1", "1;-2", "a - b", "Übung 'x'; y"])
def test_other_cells_and_numbers_stay_as_they_are(cell):
    assert csv_text([[cell, "", "end"]]) == f'"{cell}",,"end"\r\n'


@pytest.mark.slow
def test_remarks_are_in_each_format_and_cost_nothing(school):
    """mia forgets an import, which the grader adds. ned copied a building block, and renamed it."""
    block = re.sub(r' +"""(?s:.+?)"""\n', "    # mine\n", given.source("transpose_qkv"))
    texts = {
        "mia.py": ANSWER.replace("return ", "return math.isqrt(1) * "),
        "ned.py": block.replace("transpose_qkv", "TransposeQKV"),
    }
    fill(school / "remarks", texts)
    added = "add at the top `import math`"
    copied = "transpose_qkv has the syntax tree of the grader's building block"
    mia, ned = records_of(run(school, "grade", "remarks", "--format", "jsonl", "--pages", "pages", status=0))
    assert added in mia["exercises"][0]["remarks"][0]
    assert (mia["score"], ned["score"], mia["remarks"]) == (3, 3, [])
    assert [remark.partition(";")[0] for remark in ned["remarks"]] == [copied]
    assert added.replace("`", "") in HtmlReader((school / "pages" / "mia.html").read_text("utf-8")).text
    # From the store.
    assert f"ned.py: {copied}" in " ".join(run(school, "grade", "remarks").stdout.split())
    assert added in run(school, "grade", "remarks/mia.py", "--format", "gradescope", status=0).stdout
    assert "one submission" in run(school, "grade", "remarks", "--format", "gradescope", status=2).stderr


# ---- refusals


@pytest.mark.slow
@pytest.mark.parametrize(
    ("args", "sentence"),
    [
        (["nowhere"], "nowhere does not exist"),
        (["class", "--sandbox", "basic"], "--trusted-submissions"),
        (["class", "--only", "transpose_qvk"], "did you mean transpose_qkv?"),
        (["class", "--store", "seed"], "cannot be used as a store"),
        (["cache"], "holds nothing to grade"),
    ],
)
def test_wrong_use_is_reported_in_one_sentence(school, records, args, sentence):
    done = run(school, "grade", *args)
    assert done.returncode == 2
    assert sentence in done.stderr
    assert len(done.stderr.strip().splitlines()) == 1


@pytest.mark.slow
def test_trusted_submissions_can_be_graded_in_the_basic_sandbox_by_instructors(school, records):
    folder = fill(school / "trusted", {"ada.py": ANSWER})
    trusted = ("grade", folder, "--sandbox", "basic", "--trusted-submissions", "--format", "jsonl")
    assert records_of(run(school, *trusted, status=0))[0]["sandbox"] == "basic"
    (school / "solutions").rename(school / "away")
    try:
        assert "only instructors have it" in run(school, "grade", folder, status=2).stderr
    finally:
        (school / "away").rename(school / "solutions")
