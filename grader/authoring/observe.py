"""Run trusted sources on cases in this process, by default in float64, with the worker's own program runner."""

from __future__ import annotations

import contextlib
import io
import sys
import warnings
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import torch

from grader.bundle.model import RecordedCase
from grader.bundle.safetensors import Array
from grader.cases.case import Case
from grader.engine.load_request import with_requirements
from grader.given import source as given_source
from grader.judge.compare import FLOATS
from grader.judge.observation import Observation, Seen, normalise_layouts, student_error
from grader.worker import random_seeds
from grader.worker.load import Files, load
from grader.worker.program import Program
from grader.worker.stand_in_modules import install
from grader.worker.steps import Run


def blocks(*names: str) -> list[Any]:
    """Return building blocks by name, for a generator of cases that must run a model."""
    install({name: given_source(name) for name in with_requirements(names)})
    return [getattr(sys.modules["grader.given"], name) for name in names]


def observe(
    source: str,
    given: Sequence[str],
    cases: Sequence[Case | RecordedCase],
    dtype: str | None = None,
    rng_seed: int = 0,
) -> dict[str, Observation]:
    """Run cases on a module's source in this process. Floating tensors are float64, unless `dtype` is given.

    rng_seed: the seed of random numbers, where a case sets none itself.
    """
    sources = {name: given_source(name) for name in with_requirements(given)}
    out = {}
    # `Program` resets the filters, so "ignore" would have no effect. Recorded warnings are not printed.
    with warnings.catch_warnings(record=True), contextlib.redirect_stdout(io.StringIO()):
        random_seeds.start(rng_seed)
        loaded = load(Files(units=[{"name": "reference.py", "source": source}], given=sources))
        for case in cases:
            tensors = {name: torch.from_numpy(np.array(array)) for name, array in case.tensors.items()}
            wanted = dtype or ("float64" if case.dtype in FLOATS else case.dtype)
            program = Program(loaded.names, Run(case.steps, wanted), tensors)
            program.run(loaded.files, rng_seed)
            out[case.id] = normalise_layouts(_observation(program, {wanted: case.dtype}), case.steps)
    return out


def _observation(program: Program, dtypes: Mapping[str, str]) -> Observation:
    """dtypes: the dtype that the program ran in → the dtype that the case asks for."""
    seen = {}
    for name, tensor in program.observed.items():
        dtype = str(tensor.dtype).removeprefix("torch.")
        seen[name] = Seen(tuple(tensor.shape), dtypes.get(dtype, dtype), _numbers(tensor))
    for name, what in program.reply["odd"].items():
        seen.setdefault(name, Seen(shape=tuple(what["shape"]) if "shape" in what else None, odd=what["is"]))
    return Observation(
        seen=seen,
        error=student_error(program.reply.get("error")),
        parameters=program.reply.get("parameters"),
        values=program.reply.get("values", {}),
        stacked=frozenset(program.reply.get("stacked", ())),
    )


def _numbers(tensor: torch.Tensor) -> Array:
    return (tensor.float() if tensor.dtype is torch.bfloat16 else tensor).numpy()
