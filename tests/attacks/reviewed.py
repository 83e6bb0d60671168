"""Faults that a review of the grader found, and the tests that show for each command that the fault is fixed.

`scripts/attack_table.py` writes the texts into docs/attacks.md.
"""

from __future__ import annotations

from dataclasses import dataclass

ATTACK = "attacks/test_attacks.py::test_an_attack_gains_nothing_and_harms_nothing"
SENT = "cases/test_nothing_extra_travels.py::test_no_expected_tensor_follows_from_what_is_sent"
COSTLY = "classroom/test_hostile_submissions.py::test_check_reads_a_costly_file_within_bounds"
CLASS = "classroom/test_hostile_submissions.py::test_hostile_submissions_do_not_affect_others"
PLANTED = "classroom/test_hostile_submissions.py::test_nothing_is_written_into_a_folder_of_submissions"
BOOK = "nbgrader/test_odd_files.py::test_a_hostile_notebook_gets_no_full_marks_and_no_excuse"
MARKS = "nbgrader/test_odd_files.py::test_an_odd_notebook_gets_its_marks"
LINK = "nbgrader/test_odd_files.py::test_a_symbolic_link_is_no_submission"
AUTOGRADE = "nbgrader/test_tensors.py::test_autograde_gives_no_points_for_a_search_in_the_worker"
LABELS = "attacks/test_train_labels.py::test_made_up_words_are_not_the_scores_of_the_weights"
WORDS = "attacks/test_train_labels.py::test_made_up_words_get_only_a_quarter_of_the_points"
FOLDERS = "classroom/test_neighbours.py::test_modules_are_read_for_graded_files_only"
IMPORTS = "classroom/test_neighbours.py::test_a_module_that_many_imports_name_is_read_once"
TOML = "cli/test_check.py::test_a_wrong_choice_of_policies_is_one_sentence"


@dataclass(frozen=True)
class Found:
    """One finding.

    what: the fault.
    check, grade, nbgrader: the test of this command and the name of its submission; "" if there is none.
    before: what the attack did to the reviewed code.
    """

    id: str
    what: str
    check: str = ""
    grade: str = ""
    nbgrader: str = ""
    before: str = ""


