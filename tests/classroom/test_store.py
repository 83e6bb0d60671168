"""A row that cannot have been kept costs only the time to grade again."""

from __future__ import annotations

import sqlite3
from contextlib import closing

import pytest

from grader.classroom.store import Circumstances, Store
from grader.report.model import ExerciseResult


@pytest.mark.parametrize(
    "spoil",
    [
        "replace(result, '\"score\": 1.0', '\"score\": 999')",
        'replace(result, \'"name": "train"\', \'"name": "softmax"\')',
        "substr(result, 2)",
        "hex(zeroblob(4))",
    ],
)
def test_a_spoilt_row_is_graded_again(tmp_path, spoil):
    store = Store(tmp_path / "grades", Circumstances("cases", "grader", "strict"))
    store.keep([ExerciseResult("train", "11_capstone", "failed", 1.0, 5.0, content="of the file")])
    assert list(store.known("of the file", {"train"})) == ["train"]
    with closing(sqlite3.connect(tmp_path / "grades")) as database, database:
        changed = database.execute(f"UPDATE results SET result = {spoil}").rowcount
    assert changed == 1
    assert store.known("of the file", {"train"}) == {}
    store.close()
