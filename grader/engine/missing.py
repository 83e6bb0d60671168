"""Say that code fails for want of a module, a package or a GPU, and not by a mistake in it."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from grader.judge.observation import StudentError, student_error
from grader.support.i18n import _
from grader.support.sanitize import sanitize

# Packages that such files import and that the course does not need. A module of another name is the author's own.
_PACKAGES = (
    "datasets einops fairseq gensim jieba keras lightning matplotlib networkx nltk numba pandas PIL"
    " pytorch_lightning sacrebleu scipy seaborn sentencepiece skimage sklearn spacy tensorboard tensorflow"
    " tokenizers torchaudio torchinfo torchsummary torchtext torchvision tqdm transformers wandb"
)
PACKAGES = frozenset(_PACKAGES.split())
_NO_GPU = re.compile(
    "Torch not compiled with CUDA enabled|Found no NVIDIA driver|No CUDA GPUs are available"
    "|CUDA-capable device"
)
_UNDEFINED = re.compile(r"name '(\w+)' is not defined")


def missing_names(notes: Iterable[Mapping[str, Any]]) -> dict[str, str]:
    """Name → the module or the file that should have brought it, for imports that failed."""
    return {
        name: _module(note)
        for note in notes
        for name in _texts(note.get("missing"))
        if student_error(note.get("error")) is not None
    }


def is_package(module: str) -> bool:
    """Whether a module belongs to a package that is simply not installed."""
    return module.split(".")[0] in PACKAGES


def blamed(errors: Iterable[StudentError], missing: Mapping[str, str]) -> str:
    """The missing name because of which code raised a NameError; "" if there is none."""
    for error in errors:
        found = _UNDEFINED.search(error.message) if error.type == "NameError" else None
        if found is not None and found[1] in missing:
            return found[1]
    return ""


def needs_gpu(errors: Sequence[StudentError]) -> bool:
    """Whether all these exceptions say that there is no GPU."""
    return bool(errors) and all(_NO_GPU.search(error.message) for error in errors)


def of_missing(name: str, module: str) -> str:
    """One sentence about a missing name."""
    module = sanitize(module, 100)
    if is_package(module):
        return _("the package {package} is not installed here, and `{name}` comes from it").format(
            package=module.split(".")[0], name=sanitize(name, 100)
        )
    return _("`{name}` comes from {module}, which was not submitted").format(
        name=sanitize(name, 100), module=f"`{module.lstrip('.')}`"
    )


def of_gpu() -> str:
    return _("this code needs a GPU, and this machine has none")


def _module(note: Mapping[str, Any]) -> str:
    module = note.get("module")
    return module[:200] if isinstance(module, str) else ""


def _texts(value: object) -> list[str]:
    return [text for text in value if isinstance(text, str)][:100] if isinstance(value, list) else []
