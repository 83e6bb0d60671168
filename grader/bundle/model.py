"""A bundle: everything about one assignment that grading needs, as data.

Two files beside each other: `bundle.json` (texts: exercises, cases, checks, sentences, the stub) and
`bundle.safetensors` (values: inputs, results of the reference, signatures of mistakes). The types of this module are
those of `bundle.json`. The fields that are mappings of arrays are in the other file; see grader/bundle/files.py.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from functools import cached_property
from typing import Any, TypeVar

import msgspec
import numpy as np
from msgspec import Struct
from msgspec.structs import replace

from grader.bundle.safetensors import Array, encode
from grader.worker.steps import Build, Call, HandedIn, Input, Load, Provide, Seed, Stage, Stages, Step, Tokens

Kind = TypeVar("Kind", bound=Step)
Arrays = Mapping[str, Array]
SCHEMA = 4  # of the two files

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
    "cost",
    "training",
)

# The dtypes in which a result is checked besides float32; docs/precision.md has the tolerances.
OTHER_DTYPES = ("float16", "bfloat16", "float64")
PRECISION = "precision"  # the policy of all checks in these dtypes
# Failures of these kinds cost no points unless a course lets them count; see docs/decisions/22.
POLICIES = (PRECISION, "odd-width", "grad-mode")


class _Text(Struct, frozen=True, omit_defaults=True, forbid_unknown_fields=True, dict=True):
    """An object of `bundle.json`."""


class Header(Struct, frozen=True, array_like=True):
    """Shape and dtype of an observation of the reference; `axes` name the axes for messages.

    An axis of all heads of a sequence before those of the next is named with the number of heads: "batch·head/3".
    A Python value (`Case.see_value`) has the shape () and the dtype "value".
    """

    shape: tuple[int, ...]
    dtype: str
    axes: tuple[str, ...] = ()


class Check(Struct, frozen=True, array_like=True):
    """One line of the report: a facet, a title, and how the judge decides it.

    `judge` names a function of grader/judge; `of` names the observations that the judge looks at; `params` are its
    settings. `policy`: one of POLICIES if a failure costs no points; "" for a check that counts.
    """

    id: str
    facet: str
    title: str
    judge: str
    of: tuple[str, ...]
    params: Mapping[str, Any] = {}
    policy: str = ""


class RecordedCase(_Text, frozen=True):
    """A case with the results of the reference: headers of all observations, and the values that checks compare.

    like: the id of the case that this one repeats in another dtype, with its steps and inputs.
    exam: measures the result of this case in a worker without student code.
    costly: takes a few seconds: a quick check leaves it out.
    tensors, expected, for_judge: inputs, results of the reference, and what no worker receives.
    """

    id: str
    dtype: str
    checks: tuple[Check, ...]
    headers: Mapping[str, Header]
    steps: tuple[Step, ...] = ()
    like: str = ""
    exam: RecordedCase | None = None
    costly: bool = False
    tensors: Arrays = {}
    expected: Arrays = {}
    for_judge: Arrays = {}

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
    def takes_weights(self) -> bool:
        """Whether it measures weights that the student handed in; see `Case.handed_in`."""
        return bool(self.all_of(HandedIn))

    @property
    def brings_classes(self) -> bool:
        """Whether it contains the source of a class; see `Case.provide`."""
        return bool(self.all_of(Provide))

    @property
    def is_made_of_parts(self) -> bool:
        """Whether it builds a model from the student's own building blocks; see `Case.provide_with_parts`."""
        return any(step.own for step in self.all_of(Provide))


class KnownMistake(_Text, frozen=True):
    """The texts of a known mistake.

    kind: "mistake", "different" or "policy", see grader/authoring/bank.py.
    policy: that of the checks that it fails; "" if it costs points.
    statements: hashes of the words of the statements that it changes, see grader/lines/statement_words.py.
    """

    id: str
    kind: str
    says: str
    asks: str
    page: str
    policy: str = ""
    statements: tuple[int, ...] = ()


