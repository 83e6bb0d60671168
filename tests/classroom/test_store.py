"""The store accepts only rows that this grader wrote, from a file that no other user can change."""

from __future__ import annotations

import os
import sqlite3
import sys
import zlib
from contextlib import closing
from dataclasses import replace
from pathlib import Path

import pytest

from grader.classroom.store import (
    NOT_COMPRESSED,
    VERSION,
    BadStore,
    Store,
    StoreKey,
    default_store,
)
from grader.classroom.store_row import MAX_VALUE
from grader.report.model import ExerciseResult

KEY = StoreKey("cases", "grader", "strict", b"derived from the seed")
FAILED = ExerciseResult("train", "11_capstone", "failed", 1.0, 5.0, content="of the file")
posix = pytest.mark.skipif(sys.platform == "win32", reason="owners and modes as POSIX has them")


@pytest.fixture
def path(tmp_path: Path) -> Path:
    """Make a store with one failed result."""
    with closing(Store(tmp_path / "grades", KEY)) as store:
        store.put([FAILED])
    return tmp_path / "grades"


def change(path: Path, statement: str) -> int:
    with closing(sqlite3.connect(path)) as database, database:
        database.create_function("pack", 1, lambda text: zlib.compress(text.encode()))
        database.create_function("unpack", 1, lambda data: zlib.decompress(data).decode())
        return database.execute(statement).rowcount


def stored(path: Path, key: StoreKey = KEY, names: tuple[str, ...] = ("train",)):
    with closing(Store(path, key)) as store:
        return store.get("of the file", names)


def test_a_stored_result_is_found(path):
    assert stored(path).results == {"train": FAILED}
    assert stored(path).remarks == ()


@pytest.mark.parametrize(
    "forge",
    [
        "result = pack(replace(unpack(result), '\"score\": 1.0', '\"score\": 5.0'))",
        "result = replace(unpack(result), '\"score\": 1.0', '\"score\": 5.0')",
        'result = pack(replace(unpack(result), \'"outcome": "failed"\', \'"outcome": "passed"\'))',
        'result = pack(replace(unpack(result), \'"name": "train"\', \'"name": "softmax"\'))',
        "result = pack(substr(unpack(result), 2))",
        "result = substr(result, 2)",
        "result = substr(result, 1, length(result) - 5)",
        "result = hex(zeroblob(4))",
        "result = zeroblob(4)",
        "result = cast(x'ff' AS TEXT)",
        "result = zeroblob(20000000)",
        "mac = ''",
        "mac = x'00'",
        "content = 'of the file', exercise = 'softmax'",
    ],
)
def test_a_forged_row_is_rejected_with_a_remark(path, forge):
    assert change(path, f"UPDATE results SET {forge}") == 1
    found = stored(path, names=("train", "softmax"))
    assert found.results == {}
    assert len(found.remarks) == len(found.rejected) > 0
    assert all("was graded again" in remark for remark in found.remarks)


def test_a_result_that_expands_beyond_the_limit_is_rejected(path):
    with closing(sqlite3.connect(path)) as database, database:
        bomb = zlib.compress(b" " * (MAX_VALUE + 1))
        database.execute("UPDATE results SET result = ?", (bomb,))
    assert stored(path).rejected == ("train",)


def version(path: Path) -> int:
    with closing(sqlite3.connect(path)) as database:
        return database.execute("PRAGMA user_version").fetchone()[0]


def test_a_store_with_uncompressed_results_is_read_and_extended(path):
    change(path, "UPDATE results SET result = unpack(result)")
    change(path, f"PRAGMA user_version = {NOT_COMPRESSED}")
    assert stored(path).results == {"train": FAILED}
    assert version(path) == NOT_COMPRESSED, "reading changes nothing"
    other = replace(FAILED, name="greedy_decode")
    with closing(Store(path, KEY)) as store:
        store.put([other])
    assert version(path) == VERSION, "so that an older grader refuses the store"
    assert stored(path, names=("train", "greedy_decode")).results == {"train": FAILED, "greedy_decode": other}


