"""Say why a loaded file does not define an exercise, and what was left out of it."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Mapping
from typing import Any

from grader.engine.load_request import LoadRequest
from grader.engine.messages import of_note
from grader.engine.worker_slot import CannotLoad, Loaded
from grader.intake.customary_names import UNIT, first_use, missing_imports
from grader.intake.names import Names
from grader.intake.read import Submission
from grader.intake.recognise import lost
from grader.judge.observation import StudentError, student_error
from grader.support.i18n import _, ngettext
from grader.support.sanitize import sanitize

MAX_REMARKS = 5  # of one exercise, on what was left out of the file


def defined_name(request: LoadRequest, loaded: Loaded, names: Names) -> str:
    """The name under which the loaded file defines the exercise. Raises CannotLoad with the reason why it does not.

    names: the definitions in the submission's text.
    """
    wanted = request.exercise.name
    alias = request.aliases.get(wanted)
    for name in (alias, wanted):
        if name is not None and name in loaded.names:
            return name
    _raise_note(loaded, alias or wanted, names, request.submission)
    fault = lost(wanted, names)
    if fault is not None:
        raise CannotLoad(
            _("Python cannot read {name}: {file}, {why}").format(
                name=wanted, file=fault.unit, why=sanitize(fault.with_code)
            )
        )
    for fault in names.faults:
        raise CannotLoad(_("{file}, {why}").format(file=fault.unit, why=sanitize(fault.with_code)))
    file = sanitize(request.submission.path.name)
    raise CannotLoad(_("{name} is not defined in {file}").format(name=wanted, file=file))


def _raise_note(loaded: Loaded, name: str, names: Names, submission: Submission) -> None:
    """Raise CannotLoad if a note says why this name is not defined."""
    definition = names.definitions.get(name)
    for note in own_notes(loaded.notes, submission):
        error = student_error(note.get("error"))
        defines = note.get("defines")
        if error is not None and (note.get("whole") or (isinstance(defines, list) and name in defines)):
            raise CannotLoad(of_note(note, error))
        line = note.get("line")
        if note.get("endless") and isinstance(line, int) and line == (definition.line if definition else 0):
            raise CannotLoad(
                _("{file}, line {line}: this definition timed out").format(file=note.get("file"), line=line)
            )


def own_notes(notes: Iterable[Mapping[str, Any]], submission: Submission) -> list[Mapping[str, Any]]:
    """The notes on a submission's own code: a file beside it may define the same names."""
    own = {unit.name for unit in submission.units}
    return [note for note in notes if note.get("file") in own]


def definition_errors(notes: Iterable[Mapping[str, Any]], name: str) -> list[StudentError]:
    """The exceptions of the statements that should have defined a name."""
    found = [student_error(note.get("error")) for note in notes if name in _texts(note.get("defines"))]
    return [error for error in found if error is not None]


def load_remarks(
    notes: Iterable[Mapping[str, Any]], needed: frozenset[str], visible: Collection[str]
) -> list[str]:
    """Return remarks on statements that the worker skipped and on blocks that it took from the course.

    Only names that the exercise needs are mentioned. visible: the building blocks that the exercise may use.
    """
    out = []
    for note in notes:
        block = note.get("block")
        error = student_error(note.get("error"))
        if isinstance(block, str) and block in needed and block in visible:
            module = sanitize(str(note.get("module")).lstrip("."), 100)
            out.append(
                _("`{module}` cannot be imported here, so the reference {block} was used").format(
                    module=module, block=sanitize(block, 100)
                )
            )
        elif error is not None and not needed.isdisjoint(_texts(note.get("defines"))):
            out.append(_("skipped because of an error: {what}").format(what=of_note(note, error)))
    return [sanitize(line, 400) for line in dict.fromkeys(out)][:MAX_REMARKS]


def files_used(notes: Iterable[Mapping[str, Any]]) -> tuple[str, ...]:
    """One sentence about the files beside the submission that it imports."""
    files = [sanitize(str(note.get("file")), 100) for note in notes if note.get("neighbour")]
    if not files:
        return ()
    says = ngettext(
        "{files} beside the file was used too", "files beside it were used too: {files}", len(files)
    )
    return (sanitize(says.format(files=", ".join(files)), 400),)


# Exceptions of code that needs something which is not here, and what it needs.
_NEEDS = re.compile(
    r"No module named '([\w.]+)'|cannot import name '(\w+)'|name '(\w+)' is not defined"
    r"|(\w+) is not among the building blocks|([\w.]+) is not here: the grader"
)


def summary_of_skipped(notes: Iterable[Mapping[str, Any]], needed: frozenset[str]) -> tuple[str, ...]:
    """Sentences about the statements that raised or timed out, and that define nothing needed."""
    out, needing, raised = [], [], []
    for note in notes:
        error = student_error(note.get("error"))
        place = _("{file}, line {line}").format(file=note.get("file"), line=note.get("line"))
        if note.get("file") == UNIT:
            continue
        if error is not None and error.ends_python:
            out.append(_("{place} ends Python: remove it; the grader skipped it").format(place=place))
        elif note.get("endless"):
            out.append(_("{place}: this statement timed out and was skipped").format(place=place))
        elif error is not None and needed.isdisjoint(_texts(note.get("defines"))):
            found = _NEEDS.match(error.message)
            if found:
                name = next(filter(None, found.groups()))
                needing.append(_("{place} needs `{name}`").format(place=place, name=name))
            else:
                raised.append(of_note(note, error))
    if needing:
        says = ngettext(
            "{n} statement needs code that is not available here and was skipped: {what}",
            "{n} statements need code that is not available here and were skipped; the first: {what}",
            len(needing),
        )
        out.append(says.format(n=len(needing), what=needing[0]))
    if raised:
        says = ngettext(
            "{n} statement raised an exception and was skipped: {what}",
            "{n} statements raised exceptions and were skipped; the first: {what}",
            len(raised),
        )
        out.append(says.format(n=len(raised), what=raised[0]))
    return tuple(sanitize(line, 400) for line in out)


def has_errors(notes: Iterable[Mapping[str, Any]]) -> bool:
    """Whether a statement of the file raised or timed out, and not for want of code that is not available here."""
    errors = (student_error(note.get("error")) for note in notes if note.get("file") != UNIT)
    return any(note.get("endless") for note in notes) or any(
        e and (e.ends_python or not _NEEDS.match(e.message)) for e in errors
    )


def _texts(value: object) -> frozenset[str]:
    return frozenset(t for t in value if isinstance(t, str)) if isinstance(value, list) else frozenset()


def imports_added(submission: Submission, blocks: Collection[str], needed: frozenset[str]) -> tuple[str, ...]:
    """A sentence for each name that the grader imported for the file, among those that its exercises need."""
    missing = missing_imports(submission, sorted(blocks))
    names = [name for name in missing if name in needed]
    if not names:
        return ()
    return tuple(_import_added(submission, name, missing[name]) for name in names)


def _import_added(submission: Submission, name: str, line: str) -> str:
    file, number = first_use(submission, name)
    says = _(
        "{file}, line {line} uses `{name}`: add `{import_}` at the top; the grader did so for this check"
    )
    return says.format(file=sanitize(file), line=number, name=name, import_=line)
