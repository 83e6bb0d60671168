"""Make a kit: fill a temporary folder, prove that it holds no answer, then move it to its place."""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Sequence
from pathlib import Path

from grader.release.colab import add_notebooks
from grader.release.kit import KitPlan, NotReleased, fill, plan
from grader.release.proof import Proof, Tell, prove
from grader.release.wheelhouse import add_wheelhouse


def release(
    target: Path,
    *,
    solutions: Path,
    assignments: Path,
    template: Path,
    through: str | None = None,
    colab: str = "",
    wheelhouse: Sequence[str] = (),
    python: str = "",
    tell: Tell = lambda what: None,
) -> tuple[KitPlan, Proof]:
    """Make the kit in `target`, an empty or missing folder. Raises NotReleased, and then leaves no file.

    colab: the address of the kit's git repository, for notebooks that fetch it; "": none.
    wheelhouse: the platforms for which wheels are downloaded (keys of `wheelhouse.TARGETS`). python: the version of
    Python for these wheels, such as "3.12".
    tell: called with a few words at the start of each long step.
    """
    target = target.resolve()  # a link stays, and the kit gets into the folder that it names
    if target.exists() and (not target.is_dir() or any(target.iterdir())):
        raise NotReleased(f"{target} is not an empty folder")
    if not target.parent.is_dir():
        raise NotReleased(f"{target.parent} does not exist")
    chosen = plan(solutions, assignments, through)
    work = Path(tempfile.mkdtemp(dir=target.parent, prefix=f".{target.name}-"))
    try:
        packed = fill(chosen, template, assignments, work)
        if colab:
            add_notebooks(work, chosen, colab, packed.name)
        proof = prove(chosen, work, tell)
        if wheelhouse:  # after the proof, which would search these wheels of other packages, too
            add_wheelhouse(work, wheelhouse, python, tell)
        work.chmod(0o755)  # mkdtemp lets only its owner in
        if target.exists():
            target.rmdir()
        work.rename(target)
    finally:
        shutil.rmtree(work, ignore_errors=True)
    return chosen, proof