@pytest.mark.parametrize("number", [1, VERSION + 1])
def test_a_store_of_another_version_is_refused(path, number):
    change(path, f"PRAGMA user_version = {number}")
    with pytest.raises(BadStore, match="was written by another version of the grader"):
        Store(path, KEY)


def test_a_row_of_another_submission_is_rejected(path):
    other = replace(FAILED, content="of another")
    with closing(Store(path, KEY)) as store:
        store.put([other])
    change(path, "DELETE FROM results WHERE content = 'of the file'")
    assert change(path, "UPDATE results SET content = 'of the file'") == 1
    assert stored(path).rejected == ("train",)


@pytest.mark.parametrize("write", [lambda store: store.put([FAILED]), lambda store: store.delete(["x"])])
def test_a_store_that_another_run_locks_raises_bad_store(path, write):
    with closing(Store(path, KEY)) as store, closing(sqlite3.connect(path)) as other:
        store._database.execute("PRAGMA busy_timeout = 10")
        other.execute("BEGIN IMMEDIATE")
        with pytest.raises(BadStore, match="in use by another run, or damaged"):
            write(store)


def test_a_row_written_under_another_seed_is_rejected(path):
    assert stored(path, replace(KEY, secret=b"another")).rejected == ("train",)


def test_neither_file_nor_key_shows_the_secret(path):
    assert KEY.secret not in b"".join(file.read_bytes() for file in path.parent.iterdir())
    assert "seed" not in repr(KEY)


TRIGGER = (
    "CREATE TRIGGER t AFTER INSERT ON results BEGIN"
    " UPDATE results SET result = replace(result, '0.0', '5.0'); END"
)


@pytest.mark.parametrize(
    "foreign",
    [
        TRIGGER,
        "CREATE VIEW v AS SELECT * FROM results",
        "CREATE TABLE other (x)",
        "CREATE INDEX i ON results (result)",
        "ALTER TABLE results ADD COLUMN more",
    ],
)
def test_a_store_with_a_foreign_schema_is_refused(path, foreign):
    change(path, foreign)
    with pytest.raises(BadStore, match="its tables are not the grader's"):
        Store(path, KEY)


def test_a_database_without_our_table_is_refused(tmp_path):
    change(tmp_path / "grades", "CREATE TABLE other (x)")
    with pytest.raises(BadStore, match="its tables are not the grader's"):
        Store(tmp_path / "grades", KEY)


@posix
@pytest.mark.parametrize("name", ["grades", "grades-wal", "grades-shm", "grades-journal"])
def test_a_store_that_is_a_symbolic_link_is_refused(tmp_path, name):
    (tmp_path / name).symlink_to(tmp_path / "elsewhere")
    with pytest.raises(BadStore, match=f"{name} is a symbolic link"):
        Store(tmp_path / "grades", KEY)
    assert not (tmp_path / "elsewhere").exists()


@posix
@pytest.mark.parametrize("mode", [0o620, 0o602])
def test_a_store_that_others_can_write_to_is_refused(path, mode):
    path.chmod(mode)
    with pytest.raises(BadStore, match="other users can write to"):
        Store(path, KEY)


@pytest.mark.skipif(not hasattr(os, "geteuid") or os.geteuid() != 0, reason="only root gives files away")
def test_a_store_of_another_user_is_refused(path):
    os.chown(path, 65534, 65534)
    with pytest.raises(BadStore, match="belongs to another user"):
        Store(path, KEY)


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


def test_a_schema_that_is_not_text_is_refused(path):
    data = path.read_bytes()
    path.write_bytes(data.replace(b"CREATE TABLE", b"CRE\xffTE TABLE"))
    with pytest.raises(BadStore, match="cannot be used as a store"):
        Store(path, KEY)
