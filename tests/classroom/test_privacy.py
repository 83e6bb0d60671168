"""Shared reports name no student, and a purge removes what the grader stored about a student."""

from __future__ import annotations

import json
import sqlite3
from contextlib import closing
from dataclasses import replace
from pathlib import Path

import pytest
from helpers.browser.samples import FAILED, KNOWN, entry, failed, result
from helpers.files import fill
from helpers.school import ANSWER, SHARED, WRONG, make_school, run

from grader.classroom.bounded_reader import BoundedReader, Unreadable
from grader.classroom.formats import FORMATS
from grader.classroom.pages import pages_of, write_pages
from grader.classroom.pseudonyms import pseudonym, pseudonymous
from grader.classroom.purge import SET_ASIDE, find_stored
from grader.classroom.roster import Person
from grader.report.model import Code, Line
from grader.support.errors import GraderError, UsageError

KEY = b"key"
PERSON = Person(
    "lovelace42",
    {
        "id": "lovelace42",
        "first_name": "Augusta",
        "last_name": "Byron",
        "email": "ada@king.org",
        "section": "A",
    },
)
NAMES = ("lovelace42", "augusta", "byron", "king.org")
HASH = "ab" * 32  # of the content of the submission


def submission_with_names():
    """Return a graded submission with its student's name in every sentence."""
    says = "lovelace42/hw_lovelace42.py, line 3, by Augusta BYRON <ada@king.org>"
    check = replace(FAILED, message=says, where=says, got=says)
    wrong = replace(failed(replace(KNOWN, says=says)), message=says, remarks=(says,), checks=(check,))
    blocked = replace(result("masked_softmax", "blocked", 0.0), message=says)
    submission = entry("lovelace42", wrong, blocked)
    extra = {"student": "lovelace42", "submission": "lovelace42/hw_lovelace42.py", "content": HASH}
    report = replace(submission.report, extra=extra, remarks=(says,))
    return replace(submission, report=report, person=PERSON, problem=says)


# ---- pseudonyms


# The other two formats are for one submission.
OF_A_CLASS = [name for name in FORMATS if name not in ("gradescope", "prairielearn")]


@pytest.mark.parametrize("format_name", OF_A_CLASS)
def test_no_name_is_in_a_shared_report(format_name):
    submissions = [submission_with_names(), entry("bob")]
    text = FORMATS[format_name](submissions).lower()
    assert any(name in text for name in NAMES), "the sample has names"
    shared = FORMATS[format_name](pseudonymous(submissions, KEY)).lower()
    assert [name for name in (*NAMES, HASH) if name in shared] == []
    assert pseudonym("lovelace42", KEY) in shared


def test_no_code_is_in_a_shared_report():
    line = Line("lovelace42.py", 3, "scores = lovelace(X)", "suspected")
    wrong = replace(failed(replace(KNOWN, lines=(line,))), printed="by lovelace")
    code = Code("lovelace42.py", 1, ("# by lovelace",))
    shared = pseudonymous([entry("lovelace42", replace(wrong, code=code))], KEY)
    assert "lovelace" not in FORMATS["jsonl"](shared)


@pytest.mark.slow
def test_a_shared_page_names_no_student_not_even_in_its_title(tmp_path):
    write_pages(tmp_path, pseudonymous([submission_with_names()], KEY))
    (path,) = tmp_path.iterdir()
    text = path.read_text("utf-8")
    assert f"<title>Headway report: {pseudonym('lovelace42', KEY)} · " in text
    assert [name for name in NAMES if name in text.lower()] == []


@pytest.mark.slow
def test_a_sentence_keeps_the_word_masking_of_masking_py():
    submission = entry("ada", failed(replace(KNOWN, says="masking ends one step late")))
    assert submission.submission.endswith("/masking.py")
    assert "masking ends one step late" in FORMATS["jsonl"](pseudonymous([submission], KEY))


def test_a_pseudonym_is_stable_and_depends_on_the_key():
    assert pseudonym("ada", KEY) == pseudonym("ada", KEY)
    assert len({pseudonym("ada", KEY), pseudonym("bob", KEY), pseudonym("ada", b"other")}) == 3


@pytest.mark.slow
def test_points_outcomes_and_sections_stay():
    original = submission_with_names()
    (shared,) = pseudonymous([original], KEY)
    assert (shared.report.score, shared.person.section) == (original.report.score, "A")
    assert [r.outcome for r in shared.report.exercises] == ["failed", "blocked"]


@pytest.mark.parametrize("student", ["failed", "values", "sequence_mask", "x", "(", "a|b"])
def test_an_id_that_is_a_word_of_the_course_or_odd_breaks_nothing(student):
    (shared,) = pseudonymous([entry(student, failed(KNOWN))], KEY)
    assert shared.report.exercises[0].outcome == "failed"
    assert shared.report.exercises[0].name == "sequence_mask"
    assert FORMATS["html"]([shared])


@pytest.mark.slow
def test_a_one_letter_student_without_files_changes_no_sentence():
    submission = entry("x", problem="nothing was submitted.")
    submission.report.extra["submission"] = ""
    (shared,) = pseudonymous([submission], KEY)
    assert shared.problem == "nothing was submitted."


# ---- purge


@pytest.fixture(scope="module")
def school(tmp_path_factory) -> Path:
    root = make_school(tmp_path_factory.mktemp("school"))
    fill(root / "class", {"ada/a.py": WRONG, "bob/a.py": ANSWER, "cyd/a.py": SHARED})
    run(root, "grade", "class", "--pages", "pages", status=1)
    return root


def contents(school: Path) -> set[str]:
    """Return the content hashes of all results in the cache."""
    found = set()
    for path in (school / "cache").rglob("grades/*.sqlite"):
        with closing(sqlite3.connect(path)) as database:
            found |= {content for (content,) in database.execute("SELECT content FROM results")}
    return found


