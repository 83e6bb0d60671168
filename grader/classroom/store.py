"""What was graded, kept: one row an exercise of a submission, in one SQLite file that survives a kill.

A row is known by all that can change it: the submission's content, the exercise, the cases, the grader and
the sandbox tier. A submission's rows are written in one transaction, so they are there or not.
"""

from __future__ import annotations

import json
import os
import sqlite3
from collections.abc import Collection, Sequence
from contextlib import ExitStack
from dataclasses import asdict, dataclass
from pathlib import Path

from grader.report.model import ExerciseResult
from grader.report.stored import BadResult, from_text
from grader.support.i18n import _

VERSION = 1
_TABLE = """
CREATE TABLE IF NOT EXISTS results (
    content TEXT, exercise TEXT, cases TEXT, grader TEXT, sandbox TEXT,
    result TEXT NOT NULL, graded_at TEXT NOT NULL DEFAULT CURRENT_TIMESTAMP, times INTEGER NOT NULL DEFAULT 1,
    PRIMARY KEY (content, exercise, cases, grader, sandbox)
) WITHOUT ROWID
"""
_KEEP = """
INSERT INTO results (content, exercise, cases, grader, sandbox, result) VALUES (?, ?, ?, ?, ?, ?)
ON CONFLICT DO UPDATE SET result = excluded.result, graded_at = CURRENT_TIMESTAMP, times = times + 1
"""


class BadStore(Exception):
    """The store cannot be used; the message is a sentence."""


@dataclass(frozen=True)
class Circumstances:
    """All that a result depends on beside the submission."""

    cases: str  # a hash of the bundles
    grader: str  # versions of the grader and of torch
    sandbox: str


class Store:
    """One open store. Several processes may read while one writes."""

    def __init__(self, path: Path, circumstances: Circumstances):
        self.path = path
        self._under = (circumstances.cases, circumstances.grader, circumstances.sandbox)
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            os.close(os.open(path, os.O_CREAT | os.O_RDWR | os.O_CLOEXEC, 0o600))  # marks are not everybody's
            self._database = sqlite3.connect(path, timeout=30.0, isolation_level=None)
            with ExitStack() as on_error:
                on_error.callback(self.close)
                self._prepare()
                on_error.pop_all()
        except (OSError, sqlite3.Error) as error:
            raise BadStore(
                _("{path} cannot be used as a store: {reason}; name another with --store").format(
                    path=path, reason=error
                )
            ) from None

    def _prepare(self) -> None:
        (version,) = self._database.execute("PRAGMA user_version").fetchone()
        if version not in (0, VERSION):
            raise BadStore(
                _("{path} was written by another version of the grader; name another with --store").format(
                    path=self.path
                )
            )
        if version == 0:
            self._database.execute("PRAGMA journal_mode = WAL")
            self._database.execute(_TABLE)
            self._database.execute(f"PRAGMA user_version = {VERSION}")
        self._database.execute("PRAGMA synchronous = NORMAL")

    def known(self, content: str, exercises: Collection[str]) -> dict[str, ExerciseResult]:
        """What is kept of a submission, by exercise. A row that cannot have been kept is as good as none."""
        rows = self._database.execute(
            "SELECT exercise, result FROM results WHERE content = ? AND cases = ? AND grader = ? AND sandbox = ?",
            (content, *self._under),
        )
        found = {exercise: _read(result) for exercise, result in rows if exercise in exercises}
        return {name: result for name, result in found.items() if result is not None and result.name == name}

    def keep(self, results: Sequence[ExerciseResult]) -> None:
        """Write a submission's results, all or none. What could not be graded is not kept: it is tried again."""
        rows = [
            (r.content, r.name, *self._under, json.dumps(asdict(r)))
            for r in results
            if r.outcome != "could_not_grade"
        ]
        with self._database:
            self._database.execute("BEGIN IMMEDIATE")
            self._database.executemany(_KEEP, rows)

    def close(self) -> None:
        self._database.close()


def _read(text: str) -> ExerciseResult | None:
    try:
        return from_text(text)
    except BadResult:
        return None
