"""Read what a worker says about loading a file: why it does not define an exercise, and what it lacks."""

from __future__ import annotations

import re
from collections.abc import Collection, Container, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from grader.engine.lease import Loaded
from grader.engine.load_request import LoadRequest
from grader.engine.session import WorkerGone
from grader.intake.names import Definition, Names
from grader.intake.read import OTHER_FRAMEWORKS, Submission, Unit, imported_modules
from grader.intake.recognise import lost_exercises, misspelt
from grader.intake.syntax import Fault
from grader.judge.exceptions import of_lost
from grader.judge.observation import StudentError, student_error, texts
from grader.report.finding import Fact
from grader.support.sanitize import sanitize

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
    alias = request.aliases.get(wanted)
    for name in (alias, wanted):
        if name is not None and name in loaded.names:
            return name
    if note := _note_on(loaded, alias or wanted, names, request.submission):
        return note
    lost = lost_exercises([wanted], names)
    if lost:
        fault = names.lost[lost[wanted]]
        return Fact("unreadable", {"name": wanted, **_fault(fault)})
    if names.faults:
        return Fact("unreadable/file", _fault(names.faults[0]))
    definition = names.definitions.get(alias or wanted)
    if definition is not None:
        return Fact("nested", {"name": definition.name, **_place(definition)})
    similar = names.definitions.get(misspelt(wanted, names.definitions))
    if similar is not None:
        return Fact("misspelt", {"similar": similar.name, "name": wanted, **_place(similar)})
    return Fact("undefined", {"name": wanted, "file": request.submission.path.name})


def _fault(fault: Fault) -> dict[str, object]:
    return {"file": fault.unit, "line": fault.line, "why": fault.with_code}


def _place(definition: Definition) -> dict[str, object]:
    return {"file": definition.unit, "line": definition.line}


def _note_on(loaded: Loaded, name: str, names: Names, submission: Submission) -> Fact | None:
    definition = names.definitions.get(name)
    for note in own_notes(loaded.notes, submission):
        error = student_error(note.get("error"))
        defines = note.get("defines")
        about_name = isinstance(defines, list) and name in defines
        if error is not None and (about_name or note.get("whole")):  # "whole": no statement of the unit ran
            return Fact("note", _of_note(note, error))
        place = (note.get("file"), note.get("line"))
        if note.get("endless") and definition is not None and place == (definition.unit, definition.line):
            return Fact("endless", _place(definition))
    return None


def own_notes(notes: Iterable[Mapping[str, Any]], submission: Submission) -> list[Mapping[str, Any]]:
    """Return the notes on a submission's own code: a file beside it may define the same names."""
    own = {unit.name for unit in submission.units}
    return [note for note in notes if note.get("file") in own]


def _of_note(note: Mapping[str, object], error: StudentError) -> dict[str, object]:
    """Return what "masking.py, line 3: NameError: name 'torhc' is not defined" says, as data."""
    file, line = error.where[:2] if error.where is not None else (note.get("file"), note.get("line"))
    return {"file": file, "line": line, "type": error.type, "message": error.message}


def load_remarks(
    notes: Iterable[Mapping[str, Any]], needed: frozenset[str], visible: Collection[str]
) -> list[Fact]:
    """Return remarks on statements that the worker skipped and on blocks that it took from the course.

    Only names that the exercise needs are mentioned. visible: the building blocks that the exercise may use.
    """
    out: list[Fact] = []
    for note in notes:
        block = note.get("block")
        error = student_error(note.get("error"))
        if isinstance(block, str) and block in needed and block in visible:
            module = sanitize(str(note.get("module")).lstrip("."), 100)
            out.append(Fact("given", {"module": module, "block": sanitize(block, 100)}))
        elif error is not None and not needed.isdisjoint(texts(note.get("defines"))):
            out.append(Fact("left-out", _of_note(note, error)))
    return [fact for at, fact in enumerate(out) if fact not in out[:at]][:MAX_REMARKS]