class Signatures(_Text, frozen=True):
    """The results of known mistakes, and of pairs of them, on the cases of an exercise; see
    grader/diagnosis/signature.py.

    Each row is one answer; `explains` names its mistakes, and is () for a right answer. A mistake has one row per
    way to write it, and per accepted answer that it can be made in (`bank.also`).

    slots: names of what is compared: an observation of a case, or a check. vocabulary: the texts in `states`.
    arrays: `states` and `numbers`, packed.
    """

    slots: tuple[str, ...]
    explains: tuple[tuple[str, ...], ...]
    vocabulary: tuple[str, ...]
    arrays: Arrays = {}

    @classmethod
    def of(
        cls, slots: tuple[str, ...], explains: tuple[tuple[str, ...], ...], states: Array, numbers: Array
    ) -> Signatures:
        """Pack a table: states as indices into a vocabulary, values only where a row differs from the first row."""
        vocabulary, places = np.unique(states, return_inverse=True)
        near = np.abs(numbers - numbers[0]) <= 1e-9 * (1 + np.abs(numbers[0]))
        departs = ~near.all(axis=2)  # a value that is left open is NaN, and never near
        departs[0] = True
        arrays = {
            "states": places.reshape(states.shape).astype(np.int16),
            "departs": departs,
            "numbers": numbers[departs].astype(np.float32),
        }
        return cls(slots, explains, tuple(vocabulary.tolist()), arrays)

    def only(self, slots: Sequence[str]) -> Signatures:
        """Return the table of these slots, which must be in its order."""
        kept = [self.slots.index(slot) for slot in slots]
        return Signatures.of(tuple(slots), self.explains, self.states[:, kept], self.numbers[:, kept])

    @cached_property
    def states(self) -> Array:
        """The states: (rows, slots) of texts."""
        return np.array(self.vocabulary, dtype=object)[self.arrays["states"]]

    @cached_property
    def numbers(self) -> Array:
        """The values: (rows, slots, PROJECTIONS); NaN where they vary from run to run."""
        departs, packed = self.arrays["departs"], self.arrays["numbers"].astype(np.float64)
        # The first row is stored whole: start with it in every row.
        unpacked = np.broadcast_to(packed[: departs.shape[1]], (*departs.shape, packed.shape[1])).copy()
        unpacked[departs] = packed
        return unpacked


class Exercise(_Text, frozen=True):
    """One exercise as a grader needs it.

    minutes: the time that a student needs, roughly. built: what a student who passed has now, and where it returns.
    limits: field of sandbox.base.Limits → its value instead of the default. needs: the exercises on which it builds.
    given: building blocks. forbids: calls that the exercise is about: their use is remarked on, and costs the share
    `forbids_costs` of the points. level: what a diagnosis may say at most. other_forms: see `Rules`.
    """

    name: str
    title: str
    points: float
    minutes: int
    built: str
    weights: Mapping[str, float]
    limits: Mapping[str, float]
    hints: tuple[str, ...]
    needs: tuple[str, ...]
    given: tuple[str, ...]
    forbids: tuple[str, ...]
    level: int
    cases: tuple[RecordedCase, ...] = ()
    mistakes: tuple[KnownMistake, ...] = ()
    signatures: Signatures | None = None
    forbids_costs: float = 0.0
    other_forms: bool = False
    assignment: str = ""  # in `bundle.json`, only the bundle has this and the next
    second: bool = False

    def counts(self, facet: str) -> bool:
        """Whether checks of a facet decide anything: a facet of weight 0 is off."""
        return self.weights.get(facet, 1.0) != 0

    @cached_property
    def is_made_of_parts(self) -> bool:
        """Whether a case builds a model from the student's own building blocks."""
        return any(case.is_made_of_parts for case in self.cases)

    @cached_property
    def builds(self) -> list[Build]:
        """How cases build the class; of several with the same arguments there is one."""
        found = [build for case in self.cases for build in case.all_of(Build) if build.of == self.name]
        return [*{repr(build.kwargs): build for build in found}.values()]

    @cached_property
    def calls(self) -> Mapping[str, list[tuple[RecordedCase, Call]]]:
        """Method → how cases call it, for the modules that they build; "" for a function."""
        modules = {build.name for case in self.cases for build in case.all_of(Build) if build.of == self.name}
        found: dict[str, list[tuple[RecordedCase, Call]]] = {}
        for case in self.cases:
            for call in case.all_of(Call):
                on = call.on
                is_method = on.ref in modules and not on.at  # with `at`, a part of the module is called
                if is_method or (not modules and on.function == self.name):
                    found.setdefault((on.method or "forward") if is_method else "", []).append((case, call))
        return found

    @cached_property
    def brings_classes(self) -> bool:
        """Whether a case contains the source of a class."""
        return any(case.brings_classes for case in self.cases)


