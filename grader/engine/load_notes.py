"""Read what a worker says about loading a file: why it lacks an exercise, what is missing, and remarks on the file."""

from __future__ import annotations

import re
from collections.abc import Collection, Container, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from grader.bundle.model import Exercise
from grader.engine.grading import Terms
from grader.engine.lease import Loaded, Note
from grader.engine.load_request import LoadRequest, visible_blocks
from grader.engine.session import WorkerGone
from grader.engine.student_file import StudentFile
from grader.intake.elsewhere import elsewhere
from grader.intake.names import Names
from grader.intake.read import OTHER_FRAMEWORKS, Submission, Unit, imported_modules
from grader.intake.recognise import lost_exercises, misspelt
from grader.intake.uses import UNIT, bindings, missing_imports
from grader.judge.exceptions import of_lost
from grader.judge.observation import StudentError
from grader.report.finding import Fact
from grader.support.sanitize import sanitize

Notes = Sequence[Note]  # what a worker says about a file
MAX_REMARKS = 5  # of one exercise, on what was skipped or replaced while the file was loaded


def how_loading_ended(gone: WorkerGone) -> Fact:
    """Return what is known of a worker that was lost before any case ran."""
    if gone.why != "time":
        return Fact("not-loaded", {"how": of_lost(gone.why, gone.detail)})
    return Fact("not-loaded/time", dict(zip(("file", "line"), gone.line or (), strict=False)))


def defined_name(request: LoadRequest, loaded: Loaded, names: Names) -> str | Fact:
    """Return the name under which the loaded file defines the exercise, or why it does not define it.

    names: the definitions in the submission's text.
    """
    wanted = request.exercise.name
    alias = request.aliases.get(wanted, wanted)
    for name in (alias, wanted):
        if name in loaded.names:
            return name
    definition = names.definitions.get(alias)
    place = {"file": definition.unit, "line": definition.line} if definition else {}
    for note in own_notes(loaded.notes, request.submission):
        if note.error is not None and (note.whole or alias in note.defines):
            return Fact("note", _raised(note))
        if note.endless and place == {"file": note.file, "line": note.line}:
            return Fact("endless", place)
    lost = names.lost.get(lost_exercises([wanted], names).get(wanted, ""))
    for fault in (lost, *names.faults):
        if fault:
            said = {"name": wanted, "file": fault.unit, "line": fault.line, "why": fault.with_code}
            return Fact("unreadable" if lost else "unreadable/file", said)
    if definition:
        return Fact("nested", {"name": alias, **place})
    if similar := names.definitions.get(misspelt(wanted, names.definitions)):
        said = {"similar": similar.name, "name": wanted, "file": similar.unit, "line": similar.line}
        return Fact("misspelt", said)
    for one in elsewhere(request.submission, names, [wanted]):
        return Fact(f"elsewhere/{one.place}", vars(one))
    return Fact("undefined", {"name": wanted, "file": request.submission.path.name})


def own_notes(notes: Notes, submission: Submission) -> list[Note]:
    """Return the notes on a submission's own code: a file beside it may define the same names."""
    own = {unit.name for unit in submission.units}
    return [note for note in notes if note.file in own]


def _place(note: Note) -> tuple[str, int]:
    """Return the file and the line of the exception, otherwise those of the statement."""
    where = note.error and note.error.where
    return where[:2] if where else (note.file, note.line)


def _raised(note: Note) -> dict[str, object]:
    """Return what "masking.py, line 3: NameError: name 'torhc' is not defined" says, as data."""
    (file, line), error = _place(note), note.error
    return {"file": file, "line": line, "type": error and error.type, "message": error and error.message}


def load_remarks(notes: Notes, needed: frozenset[str], visible: Collection[str]) -> list[Fact]:
    """Return remarks on statements that the worker skipped and on blocks that it took from the course.

    Only names that the exercise needs are mentioned. visible: the building blocks that the exercise may use.
    """
    out: list[Fact] = []
    for note in notes:
        if note.block in needed and note.block in visible:
            module = sanitize(note.module.lstrip("."), 100)
            out.append(Fact("given", {"module": module, "block": note.block}))
        elif note.error is not None and not needed.isdisjoint(note.defines):
            out.append(Fact("left-out", _raised(note)))
    return [fact for at, fact in enumerate(out) if fact not in out[:at]][:MAX_REMARKS]


