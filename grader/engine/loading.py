"""Say why a loaded file does not define an exercise, and what was left out of it."""

from __future__ import annotations

from grader.engine.load_request import LoadRequest
from grader.engine.messages import of_note
from grader.engine.worker_slot import CannotLoad, Loaded
from grader.intake.customary import IMPORTS, UNIT, missing_imports
from grader.intake.names import Names
from grader.intake.read import Submission
from grader.intake.recognise import lost
from grader.judge.observation import student_error
from grader.support.i18n import _
from grader.support.sanitize import sanitize


def defined_name(request: LoadRequest, loaded: Loaded, names: Names) -> str:
    """The name under which the loaded file defines the exercise. Raises CannotLoad with the reason why it does not.

    names: the definitions in the submission's text.
    """
    wanted = request.exercise.name
    alias = request.aliases.get(wanted)
    for name in (alias, wanted):
        if name is not None and name in loaded.names:
            return name
    _raise_note(loaded, alias or wanted, names)
    fault = lost(wanted, names)
    if fault is not None:
        raise CannotLoad(
            _("{name} is in {file}, but Python cannot read it: {why}").format(
                name=wanted, file=fault.unit, why=sanitize(fault.why)
            )
        )
    for fault in names.faults:
        raise CannotLoad(_("{file}, {why}").format(file=fault.unit, why=sanitize(fault.why)))
    file = sanitize(request.submission.path.name)
    raise CannotLoad(_("{name} is not defined in {file}").format(name=wanted, file=file))


def _raise_note(loaded: Loaded, name: str, names: Names) -> None:
    """Raise CannotLoad if a note tells why this name is not defined."""
    definition = names.definitions.get(name)
    for note in loaded.notes:
        error = student_error(note.get("error"))
        defines = note.get("defines")
        if error is not None and (note.get("whole") or (isinstance(defines, list) and name in defines)):
            raise CannotLoad(of_note(note, error))
        line = note.get("line")
        if note.get("endless") and isinstance(line, int) and line == (definition.line if definition else 0):
            raise CannotLoad(
                _("{file}, line {line}: this definition timed out").format(file=note.get("file"), line=line)
            )


def load_remarks(loaded: Loaded, submission: Submission) -> list[str]:
    """What the grader added to the file, and what the worker left out of it."""
    out = _added_imports(loaded, submission)
    for note in [note for note in loaded.notes if note.get("file") != UNIT][:3]:
        error = student_error(note.get("error"))
        if note.get("endless"):
            out.append(
                _("{file}, line {line}: this statement timed out and was skipped").format(
                    file=note.get("file"), line=note.get("line")
                )
            )
        elif error is not None:
            out.append(_("skipped because of an error: {what}").format(what=of_note(note, error)))
    return [sanitize(line, 400) for line in out]


def _added_imports(loaded: Loaded, submission: Submission) -> list[str]:
    names = [name for name in missing_imports(submission) if name in loaded.names]
    if not names:
        return []
    used = ", ".join(f"`{name}`" for name in names)
    lines = ", ".join(f"`{IMPORTS[name]}`" for name in names)
    says = (
        _("the file uses {names} without importing it; the grader added {imports}")
        if len(names) == 1
        else _("the file uses {names} without importing them; the grader added {imports}")
    )
    return [says.format(names=used, imports=lines)]
