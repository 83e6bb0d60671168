"""Store results of `grader grade`: one row per exercise of a submission, in one SQLite file.

A row is found by everything that its result depends on: the submission's content, the exercise, the cases, the
grader and the sandbox tier. It carries an HMAC, so a row that the grader did not write is graded again. The rows of
a submission are written in one transaction: all of them or none. Results are compressed: they repeat the titles of
checks.
"""

from __future__ import annotations

import hashlib
import json
import os
import sqlite3
from collections.abc import Collection, Iterable, Iterator, Sequence
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path

from grader.classroom.store_file import BadStore as BadStore  # exported for callers, which catch it
from grader.classroom.store_file import claim
from grader.classroom.store_row import MAX_VALUE, Row, compressed, mac_of, read_row
from grader.report.model import ExerciseResult
from grader.report.stored import BadResult, from_text
from grader.support.cache_folder import cache_folder
from grader.support.i18n import _

VERSION = 3
# The version of a store whose results are not compressed. The store's next transaction changes it to VERSION.
NOT_COMPRESSED = 2
PAGE_SIZE = 16 << 10  # bytes; in SQLite's usual 4 KiB no compressed result fits into the table itself
# times: how often this result was graded.
_TABLE = """
CREATE TABLE results (
    content TEXT, exercise TEXT, cases TEXT, grader TEXT, sandbox TEXT, result TEXT NOT NULL, mac TEXT NOT NULL,
    graded_at TEXT NOT NULL DEFAULT CURRENT_TIMESTAMP, times INTEGER NOT NULL DEFAULT 1,
    PRIMARY KEY (content, exercise, cases, grader, sandbox)
) WITHOUT ROWID
""".strip()
_PUT = """
INSERT INTO results (content, exercise, cases, grader, sandbox, result, mac) VALUES (?, ?, ?, ?, ?, ?, ?)
ON CONFLICT DO UPDATE SET result = excluded.result, mac = excluded.mac,
graded_at = CURRENT_TIMESTAMP, times = times + 1
"""
_OF_KEY = "SELECT * FROM results WHERE content = ? AND cases = ? AND grader = ? AND sandbox = ?"
_OF_CONTENT = "SELECT * FROM results WHERE content = ? ORDER BY graded_at DESC, times DESC"
# What SQLite advises for a file that somebody else may have written (https://sqlite.org/security.html).
_CAUTIOUS = ("trusted_schema = OFF", "cell_size_check = ON", "mmap_size = 0")


@dataclass(frozen=True)
class StoreKey:
    """Everything that a result depends on besides the submission, and the secret that authenticates it."""

    cases: str  # a hash of the cases, the grader's code and the rules of the course
    grader: str  # versions of the grader and of torch
    sandbox: str
    secret: bytes = field(repr=False)


@dataclass(frozen=True)
class StoredResults:
    """The stored results of one submission. rejected: exercises whose row is damaged or not the grader's."""

    results: dict[str, ExerciseResult] = field(default_factory=dict)
    rejected: tuple[str, ...] = ()

    @property
    def remarks(self) -> tuple[str, ...]:
        """Return one sentence for the instructor per rejected row."""
        said = _(
            "The stored result of {exercise} is damaged or was not written by this grader. It was graded again."
        )
        return tuple(said.format(exercise=name) for name in self.rejected)


def default_store(folder: Path) -> Path:
    """Return the store of a folder of submissions: in the user's cache, by the folder's resolved path."""
    place = os.path.normcase(folder.resolve())
    return cache_folder() / "grades" / f"{hashlib.sha256(os.fsencode(place)).hexdigest()[:32]}.sqlite"


