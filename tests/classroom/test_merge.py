"""A merge copies each row of the grader once, leaves out other rows, and refuses parts that do not fit."""

from __future__ import annotations

import os
import sqlite3
import subprocess
import sys
import zlib
from contextlib import closing
from dataclasses import replace
from pathlib import Path

import pytest
from helpers.command_line import HANGS_AFTER

from grader.classroom.merge import merge
from grader.classroom.store import BadStore, Store, StoreKey
from grader.report.model import ExerciseResult

SECRET = b"derived from the seed"
KEY = StoreKey("cases", "0.9.0 torch 2.9.0", "strict", SECRET)
PASSED = ExerciseResult("softmax", "02_masking", "passed", 5.0, 5.0)


def write(path: Path, *contents: str, key: StoreKey = KEY, result: ExerciseResult = PASSED) -> Path:
    with closing(Store(path, key)) as store:
        for content in contents:
            store.put([replace(result, content=content)])
    return path


def rows(path: Path) -> list[tuple]:
    with closing(sqlite3.connect(path)) as database:
        return database.execute("SELECT * FROM results ORDER BY 1, 2, 3, 4, 5").fetchall()


def change(path: Path, statement: str) -> None:
    with closing(sqlite3.connect(path)) as database, database:
        database.create_function("pack", 1, lambda text: zlib.compress(text.encode()))
        database.create_function("unpack", 1, lambda data: zlib.decompress(data).decode())
        assert database.execute(statement).rowcount


def test_a_merge_holds_every_row_once_even_if_repeated(tmp_path):
    parts = [write(tmp_path / "a", "one", "two"), write(tmp_path / "b", "two", "three")]
    change(tmp_path / "b", "UPDATE results SET graded_at = '2030-01-01 00:00:00'")
    target = tmp_path / "class"
    done = merge(parts, target, SECRET)
    assert (done.submissions, done.results, done.rejected) == (3, 3, {})
    first = rows(target)
    # Of two rows of one submission, the newer stays.
    assert [row for row in first if row[0] == "two"] == [row for row in rows(parts[1]) if row[0] == "two"]
    merge(parts[::-1], target, SECRET)
    assert rows(target) == first
    with closing(Store(target, KEY)) as store:
        assert store.get("three", ["softmax"]).results["softmax"].score == 5.0


def test_parts_are_merged_under_a_umask_that_lets_the_group_write(tmp_path):
    part = write(tmp_path / "a", "one")
    before = os.umask(0o002)
    try:
        assert merge([part], tmp_path / "class", SECRET).results == 1
    finally:
        os.umask(before)


def test_a_part_with_uncompressed_results_is_merged(tmp_path):
    part = write(tmp_path / "a", "one")
    change(part, "UPDATE results SET result = unpack(result)")
    assert merge([part], tmp_path / "class", SECRET).results == 1
    with closing(Store(tmp_path / "class", KEY)) as store:
        assert store.get("one", ["softmax"]).results["softmax"].score == 5.0


def test_a_part_of_more_rows_than_are_read_at_a_time_is_merged(tmp_path):
    part = write(tmp_path / "a", *map(str, range(250)))  # PAGE in merge.py is 200
    assert merge([part], tmp_path / "class", SECRET).results == 250


def test_the_result_of_the_newest_version_of_the_grader_stays(tmp_path):
    versions = ("0.9.0 torch 2.9.0", "0.10.0 torch 2.9.0", "0.10.0 torch 2.13.0")
    parts = [write(tmp_path / str(n), "one", key=replace(KEY, grader=v)) for n, v in enumerate(versions)]
    parts.append(write(tmp_path / "old", "graded only once", key=replace(KEY, grader=versions[0])))
    for order in (parts, parts[::-1]):
        merge(order, tmp_path / "class", SECRET)
        assert [(row[0], row[3]) for row in rows(tmp_path / "class")] == [
            ("graded only once", versions[0]),
            ("one", versions[2]),
        ]


@pytest.mark.parametrize(
    ("other", "says"),
    [
        (replace(KEY, secret=b"another"), "another secret seed"),
        (replace(KEY, cases="others"), "other hidden cases"),
        (replace(KEY, sandbox="landlock"), "another sandbox"),
    ],
)
def test_a_part_of_other_seed_cases_or_sandbox_stops_the_merge(tmp_path, other, says):
    parts = [write(tmp_path / "a", "one"), write(tmp_path / "b", "two", key=other)]
    target = write(tmp_path / "class", "zero")
    before = rows(target)
    with pytest.raises(BadStore, match=f"/b was graded .*{says}"):
        merge(parts, target, SECRET)
    assert rows(target) == before


@pytest.mark.parametrize(
    "forge",
    [
        "result = pack(replace(unpack(result), '5.0', '4.0'))",
        "mac = ''",
        "grader = '9.0 torch 9.0'",
        "content = 'three'",
    ],
)
def test_a_row_that_the_grader_did_not_write_is_left_out(tmp_path, forge):
    part = write(tmp_path / "a", "one", "two")
    change(part, f"UPDATE results SET {forge} WHERE content = 'one'")
    done = merge([part], tmp_path / "class", SECRET)
    assert done.rejected == {part: 1}
    assert [row[0] for row in rows(tmp_path / "class")] == ["two"]


@pytest.mark.parametrize(
    "damage",
    [
        lambda path: path.write_bytes(b"no database" * 400),
        lambda path: path.write_bytes(path.read_bytes()[:5000]),
        lambda path: change(path, "UPDATE results SET times = 'often'"),
        lambda path: change(path, "UPDATE results SET result = zeroblob(20000000)"),
    ],
)
def test_a_damaged_part_is_refused_with_a_sentence(tmp_path, damage):
    part = write(tmp_path / "a", "one")
    damage(part)
    with pytest.raises(BadStore, match="/a is damaged"):
        merge([part], tmp_path / "class", SECRET)


def test_a_part_is_merged_with_the_journal_of_a_killed_grader(tmp_path):
    part = tmp_path / "a"
    code = (
        "import os; from pathlib import Path; from grader.classroom.store import Store, StoreKey;"
        "from grader.report.model import ExerciseResult;"
        f"store = Store(Path({str(part)!r}), StoreKey('cases', '0.9.0 torch 2.9.0', 'strict', {SECRET!r}));"
        "store.put([ExerciseResult('softmax', '02_masking', 'passed', 5.0, 5.0, content='one')]); os._exit(9)"
    )
    assert subprocess.run([sys.executable, "-c", code], timeout=HANGS_AFTER).returncode == 9
    assert part.with_name("a-wal").stat().st_size
    assert merge([part], tmp_path / "class", SECRET).results == 1
