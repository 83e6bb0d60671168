"""Store results of `grader grade`: one row per exercise of a submission, in one SQLite file.

A row is found by everything that its result depends on: the submission's content, the exercise, the cases, the
grader and the sandbox tier. The rows of a submission are written in one transaction: all of them or none. A damaged
row is graded again. A damaged file, or one that other users can write to, is refused.
"""

from __future__ import annotations

import hashlib
import os
import sqlite3
from collections.abc import Collection, Iterable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import astuple, dataclass
from pathlib import Path

from grader.report.model import FORMAT, ExerciseResult, from_text, to_text
from grader.support.errors import BadData
from grader.support.files import cache_folder
from grader.support.i18n import _

# A row that replaces another gets a new id, so the newest has the highest.
_TABLE = """results (
    id INTEGER PRIMARY KEY,
    content TEXT, exercise TEXT, cases TEXT, grader TEXT, sandbox TEXT, result TEXT,
    UNIQUE (content, exercise, cases, grader, sandbox)
)"""
_MAKE = f"BEGIN IMMEDIATE; CREATE TABLE IF NOT EXISTS {_TABLE}; PRAGMA user_version = {FORMAT}; COMMIT"
_SCHEMA = "SELECT sql FROM sqlite_master WHERE sql IS NOT NULL"
_PUT = """
INSERT OR REPLACE INTO results (content, exercise, cases, grader, sandbox, result) VALUES (?, ?, ?, ?, ?, ?)
"""
_OF_KEY = "SELECT exercise, result FROM results WHERE content = ? AND (cases, grader, sandbox) = (?, ?, ?)"
_EARLIER = """
SELECT exercise, result FROM results WHERE content = ? ORDER BY (cases, grader, sandbox) = (?, ?, ?), id DESC
"""


@dataclass(frozen=True)
class StoreKey:
    """Everything that a result depends on besides the submission."""

    cases: str  # a hash of the cases, the grader's code and the rules of the course
    grader: str  # versions of the grader and of torch
    sandbox: str


def default_store(root: Path) -> Path:
    """Return the store of a folder of submissions, or of the folder of a file: in the user's cache, by its resolved path."""
    folder = root.parent if root.is_file() else root
    place = os.path.normcase(folder.resolve())
    return cache_folder() / "grades" / f"{hashlib.sha256(os.fsencode(place)).hexdigest()[:32]}.sqlite"


class Store:
    """One open store. Several processes may read while one writes. All methods that write raise BadData."""

    def __init__(self, path: Path, key: StoreKey):
        """Open a store, or make it for this user alone.

        Raises BadData for a file that is no store, that belongs to another user, or that others can write to.
        """
        self.path, self._key = path, astuple(key)
        with self._usable(), ExitStack() as on_error:
            path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
            os.close(os.open(path, os.O_CREAT | os.O_RDWR, 0o600))
            _require_ours(path)
            self._database = sqlite3.connect(path, timeout=30.0)
            on_error.callback(self.close)
            if not self._database.execute(_SCHEMA).fetchall():
                self._database.execute("PRAGMA journal_mode = WAL")
                self._database.executescript(_MAKE)
            found = [*self._database.execute(_SCHEMA), *self._database.execute("PRAGMA user_version")]
            if found != [(f"CREATE TABLE {_TABLE}",), (FORMAT,)]:
                says = _(
                    "{path} cannot be used as a store: its tables are not those of this version of the grader; name another with --store"
                )
                raise BadData(says.format(path=path))
            self._database.execute("PRAGMA synchronous = NORMAL")
            on_error.pop_all()

    @contextmanager
    def _usable(self) -> Iterator[None]:
        try:
            yield
        except (
            OSError,
            sqlite3.Error,
            UnicodeDecodeError,
        ) as error:  # also a message of SQLite that is no UTF-8
            says = _(
                "{path} cannot be used as a store: {reason}; try again, or remove it, or name another with --store"
            )
            raise BadData(says.format(path=self.path, reason=error)) from None

    def get(
        self, content: str, exercises: Collection[str]
    ) -> tuple[dict[str, ExerciseResult], tuple[str, ...]]:
        """Return the stored results of a submission, and a sentence for the instructor per damaged row."""
        try:
            rows = self._database.execute(_OF_KEY, (content, *self._key)).fetchall()
        except (sqlite3.Error, UnicodeDecodeError):
            rows = [(name, None) for name in exercises]
        found = {name: _result(text) for name, text in rows if name in exercises}
        damaged = _("The stored result of {exercise} is damaged. It was graded again.")
        return (
            {name: result for name, result in found.items() if result is not None},
            tuple(damaged.format(exercise=name) for name, result in found.items() if result is None),
        )

    def earlier(self, content: str) -> dict[str, ExerciseResult]:
        """Return per exercise the newest result of a submission under another key, else the one under this key."""
        found: dict[str, ExerciseResult] = {}
        with self._usable():
            for name, text in self._database.execute(_EARLIER, (content, *self._key)):
                if name not in found and (result := _result(text)) is not None:
                    found[name] = result
        return found

    def put(self, results: Sequence[ExerciseResult]) -> None:
        """Write results, all or none. Results "could_not_grade" are left out: the next run grades them again."""
        rows = [
            (result.content, result.name, *self._key, to_text(result))
            for result in results
            if result.outcome != "could_not_grade"
        ]
        with self._usable(), self._database:
            self._database.executemany(_PUT, rows)

    def contents(self) -> list[str]:
        """Return the hashes of the submissions that have results."""
        with self._usable():
            return [content for (content,) in self._database.execute("SELECT DISTINCT content FROM results")]

    def delete(self, contents: Iterable[str]) -> None:
        """Delete all rows of these submissions. Nothing of them is left in the file."""
        with self._usable():
            with self._database:
                self._database.executemany(
                    "DELETE FROM results WHERE content = ?", [(one,) for one in contents]
                )
            self._database.execute("VACUUM")

    def close(self) -> None:
        self._database.close()


def _require_ours(path: Path) -> None:
    found = path.stat()
    if not hasattr(os, "geteuid"):  # Windows: not checked; the cache of a user is private
        return
    if found.st_uid != os.geteuid():
        raise BadData(_("{path} belongs to another user; name another store with --store").format(path=path))
    if found.st_mode & 0o022:
        raise BadData(
            _(
                "other users can write to {path}; remove their write permission (chmod go-w), or name another store with --store"
            ).format(path=path)
        )


def _result(text: object) -> ExerciseResult | None:
    try:
        return from_text(str(text))
    except BadData:
        return None
