"""Write the remarks on a whole file, about what the grader added and skipped; decide whether the file has errors."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from grader.bundle.model import Exercise
from grader.engine.load_notes import missing_names
from grader.engine.student_file import StudentFile
from grader.engine.terms import Terms
from grader.engine.visibility import visible_blocks
from grader.intake.uses import UNIT, first_use, missing_imports
from grader.judge.observation import StudentError, student_error, texts
from grader.support.i18n import _, ngettext
from grader.support.sanitize import sanitize

Notes = Sequence[Mapping[str, Any]]
# Messages which say that something is missing. The group that matches is its name.
_NEEDS = re.compile(
    r"No module named '([\w.]+)'|cannot import name '(\w+)'|name '(\w+)' is not defined"
    r"|(\w+) is not among the building blocks|([\w.]+) is not available: the grader"
)


def file_remarks(
    file: StudentFile, notes: Notes, exercises: Sequence[Exercise], terms: Terms
) -> tuple[str, ...]:
    """Return sentences about imports that were added, other files that were used, and statements that were skipped.

    notes: what a worker said about the file.
    """
    skipped = _summary_of_skipped(file, notes, _needed(file, exercises))
    return (*imports_added(file, exercises, terms), *_files_used(notes), *skipped)


def is_faulty(file: StudentFile, notes: Notes) -> bool:
    """Whether the file has syntax errors, or a statement that raised, and not for code that is not available here."""
    own = [(note, lacking) for note, lacking in _lacking(file, notes) if note.get("file") != UNIT]
    errors = [(student_error(note.get("error")), lacking) for note, lacking in own]
    raised = any(error and (error.ends_python or not lacking) for error, lacking in errors)
    return bool(file.names.faults) or raised


def _needed(file: StudentFile, exercises: Sequence[Exercise]) -> frozenset[str]:
    return frozenset().union(*map(file.needs, exercises))


def imports_added(file: StudentFile, exercises: Sequence[Exercise], terms: Terms) -> tuple[str, ...]:
    """Return one sentence about the imports that were added for exercises; none if there are none.

    If the reader may not be the author, the sentence does not ask to add them.
    """
    submission = file.submission
    needed, blocks = _needed(file, exercises), frozenset[str]().union(*map(visible_blocks, exercises))
    found = missing_imports(submission, sorted(blocks))
    missing = {name: line for name, line in found.items() if name in needed}
    used = [(import_, *first_use(submission, name), name) for name, import_ in missing.items()]
    if len(used) < 2:
        return tuple(_import_added(*one, terms) for one in used)
    name = sanitize(submission.path.name)
    places = ((import_, _place_in(name, sanitize(unit), line)) for import_, unit, line, _used in used)
    imports = ", ".join(f"`{import_}` ({place})" for import_, place in places)
    says = _(
        "{file} uses names that it does not import: add at the top {imports}; the grader did so for this check"
    )
    if not terms.asks_author:
        says = _("{file} uses names that it does not import; the grader used {imports}")
    return (says.format(file=name, imports=imports),)


def _import_added(import_: str, unit: str, line: int, name: str, terms: Terms) -> str:
    says = _(
        "{file}, line {line} uses `{name}`: add `{import_}` at the top; the grader did so for this check"
    )
    if not terms.asks_author:
        says = _(
            "{file}, line {line} uses `{name}`, which the file does not import; the grader used `{import_}`"
        )
    return says.format(file=sanitize(unit), line=line, name=name, import_=import_)


def _place_in(file: str, unit: str, line: int) -> str:
    if unit == file:
        return _("line {line}").format(line=line)
    return _("{cell}, line {line}").format(cell=unit.removeprefix(file).strip(), line=line)


def _files_used(notes: Iterable[Mapping[str, Any]]) -> tuple[str, ...]:
    files = [sanitize(str(note.get("file")), 100) for note in notes if note.get("neighbour")]
    if not files:
        return ()
    says = ngettext(
        "a file beside this one was used too: {files}",
        "files beside this one were used too: {files}",
        len(files),
    )
    return (sanitize(says.format(files=", ".join(files)), 400),)


def _summary_of_skipped(file: StudentFile, notes: Notes, needed: frozenset[str]) -> tuple[str, ...]:
    """Return sentences about statements that were skipped.

    A statement that ends Python, starts a debugger or timed out is always among them. One that raised any other
    exception is among them only if it defines no name in `needed`.
    """
    out, needing, raised = [], [], []
    for note, lacking in _lacking(file, notes):
        error = student_error(note.get("error"))
        place = _("{file}, line {line}").format(file=note.get("file"), line=note.get("line"))
        if note.get("file") == UNIT:  # imports that the grader added
            continue
        if error is not None and error.ends_python:
            says = _("{place} ends Python: remove this statement; the grader skipped it")
            out.append(says.format(place=place))
        elif error is not None and error.starts_debugger:
            says = _("{place} starts a debugger: remove `breakpoint` or `set_trace`; the grader skipped it")
            out.append(says.format(place=place))
        elif note.get("endless"):
            out.append(_("{place}: this statement timed out and was skipped").format(place=place))
        elif error is not None and needed.isdisjoint(texts(note.get("defines"))):
            if lacking:
                needing.append(_("{place} needs `{name}`").format(place=place, name=lacking))
            else:
                raised.append((place, _exception(note, error)))
    if needing:
        says = ngettext(
            "{n} statement needs code that is not available here and was skipped: {what}",
            "{n} statements need code that is not available here and were skipped; the first: {what}",
            len(needing),
        )
        out.append(says.format(n=len(needing), what=needing[0]))
    if raised:
        says = ngettext(
            "the statement in {place} raised an exception and was skipped: {what}",
            "{n} statements raised exceptions and were skipped; the first, in {place}: {what}",
            len(raised),
        )
        out.append(says.format(n=len(raised), place=raised[0][0], what=raised[0][1]))
    return tuple(sanitize(line, 400) for line in out)


def _exception(note: Mapping[str, Any], error: StudentError) -> str:
    """Return "ZeroDivisionError: division by zero", and the place if it is not the line of the statement."""
    says = _("{type}: {message}").format(type=error.type, message=error.message)
    if error.where is None or error.where[:2] == (note.get("file"), note.get("line")):
        return says
    return _("{says} ({file}, line {line})").format(says=says, file=error.where[0], line=error.where[1])


def _lacking(file: StudentFile, notes: Notes) -> list[tuple[Mapping[str, Any], str]]:
    """Return each note with the name of the code that its statement needs and that is not available here, or "".

    An undefined name is such code only if an import that failed should have bound it, or a statement that lacked code.
    """
    files = (*file.submission.units, *file.submission.neighbours)
    undefined = {name for name, missing in missing_names(notes, files).items() if not missing.block}
    out: list[tuple[Mapping[str, Any], str]] = []
    for note in notes:
        error = student_error(note.get("error"))
        found = _NEEDS.match(error.message) if error is not None else None
        name = next(filter(None, found.groups())) if found else ""
        if found and found[3] and name not in undefined:
            name = ""
        if name:
            undefined.update(texts(note.get("defines")))
        out.append((note, name))
    return out