def parts_remark(own: Collection[str], wanted: Sequence[str]) -> Fact:
    """Return a remark on who wrote the parts of a model (wanted): the student (own) or the course."""
    mine = [name for name in wanted if name in own]
    rule = "parts/own" if len(mine) == len(wanted) else "parts/some"
    return Fact(rule if mine else "parts/reference", {"names": ", ".join(mine)})


# ---- a module or a GPU that is missing

_NO_GPU = re.compile(
    "Torch not compiled with CUDA enabled|Found no NVIDIA driver|No CUDA GPUs are available"
    "|CUDA-capable device"
)
# The worker calls the student's module `submission`.
_UNDEFINED = re.compile(r"(?:name|module 'submission' has no attribute) '(\w+)'(?: is not defined)?$")
_USED_OTHERWISE = re.compile(r"(\w+)(?:\.\w+)?\(\) (?:got|missing|takes) |'(\w+)' object has no attribute ")


@dataclass(frozen=True)
class Missing:
    """A name that a failed import should have bound, and the module that the import names.

    block: whether a building block was used instead.
    """

    name: str
    module: str
    block: bool = False


def missing_names(notes: Notes, files: Sequence[Unit]) -> dict[str, Missing]:
    """Return name → what is missing: for names of failed imports, and for names whose definition needs these.

    "*" stands for every name that nothing defines, if `from module import *` failed. files: the submitted files. A
    module that they do not import is ignored: student code can forge notes.
    """
    imported = {*imported_modules(files), "."}
    found: dict[str, Missing] = {}
    for note in notes:
        module, block = note.module, note.block
        if module and module not in imported:
            continue
        if block:
            found[block] = Missing(block, module, block=True)
        elif note.error is not None:
            found |= {name: Missing(name, module) for name in note.missing}
            cause = blamed(note.error, found)
            found |= {name: cause for name in note.defines if cause and name not in found}
    return found


def blamed(
    error: StudentError, missing: Mapping[str, Missing], defined: Container[str] = ()
) -> Missing | None:
    """Return the missing name that caused an exception; None if none did.

    An undefined name causes a NameError or AttributeError. A building block in its place causes a TypeError if it
    takes other arguments, and an AttributeError if it lacks an attribute.
    """
    undefined = error.type in ("NameError", "AttributeError") and _UNDEFINED.match(error.message)
    if undefined:
        everything = missing.get("*") if undefined[1] not in defined else None
        cause = missing.get(undefined[1]) or (everything and replace(everything, name=undefined[1]))
        return cause if cause and not cause.block else None
    used = error.type in ("TypeError", "AttributeError") and _USED_OTHERWISE.match(error.message)
    cause = missing.get(used[1] or used[2]) if used else None
    return cause if cause and cause.block and cause.name not in defined else None


def lacking_gpu(errors: Sequence[StudentError], notes: Notes) -> Fact | None:
    """Return that code needs a GPU, and the line that asks for one; None unless this causes all these exceptions.

    They say so, or that a name is undefined whose definition raised such an exception.
    """
    undefined: dict[str, StudentError] = {}
    for note in notes:
        if note.error is not None and (cause := _lack_of_gpu(note.error, undefined)):
            undefined |= dict.fromkeys(note.defines, cause)
    causes = [_lack_of_gpu(error, undefined) for error in errors]
    cause = causes[0] if causes and all(causes) else None
    return Fact("no-gpu", dict(zip(("file", "line"), cause.where or (), strict=False))) if cause else None


def _lack_of_gpu(error: StudentError, undefined: Mapping[str, StudentError]) -> StudentError | None:
    if _NO_GPU.search(error.message):
        return error
    found = _UNDEFINED.match(error.message) if error.type == "NameError" else None
    return undefined.get(found[1]) if found else None


def of_missing(missing: Missing) -> Fact:
    """Return why the code cannot be graded without a missing name."""
    name, module = sanitize(missing.name, 100), sanitize(missing.module, 100).lstrip(".")
    package, last = module.split(".")[0], module.rpartition(".")[2]
    everything = "everything" if missing.name == "*" else "name"
    kind = "framework" if package in OTHER_FRAMEWORKS else "block" if missing.block else everything
    return Fact(f"missing/{kind}", {"name": name, "module": module, "package": package, "last": last})