class Bundle(Struct, frozen=True, forbid_unknown_fields=True):
    """One assignment: its texts, its original stub, and its exercises in order.

    module: the student's file without ".py". seed: "public" or
    "hidden"; the secret seed itself is not in a bundle. schema: the number of the format. second: it is of the second
    half of the course, which is optional and has points of its own.
    """

    assignment: str
    module: str
    title: str
    summary: str
    seed: str
    stub: str
    exercises: tuple[Exercise, ...] = ()
    schema: int = SCHEMA
    second: bool = False

    @property
    def minutes(self) -> int:
        return sum(exercise.minutes for exercise in self.exercises)

    def exercise(self, name: str) -> Exercise:
        return next(e for e in self.exercises if e.name == name)


def bundle_of(bundles: Iterable[Bundle], exercise: str) -> Bundle:
    """Return the bundle that has an exercise. Raises StopIteration if none has."""
    return next(bundle for bundle in bundles if any(e.name == exercise for e in bundle.exercises))


FACTS, NAME, QUESTION, PAGE = range(4)  # what a diagnosis may say at most


class Rules(Struct, frozen=True):
    """The settings of a course; without any, the exercises are as they were recorded.

    counted: policies that cost points. points: exercise → points. weights: facet → weight, in every exercise.
    own_weights: exercise → facet → weight; it overrides `weights`. level: what a diagnosis may say at most.
    other_forms: classes in a form of another school are graded in it. second_half: the course has its second half.
    """

    counted: frozenset[str] = frozenset()
    points: Mapping[str, float] = {}
    weights: Mapping[str, float] = {}
    own_weights: Mapping[str, Mapping[str, float]] = {}
    level: int = PAGE
    other_forms: bool = False
    second_half: bool = True

    def apply(self, bundles: Sequence[Bundle]) -> list[Bundle]:
        """Return the bundles as these rules change them."""
        if self == NO_RULES:
            return list(bundles)
        kept = (bundle for bundle in bundles if self.second_half or not bundle.second)
        return [replace(bundle, exercises=tuple(map(self._exercise, bundle.exercises))) for bundle in kept]

    def words(self) -> str:
        """Return a text that is equal for equal rules; "" for none."""
        return "" if self == NO_RULES else msgspec.json.encode(self, order="deterministic").decode()

    def _exercise(self, exercise: Exercise) -> Exercise:
        level = min(exercise.level, self.level)
        return replace(
            exercise,
            points=self.points.get(exercise.name, exercise.points),
            weights={**exercise.weights, **self.weights, **self.own_weights.get(exercise.name, {})},
            level=level,
            other_forms=self.other_forms,
            cases=tuple(
                replace(case, checks=tuple(map(self._check, case.checks))) for case in exercise.cases
            ),
            mistakes=tuple(self._mistake(mistake, level) for mistake in exercise.mistakes),
        )

    def _check(self, check: Check) -> Check:
        return replace(check, policy="") if check.policy in self.counted else check

    def _mistake(self, mistake: KnownMistake, level: int) -> KnownMistake:
        if mistake.policy in self.counted:
            mistake = replace(mistake, policy="", kind="mistake")
        asks = mistake.asks if level >= QUESTION else ""
        return replace(mistake, asks=asks, page=mistake.page if level >= PAGE else "")


NO_RULES = Rules()
