"""Shared reports use pseudonyms everywhere, and a purge leaves nothing."""

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
from grader.classroom.pseudonyms import pseudonym, pseudonymous
from grader.classroom.purge import SET_ASIDE, find_stored
from grader.classroom.roster import Person
from grader.classroom.submission_pages import write_pages
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


def named():
    """Return a report with a student's name in every sentence."""
    says = "lovelace42/hw_lovelace42.py, line 3, by Augusta BYRON <ada@king.org>"
    check = replace(FAILED, message=says, where=says, got=says)
    wrong = replace(failed(replace(KNOWN, says=says)), message=says, remarks=(says,), checks=(check,))
    blocked = replace(result("masked_softmax", "blocked", 0.0), message=says)
    one = entry("lovelace42", wrong, blocked)
    extra = {"student": "lovelace42", "submission": "lovelace42/hw_lovelace42.py", "content": "ab" * 32}
    return replace(one, report=replace(one.report, extra=extra, remarks=(says,)), person=PERSON, problem=says)


# ---- pseudonyms


@pytest.mark.parametrize("form", [form for form in FORMATS if form not in ("gradescope", "prairielearn")])
def test_no_name_is_in_a_shared_report(form):
    text = FORMATS[form]([named(), entry("bob")]).lower()
    assert any(name in text for name in NAMES), "the sample has names"
    shared = FORMATS[form](pseudonymous([named(), entry("bob")], KEY)).lower()
    assert [name for name in (*NAMES, "ab" * 32) if name in shared] == []
    assert pseudonym("lovelace42", KEY) in shared


def test_no_code_is_in_a_shared_report():
    line = Line("lovelace42.py", 3, "scores = lovelace(X)", "suspected")
    wrong = replace(failed(replace(KNOWN, lines=(line,))), printed="by lovelace")
    code = Code("lovelace42.py", 1, ("# by lovelace",))
    (one,) = pseudonymous([entry("lovelace42", replace(wrong, code=code))], KEY)
    assert "lovelace" not in FORMATS["jsonl"]([one])


def test_the_head_of_a_shared_page_names_no_student(tmp_path):
    write_pages(tmp_path, pseudonymous([named()], KEY))
    (path,) = tmp_path.iterdir()
    text = path.read_text("utf-8")
    assert f"<title>Headway report: {pseudonym('lovelace42', KEY)} · " in text
    assert [name for name in NAMES if name in text.lower()] == []


def test_the_name_of_a_module_is_an_ordinary_word():
    one = entry("ada", failed(replace(KNOWN, says="masking ends one step late")))
    assert "masking ends one step late" in FORMATS["jsonl"](pseudonymous([one], KEY))


def test_a_pseudonym_is_stable_and_needs_the_key():
    assert pseudonym("ada", KEY) == pseudonym("ada", KEY)
    assert len({pseudonym("ada", KEY), pseudonym("bob", KEY), pseudonym("ada", b"other")}) == 3


def test_points_outcomes_and_sections_stay():
    (one,) = pseudonymous([named()], KEY)
    assert (one.report.score, one.person.section) == (named().report.score, "A")
    assert [r.outcome for r in one.report.exercises] == ["failed", "blocked"]


@pytest.mark.parametrize("student", ["failed", "values", "sequence_mask", "x", "(", "a|b"])
def test_a_student_with_the_name_of_a_word_breaks_nothing(student):
    (one,) = pseudonymous([entry(student, failed(KNOWN))], KEY)
    assert one.report.exercises[0].outcome == "failed"
    assert one.report.exercises[0].name == "sequence_mask"
    assert FORMATS["html"]([one])


# ---- purge


@pytest.fixture(scope="module")
def school(tmp_path_factory) -> Path:
    root = make_school(tmp_path_factory.mktemp("school"))
    fill(root / "class", {"ada/a.py": WRONG, "bob/a.py": ANSWER, "cyd/a.py": SHARED})
    run(root, "grade", "class", "--pages", "pages", status=1)
    return root


def contents(school: Path) -> set[str]:
    found = set()
    for path in (school / "cache").rglob("grades/*.sqlite"):
        with closing(sqlite3.connect(path)) as database:
            found |= {content for (content,) in database.execute("SELECT content FROM results")}
    return found