def parts_remark(own: Collection[str], wanted: Sequence[str]) -> Fact:
    """Return a remark on who wrote the parts of a model (wanted): the student (own) or the course."""
    mine = [name for name in wanted if name in own]
    if not mine:
        return Fact("parts/reference")
    return Fact("parts/own") if len(mine) == len(wanted) else Fact("parts/some", {"names": ", ".join(mine)})


# ---- a module, a package or a GPU that is missing

# Packages that submissions import and the course does not need. A missing module that is not among them is taken for
# a file of the author.
_PACKAGES = (
    "absl accelerate apex beartype bitsandbytes cv2 datasets deepspeed dgl einops fairseq"
    " flash_attn flax gensim huggingface_hub hydra jax jaxtyping jieba keras lightning matplotlib"
    " mpl_toolkits networkx nltk numba omegaconf optax pandas peft PIL portalocker pytorch_lightning"
    " requests sacrebleu scipy seaborn sentencepiece skimage sklearn spacy sympy tensorboard tensorflow"
    " tiktoken timm tokenizers torch_geometric torchaudio torchcrf torchinfo torchmetrics torchsummary"
    " torchtext torchtyping torchvision tqdm transformers triton wandb xformers"
)
PACKAGES = frozenset(_PACKAGES.split())
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


def missing_names(notes: Iterable[Mapping[str, Any]], files: Sequence[Unit]) -> dict[str, Missing]:
    """Return name → what is missing: for names of failed imports, and for names whose definition needs these.

    "*" stands for every name that nothing defines, if `from module import *` failed. files: the submitted files. A
    module that they do not import is ignored: student code can forge notes.
    """
    imported = {*imported_modules(files), "."}
    found: dict[str, Missing] = {}
    for note in notes:
        error, block, named = student_error(note.get("error")), note.get("block"), note.get("module")
        module = named[:200] if isinstance(named, str) else ""
        if module and module not in imported:
            continue
        if isinstance(block, str):
            found[block] = Missing(block, module, block=True)
        elif error is not None:
            found |= {name: Missing(name, module) for name in texts(note.get("missing"))}
            cause = blamed(error, found)
            found |= {name: cause for name in texts(note.get("defines")) if cause and name not in found}
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
        name, everything = undefined[1], missing.get("*")
        if name not in missing and name not in defined and everything:
            return replace(everything, name=name)
        cause = missing.get(name)
        return cause if cause is not None and not cause.block else None
    used = error.type in ("TypeError", "AttributeError") and _USED_OTHERWISE.match(error.message)
    cause = missing.get(used[1] or used[2]) if used else None
    return cause if cause is not None and cause.block and cause.name not in defined else None


def needs_gpu(errors: Sequence[StudentError], notes: Iterable[Mapping[str, Any]]) -> bool:
    """Whether all these exceptions are because there is no GPU: they say so, or that a name is undefined whose
    definition raised such an exception.
    """
    undefined: set[str] = set()
    for note in notes:
        error = student_error(note.get("error"))
        if error is not None and _lacks_gpu(error, undefined):
            undefined.update(texts(note.get("defines")))
    return bool(errors) and all(_lacks_gpu(error, undefined) for error in errors)


def _lacks_gpu(error: StudentError, undefined: Collection[str]) -> bool:
    if _NO_GPU.search(error.message):
        return True
    found = _UNDEFINED.match(error.message) if error.type == "NameError" else None
    return found is not None and found[1] in undefined


def of_missing(missing: Missing) -> Fact:
    """Return why the code cannot be graded without a missing name."""
    name, module = sanitize(missing.name, 100), sanitize(missing.module, 100).lstrip(".")
    package, last = module.split(".")[0], module.rpartition(".")[2]
    if package in OTHER_FRAMEWORKS:
        kind = "framework"
    elif package in PACKAGES:
        kind = "package"
    elif missing.block:
        kind = "block"
    else:
        kind = "everything" if missing.name == "*" else "name"
    return Fact(f"missing/{kind}", {"name": name, "module": module, "package": package, "last": last})
