"""A case is data: what to construct, with which weights, what to call, and what to observe and check.

An author writes a case as if calling the student's code. It is stored as a list of steps and a list of checks. A
worker runs the steps and receives no expected value (grader/worker/program.py). The judge decides the checks and runs
no student code (grader/judge/).

    case = Case("per-sequence", "masked_softmax")
    X = case.input("X", draw.normal(2, 3, 5), grad=True)
    Y = case.call(X, case.input("valid_lens", np.array([2, 5])), axes=("batch", "query", "key"))
    case.check_shape(Y)
    case.check_values(Y, title="weights of every query")
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any

import numpy as np

from grader.bundle.files import in_dtype, in_short
from grader.bundle.model import FACETS, OTHER_DTYPES, POLICIES, PRECISION, Check
from grader.bundle.safetensors import Array
from grader.cases.steps import Steps, as_stored, spelled
from grader.worker import steps as do
from grader.worker.steps import Ref


class Case(Steps):
    """A case: its author adds steps and checks with these methods. Each check is one line of the report.

    `id` is unique within its exercise. `dtype` is that of every floating tensor in it. `caps`: False if every check
    is about an optional argument that is left out, or about an unusual size; see `check`.
    """

    def __init__(self, id: str, exercise: str, dtype: str = "float32", caps: bool = True):
        super().__init__(id, exercise, dtype)
        self.caps = caps
        self.checks: list[Check] = []
        self.for_judge: dict[str, Array] = {}
        # Results to check again in other dtypes: what is seen, the title, the parameters of the check.
        self._again: list[tuple[str, str, Mapping[str, Any]]] = []
        self.like = ""  # the id of the case that this one repeats in another dtype
        self.exam: Case | None = None
        self.costly = False
        for made in _collecting:
            made.append(self)

    def hold_for_judge(self, name: str, values: Array) -> str:
        """Store a tensor for a judge only: no worker ever receives it. Returns the name."""
        self.for_judge[name] = np.asarray(values)
        return name

    def examined(self, exam: Case, costly: bool = True) -> None:
        """Measure the result of this case with the case `exam`, which runs in a worker without student code.

        The reference is not run when such a case is recorded, so `see` must get the shapes. `costly`: the examined
        case takes a few seconds, and a quick check leaves it out.
        """
        self.exam, self.costly = exam, costly

    def check(
        self,
        facet: str,
        judge: str,
        of: Sequence[str],
        title: str,
        *,
        policy: str = "",
        caps: bool = True,
        **params: Any,
    ) -> None:
        """Add a check by the name of its judge. The methods below cover the usual ones.

        policy: one of POLICIES, if a failure is advice and costs no points. caps: False for values with an unusual
        size, such as one head, or with an optional argument left out. The check is then of the facet *defaults*, whose
        failure does not limit the points. Raises ValueError for an unknown facet or policy.
        """
        facet = facet if caps and self.caps else "defaults"
        if facet not in FACETS:
            raise ValueError(f"unknown facet {facet!r}")
        if policy and policy not in POLICIES:
            raise ValueError(f"unknown policy {policy!r}")
        id = f"{self.id}/{facet}"
        taken = sum(check.id.split("#")[0] == id for check in self.checks)
        id = f"{id}#{taken + 1}" if taken else id
        self.checks.append(as_stored(Check(id, facet, title, judge, tuple(of), params, policy)))

    def check_shape(self, ref: Ref, title: str = "shape and dtype of the result", policy: str = "") -> None:
        """The shape and the dtype are those of the reference in the case's dtype; see `judge.structure.shape`."""
        self.check("shapes", "shape", [self.see(ref)], title, policy=policy)

    def check_values(self, ref: Ref, title: str, facet: str = "values", **params: Any) -> None:
        """The values are those of the reference. `tol`: relative to 1 + |reference|; replaces the default."""
        self.check(facet, "equal", [self.see(ref)], title, **params)

    def check_precision(self, ref: Ref, title: str, **params: Any) -> None:
        """In each of `bundle.model.OTHER_DTYPES`, the result is right and has this dtype. A failure is advice.

        A float32 case is repeated in these dtypes. A case in another dtype gets the check itself. `tol`: as in
        `check_values`.
        """
        see = self.see(ref)
        if self.dtype == "float32":
            self._again.append((see, title, params))
        else:
            self._check_precise(see, title, params)

    def _check_precise(self, see: str, title: str, params: Mapping[str, Any]) -> None:
        self.check("precision", "precise", [see], f"{self.dtype}: {title}", policy=PRECISION, **params)

    def check_one_of(self, ref: Ref, title: str, facet: str) -> None:
        """The result equals that of the reference, or of another accepted answer (`bank.also`)."""
        self.check(facet, "one_of", [self.see(ref)], title)

    def check_gradients(self, names: Sequence[str], title: str, **params: Any) -> None:
        """The gradients are those of the reference. `names`: as `gradients` returns them. `tol`: see `check_values`."""
        self.check("gradients", "equal", names, title, **params)

    def check_unchanged(self, *inputs: Ref, title: str = "the arguments are unchanged") -> None:
        """The steps so far do not change the values of these inputs, which are observed once more."""
        names = [f"after {ref.name}" for ref in inputs]
        for name, ref in zip(names, inputs, strict=True):
            self._add(do.After(name, ref.name))
        self.check("purity", "unchanged", names, title)

    def check_parameters(
        self, title: str = "names and shapes of the parameters", may_have: Sequence[str] = ()
    ) -> None:
        """The module has the parameters of the reference. `may_have`: further ones that change no result."""
        params: dict[str, Any] = {"may_have": list(may_have)} if may_have else {}
        self.check("purity", "parameters", ["parameters"], title, **params)

    def check_weights(
        self, name: str, title: str = "the stored attention weights", optional: bool = False
    ) -> None:
        """The stored weights equal the expected ones. `optional`: none, or another layout, passes too."""
        self.check("weights", "kept_weights", [name], title, optional=optional)

    def check_weights_of_layers(self, name: str, title: str) -> None:
        """The stored weights are those of every layer, in this order. A stack that stores none passes too."""
        self.check("weights", "kept_weights", [name], title, may_miss=True)

    def check_value(self, ref: Ref, want: Any, facet: str, title: str, says: str) -> None:
        """A bool, a number, None, or a tensor with one value is `want`. `says`: the message of the report if not."""
        self._add(do.SeeValue(name := spelled(ref), ref))
        self.check(facet, "value", [name], title, want=want, says=says)

    def check_at_most(
        self, count: str, title: str, says: str, limit: int = 0, of: str = "", share: float = 0.0
    ) -> None:
        """A count is at most `limit`, or at most `share` times the count `of`. `says`: the message if it is more."""
        params = {"share": share} if of else {"limit": limit}
        self.check("cost", "at_most", [count, of] if of else [count], title, says=says, **params)

    def check_raises_in(self, attempt: str, title: str) -> None:
        """A call that `attempt` tried raises the exception, or a subclass of it."""
        step = next(s for s in self.steps if isinstance(s, do.Attempt) and s.name == attempt)
        self.check("shapes", "attempted", [attempt], title, type=step.type)

    def check_same(
        self, left: Ref, right: Ref, title: str, facet: str, says: str = "", caps: bool = True
    ) -> None:
        """Two results of the student's own code agree, whatever their values."""
        self.check(facet, "same", [self.see(left), self.see(right)], title, caps=caps, says=says)

    def in_other_dtypes(self) -> Iterator[Case]:
        """Yield the case in each other dtype, once for each result whose precision its author asked for.

        Values and dtype of the result are checked. Which dtype an answer uses inside is not.
        """
        for see, title, params in self._again:
            for dtype in OTHER_DTYPES:
                again = Case(f"{self.id}-{dtype}", self.exercise, dtype)
                again.like, again.steps = self.id, in_short(self.steps, see)
                again.tensors = in_dtype(self.tensors, again.steps, dtype)
                again.axes = {see: self.axes[see]}
                again._check_precise(see, title, params)
                yield again


_collecting: list[list[Case]] = []  # one list per open block of `collected`


@contextmanager
def collected() -> Iterator[list[Case]]:
    """Collect every case that is constructed in the block."""
    made: list[Case] = []
    _collecting.append(made)
    try:
        yield made
    finally:
        _collecting.remove(made)
