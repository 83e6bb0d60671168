"""Make a kit: fill a new folder, and prove that it holds no answer."""

from __future__ import annotations

import signal
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from grader.authoring.bank import apply
from grader.authoring.content import read_all
from grader.release.folder import fill, new_folder
from grader.release.kit import KitPlan, add_notebooks, plan
from grader.release.leaks import prove
from grader.release.wheels import add_wheelhouse
from grader.support.code import definition_span
from grader.support.files import write_atomically
from grader.support.i18n import _


def release(
    target: Path,
    *,
    solutions: Path,
    through: str | None,
    answers: bool = False,
    colab: str,
    wheelhouse: Sequence[str],
    python: str,
    tell: Callable[[str], None],
) -> tuple[KitPlan, tuple[str, ...]]:
    """Make the kit in `target`, an empty or missing folder; return its plan and what was proved about it.

    Raises UsageError, and then leaves no file, as `new_folder` does. A signal that ends the process leaves none either.

    answers: whether the kit has the answers to the questions of the lessons. solutions: assignments/ and student_template/ are beside it. colab: the address of the kit's git repository, for
    notebooks that fetch it; "": none. wheelhouse: the platforms for which wheels are downloaded (keys of
    `wheels.TARGETS`). python: the version of Python for these wheels, such as "3.12". tell: called with a few words at
    the start of each long step.
    """
    assignments = solutions.parent / "assignments"
    with _ended_by_exception(), new_folder(target) as work:
        tell(_("comparing assignments/ with solutions/"))
        chosen = plan(solutions, assignments, through)
        tell(_("filling the kit"))
        packed = fill(chosen.bundles, assignments, work, answers)
        if colab:
            add_notebooks(work, chosen, colab, packed.name)
        tell(_("looking for solutions and for the secret seed"))
        claims = prove(chosen, work, assignments, answers)
        if wheelhouse:  # after the proof, which would search these wheels of other packages, too
            add_wheelhouse(work, wheelhouse, python, tell)
    return chosen, claims


@contextmanager
def _ended_by_exception() -> Iterator[None]:
    """Let SIGTERM, and a terminal that closes, end the process by SystemExit, as Ctrl-C does by KeyboardInterrupt."""
    found = [getattr(signal, name) for name in ("SIGTERM", "SIGHUP") if hasattr(signal, name)]
    ends = [number for number in found if signal.getsignal(number) is signal.SIG_DFL]  # not ignored by nohup
    for number in ends:
        signal.signal(number, lambda number, _frame: sys.exit(128 + number))
    try:
        yield
    finally:
        for number in ends:
            signal.signal(number, signal.SIG_DFL)


def write_alternative_solutions(solutions: Path, target: Path) -> int:
    """Write the page. Return the number of its answers."""
    says = _("Every answer on this page passes its exercise. The reference solution is one of many.")
    lines = ["# " + _("Other right answers"), "", says, ""]
    count = 0
    for assignment in read_all(solutions):
        lines += [f"## {assignment.name}", ""]
        for variant in assignment.variants():
            if variant.kind in ("same", "also"):
                count += 1
                changed = apply(variant, assignment.source)
                start, stop = definition_span(changed, variant.of)
                title = f"### `{variant.of}`: {variant.id.replace('-', ' ')}"
                lines += [title, "", "```python", changed[start:stop].rstrip("\n"), "```", ""]
    write_atomically(target, "\n".join(lines).encode())
    return count