FOUND = (
    Found(
        "C1",
        "the worker holds tensors that only the judge needs",
        f"{ATTACK} tensors-for-the-judge",
        f"{CLASS} reads",
        AUTOGRADE,
        before="yes: `check` and hidden `grade` gave 3 of 3 points for a `shift_matrix` that computes no sine",
    ),
    Found(
        "C2",
        "labels of `train` in the worker",
        f"{SENT} train, {LABELS}",
        WORDS,
        WORDS,
        before="yes: three cases sent `labels`. After they were removed, the inputs of the next steps still revealed them, until the scores were compared with those of the trained weights. The attack gained no points: an answer with wrong values gets at most a quarter",
    ),
    Found(
        "C3",
        "a planted store of results",
        "",
        f"{CLASS} planted, and {PLANTED}",
        f"{BOOK} (planted)",
        before="yes: `grade` gave 0.67 points, and 3 of 3 when it was called again; a linked `.headway` got a store in another folder",
    ),
    Found(
        "D1",
        "half a character in an exception",
        f"{ATTACK} half-character",
        f"{CLASS} surrogate",
        f"{BOOK} surrogate",
        before="yes: traceback in `check`, could not be graded in `grade` (UnicodeEncodeError)",
    ),
    Found(
        "D2",
        "1500 attributes of attributes",
        f"{COSTLY} dots, lines",
        f"{CLASS} dots",
        f"{BOOK} dots",
        before="yes: traceback in `check` (RecursionError)",
    ),
    Found(
        "D3",
        "an empty tensor with a huge axis",
        f"{ATTACK} forged-empty-sentences",
        f"{CLASS} empty",
        f"{BOOK} empty",
        before="yes: `check` was stopped after 30 s at 0.7 GiB and growing",
    ),
    Found(
        "D4",
        "one assignment to 20,000 names",
        f"{COSTLY} names",
        f"{CLASS} names",
        f"{BOOK} names",
        before="yes: `check` and `grade` were stopped after 25 s",
    ),
    Found(
        "D5",
        "an import with very many dots",
        f"{COSTLY} imports",
        f"{CLASS} imports",
        f"{BOOK} imports",
        before="yes: `check` and `grade` were stopped at 2.2 GiB after 9 s and 6 s",
    ),
    Found(
        "D6",
        "8 MB of short lines",
        f"{COSTLY} letters, short",
        f"{CLASS} letters, short",
        f"{BOOK} letters",
        before="yes: `grade` was stopped at 2.2 GiB after 13 s",
    ),
    Found(
        "D7",
        "a bzip2 member of 1.2 GiB",
        grade=f"{CLASS} bzip2.zip",
        before="yes: `grade` was stopped at 2.2 GiB after 7 s",
    ),
    Found("D8", "a GNU name of 1.2 GiB", grade=f"{CLASS} name.tar.gz", before="yes: `grade` took 1.2 GiB"),
    Found(
        "D9",
        "a broken deflate stream",
        grade=f"{CLASS} broken.zip",
        before="yes: traceback in `grade` (zlib.error), no submission was graded",
    ),
    Found(
        "D10",
        "an archive of 2000 members",
        grade=f"{CLASS} members.tar.gz",
        before="yes: `grade` was stopped after 40 s, at file 82 of 2001",
    ),
    Found(
        "D11",
        "half a character in a text cell",
        f"{ATTACK} half-character-in-text",
        f"{CLASS} half",
        f"{MARKS} markdown",
        before="yes: writing the notebook that was read raised UnicodeEncodeError (run with the functions, not with `autograde`)",
    ),
    Found(
        "D12",
        "2 GiB of disk reserved at once",
        f"{ATTACK} disk-reserved",
        f"{CLASS} disk",
        f"{BOOK} disk",
        before="yes: `check --sandbox landlock` reserved more than 100 MiB and passed the answer that returns whether it got them",
    ),
    Found(
        "D13",
        "a stack on one long line",
        f"{ATTACK} stack-on-one-line",
        f"{CLASS} stack",
        f"{BOOK} stack",
        before="yes: `check` took 69 s, 2 s without that line",
    ),
    Found(
        "D14",
        "a symbolic link to a file of another student",
        grade=f"{CLASS} linked",
        nbgrader=LINK,
        before="yes: the reader of the preprocessors returned the notebook of another student (run with the function, not with `autograde`)",
    ),
    Found(
        "D15",
        "a planted `conftest.py`",
        grade=f"{CLASS} planted",
        before="yes, and still today if you run pytest there: it executes the file. SECURITY.md says not to run pytest there; `grade` does not execute the file",
    ),
    Found(
        "D16",
        "9000 functions in a chain of calls",
        f"{COSTLY} chain",
        f"{CLASS} chain",
        f"{BOOK} chain",
        before="not run: found and fixed later",
    ),
    Found(
        "D17",
        "9000 misspelt names",
        f"{COSTLY} unknown",
        f"{CLASS} unknown",
        f"{BOOK} unknown",
        before="not run: found and fixed later",
    ),
    Found(
        "D18",
        "a folder of thousands of folders",
        grade=FOLDERS,
        before="that code read no neighbouring files; 3000 folders took the main process of `grade` 78 s when this was found",
    ),
    Found(
        "D19",
        "thousands of imports of one file",
        check=IMPORTS,
        grade=IMPORTS,
        nbgrader=IMPORTS,
        before="that code read no neighbouring files; 190 imports read one file of an archive 190 times when this was found",
    ),
    Found(
        "D20",
        "a deep `headway.toml`",
        check=TOML,
        before="that code did not read it; traceback in `check` (RecursionError) when this was found",
    ),
)
WAYS = ("check", "grade", "nbgrader")  # the fields of `Found` that name tests
