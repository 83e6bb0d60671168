"""The store returns what it was given, and takes only a file of this user that no other user can change."""

import os
import sqlite3
import sys
from contextlib import closing
from dataclasses import replace
from pathlib import Path

import pytest

from grader.authoring.hidden_cases import COMPLETE
from grader.classroom import class_run
from grader.classroom.store import Store, StoreKey, default_store
from grader.report.model import FORMAT, ExerciseResult
from grader.support.errors import BadData

OLD, NEW = (StoreKey(cases, "grader", "strict") for cases in ("old cases", "new cases"))
FAILED = ExerciseResult("train", "11_capstone", "failed", 1.0, 5.0, content="of the file")
OTHER = replace(FAILED, content="of another file")
posix = pytest.mark.skipif(sys.platform == "win32", reason="owners and modes as POSIX has them")


@pytest.fixture
def path(tmp_path: Path) -> Path:
    """Make a store with one failed result."""
    with closing(Store(tmp_path / "grades", NEW)) as store:
        store.put([FAILED])
    return tmp_path / "grades"


def change(path: Path, statement: str) -> None:
    with closing(sqlite3.connect(path)) as database, database:
        database.execute(statement)


def stored(path: Path, key: StoreKey = NEW):
    with closing(Store(path, key)) as store:
        return store.get("of the file", ("train", "softmax"))


def test_a_result_is_found_by_its_file_its_key_and_its_exercise(path):
    assert stored(path)[0] == {"train": FAILED}
    assert stored(path)[1] == ()
    assert stored(path, OLD)[0] == {}
    with closing(Store(path, NEW)) as store:
        assert store.get("of the file", ("softmax",))[0] == {}
        assert store.get("of another file", ("train",))[0] == {}
        again = replace(FAILED, score=2.0)
        store.put([again, replace(FAILED, name="softmax", outcome="could_not_grade", score=None)])
        assert store.get("of the file", ("train", "softmax"))[0] == {"train": again}


def test_results_of_other_code_or_cases_are_not_reused(tmp_path, monkeypatch):
    (tmp_path / COMPLETE).write_text("cases", "ascii")  # the hash of the course
    key = class_run.store_key(tmp_path, "strict")
    assert class_run.store_key(tmp_path, "strict") == key
    assert class_run.store_key(tmp_path, "landlock") != key
    monkeypatch.setattr(class_run, "code_digest", lambda: "other code")
    other = class_run.store_key(tmp_path, "strict")
    (tmp_path / COMPLETE).write_text("other cases", "ascii")
    assert len({key, other, class_run.store_key(tmp_path, "strict")}) == 3


def test_the_newest_earlier_result_is_one_of_another_key_if_there_is_one(path):
    old = replace(FAILED, score=2.0)
    with closing(Store(path, NEW)) as store:
        assert store.earlier("of the file") == {"train": FAILED}
        for key, result in ((replace(OLD, grader="older"), FAILED), (OLD, FAILED), (OLD, old), (NEW, FAILED)):
            with closing(Store(path, key)) as other:
                other.put([result])
        assert store.earlier("of the file") == {"train": old}
        assert store.earlier("of another file") == {}


def test_a_deleted_result_is_nowhere_in_the_files(path):
    with closing(Store(path, NEW)) as store:
        store.put([OTHER])
        store.put([replace(FAILED, name=f"{n}", message="long" * 1000) for n in range(50)])
        assert sorted(store.contents()) == ["of another file", "of the file"]
        store.delete(["of the file"])
        assert store.contents() == ["of another file"]
    data = b"".join(file.read_bytes() for file in path.parent.iterdir())
    assert len(data) < 50_000, "the file was written anew"
    assert b"of another file" in data
    assert b"of the file" not in data


# ---- damaged files


@pytest.mark.parametrize("result", ["'{'", "x'ff'", "NULL", "3", "cast(x'ff' AS TEXT)", "zeroblob(9)"])
def test_a_damaged_row_is_graded_again_with_a_remark(path, result):
    change(path, f"UPDATE results SET result = {result}")
    results, remarks = stored(path)
    assert results == {}
    assert "The stored result of train is damaged. It was graded again." in remarks


def test_a_file_that_is_damaged_while_it_is_open_is_one_sentence(path):
    with closing(Store(path, NEW)) as store:
        store.put([replace(FAILED, content=str(n), title="x" * 3000) for n in range(50)])
    with closing(Store(path, NEW)) as store:
        path.write_bytes(path.read_bytes()[:8192] + b"\xff" * 100_000)
        assert len(store.get("of the file", ("train",))[1]) == 1
        for use in (
            lambda: store.put([FAILED]),
            lambda: store.earlier("of the file"),
            lambda: store.delete(["x"]),
        ):
            with pytest.raises(BadData, match="cannot be used as a store"):
                use()


@pytest.mark.parametrize("data", [b"no database, and longer than its header " * 9, b"SQLite format 3\0" * 9])
def test_a_file_that_is_no_database_is_refused(path, data):
    path.write_bytes(data)
    with pytest.raises(BadData, match="cannot be used as a store"):
        Store(path, NEW)
    assert path.read_bytes() == data


@pytest.mark.parametrize("foreign", ["CREATE TABLE x (x)", "ALTER TABLE results ADD y", "DROP TABLE results"])
def test_a_database_of_something_else_is_refused_unchanged(path, foreign):
    change(path, "CREATE TABLE other (x)")
    change(path, foreign)
    before = path.read_bytes()
    with pytest.raises(BadData, match="its tables are not those of this version"):
        Store(path, NEW)
    assert path.read_bytes() == before


def test_a_store_of_another_format_is_refused(path):
    change(path, f"PRAGMA user_version = {FORMAT - 1}")
    with pytest.raises(BadData, match="its tables are not those of this version"):
        Store(path, NEW)


def test_a_store_that_another_run_locks_raises_bad_store(path):
    with closing(Store(path, NEW)) as store, closing(sqlite3.connect(path)) as other:
        store._database.execute("PRAGMA busy_timeout = 10")
        other.execute("BEGIN IMMEDIATE")
        with pytest.raises(BadData, match="database is locked; try again"):
            store.put([FAILED])


# ---- owner and permissions


@posix
@pytest.mark.parametrize("mode", [0o620, 0o602])
def test_a_store_that_others_can_write_to_is_refused(path, mode):
    path.chmod(mode)
    with pytest.raises(BadData, match="other users can write to"):
        Store(path, NEW)


@pytest.mark.skipif(not hasattr(os, "geteuid") or os.geteuid() != 0, reason="only root gives files away")
def test_a_store_of_another_user_is_refused(path):
    os.chown(path, 65534, 65534)
    with pytest.raises(BadData, match="belongs to another user"):
        Store(path, NEW)


@posix
def test_a_new_store_is_readable_by_its_user_alone(path):
    assert path.stat().st_mode & 0o777 == 0o600


def test_the_default_store_depends_on_the_resolved_folder(tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    (tmp_path / "class").mkdir()
    (tmp_path / "link").symlink_to("class")
    store = default_store(tmp_path / "class")
    assert store.parent == tmp_path / "cache" / "headway" / "grades"
    assert default_store(tmp_path / "link") == store
    monkeypatch.chdir(tmp_path)
    assert default_store(Path("class")) == store
    assert default_store(tmp_path) != store
