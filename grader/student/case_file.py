"""Write a case as a small Python file: its inputs and calls, without any expected output.

The new file runs under a debugger, and in a notebook with `%run -i`. It has only the steps that
`_Writer.write` names: no measurements, for example.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from grader.bundle.model import RecordedCase
from grader.bundle.safetensors import Array, encode
from grader.support.errors import UsageError
from grader.support.files import write_own
from grader.support.i18n import _
from grader.worker import steps as do
from grader.worker.steps import Ref, Step

# Elements; a tensor with more, or with infinity or NaN, goes into a safetensors file, as all weights do.
LITERAL_VALUES = 120


def write_case(file: Path, exercise: str, case: RecordedCase, title: str, names: Mapping[str, str]) -> Path:
    """Write a case beside the student's file; return the new file.

    title: what the new file begins with. names: exercise → the name of the student's definition.

    Raises CannotWrite, and UsageError for a case that needs a class of the grader.
    """
    module = "" if file.suffix == ".ipynb" else file.stem
    path = file.with_name(f"case_{exercise}.py")
    beside = path.with_suffix(".safetensors")
    source, stored = case_text(case, module, names, title, beside.name)
    if stored:
        write_own(beside, encode(stored))
    write_own(path, source.encode())
    return path


def case_text(
    case: RecordedCase, module: str, names: Mapping[str, str], title: str, beside: str
) -> tuple[str, dict[str, Array]]:
    """Return the source, and the tensors for the safetensors file `beside`.

    module: the module with the student's definitions; "" for a notebook.
    Raises UsageError for a case that needs a class of the grader.
    """
    if case.brings_classes:
        raise UsageError(
            _("this case tests your code with a class of the grader; it cannot be written to a file")
        )
    writer = _Writer(case, names)
    lines = [line for step in case.steps for line in writer.write(step)]
    head = [f'"""{title}"""', "", "import torch"]
    if writer.stored:
        head.append("from safetensors.torch import load_file")
    if module:
        head += ["", f"from {module} import {', '.join(sorted(writer.used))}"]
    head += ["", "torch.set_printoptions(sci_mode=False)"]
    if writer.stored:
        head.append(f"stored = load_file({beside!r})")
    return "\n".join([*head, "", *lines]) + "\n", writer.stored


class _Writer:
    """Turns steps into lines.

    used: names of the student's definitions that the lines call. stored: the tensors that do not fit into a line.
    """

    def __init__(self, case: RecordedCase, names: Mapping[str, str]):
        self.case, self.names = case, names
        self.stored: dict[str, Array] = {}
        self.used: set[str] = set()

    def write(self, step: Step) -> Iterator[str]:
        """Yield the lines of a step; none for a kind that measures, or that only the diagnosis needs."""
        match step:
            case do.Input():
                # * 1 as in the worker: the result is no leaf, so code can change it in place.
                grad = ".requires_grad_() * 1" if step.grad else ""
                yield f"{_name(step.name)} = {self._tensor(step.name)}{grad}"
            case do.Constant():
                grad = ".requires_grad_() * 1" if step.grad else ""
                full = f"torch.full({step.shape}, {step.value!r}, dtype=torch.{self.case.dtype})"
                yield f"{_name(step.name)} = {full}{grad}"
            case do.Value():
                yield f"{_name(step.name)} = {_text(step.value)}"
            case do.Build():
                yield f"{_name(step.name)} = {self._student(step.of)}({_arguments([], step.kwargs)})"
            case do.Load() if step.weights:
                yield from self._load(step)
            case do.Mode():
                yield f"{_name(step.module)}.train({step.train})"
            case do.Grad():
                yield f"torch.set_grad_enabled({step.on})"
            case do.Seed():
                yield f"torch.manual_seed({step.number})"
            case do.Call(on=on) | do.Count(on=on):
                callee = self._student(on.function) if on.function else _text(Ref(on.ref, on.at))
                callee += f".{on.method}" if on.method else ""
                yield f"{_name(step.name)} = {callee}({_arguments(step.args, step.kwargs)})"
            case do.Join():
                yield f"{_name(step.name)} = torch.cat({_text(step.parts)}, dim={step.dim})"
            case do.Part():
                slices = (":".join("" if end is None else str(end) for end in ends) for ends in step.slices)
                yield f"{_name(step.name)} = {_text(step.of)}[{', '.join(slices)}]"
            case do.Gradients():
                names = [*map(_name, step.wrt), *([f"*{step.module}.parameters()"] if step.module else [])]
                for upstream in step.upstream:
                    yield f"{_name(upstream)} = {self._tensor(upstream)}"
                grad = f"torch.autograd.grad({_text(step.of)}, [{', '.join(names)}], "
                grad += f"[{', '.join(map(_name, step.upstream))}], retain_graph=True, allow_unused=True)"
                yield f"print({grad})"
            case do.Weights():
                yield f"print({_text(step.of)}.attention_weights)"
            case do.After():
                yield f"print({_name(step.of)})"
            case do.See():
                yield f"print({_text(step.of)})"

    def _load(self, step: do.Load) -> Iterator[str]:
        yield "# The keys are the names of the lesson. Use your own if your layers are called otherwise."
        yield "weights = {"
        for name, recipe in step.weights.items():
            yield f"    {name!r}: {self._stored(recipe) if isinstance(recipe, str) else _filled(recipe)},"
        yield "}"
        yield f"print({_name(step.module)}.load_state_dict(weights, strict=False))"

    def _student(self, exercise: str) -> str:
        name = self.names.get(exercise, exercise)
        self.used.add(name)
        return name

    def _tensor(self, name: str) -> str:
        array = self.case.tensors[name]
        if array.size > LITERAL_VALUES or not np.isfinite(array).all():
            return self._stored(name)
        text = np.array2string(
            array,
            separator=", ",
            threshold=array.size + 1,
            precision=17,
            floatmode="maxprec_equal",
            max_line_width=100,
            prefix=f"{_name(name)} = torch.tensor(",
        )
        is_default = array.dtype.kind in "ib" or self.case.dtype == "float32"
        dtype = "" if is_default else f", dtype=torch.{self.case.dtype}"
        return f"torch.tensor({text}{dtype})"

    def _stored(self, name: str) -> str:
        self.stored[name] = self.case.tensors[name]
        return f"stored[{name!r}]"


def _name(name: str) -> str:
    return "".join(sign if sign.isalnum() or sign == "_" else "_" for sign in name)


def _text(value: Any) -> str:
    if isinstance(value, Ref):
        return _name(value.name) + "".join(f"[{index!r}]" for index in value.at)
    if isinstance(value, Mapping):
        return "{" + ", ".join(f"{key!r}: {_text(item)}" for key, item in value.items()) + "}"
    if isinstance(value, Sequence) and not isinstance(value, str):
        return "[" + ", ".join(map(_text, value)) + "]"
    return repr(value)


def _arguments(args: Sequence[Any], kwargs: Mapping[str, Any]) -> str:
    return ", ".join([*map(_text, args), *(f"{key}={_text(value)}" for key, value in kwargs.items())])


def _filled(recipe: do.Filled) -> str:
    """One value on the diagonal, everywhere, or in all rows before row `rows`."""
    shape = list(recipe.shape)
    if recipe.diagonal:
        return f"torch.eye({', '.join(map(str, shape))}) * {recipe.value!r}"
    full = f"torch.full({shape}, {recipe.value!r})"
    if recipe.std:
        full = f"({full} + torch.randn({shape}) * {recipe.std!r})"
    if recipe.rows is None:
        return full
    return f"torch.cat([{full}[:{recipe.rows}], torch.zeros({shape})[{recipe.rows}:]])"