def test_a_purge_removes_one_student_and_names_what_is_not_ours(school):
    aside = fill(school / ".headway" / "set_aside" / "class" / "ada", {"x.txt": "x"})
    done = run(school, "grade", "class", "--format", "jsonl")
    of = {record["student"]: record["content"] for record in map(json.loads, done.stdout.splitlines())}
    assert contents(school) == set(of.values())
    stopped = run(school, "purge", "ada", "class")
    assert stopped.returncode == 130, "without an answer nothing is removed"
    assert contents(school) == set(of.values())
    done = run(school, "purge", "ada", "class", "--pages", "pages", "--yes", status=0)
    assert contents(school) == {of["bob"], of["cyd"]}
    assert sorted(path.name for path in (school / "pages").iterdir()) == ["bob.html", "cyd.html"]
    assert not aside.exists()
    assert f"rm -r {(school / 'class/ada/a.py').resolve()}" in done.stdout
    assert not [
        path for path in (school / "cache").rglob("grades/*") if of["ada"].encode() in path.read_bytes()
    ]
    again = run(school, "purge", "ada", "class", "--yes", status=2)
    assert "nothing is stored about ada" in again.stderr


def test_a_file_that_two_students_share_stays_for_the_other(school):
    folder = fill(school / "twins", {"ada/a.py": WRONG, "bob/a.py": WRONG})
    run(school, "grade", "twins")
    before = contents(school)
    assert run(school, "purge", "ada", folder, "--yes").returncode == 2
    assert contents(school) == before


def test_a_purge_looks_in_the_cache_and_in_the_store_that_is_named(school):
    fill(school / "named", {"ada/a.py": WRONG.replace("1.37", "1.38"), "bob/a.py": ANSWER})
    of = []
    for more in ([], ["--store", school / "cache" / "grades" / "mine.sqlite"]):
        done = run(school, "grade", "named", *more, "--format", "jsonl", status=1)
        of = [json.loads(line)["content"] for line in done.stdout.splitlines()]
    run(school, "purge", "ada", "named", *more, "--yes", status=0)
    assert contents(school).isdisjoint(of[:1])
    assert of[1] in contents(school)


def test_an_unknown_name_removes_nothing(school):
    fill(school / "typed", {"zoe/a.py": WRONG.replace("1.37", "1.39")})
    run(school, "grade", "typed", status=1)
    (school / "typed" / "zoe" / "a.py").write_text("x = 1\n")
    before = contents(school)
    done = run(school, "purge", "zeo", "typed", "--yes", status=2)
    assert "no file of zeo is in" in done.stderr
    assert contents(school) == before


def test_the_folder_may_be_the_current_one(tmp_path, monkeypatch):
    fill(tmp_path / "submitted", {"ada/a.py": ANSWER})
    aside = fill(tmp_path / SET_ASIDE / "submitted" / "ada", {"x.txt": "x"})
    monkeypatch.chdir(tmp_path / "submitted")
    assert find_stored("ada", Path(), [], None, None).paths == (aside.resolve(),)


def test_a_file_that_cannot_be_read_stops_the_purge(tmp_path, monkeypatch):
    fill(tmp_path, {"ada/a.py": ANSWER, "bob/b.py": WRONG})

    def call(self, function, path, *more):
        raise Unreadable("takes more than 30 seconds to read")

    monkeypatch.setattr(BoundedReader, "call", call)
    with pytest.raises(
        GraderError, match=r"bob/b.py takes more than .* nothing was removed. Move that file elsewhere"
    ):
        find_stored("ada", tmp_path, [], None, None)


def test_what_to_type_is_one_word_to_a_shell(school):
    folder = fill(school / "odd" / "submitted", {"ada b/x; y $(z).py": WRONG})
    (school / "odd" / "gradebook.db").touch()
    shown = run(school, "purge", "ada b", folder, "--yes").stdout
    assert f"rm -r '{folder.resolve()}/ada b/x; y $(z).py'" in shown
    assert "student remove 'ada b' --force" in shown


@pytest.mark.parametrize("student", ["..", "a/b", ""])
def test_a_name_that_is_a_path_is_refused(tmp_path, student):
    with pytest.raises(UsageError, match="cannot be the name of a student's folder"):
        find_stored(student, tmp_path, [], None, None)
