"""Find the name under which a loaded file defines an exercise, or why it does not; write remarks on the loading."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from typing import Any

from grader.engine.load_request import LoadRequest
from grader.engine.worker_slot import CannotLoad, Loaded
from grader.intake.names import Names
from grader.intake.read import Submission
from grader.intake.recognise import lost, misspelt
from grader.judge.observation import StudentError, student_error, texts
from grader.support.i18n import _
from grader.support.sanitize import sanitize

MAX_REMARKS = 5  # of one exercise, on what was skipped or replaced while the file was loaded


def defined_name(request: LoadRequest, loaded: Loaded, names: Names) -> str:
    """Return the name under which the loaded file defines the exercise.

    Raises CannotLoad with the reason if it does not. names: the definitions in the submission's text.
    """
    wanted = request.exercise.name
    alias = request.aliases.get(wanted)
    for name in (alias, wanted):
        if name is not None and name in loaded.names:
            return name
    _raise_note(loaded, alias or wanted, names, request.submission)
    fault = lost(wanted, names)
    if fault is not None:
        says = _("Python cannot read {name}: {file}, {why}")
        raise CannotLoad(says.format(name=wanted, file=fault.unit, why=sanitize(fault.with_code)))
    if names.faults:
        first = names.faults[0]
        raise CannotLoad(_("{file}, {why}").format(file=first.unit, why=sanitize(first.with_code)))
    file, definition = sanitize(request.submission.path.name), names.definitions.get(alias or wanted)
    if definition is not None:
        says = _("{file}, line {line} defines {name} in a block that did not run: put it at the top level")
        place = {"file": sanitize(definition.unit), "line": definition.line}
        raise CannotLoad(says.format(**place, name=definition.name))
    similar = names.definitions.get(misspelt(wanted, names.definitions))
    if similar is not None:
        says = _("{file}, line {line} defines {similar}, but the exercise is called {name}: rename it")
        place = {"file": sanitize(similar.unit), "line": similar.line}
        raise CannotLoad(says.format(**place, similar=sanitize(similar.name), name=wanted))
    raise CannotLoad(_("{name} is not defined in {file}").format(name=wanted, file=file))


def _raise_note(loaded: Loaded, name: str, names: Names, submission: Submission) -> None:
    definition = names.definitions.get(name)
    for note in own_notes(loaded.notes, submission):
        error = student_error(note.get("error"))
        defines = note.get("defines")
        about_name = isinstance(defines, list) and name in defines
        if error is not None and (about_name or note.get("whole")):  # "whole": no statement of the unit ran
            raise CannotLoad(_of_note(note, error))
        place = (note.get("file"), note.get("line"))
        if note.get("endless") and definition is not None and place == (definition.unit, definition.line):
            says = _("{file}, line {line}: this definition timed out")
            raise CannotLoad(says.format(file=sanitize(definition.unit), line=definition.line))


def own_notes(notes: Iterable[Mapping[str, Any]], submission: Submission) -> list[Mapping[str, Any]]:
    """Return the notes on a submission's own code: a file beside it may define the same names."""
    own = {unit.name for unit in submission.units}
    return [note for note in notes if note.get("file") in own]


def definition_errors(notes: Iterable[Mapping[str, Any]], name: str) -> list[StudentError]:
    """Return the exceptions of the statements that should have defined a name."""
    found = [student_error(note.get("error")) for note in notes if name in texts(note.get("defines"))]
    return [error for error in found if error is not None]


def _of_note(note: Mapping[str, object], error: StudentError) -> str:
    """Return a text such as "masking.py, line 3: NameError: name 'torhc' is not defined"."""
    file, line = error.where[:2] if error.where is not None else (note.get("file"), note.get("line"))
    says = _("{file}, line {line}: {type}: {message}")
    return says.format(file=file, line=line, type=error.type, message=error.message)


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
            says = _("`{module}` cannot be imported here, so the reference {block} was used")
            out.append(says.format(module=module, block=sanitize(block, 100)))
        elif error is not None and not needed.isdisjoint(texts(note.get("defines"))):
            out.append(_("skipped because of an error: {what}").format(what=_of_note(note, error)))
    return [sanitize(line, 400) for line in dict.fromkeys(out)][:MAX_REMARKS]
