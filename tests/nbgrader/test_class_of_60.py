"""Section 7 of docs/instructor.md for a class of 60: regrade, adopt, comment, feedback, purge."""

from __future__ import annotations

import csv
import json
import re
from pathlib import Path

import pytest
from helpers.guide import ASSIGNMENT, GUIDE, MASK, SOFTMAX, TOO_LATE, Walk, answered

pytestmark = [pytest.mark.slow, pytest.mark.timeout(900)]

AS_FLOATS = MASK.replace("X.masked_fill(~keep, value)", "X * keep.float() + value * (~keep).float()")
TENTH = MASK.replace("X.masked_fill", "0.9 * X.masked_fill")
ANSWERS = {
    "a": (MASK, SOFTMAX),  # right
    "f": (AS_FLOATS, SOFTMAX),  # wrong for integers; the guide removes integers from the cases
    "t": (TENTH, SOFTMAX),  # values a tenth too small: the group that gets a name
    "l": (MASK, TOO_LATE),  # a known mistake
    "z": (TENTH + "# her own\n", SOFTMAX),  # as "t", in a file that no other student submits
}
CLASS = {
    f"{kind}{n:02}": kind for kind, count in (("a", 41), ("f", 6), ("t", 8), ("l", 3)) for n in range(count)
}
CLASS |= {"zoe": "z", "absent": ""}
FULL = 8.0


def typed() -> list[str]:
    """Return the commands of section 7."""
    section = GUIDE.read_text("utf-8").partition("## 7.")[2].partition("\n## ")[0]
    return [
        line
        for block in re.findall(r"^```shell\n(.*?)^```", section, re.M | re.S)
        for line in block.splitlines()
    ]


class Class(Walk):
    """The guide's checkout and course; 60 students, of whom one submits nothing."""

    said_in_order: list[tuple[str, str]]  # (command, its output)

    def run_all(self) -> None:
        self.said_in_order = []
        here = self.checkout
        for line in (
            f"grader course ~/attention-2027 --only {ASSIGNMENT}",
            "cd ~/attention-2027",
            f"nbgrader generate_assignment {ASSIGNMENT}",
        ):
            here = self._typed(line, here)
        self.submit()
        # Sections 3 and 5, for one student: section 7 must also grade submissions that nbgrader has graded.
        for command in ("autograde", "generate_feedback"):
            self.run("nbgrader", command, ASSIGNMENT, "--student", "t00")
        here = self.checkout
        for line in typed():
            here = self._typed(line.replace("GROUP", self.group()), here)

    def _typed(self, line: str, here: Path) -> Path:
        there = super()._typed(line, here)
        self.said_in_order.append((line, self.said[line]))
        return there

    def group(self) -> str:
        """Return the group without a name that was printed last; "" before there is one."""
        printed = " ".join(output for _line, output in self.said_in_order)
        found = re.findall(r"sequence_mask:[0-9a-f]{16}", printed)
        return found[-1] if found else ""

    def submit(self) -> None:
        released = self.course / "release" / ASSIGNMENT / f"{ASSIGNMENT}.ipynb"
        book = json.loads(released.read_text("utf-8"))
        for student, kind in CLASS.items():
            if kind:
                path = self.course / "submitted" / student / ASSIGNMENT / released.name
                path.parent.mkdir(parents=True)
                path.write_text(json.dumps(answered(json.loads(json.dumps(book)), ANSWERS[kind])), "utf-8")
        rows = [f"{student},{student},X,{'AB'[n % 2]}" for n, student in enumerate(CLASS)]
        (self.course / "students.csv").write_text(
            "\n".join(["id,first_name,last_name,section", *rows, ""]), "utf-8"
        )


@pytest.fixture(scope="module")
def walked(tmp_path_factory) -> Class:
    made = Class(tmp_path_factory.mktemp("sixty"))
    made.prepare()
    made.run_all()
    return made


def said(walked: Class, command: str) -> list[str]:
    """Return the output of each line that starts with a command, joined to one line."""
    return [" ".join(text.split()) for line, text in walked.said_in_order if line.startswith(command)]


def feedback(walked: Class, student: str) -> str:
    return (walked.course / "feedback" / student / ASSIGNMENT / f"{ASSIGNMENT}.html").read_text("utf-8")


def test_the_class_page_counts_59_and_lists_who_is_missing(walked):
    text = (walked.checkout / "class.html").read_text("utf-8")
    assert len(CLASS) == 60
    assert "59 submissions" in text
    assert re.search(r"absent</th><td>nothing was submitted", text)
    assert "names to copy" in text
    assert "A: l01\nB: l00, l02" in text


def test_a_changed_case_changes_only_the_points_of_wrong_integers(walked):
    first, second = said(walked, "grader regrade")
    for student, kind in CLASS.items():
        assert (f"{student} sequence_mask" in first) == (kind == "f"), student
    assert "input of integers (tokens): passed, was failed" in first
    assert "6 get more points, 0 fewer" in first
    assert "nothing was published" in first
    assert "published in" in second


def test_the_group_is_named_on_the_next_run(walked):
    runs = said(walked, f"grader grade ~/attention-2027/submitted --only {ASSIGNMENT}")
    before, after = runs[1:3]  # the runs around `adopt`
    assert "9 submissions share this in sequence_mask" in before
    assert "tenth-too-small" not in before
    assert "9 tenth-too-small sequence_mask" in after
    assert "share this in sequence_mask" not in after
    assert "right answers pass and are not in it" in said(walked, "grader adopt")[0]


def test_the_comment_and_the_reason_are_in_the_feedback(walked):
    for student, kind in CLASS.items():
        if kind and student != "zoe":
            text = feedback(walked, student)
            assert ("We discuss this on Tuesday." in text) == (kind == "t"), student
            assert ("every kept value is a tenth too small" in text) == (kind == "t"), student
            assert ("was graded again" in text) == (kind == "f"), student


def test_the_export_has_points_and_the_shared_page_has_no_names(walked):
    with (walked.checkout / "canvas.csv").open(encoding="utf-8", newline="") as file:
        rows = {row["SIS Login ID"]: row[ASSIGNMENT] for row in csv.DictReader(file)}
    right = [student for student, kind in CLASS.items() if kind in ("a", "f")]
    assert {student: rows[student] for student in right} == dict.fromkeys(right, f"{FULL:g}")
    assert rows["absent"] == "", "an import leaves what Canvas has"
    shared = (walked.checkout / "shared.html").read_text("utf-8")
    assert not [student for student in CLASS if re.search(rf"\b{student}\b", shared)]


def test_a_purge_prints_what_it_removed_and_what_it_left(walked):
    (text,) = said(walked, "grader purge")
    assert "results of 1 files" in text
    assert "not removed, since it is not the grader's" in text
    assert "submitted/zoe" in text
    assert "nbgrader db student remove zoe --force" in text
