"""Shared reports name no student, and a purge removes what the grader stored about a student."""

import json
from contextlib import closing
from dataclasses import replace
from pathlib import Path

import pytest
from helpers.files import fill
from helpers.samples import FAILED, KNOWN, entry, failed, result
from helpers.school import ANSWER, SHARED, WRONG, make_school, rows, run, store_of

from grader.classroom.bounded_reader import BoundedReader
from grader.classroom.formats import FORMATS
from grader.classroom.pages import pages_of, write_pages
from grader.classroom.pseudonyms import pseudonym, pseudonymous
from grader.classroom.purge import SET_ASIDE, content_of, find_stored, remove
from grader.classroom.regrade import side_store
from grader.classroom.roster import Person
from grader.classroom.store import Store, StoreKey, default_store
from grader.report.model import Code, ExerciseResult, Line
from grader.support.errors import BadData, GraderError, UsageError

KEY = b"key"
ADA = {
    "id": "lovelace42",
    "first_name": "Augusta",
    "last_name": "Byron",
    "email": "ada@king.org",
    "section": "A",
}
PERSON = Person("lovelace42", ADA)
NAMES = ("lovelace42", "augusta", "byron", "king.org")
HASH = "ab" * 32  # of the content of the submission


def submission_with_names():
    """Return a graded submission with its student's name in every sentence, and in its code."""
    says = "lovelace42/hw_lovelace42.py, line 3, by Augusta BYRON <ada@king.org>"
    line = Line("lovelace42.py", 3, "scores = augusta(X)", "suspected")
    wrong = replace(
        failed(replace(KNOWN, says=says, lines=(line,))),
        message=says,
        remarks=(says,),
        checks=(replace(FAILED, message=says, where=says, got=says),),
        printed=says,
        code=Code("lovelace42.py", 1, ("# by Byron",)),
    )
    blocked = replace(result("masked_softmax", "blocked", 0.0), message=says)
    submission = entry("lovelace42", wrong, blocked)
    extra = {"student": "lovelace42", "submission": "lovelace42/hw_lovelace42.py", "content": HASH}
    report = replace(submission.report, extra=extra, remarks=(says,))
    return replace(submission, report=report, person=PERSON, problem=says)


# ---- pseudonyms


# The other formats are for one submission.
OF_A_CLASS = [name for name in FORMATS if name not in ("gradescope", "prairielearn")]


@pytest.mark.parametrize("format_name", [*OF_A_CLASS, "page"])
def test_no_name_is_in_a_shared_report(format_name, tmp_path):
    def written(folder, submissions) -> str:
        if format_name != "page":
            return FORMATS[format_name](submissions).lower()
        write_pages(tmp_path / folder, submissions[:1])
        (path,) = (tmp_path / folder).iterdir()
        return path.read_text("utf-8").lower()

    submissions = [submission_with_names(), entry("bob")]
    found = pseudonymous(submissions, KEY)
    assert any(name in written("names", submissions) for name in NAMES), "the sample has names"
    shared = written("shared", found)
    assert [name for name in (*NAMES, HASH) if name in shared] == []
    assert pseudonym("lovelace42", KEY) in shared
    assert (found[0].report.score, found[0].person.section) == (submissions[0].report.score, "A")
    assert [r.outcome for r in found[0].report.exercises] == ["failed", "blocked"]


def test_a_pseudonym_is_stable_and_depends_on_the_key():
    assert pseudonym("ada", KEY) == pseudonym("ada", KEY)
    assert len({pseudonym("ada", KEY), pseudonym("bob", KEY), pseudonym("ada", b"other")}) == 3


@pytest.mark.parametrize("student", ["failed", "values", "sequence_mask", "masking", "x", "(", "a|b"])
def test_an_id_that_is_a_word_of_the_course_or_odd_breaks_nothing(student):
    """The file is masking.py, and a single letter is no name."""
    says = "x: masking ends one step late"
    (shared,) = pseudonymous([entry(student, failed(replace(KNOWN, says=says)), problem=says)], KEY)
    (wrong,) = shared.report.exercises
    assert (wrong.outcome, wrong.name) == ("failed", "sequence_mask")
    if student != "masking":
        assert (wrong.diagnosis.says, shared.problem) == (says, says)
    assert FORMATS["html"]([shared])


# ---- purge

ALIKE = [
    *["ann_lee", "ann-lee", "Ann_lee", "ann_lee-2", "ann_lee.html", "../x"],
    "ann lee",
    "x" * 500,
    "x" * 501,
]