@pytest.mark.slow
def test_a_purge_removes_one_student_and_lists_files_that_it_keeps(school):
    aside = fill(school / ".headway" / "set_aside" / "class" / "ada", {"x.txt": "x"})
    done = run(school, "grade", "class", "--format", "jsonl")
    records = map(json.loads, done.stdout.splitlines())
    content_of = {record["student"]: record["content"] for record in records}
    assert contents(school) == set(content_of.values())
    stopped = run(school, "purge", "ada", "class")
    assert stopped.returncode == 130, "without a confirmation nothing is removed"
    assert contents(school) == set(content_of.values())
    done = run(school, "purge", "ada", "class", "--pages", "pages", "--yes", status=0)
    assert contents(school) == {content_of["bob"], content_of["cyd"]}
    assert sorted(path.name for path in (school / "pages").iterdir()) == ["bob.html", "cyd.html"]
    assert not aside.exists()
    assert f"rm -r {(school / 'class/ada/a.py').resolve()}" in done.stdout
    stores = (school / "cache").rglob("grades/*")
    assert not [path for path in stores if content_of["ada"].encode() in path.read_bytes()]
    again = run(school, "purge", "ada", "class", "--yes", status=2)
    assert "nothing is stored about ada" in again.stderr


ALIKE = [
    "ann_lee",
    "ann-lee",
    "ann lee",
    "Ann_lee",
    "ann_lee-2",
    "ann_lee.html",
    "x" * 500,
    "x" * 501,
    "\U00020000" * 90,
]


@pytest.mark.slow
def test_no_page_has_the_name_of_another_students_page(tmp_path):
    """The names of pages depend on the student alone, also on a file system that does not tell capitals apart."""
    entries = [entry(name) for name in ALIKE for _again in range(12)]
    write_pages(tmp_path, entries)
    of = {name: {path.name for path in pages_of(name, tmp_path)} for name in ALIKE}
    assert all(len(pages) == 12 for pages in of.values())
    assert len({name.casefold() for pages in of.values() for name in pages}) == len(entries)
    for number, name in enumerate(ALIKE):  # whoever else is in the class
        write_pages(tmp_path / str(number), [entry(name)])
        (path,) = (tmp_path / str(number)).iterdir()
        assert path.name in of[name]


@pytest.mark.slow
def test_results_of_a_file_that_two_students_share_stay(school):
    folder = fill(school / "twins", {"ada/a.py": WRONG, "bob/a.py": WRONG})
    run(school, "grade", "twins")
    before = contents(school)
    assert run(school, "purge", "ada", folder, "--yes").returncode == 2
    assert contents(school) == before


@pytest.mark.slow
def test_a_purge_looks_in_the_cache_and_in_the_store_that_is_named(school):
    fill(school / "named", {"ada/a.py": WRONG.replace("1.37", "1.38"), "bob/a.py": ANSWER})
    named_store = ["--store", school / "cache" / "grades" / "mine.sqlite"]
    run(school, "grade", "named", status=1)
    done = run(school, "grade", "named", *named_store, "--format", "jsonl", status=1)
    ada, bob = (json.loads(line)["content"] for line in done.stdout.splitlines())
    assert ada in contents(school)
    run(school, "purge", "ada", "named", *named_store, "--yes", status=0)
    assert ada not in contents(school)
    assert bob in contents(school)


@pytest.mark.slow
def test_an_unknown_name_removes_nothing(school):
    """zoe has replaced her file, so no file matches her results. A purge of a misspelt name must not remove them."""
    fill(school / "typed", {"zoe/a.py": WRONG.replace("1.37", "1.39")})
    run(school, "grade", "typed", status=1)
    (school / "typed" / "zoe" / "a.py").write_text("x = 1\n")
    before = contents(school)
    done = run(school, "purge", "zeo", "typed", "--yes", status=2)
    assert "no file of zeo is in" in done.stderr
    assert contents(school) == before


@pytest.mark.slow
def test_a_purge_works_for_the_current_folder(tmp_path, monkeypatch):
    fill(tmp_path / "submitted", {"ada/a.py": ANSWER})
    aside = fill(tmp_path / SET_ASIDE / "submitted" / "ada", {"x.txt": "x"})
    monkeypatch.chdir(tmp_path / "submitted")
    assert find_stored("ada", Path(), [], None, None).paths == (aside.resolve(),)


@pytest.mark.slow
def test_a_file_that_cannot_be_read_stops_the_purge(tmp_path, monkeypatch):
    fill(tmp_path, {"ada/a.py": ANSWER, "bob/b.py": WRONG})

    def call(self, function, path, *more):
        raise Unreadable("takes more than 30 seconds to read")

    monkeypatch.setattr(BoundedReader, "call", call)
    with pytest.raises(
        GraderError, match=r"bob/b.py takes more than .* nothing was removed. Move that file elsewhere"
    ):
        find_stored("ada", tmp_path, [], None, None)


@pytest.mark.slow
def test_printed_commands_quote_names_for_the_shell(school):
    folder = fill(school / "odd" / "submitted", {"ada b/x; y $(z).py": WRONG})
    (school / "odd" / "gradebook.db").touch()
    shown = run(school, "purge", "ada b", folder, "--yes").stdout
    assert f"rm -r '{folder.resolve()}/ada b/x; y $(z).py'" in shown
    assert "student remove 'ada b' --force" in shown


@pytest.mark.parametrize("student", ["..", "a/b", ""])
def test_a_name_that_is_a_path_is_refused(tmp_path, student):
    with pytest.raises(UsageError, match="cannot be the name of a student's folder"):
        find_stored(student, tmp_path, [], None, None)
