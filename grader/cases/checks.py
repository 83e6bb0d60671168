"""The checks of a case. Each check is one line of the report, decided by one function in grader/judge."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from grader.bundle.model import FACETS, POLICIES, PRECISION, Check
from grader.cases.inputs import Inputs, as_stored
from grader.worker.steps import Ref


@dataclass(frozen=True)
class Again:
    """A result to check again in other dtypes: see `Case.in_other_dtypes`."""

    see: str
    title: str
    params: Mapping[str, Any]


class Checks(Inputs):
    """The methods of `Case` that add a check, with the steps that observe its result."""

    again: list[Again]
    see: Callable[[Ref], str]
    see_value: Callable[[Ref], str]
    after: Callable[..., tuple[str, ...]]

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
        """In each of `bundle.check.OTHER_DTYPES`, the result is right and has this dtype. A failure is advice.

        A float32 case is repeated in these dtypes. A case in another dtype gets the check itself. `tol`: as in
        `check_values`.
        """
        see = self.see(ref)
        if self.dtype == "float32":
            self.again.append(Again(see, title, params))
        else:
            self.check("precision", "precise", [see], f"{self.dtype}: {title}", policy=PRECISION, **params)

    def check_one_of(self, ref: Ref, title: str, facet: str) -> None:
        """The result equals that of the reference, or of another accepted answer (`bank.also`)."""
        self.check(facet, "one_of", [self.see(ref)], title)

    def check_gradients(self, names: Sequence[str], title: str, **params: Any) -> None:
        """The gradients are those of the reference. `names`: as `gradients` returns them. `tol`: see `check_values`."""
        self.check("gradients", "equal", names, title, **params)

    def check_unchanged(self, *inputs: Ref, title: str = "the arguments are unchanged") -> None:
        """The steps so far do not change the values of these inputs."""
        self.check("purity", "unchanged", self.after(*inputs), title)

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
        """A plain Python value is `want`. `says`: the message of the report if it is not."""
        self.check(facet, "value", [self.see_value(ref)], title, want=want, says=says)

    def check_same(
        self, left: Ref, right: Ref, title: str, facet: str, says: str = "", caps: bool = True
    ) -> None:
        """Two results of the student's own code agree, whatever their values."""
        self.check(facet, "same", [self.see(left), self.see(right)], title, caps=caps, says=says)
