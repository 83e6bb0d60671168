"""A bundle: everything about one assignment that grading needs, as data.

Two files beside each other: `bundle.json` (texts: exercises, cases, checks, sentences, the stub) and
`bundle.safetensors` (values: inputs, results of the reference, signatures of mistakes).
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, TypeVar

from grader.bundle.safetensors import Array, encode
from grader.worker.steps import Input, Load, Provide, Seed, Stage, Stages, Step, Tokens

Kind = TypeVar("Kind", bound=Step)


@dataclass(frozen=True)
class Header:
    """Shape and dtype of an observation of the reference; `axes` name the axes for messages.

    A Python value (`Case.see_value`) has the shape () and the dtype "value".
    """

    shape: tuple[int, ...]
    dtype: str
    axes: tuple[str, ...] = ()


@dataclass(frozen=True)
class RecordedCase:
    """A case with the results of the reference: headers of all observations, and the values that checks compare."""

    id: str
    exercise: str
    dtype: str
    steps: tuple[Step, ...]
    checks: tuple[Check, ...]
    tensors: Mapping[str, Array]
    headers: Mapping[str, Header]
    expected: Mapping[str, Array]
    for_judge: Mapping[str, Array] = field(default_factory=dict)  # never sent to a worker
    like: str = ""  # the id of the case that this one repeats in another dtype, with its steps and inputs
    exam: RecordedCase | None = None  # measures the result of this case in a worker without student code
    costly: bool = False  # takes a few seconds: a quick check leaves it out

    @cached_property
    def asked(self) -> frozenset[str]:
        """The names of the observations that a worker may send back."""
        return frozenset(self.headers)

    @cached_property
    def policy(self) -> str:
        """The policy that all its checks share; "" if there is none."""
        found = {check.policy for check in self.checks}
        return found.pop() if len(found) == 1 else ""

    @cached_property
    def body(self) -> bytes:
        """Return the inputs as a worker gets them."""
        return encode(self.tensors) if self.tensors else b""

    def all_of(self, kind: type[Kind]) -> list[Kind]:
        """Return its steps of one kind, in order."""
        return [step for step in self.steps if isinstance(step, kind)]

    @property
    def inputs(self) -> list[Input | Tokens]:
        """The stored tensors that the student's code receives."""
        return [step for step in self.steps if isinstance(step, (Input, Tokens))]

    @property
    def stages(self) -> list[Stage]:
        """The submodules that it watches."""
        return [stage for step in self.all_of(Stages) for stage in step.of]

    @property
    def weights(self) -> dict[str, tuple[int, ...]]:
        """The shapes of the weights that its module gets, by the names of the contract; {} if it gets none."""
        return next((load.shapes(self.tensors) for load in self.all_of(Load)), {})

    @property
    def is_random(self) -> bool:
        """Whether its results depend on random numbers."""
        return bool(self.all_of(Seed))

    @property
    def brings_classes(self) -> bool:
        """Whether it contains the source of a class; see `Case.provide`."""
        return bool(self.all_of(Provide))

    @property
    def is_made_of_parts(self) -> bool:
        """Whether it builds a model from the student's own building blocks; see `Case.provide_with_parts`."""
        return any(step.own for step in self.all_of(Provide))


@dataclass(frozen=True)
class KnownMistake:
    """The texts of a known mistake.

    kind: "mistake", "different" or "policy", see grader/authoring/bank.py.
    statements: hashes of the words of the statements that it changes, see grader/lines/suspects.py.
    """

    id: str
    kind: str
    says: str
    asks: str
    page: str
    policy: str = ""  # the policy of the checks that it fails; "" if it costs points
    statements: tuple[int, ...] = ()


@dataclass(frozen=True)
class Signatures:
    """The results of known mistakes, and of pairs of them, on the cases of an exercise; see
    grader/diagnosis/signature.py.

    Each row is one answer; `explains` names its mistakes, and is () for a right answer. A mistake has one row per
    way to write it, and per accepted answer that it can be made in (`bank.also`).
    """

    slots: tuple[str, ...]  # names of what is compared: an observation of a case, or the code of a check
    explains: tuple[tuple[str, ...], ...]
    states: Array  # (rows, slots) of texts
    numbers: Array  # (rows, slots, PROJECTIONS); NaN where they vary from run to run


@dataclass(frozen=True)
class Exercise:
    """One exercise as a grader needs it."""

    name: str
    assignment: str
    title: str
    points: float
    weights: Mapping[str, float]
    limits: Mapping[str, float]  # field of sandbox.base.Limits → its value instead of the default
    hints: tuple[str, ...]
    needs: tuple[str, ...]  # the exercises on which it builds
    given: tuple[str, ...]  # building blocks
    forbids: tuple[str, ...]  # calls that the exercise is about: their use is remarked on
    level: int  # what a diagnosis may say at most, see grader/bundle/rules.py
    cases: tuple[RecordedCase, ...] = ()
    mistakes: tuple[KnownMistake, ...] = ()
    signatures: Signatures | None = None
    forbids_costs: float = 0.0  # the share of the points that a forbidden call costs

    def counts(self, facet: str) -> bool:
        """Whether checks of a facet decide anything: a facet of weight 0 is off."""
        return self.weights.get(facet, 1.0) != 0

    @cached_property
    def is_made_of_parts(self) -> bool:
        """Whether a case builds a model from the student's own building blocks."""
        return any(case.is_made_of_parts for case in self.cases)

    @cached_property
    def brings_classes(self) -> bool:
        """Whether a case contains the source of a class."""
        return any(case.brings_classes for case in self.cases)


@dataclass(frozen=True)
class Bundle:
    """One assignment: its texts, its original stub, and its exercises in order."""

    assignment: str
    module: str  # the student's file without ".py"
    title: str
    summary: str
    minutes: int  # the time that a student needs, roughly
    seed: str  # "public" or "hidden"; the secret seed itself is not in a bundle
    stub: str
    exercises: tuple[Exercise, ...] = field(default=())

    def exercise(self, name: str) -> Exercise:
        return next(e for e in self.exercises if e.name == name)


def bundle_of(bundles: Iterable[Bundle], exercise: str) -> Bundle:
    """Return the bundle that has an exercise. Raises StopIteration if none has."""
    return next(bundle for bundle in bundles if any(e.name == exercise for e in bundle.exercises))


Json = Any

FACETS = (
    "shapes",
    "values",
    "masking",
    "gradients",
    "modes",
    "purity",
    "weights",
    "device",
    "precision",
    "pruning",
    "defaults",
)

# The dtypes in which a result is checked besides float32; docs/precision.md has the tolerances.
OTHER_DTYPES = ("float16", "bfloat16", "float64")
PRECISION = "precision"  # the policy of all checks in these dtypes
# Failures of these kinds cost no points unless a course lets them count; see docs/decisions/22.
POLICIES = (PRECISION, "odd-width", "grad-mode")


@dataclass(frozen=True)
class Check:
    """One line of the report: a facet, a title, and how the judge decides it.

    `judge` names a function of grader/judge; `of` names the observations that the judge looks at; `params` are its
    settings. `policy`: one of POLICIES if a failure costs no points; "" for a check that counts.
    """

    id: str
    facet: str
    title: str
    judge: str
    of: tuple[str, ...]
    params: Mapping[str, Json] = field(default_factory=dict)
    policy: str = ""
