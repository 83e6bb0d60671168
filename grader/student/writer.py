"""A trained language model that writes one token at a time, and what its heads look at."""

from __future__ import annotations

import sys
from collections.abc import Callable, Collection, Sequence
from pathlib import Path
from types import ModuleType
from typing import Any

import torch
from safetensors import SafetensorError
from safetensors.torch import load_file

from grader import given
from grader.given.rhymes import ALPHABET, SIZES
from grader.intake.read import read_submission
from grader.support.code import definitions
from grader.support.errors import UsageError
from grader.support.i18n import _
from grader.support.sanitize import sanitize

PARTS = ("LanguageModel", "write_text")


def load_module(path: Path, folders: Sequence[Path], demos: bool = False) -> ModuleType:
    """Run the definitions of a student's file, or the whole file with its `demos`.

    folders: where the modules are that it imports.
    Raises UsageError if the file cannot be read, or does not run.
    """
    module = ModuleType("__main__" if demos else path.stem)
    text = "\n\n".join(unit.source for unit in read_submission(path).units)
    before = sys.path[:]
    sys.path[:0] = map(str, folders)
    try:
        exec(compile(text if demos else definitions(text), str(path), "exec"), vars(module))
    except Exception as error:
        stopped = _("{file} does not run to its end ({error})")
        says = stopped if demos else _("{file} does not run ({error}); `grader check` says more")
        raise UsageError(says.format(file=path.name, error=f"{type(error).__name__}: {error}")) from None
    finally:
        sys.path[:] = before
    return module


class Writer:
    """A model with its weights, and the function that writes with it.

    own: the student's module. passed: names that are taken from it; the course's blocks replace the other PARTS.
    Raises UsageError if the weights cannot be read, or do not fit.
    """

    def __init__(self, own: object, passed: Collection[str], weights: Path):
        model, self._write = (getattr(own if name in passed else given, name) for name in PARTS)
        self.model: Any = _called(PARTS[0], model, **SIZES).eval()
        self.heads = [
            (block, head) for block in range(SIZES["num_layers"]) for head in range(SIZES["num_heads"])
        ]
        try:
            self.model.load_state_dict(load_file(weights))
        except (SafetensorError, RuntimeError, OSError) as error:
            says = _("{file} holds no weights of this model: {error}")
            raise UsageError(says.format(file=weights, error=sanitize(str(error), 300))) from None

    def next(self, text: str, uniform: Callable[[], float], temperature: float, top_p: float) -> str:
        """Return the character that follows `text`, as `write_text` draws it."""
        options = {"temperature": temperature, "top_p": top_p}
        longer = _called(PARTS[1], self._write, self.model, _tokens(text), 1, uniform, **options)
        return ALPHABET[int(longer[0, -1])]

    @torch.no_grad()
    def looks(self, text: str, block: int, head: int) -> list[float]:
        """Return with which weight a head looks at each character of `text`, from the last one.

        Return [] if the model's parts have other names than the lesson's.
        """
        seen: list[torch.Tensor] = []
        try:
            part = self.model.blocks[block]
            norm, layers = part.norm1, (part.attention.W_q, part.attention.W_k)
        except AttributeError:
            return []
        hook = norm.register_forward_hook(lambda _module, _inputs, normed: seen.append(normed))
        self.model(_tokens(text))
        hook.remove()
        (x,) = seen  # (1, T, D)
        d, positions = x.size(-1) // SIZES["num_heads"], torch.arange(x.size(1))
        query, keys = (
            given.apply_rotary(layer(x).unflatten(-1, (-1, d)).transpose(1, 2), positions) for layer in layers
        )  # (1, H, T, d), (1, H_kv, T, d)
        keys = given.repeat_kv(keys, n_rep=query.size(1) // keys.size(1))
        scores = keys[0, head] @ query[0, head, -1] / d**0.5  # (T,)
        weights: list[float] = scores.softmax(0).tolist()
        return weights


def _called(name: str, function: Callable[..., Any], *args: Any, **kwargs: Any) -> Any:
    """Call what the student may have written. Raises UsageError if it raises."""
    try:
        return function(*args, **kwargs)
    except Exception as error:
        says = _("your model or {name} raises {error}; `grader check {name}` says where")
        raised = sanitize(f"{type(error).__name__}: {error}", 300)
        raise UsageError(says.format(name=name, error=raised)) from None


def _tokens(text: str) -> torch.Tensor:
    return torch.tensor([[ALPHABET.index(character) for character in text]])
