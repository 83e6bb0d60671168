"""Build the models of a case once, to try many edited versions of the functions that they call."""

from __future__ import annotations

import sys
from collections.abc import Collection, Iterator
from itertools import takewhile
from types import FrameType
from typing import Any

from torch import Tensor, nn

from grader.worker.program import Program

# Steps that make models, load their weights and set their mode.
BUILDING = ("provide", "build", "load", "mode")
Function = tuple[str, int]  # a file, and the first line of a function in it


class KeptModels:
    """The models that the first steps of a case build, and their state right after these steps.

    built_by: the functions of the submission that these steps called. An edit of one of them needs new models.
    """

    def __init__(self, program: Program, files: Collection[str]):
        """Build the models. Raises ValueError if they cannot be reused."""
        self.built_by: set[Function] = set()
        first = list(takewhile(lambda step: step["do"] in BUILDING, program.steps))
        self._steps, program.steps = program.steps[len(first) :], first

        def note(frame: FrameType, event: str, _value: object) -> None:
            code = frame.f_code
            if event == "call" and code.co_filename in files:
                self.built_by.add((code.co_filename, code.co_firstlineno))

        before = sys.getprofile()
        sys.setprofile(note)
        try:
            program.run(files)
        finally:
            sys.setprofile(before)
        if "error" in program.reply or not all(isinstance(m, nn.Module) for m in program.env.values()):
            raise ValueError("no models")
        self._made = program
        parts = {id(part): part for module in program.env.values() for part in module.modules()}
        self._states = [(part, type(part), dict(vars(part))) for part in parts.values()]
        # Each dict, list and set that is an attribute of a module, with a copy of it.
        values: list[Any] = [value for part in parts.values() for value in vars(part).values()]
        containers = [value for value in values if isinstance(value, (dict, list, set))]
        self._containers: list[Any] = [(container, container.copy()) for container in containers]
        tensors = {id(t): t for part in parts.values() for t in _tensors(vars(part))}
        self._values = [(t, t.data, t.data.clone(), t.requires_grad, t.is_leaf) for t in tensors.values()]
        try:
            self.give(program)  # only to find out whether it works
        except Exception:  # a lazy layer without values, an expanded buffer
            raise ValueError("models that cannot be restored") from None

    def give(self, program: Program) -> None:
        """Restore the models to their state right after they were built, and let a program start with them."""
        for part, kind, before in self._states:
            part.__class__ = kind  # a lazy layer changes its class in its first call
            vars(part).clear()
            vars(part).update(before)
        for container, before in self._containers:
            if container or before:
                container.clear()
                if isinstance(container, list):
                    container.extend(before)
                else:
                    container.update(before)
        for tensor, data, values, requires_grad, was_leaf in self._values:
            data.copy_(values)
            tensor.data = data
            if was_leaf and not tensor.is_leaf:
                tensor.detach_()  # an edit changed it in place
            if tensor.is_leaf:
                tensor.grad = None
                tensor.requires_grad_(requires_grad)
        made = self._made
        program.env, program.steps = dict(made.env), self._steps
        program.fits, program.as_linear = dict(made.fits), dict(made.as_linear)
        if "parameters" in made.reply:
            program.reply["parameters"] = made.reply["parameters"]


def _tensors(state: dict[str, Any]) -> Iterator[Tensor]:
    """Yield the tensors among the attributes of a module, and those in dicts such as `_parameters`."""
    for value in state.values():
        inner = value.values() if isinstance(value, dict) else (value,)
        yield from (one for one in inner if isinstance(one, Tensor))
