"""Recognise code that fails because a module, a package or a GPU is missing, not because of a mistake."""

from __future__ import annotations

import re
from collections.abc import Collection, Container, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from grader.intake.neighbours import OTHER_FRAMEWORKS, imported_modules
from grader.intake.read import Unit
from grader.judge.observation import StudentError, student_error, texts
from grader.report.finding import Fact
from grader.support.sanitize import sanitize

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
