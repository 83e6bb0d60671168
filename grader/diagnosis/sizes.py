"""Say where each of two sizes that do not match comes from: from which axis of which input, or which argument.

A size of one case may equal another size by chance, so the origin must be the same in cases of other sizes.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import permutations

from grader.bundle.model import RecordedCase
from grader.diagnosis.facts import Fact
from grader.diagnosis.signature import sizes_in
from grader.judge.observation import StudentError
from grader.support.i18n import _

MOST = 2  # origins of one size that are named; a size with more of them says little


def of_sizes(errors: Iterable[tuple[StudentError | None, RecordedCase]]) -> list[Fact]:
    """Return a fact about the origin of both sizes in the first exception, if it is about sizes that do not match; []
    if an origin is not clear.

    errors: the exceptions of cases; those that the same line raised must have the same origins, at least one of them
    with other sizes.
    """
    found = [(error, sizes_in(error), case) for error, case in errors if error is not None]
    if not found or len(found[0][1]) != 2:
        return []
    sizes, where = found[0][1], found[0][0].where
    alike = [(pair, case) for error, pair, case in found if error.where == where and len(pair) == 2]
    origins = [_common_origins([(pair[at], case) for pair, case in alike]) for at in range(2)]
    if not all(0 < len(names) <= MOST for names in origins):
        return []
    one, other = (", ".join(names) for names in origins)
    says = _("sizes that do not match: {a} ({one}) and {b} ({other})")
    return [Fact("sizes", says.format(a=sizes[0], one=one, b=sizes[1], other=other))]


def _common_origins(sizes: Sequence[tuple[str, RecordedCase]]) -> list[str]:
    """Return the axes of inputs and the arguments with this size in each case; if there are none, the quotients of two
    arguments. Return [] if all sizes are the same.
    """
    if len({size for size, _case in sizes}) < 2:
        return []
    for origins in (_names, _quotients):
        found = [[*origins(size, case)] for size, case in sizes]
        if common := [name for name in found[0] if all(name in names for names in found)]:
            return common
    return []


def _names(size: str, case: RecordedCase) -> Iterator[str]:
    """Yield the axes of inputs and the arguments with this size."""
    yield from _axes(size, case)
    yield from (f"`{name}`" for name, value in _arguments(case).items() if str(value) == size)


def _axes(size: str, case: RecordedCase) -> Iterator[str]:
    for name in (step["name"] for step in case.steps if step["do"] in ("input", "tokens")):
        shape = case.tensors[name].shape if name in case.tensors else ()
        for axis, length in enumerate(shape):
            if str(length) == size:
                yield _("axis {n} of `{input}`").format(n=axis, input=name)


def _quotients(size: str, case: RecordedCase) -> Iterator[str]:
    """Yield quotients of two arguments that have this size, such as `num_hiddens / num_heads`."""
    for (whole, n), (parts, m) in permutations(_arguments(case).items(), 2):
        if m > 0 and n % m == 0 and str(n // m) == size:
            yield f"`{whole} / {parts}`"


def _arguments(case: RecordedCase) -> dict[str, int]:
    """Return the whole numbers that constructors get."""
    built = (step["kwargs"] for step in case.steps if step["do"] == "build")
    return {name: value for kwargs in built for name, value in kwargs.items() if type(value) is int}