def test_no_page_has_the_name_of_another_students_page(tmp_path):
    """The names of pages depend on the student alone, also on a file system that does not tell capitals apart."""
    entries = [entry(name) for name in ALIKE for _again in range(12)]
    write_pages(tmp_path, entries)
    of = {name: {path.name for path in pages_of(name, tmp_path)} for name in ALIKE}
    assert all(len(pages) == 12 for pages in of.values())
    assert len({name.casefold() for pages in of.values() for name in pages}) == len(entries)
    write_pages(tmp_path / "alone", [entry(ALIKE[1])])
    (path,) = (tmp_path / "alone").iterdir()
    assert path.name in of[ALIKE[1]], "whoever else is in the class"


@pytest.mark.slow
def test_a_purge_removes_one_student_and_lists_files_that_it_keeps(tmp_path):
    school = make_school(tmp_path)
    folder = fill(school / "class", {"ada b/x; y $(z).py": WRONG, "bob/a.py": ANSWER, "cyd/a.py": SHARED})
    (school / "gradebook.db").touch()
    done = run(school, "grade", "class", "--pages", "pages", "--format", "jsonl", status=1)
    content_of = {one["student"]: one["content"] for one in map(json.loads, done.stdout.splitlines())}
    store = store_of(school, folder)
    before = rows(store)
    assert {row[0] for row in before} == set(content_of.values())
    stopped = run(school, "purge", "ada b", "class")
    assert stopped.returncode == 130, "without a confirmation nothing is removed"
    assert rows(store) == before
    done = run(school, "purge", "ada b", "class", "--pages", "pages", "--yes", status=0)
    assert {row[0] for row in rows(store)} == {content_of["bob"], content_of["cyd"]}
    assert sorted(path.name for path in (school / "pages").iterdir()) == ["bob.html", "cyd.html"]
    assert f"rm -r '{folder.resolve()}/ada b/x; y $(z).py'" in done.stdout
    assert "student remove 'ada b' --force" in done.stdout
    assert not [path for path in store.parent.iterdir() if content_of["ada b"].encode() in path.read_bytes()]
    again = run(school, "purge", "ada b", "class", "--yes", status=2)
    assert "nothing is stored about ada b" in again.stderr


@pytest.fixture
def submitted(tmp_path, monkeypatch) -> Path:
    """Make a class whose files have results in the default store, and in the stores side_store and `mine`."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    root = fill(tmp_path / "submitted", {"ada/a.py": "x = 1\n", "ada/b.py": "x = 2\n", "bob/b.py": "x = 2\n"})
    for store in (default_store(root), side_store(root), tmp_path / "mine"):
        with closing(Store(store, NO_KEY)) as opened:
            files = ["ada/a.py", "ada/b.py"]
            contents = [content_of(root / file, (root / file).read_bytes, {}) for file in files]
            results = [
                ExerciseResult("e", "a", "passed", 1.0, 1.0, content=one) for one in [*contents, "old"]
            ]
            opened.put(results)
    return root


NO_KEY = StoreKey("", "", "")


def contents(*stores: Path) -> list[int]:
    """Return the number of files that each store has results of."""
    found = []
    for path in stores:
        with closing(Store(path, NO_KEY)) as store:
            found.append(len(store.contents()))
    return found


def test_a_purge_keeps_what_another_student_submitted_too(submitted, tmp_path):
    """It removes results of files that no student has any more, such as ada's earlier one."""
    aside = fill(tmp_path / SET_ASIDE / "submitted" / "ada", {"x.txt": "x"})
    found = find_stored("ada", submitted, [], tmp_path / "mine", None)
    stores = [default_store(submitted), side_store(submitted), tmp_path / "mine"]
    assert list(found.stores) == stores
    assert contents(*stores) == [3, 3, 3]
    remove(found)
    assert contents(*stores) == [1, 1, 1]
    assert not aside.exists()
    assert [path.name for path in found.theirs] == ["a.py", "b.py", "ada"]


def test_a_purge_works_for_the_current_folder(submitted, monkeypatch):
    monkeypatch.chdir(submitted)
    assert find_stored("ada", Path(), [], None, None).stores


def test_an_unknown_name_removes_nothing(submitted):
    """A purge of a misspelt name must not remove the results of files that were replaced."""
    with pytest.raises(UsageError, match="no file of aad is in"):
        find_stored("aad", submitted, [], None, None)
    for student in ("..", "a/b", ""):
        with pytest.raises(UsageError, match="cannot be the name of a student's folder"):
            find_stored(student, submitted, [], None, None)


def test_a_file_that_cannot_be_read_stops_the_purge(submitted, monkeypatch):
    def call(self, function, path, *more):
        raise BadData("takes more than 30 seconds to read")

    monkeypatch.setattr(BoundedReader, "call", call)
    with pytest.raises(
        GraderError, match=r"bob/b.py takes more than .* nothing was removed. Move that file elsewhere"
    ):
        find_stored("ada", submitted, [], None, None)
