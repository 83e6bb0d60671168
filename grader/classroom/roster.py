"""Read `students.csv`: who is in the class. Instructors get such files from elsewhere, so their size is limited."""

from __future__ import annotations

import csv
import io
import unicodedata
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from grader.support.errors import UsageError
from grader.support.files import read_within
from grader.support.i18n import _
from grader.support.sanitize import sanitize

MAX_BYTES, MAX_ROWS, MAX_CELL = 4 << 20, 20_000, 200


@dataclass(frozen=True)
class Person:
    """One row: `id` is the name of the student's folder or file; `columns` has all cells by the names of their columns."""

    id: str
    columns: Mapping[str, str] = field(default_factory=dict)

    @property
    def name(self) -> str:
        names = (self.columns.get(key, "") for key in ("first_name", "last_name"))
        return " ".join(filter(None, names)) or self.id

    @property
    def section(self) -> str:
        return self.columns.get("section", "")

    @property
    def email(self) -> str:
        return self.columns.get("email", "")


Roster = Mapping[str, Person]


def read_roster(path: Path) -> Roster:
    """Return the students by their id. Raises UsageError with a sentence if the file cannot be read."""
    try:
        text = read_within(path, MAX_BYTES, pipes=True).decode("utf-8-sig")
        first = text.partition("\n")[0]
        delimiter = max(",;\t", key=first.count)  # the commonest in the first line
        reader = csv.reader(io.StringIO(text, newline=""), delimiter=delimiter)
        rows = [[sanitize(cell.strip(), MAX_CELL) for cell in row] for row in reader]
    except UnicodeDecodeError:
        raise _wrong(path, _("it is not UTF-8; save it as CSV in UTF-8")) from None
    except (OSError, ValueError, csv.Error) as error:
        raise _wrong(path, sanitize(str(getattr(error, "strerror", None) or error), 200)) from None
    return _people(path, [row for row in rows if any(row)])


def _people(path: Path, rows: Sequence[Sequence[str]]) -> Roster:
    head = [cell.lower().replace(" ", "_") for cell in rows[0]] if rows else []
    if "id" not in head:
        raise _wrong(
            path, _("its first line names no column id; it has {names}").format(names=", ".join(head) or "–")
        )
    if len(rows) > MAX_ROWS:
        raise _wrong(path, _("it has more than {n} lines").format(n=MAX_ROWS))
    found: dict[str, Person] = {}
    for row in rows[1:]:
        columns = dict(zip(head, row, strict=False))
        id = unicodedata.normalize("NFC", columns.get("id", ""))
        if not id or id in found:
            says = _("the id {id} is on two lines") if id else _("a line has no id")
            raise _wrong(path, says.format(id=id))
        found[id] = Person(id, columns)
    return found


def _wrong(path: Path, why: str) -> UsageError:
    return UsageError(_("{file} cannot be read: {why}").format(file=path, why=why))