class Store:
    """One open store. Several processes may read while one writes."""

    def __init__(self, path: Path, key: StoreKey):
        """Open a store, or make it.

        Raises BadStore for a file that is no store, or that others may have made or changed.
        """
        self.path = path
        self._key = (key.cases, key.grader, key.sandbox)
        self._secret = key.secret
        try:
            path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
            claim(path)
            self._database = sqlite3.connect(path, timeout=30.0, isolation_level=None)
            with ExitStack() as on_error:
                on_error.callback(self.close)
                self._prepare()
                on_error.pop_all()
        except (OSError, sqlite3.Error, UnicodeError) as error:
            raise BadStore(
                _("{path} cannot be used as a store: {reason}; name another with --store").format(
                    path=path, reason=error
                )
            ) from None

    def _prepare(self) -> None:
        self._database.setlimit(sqlite3.SQLITE_LIMIT_LENGTH, MAX_VALUE)
        for pragma in _CAUTIOUS:
            self._database.execute(f"PRAGMA {pragma}")
        self._version = self._require_version()
        if not self._schema():
            self._database.execute(f"PRAGMA page_size = {PAGE_SIZE}")
            self._database.execute("PRAGMA journal_mode = WAL")
            self._database.execute("BEGIN IMMEDIATE")
            if not self._schema():  # no other process made it in between
                self._database.execute(_TABLE)
                self._database.execute(f"PRAGMA user_version = {VERSION}")
            self._database.execute("COMMIT")
            self._version = self._require_version()
        if self._schema() != [("table", "results", "results", _TABLE)]:
            raise BadStore(
                _(
                    "{path} cannot be used as a store: its tables are not the grader's; name another with --store"
                ).format(path=self.path)
            )
        self._database.execute("PRAGMA synchronous = NORMAL")

    def _require_version(self) -> int:
        (version,) = self._database.execute("PRAGMA user_version").fetchone()
        if version not in (0, NOT_COMPRESSED, VERSION):
            raise BadStore(
                _("{path} was written by another version of the grader; name another with --store").format(
                    path=self.path
                )
            )
        return int(version)

    def _schema(self) -> list[tuple[str, ...]]:
        return self._database.execute("SELECT type, name, tbl_name, sql FROM sqlite_master").fetchall()

    def get(self, content: str, exercises: Collection[str]) -> StoredResults:
        """Return the stored results of a submission. A row that does not verify is rejected."""
        results: dict[str, ExerciseResult] = {}
        rejected = []
        try:
            for row in map(read_row, self._database.execute(_OF_KEY, (content, *self._key))):
                if row.exercise not in exercises:
                    continue
                result = self._verified(row)
                if result is None:
                    rejected.append(row.exercise)
                else:
                    results[row.exercise] = result
        except (sqlite3.Error, UnicodeError):
            # The file is damaged: exercises that were not read are graded again.
            rejected += [name for name in exercises if name not in results]
        return StoredResults(results, tuple(dict.fromkeys(rejected)))

    def earlier(self, content: str) -> dict[str, ExerciseResult]:
        """Return per exercise the newest result of a submission under another key, else the one under this key.

        Rows that the grader did not write are left out. A damaged file gives no results.
        """
        found: dict[str, ExerciseResult] = {}
        try:
            rows = list(map(read_row, self._database.execute(_OF_CONTENT, (content,))))
        except (sqlite3.Error, UnicodeError):
            return {}
        # Rows of this key last. The sort is stable, so the newest row comes first on both sides.
        for row in sorted(rows, key=lambda row: row[2:5] == self._key):
            if row.exercise not in found and (result := self._verified(row)):
                found[row.exercise] = result
        return found

    def _verified(self, row: Row) -> ExerciseResult | None:
        """Return the result in a row, or None if the grader did not write the row."""
        if all(isinstance(value, str) for value in row[:7]) and row.is_signed(self._secret):
            with suppress(BadResult):
                return from_text(row.result)
        return None

    def put(self, results: Sequence[ExerciseResult]) -> None:
        """Write results, all or none. Results "could_not_grade" are left out: the next run grades them again."""
        rows = []
        for result in results:
            if result.outcome != "could_not_grade":
                key = (result.content, result.name, *self._key)
                text = json.dumps(result, default=vars)
                rows.append((*key, compressed(text), mac_of(self._secret, *key, text)))
        with self.transaction():
            self._database.executemany(_PUT, rows)

    @contextmanager
    def transaction(self) -> Iterator[None]:
        """Write all or, after an exception, nothing. Raises BadStore."""
        with self._usable(), self._database:
            self._database.execute("BEGIN IMMEDIATE")
            if self._version != VERSION:
                self._database.execute(f"PRAGMA user_version = {VERSION}")
            yield

    @contextmanager
    def _usable(self) -> Iterator[None]:
        """Raise BadStore for an error of the database."""
        try:
            yield
        except sqlite3.Error as error:
            raise BadStore(
                _("{path} is in use by another run, or damaged ({reason}); try again").format(
                    path=self.path, reason=error
                )
            ) from None

    def distinct(self, column: str) -> list[str]:
        """Return the different values of a column, sorted."""
        rows = self._database.execute(f"SELECT DISTINCT {column} FROM results ORDER BY 1")
        return [value for (value,) in rows]

    def delete(self, contents: Iterable[str]) -> None:
        """Delete all rows of these submissions, and overwrite their place in the file. Raises BadStore."""
        with self._usable():
            self._database.execute("PRAGMA secure_delete = ON")
            with self.transaction():
                self._database.executemany(
                    "DELETE FROM results WHERE content = ?", [(one,) for one in contents]
                )
            self._database.execute("VACUUM")
            self._database.execute("PRAGMA wal_checkpoint(TRUNCATE)")

    def count(self) -> int:
        """Return the number of rows."""
        (rows,) = self._database.execute("SELECT COUNT(*) FROM results").fetchone()
        return int(rows)

    def close(self) -> None:
        self._database.close()
