"""Join stores: copy the rows that the grader signed. The stores may come from other machines; none is trusted."""

from __future__ import annotations

import os
import shutil
import sqlite3
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path

from packaging.version import InvalidVersion, Version

from grader.classroom.bounded_reader import BoundedReader, Unreadable
from grader.classroom.store import BadStore, Store, StoreKey
from grader.classroom.store_row import Row
from grader.support.i18n import _

PAGE = 200  # rows that are read at a time
_FIRST = ("",) * 5  # before every key


@dataclass(frozen=True)
class Merged:
    """The result of a merge. submissions, results: how many the target now holds.

    rejected: part → number of its rows that the grader did not write, if there are any.
    """

    submissions: int
    results: int
    rejected: dict[Path, int]


def merge(parts: Sequence[Path], target: Path, secret: bytes) -> Merged:
    """Copy the signed rows of `parts` into the store `target`; after an error, none. Merging again changes nothing.

    If several versions of the grader or of torch graded an exercise of a submission, the result of the newest stays.
    secret: verifies the signatures of the rows. Raises BadStore for parts that cannot be read, or are of
    different seeds, cases or sandboxes.
    """
    rejected: dict[Path, int] = {}
    with closing(Store(target, StoreKey("", "", "", secret))) as store, store.transaction():
        for part in parts:
            if left := _copy(part, store, secret):
                rejected[part] = left
            _require_one(store, part)
        graders = sorted(store.distinct("grader"), key=_as_versions)
        for place, older in enumerate(graders):
            for newer in graders[place + 1 :]:
                store.drop_outdated(older, newer)
        return Merged(len(store.distinct("content")), store.count(), rejected)


def _copy(part: Path, store: Store, secret: bytes) -> int:
    """Copy the signed rows of a part. Return the number of its other rows. Raises BadStore if it has only others."""
    signed = others = 0
    for rows in _pages(part):
        good = [row for row in rows if row.is_signed(secret)]
        store.copy(good)
        signed += len(good)
        others += len(rows) - len(good)
    if others and not signed:
        raise BadStore(
            _(
                "{path} was graded with another secret seed; use the seed of this class on every machine"
            ).format(path=part)
        )
    return others


def _require_one(store: Store, part: Path) -> None:
    """Raise BadStore, naming the last copied part, if the rows are not of one set of cases and one sandbox."""
    for column, sentence in (
        ("cases", _("{path} was graded with other hidden cases; merge results of one version of the course")),
        ("sandbox", _("{path} was graded in another sandbox; name one for all parts with --sandbox")),
    ):
        if len(store.distinct(column)) > 1:
            raise BadStore(sentence.format(path=part))


def _pages(part: Path) -> Iterator[list[Row]]:
    """Yield lists of up to PAGE rows. A process with limits reads them from a copy of the file. Raises BadStore."""
    with tempfile.TemporaryDirectory() as folder, BoundedReader() as reader:
        copy, after = Path(folder) / "part", _FIRST
        try:
            for suffix in ("", "-wal"):  # the second is there if the grader was killed
                if not suffix or Path(f"{part}{suffix}").exists():
                    shutil.copyfile(f"{part}{suffix}", f"{copy}{suffix}")
                    os.chmod(f"{copy}{suffix}", 0o600)  # `Store` refuses a file that other users can write to
            while rows := reader.call(read_page, copy, after):
                yield rows
                if rows[-1][:5] <= after:  # out of order: this loop might not end
                    raise Unreadable(_("is damaged"))
                after = rows[-1][:5]
        except OSError as error:
            raise BadStore(
                _("{path} cannot be read: {reason}").format(path=part, reason=error.strerror)
            ) from None
        except Unreadable as why:
            raise BadStore(f"{part} {why}") from None


def read_page(path: Path, after: Sequence[str]) -> list[Row]:
    """Return up to PAGE rows after a key, in the order of keys. Raises Unreadable for anything but a store."""
    try:
        with closing(Store(path, StoreKey("", "", "", b""))) as store:
            if tuple(after) == _FIRST:
                store.require_whole()
            rows = store.rows_after(after, PAGE)
    except (BadStore, sqlite3.Error, UnicodeError):
        raise Unreadable(_("is damaged, or is not a store of this version of the grader")) from None
    types = (str,) * 8 + (int,)  # of the fields of `Row`
    if any(tuple(map(type, row)) != types for row in rows):
        raise Unreadable(_("is damaged"))
    return rows


def _as_versions(versions: str) -> tuple[Version, ...]:
    """Return the two versions in a text such as "0.2.0 torch 2.13.0"; (0, 0) if one is malformed."""
    grader, _torch, torch = [*versions.split(), "", ""][:3]
    try:
        return Version(grader), Version(torch)
    except InvalidVersion:
        return Version("0"), Version("0")
