"""Say where each of two sizes that do not match comes from: from which axis of which input, or which argument."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import permutations

from grader.bundle.model import RecordedCase
from grader.diagnosis.facts import Fact
from grader.diagnosis.signature import sizes_in
from grader.judge.observation import StudentError
from grader.support.i18n import _

MOST = 2  # origins of one size that are named; a size with more of them says little


def of_sizes(error: StudentError | None, case: RecordedCase) -> list[Fact]:
    """Return a fact about the origin of both sizes in an exception about sizes that do not match; [] if an origin is
    not clear.
    """
    sizes = sizes_in(error) if error is not None else ()
    origins = [list(_origins(size, case)) for size in sizes]
    if len(origins) != 2 or not all(0 < len(found) <= MOST for found in origins):
        return []
    one, other = (", ".join(found) for found in origins)
    says = _("sizes that do not match: {a} ({one}) and {b} ({other})")
    return [Fact("sizes", says.format(a=sizes[0], one=one, b=sizes[1], other=other))]


def _origins(size: str, case: RecordedCase) -> Iterator[str]:
    """Yield the axes of inputs and the arguments with this size; if there are none, the quotients of two arguments."""
    found = [
        *_axes(size, case),
        *(f"`{name}`" for name, value in _arguments(case).items() if str(value) == size),
    ]
    yield from found or _quotients(size, case)


def _axes(size: str, case: RecordedCase) -> Iterator[str]:
    for name in (step["name"] for step in case.steps if step["do"] in ("input", "tokens")):
        shape = case.tensors[name].shape if name in case.tensors else ()
        for axis, length in enumerate(shape):
            if str(length) == size:
                yield _("axis {n} of `{input}`").format(n=axis, input=name)


def _quotients(size: str, case: RecordedCase) -> Iterator[str]:
    """Yield quotients of two arguments that have this size, such as `num_hiddens / num_heads`."""
    for (whole, n), (parts, m) in permutations(_arguments(case).items(), 2):
        if m > 1 and n % m == 0 and str(n // m) == size:
            yield f"`{whole} / {parts}`"


def _arguments(case: RecordedCase) -> dict[str, int]:
    """Return the whole numbers that constructors get."""
    built = (step["kwargs"] for step in case.steps if step["do"] == "build")
    return {name: value for kwargs in built for name, value in kwargs.items() if type(value) is int}
