"""Replace the names of students in a class report that is shared, also in its paths and sentences.

A pseudonym is computed from the secret seed: a student has the same one in every report, and it cannot be
computed without the seed. File names, code, lines to look at, printed lines, hashes of contents, remarks on files and
the columns of the class list, except the section, are left out.
"""

from __future__ import annotations

import hmac
import re
from collections.abc import Sequence
from dataclasses import fields, is_dataclass, replace
from pathlib import PurePosixPath
from typing import Any

from grader.classroom.class_run import GradedSubmission
from grader.classroom.roster import Person
from grader.report.model import ExerciseResult

PURPOSE = "pseudonyms of students"
# The fields that hold sentences. Other texts are left out, or are words of the course, equal for all students.
_TEXTS = {"message", "remarks", "says", "asks", "reason", "where", "file", "got", "expected"}
_PARTS = {"checks", "diagnosis", "advice"}  # the fields with objects that have such fields


def pseudonym(student: str, key: bytes) -> str:
    """Return "student-" and ten hexadecimal digits of an HMAC-SHA256."""
    return f"student-{hmac.new(key, student.encode('utf-8', 'surrogatepass'), 'sha256').hexdigest()[:10]}"


def pseudonymous(entries: Sequence[GradedSubmission], key: bytes) -> list[GradedSubmission]:
    """Return the class without names, in the order of the pseudonyms."""
    numbers: dict[str, int] = {}
    out = []
    for entry in entries:
        numbers[entry.student] = numbers.get(entry.student, 0) + 1
        out.append(_entry(entry, pseudonym(entry.student, key), numbers[entry.student]))
    return sorted(out, key=lambda entry: entry.submission or entry.student)


def _entry(entry: GradedSubmission, name: str, number: int) -> GradedSubmission:
    place = PurePosixPath(entry.submission)
    submission = f"{name}/{number}{place.suffix}" if entry.submission else ""
    person = entry.person
    known = {entry.student, entry.submission, *place.parts[:1], place.name}
    if person:
        known |= {cell for key, cell in person.columns.items() if key != "section"}
    # A single letter would match by chance.
    words = sorted((re.escape(word) for word in known if len(word) > 1), key=len, reverse=True)
    any_word = "|".join(words) or "(?!)"  # (?!) matches nothing
    pattern = re.compile(rf"(?<!\w)(?:{any_word})(?!\w)", re.IGNORECASE)
    report = replace(
        entry.report,
        exercises=tuple(_without(r, pattern, name) for r in entry.report.exercises),
        remarks=(),
        extra={"student": name, "submission": submission, "content": ""},
    )
    shown = Person(name, {"id": name, "section": person.section}) if person else None
    return replace(entry, report=report, problem=pattern.sub(name, entry.problem), person=shown)


def _without(value: Any, pattern: re.Pattern[str], name: str, is_text: bool = False) -> Any:
    """Return the value with `name` instead of each match of `pattern` in its sentences, and without code."""
    if isinstance(value, str):
        return pattern.sub(name, value) if is_text else value
    if isinstance(value, tuple):
        return tuple(_without(part, pattern, name, is_text) for part in value)
    if isinstance(value, ExerciseResult):
        value = replace(value, code=None, printed="", diagnosis=replace(value.diagnosis, lines=()))
    if is_dataclass(value) and not isinstance(value, type):
        wanted = [f.name for f in fields(value) if f.name in _TEXTS | _PARTS]
        new = {key: _without(getattr(value, key), pattern, name, is_text=key in _TEXTS) for key in wanted}
        return replace(value, **new)
    return value
