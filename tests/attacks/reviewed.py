"""What a review of the grader found: each finding, and the tests that reach it by each way into the grader."""

from __future__ import annotations

from dataclasses import dataclass

ATTACK = "attacks/test_attacks.py::test_an_attack_gains_nothing_and_harms_nobody"
SENT = "cases/test_nothing_extra_travels.py::test_no_expected_tensor_follows_from_what_is_sent"
COSTLY = "classroom/test_grade.py::test_check_reads_a_costly_file_within_bounds"
CLASS = "classroom/test_grade.py::test_hostile_submissions_leave_their_neighbours_alone"
PLANTED = "classroom/test_grade.py::test_nothing_is_written_into_a_folder_of_submissions"
BOOK = "nbgrader/test_odd_files.py::test_a_hostile_notebook_gets_no_full_marks_and_no_excuse"
MARKS = "nbgrader/test_odd_files.py::test_an_odd_notebook_gets_its_marks"
LINK = "nbgrader/test_odd_files.py::test_a_symbolic_link_is_no_submission"
COURSE = "nbgrader/test_engine_cache.py::test_tensors_for_the_judge_are_not_in_the_worker"


@dataclass(frozen=True)
class Found:
    """One finding. A way is empty if the finding does not exist there; the word after a test is its submission."""

    id: str
    what: str
    check: str = ""
    grade: str = ""
    nbgrader: str = ""


FOUND = (
    Found(
        "C1",
        "tensors for the judge in the worker",
        f"{ATTACK} tensors-for-the-judge",
        f"{CLASS} reads",
        COURSE,
    ),
    Found("C2", "labels of `train` in the worker", f"{SENT} train", f"{SENT} train", f"{SENT} train"),
    Found("C3", "a planted store of results", "", f"{CLASS} planted, and {PLANTED}", f"{BOOK} (planted)"),
    Found(
        "D1",
        "half a character in an exception",
        f"{ATTACK} half-character",
        f"{CLASS} surrogate",
        f"{BOOK} surrogate",
    ),
    Found("D2", "1500 attributes of attributes", f"{COSTLY} dots, lines", f"{CLASS} dots", f"{BOOK} dots"),
    Found(
        "D3",
        "an empty tensor with a huge axis",
        f"{ATTACK} forged-empty-sentences",
        f"{CLASS} empty",
        f"{BOOK} empty",
    ),
    Found("D4", "one assignment to 20,000 names", f"{COSTLY} names", f"{CLASS} names", f"{BOOK} names"),
    Found("D5", "an import with very many dots", f"{COSTLY} imports", f"{CLASS} imports", f"{BOOK} imports"),
    Found(
        "D6", "8 MB of short lines", f"{COSTLY} letters, short", f"{CLASS} letters, short", f"{BOOK} letters"
    ),
    Found("D7", "a bzip2 member of 1.2 GiB", grade=f"{CLASS} bzip2.zip"),
    Found("D8", "a GNU name of 1.2 GiB", grade=f"{CLASS} name.tar.gz"),
    Found("D9", "a broken deflate stream", grade=f"{CLASS} broken.zip"),
    Found("D10", "an archive of 2000 members", grade=f"{CLASS} members.tar.gz"),
    Found(
        "D11",
        "half a character in a text cell",
        f"{ATTACK} half-character-in-text",
        f"{CLASS} half",
        f"{MARKS} markdown",
    ),
    Found(
        "D12", "2 GiB of disk reserved at once", f"{ATTACK} disk-reserved", f"{CLASS} disk", f"{BOOK} disk"
    ),
    Found(
        "D13", "a stack on one long line", f"{ATTACK} stack-on-one-line", f"{CLASS} stack", f"{BOOK} stack"
    ),
    Found("D14", "a symbolic link to another's file", grade=f"{CLASS} linked", nbgrader=LINK),
    Found("D15", "a planted `conftest.py`", grade=f"{CLASS} planted"),
    Found("D16", "9000 functions in a chain of calls", f"{COSTLY} chain", f"{CLASS} chain", f"{BOOK} chain"),
    Found("D17", "9000 misspelt names", f"{COSTLY} unknown", f"{CLASS} unknown", f"{BOOK} unknown"),
)
WAYS = ("check", "grade", "nbgrader")