# ---- remarks on a whole file


def file_remarks(
    file: StudentFile,
    notes: Notes,
    exercises: Sequence[Exercise],
    terms: Terms,
    failed: Sequence[Exercise] = (),
) -> list[Fact]:
    """Return remarks on imports that were added, other files that were used, and statements that were skipped.

    A statement that ends Python, starts a debugger or timed out is always among them. One that raised any other
    exception is among them only if it defines no name that an exercise needs, and did not raise it in code that a failed
    exercise needs: its report says what is wrong. notes: what a worker said about the file.
    """
    out = imports_added(file, exercises, terms)
    others = [note.file[:100] for note in notes if note.neighbour]
    if others:
        out.append(Fact("file/used", {"files": ", ".join(others)[:300], "n": len(others)}))
    if not notes:
        return out
    raised: tuple[list[Fact], list[Fact]] = ([], [])  # the second, for code that is not available here
    needed, reported = _needed(file, exercises), _needed(file, failed)
    told = [d for d in file.names.definitions.values() if d.name in reported]
    for note, lacking in _lacking(file, notes):
        error, (at, line), place = note.error, _place(note), {"file": note.file, "line": note.line}
        kind = "endless" if note.endless else ""
        if error is not None:
            kind = "exit" if error.ends_python else "debugger" if error.starts_debugger else kind
        known = any(one.unit == at and one.line <= line <= one.end for one in told)
        if kind:
            out.append(Fact(f"left-out/{kind}", place))
        elif error is not None and needed.isdisjoint(note.defines) and not known:
            inner = {"at": at} if (at, line) != (note.file, note.line) else {}
            what = Fact("error", {**_raised(note), **inner})
            raised[lacking].append(Fact("left-out/raised", {**place, "what": what}))
    return [*out, *(replace(found[0], data={**found[0].data, "n": len(found)}) for found in raised if found)]


def is_faulty(file: StudentFile, notes: Notes) -> bool:
    """Whether the file has syntax errors, or a statement that raised, and not for code that is not available here."""
    raised = ((note.error, lacking) for note, lacking in _lacking(file, notes))
    return bool(file.names.faults) or any(e and (e.ends_python or not lacking) for e, lacking in raised)


def _needed(file: StudentFile, exercises: Sequence[Exercise]) -> frozenset[str]:
    return frozenset().union(*map(file.needs, exercises))


def imports_added(file: StudentFile, exercises: Sequence[Exercise], terms: Terms) -> list[Fact]:
    """Return one remark on the imports that were added for exercises; none if there are none.

    If the reader may not be the author, the remark does not ask to add them.
    """
    submission = file.submission
    blocks = frozenset[str]().union(*map(visible_blocks, exercises))
    missing, imports = missing_imports(submission, sorted(blocks)), []
    needed = _needed(file, exercises) if missing else frozenset[str]()
    for name, import_ in missing.items():
        if name in needed:
            unit, line = bindings(submission.units).read[name]
            cell = unit.removeprefix(submission.path.name).strip() or None
            imports.append(Fact("import", {"import_": import_, "cell": cell, "line": line}))
    rule = "imports" if terms.asks_author else "imports/of-others"
    return [Fact(rule, {"file": submission.path.name, "imports": tuple(imports)})] if imports else []


_WITHHELD = re.compile(r"\w+ is not among the building blocks|[\w.]+ is not available: the grader")


def _lacking(file: StudentFile, notes: Notes) -> Iterator[tuple[Note, bool]]:
    """Yield each note on the file's own statements, and whether the statement lacks code that is not available here.

    Notes on the grader's own modules, such as the maps that a lesson shows, are left out.
    """
    missing = missing_names(notes, (*file.submission.units, *file.submission.neighbours))
    for note in notes:
        cause = note.error and blamed(note.error, missing)
        module = note.module or (cause.module if cause else "")
        withheld = note.error and _WITHHELD.match(note.error.message)
        if note.file != UNIT and not module.startswith("grader."):
            yield note, bool(module or withheld)
