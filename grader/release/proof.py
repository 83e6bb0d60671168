"""Prove that a filled kit contains no answer and no hidden case, and that its package works."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
import zipfile
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from grader.authoring.hidden_cases import seed_file
from grader.release import answers as known
from grader.release import leaks, trial
from grader.release.kit import WHEELS, KitPlan, Unproved
from grader.support.scratch_dirs import owned

Tell = Callable[[str], None]


@dataclass(frozen=True)
class Proof:
    """What was proved, one sentence per claim."""

    claims: tuple[str, ...]


def prove(plan: KitPlan, kit: Path, tell: Tell) -> Proof:
    """Prove the claims about a kit. Raises Unproved with a sentence about the first that is wrong."""
    tell("looking for solutions")
    files = leaks.documents(kit)
    return Proof((_no_answers(plan, files), _nothing_hidden(plan, files), *_nothing_passes(plan, kit, tell)))


def _no_answers(plan: KitPlan, files: Sequence[leaks.Document]) -> str:
    bare = [name for a in plan.solutions for name in known.unmarked(a)]
    _refuse([f"the solution of {name} is not marked in solutions/" for name in bare])
    secret = known.answers(plan.solutions)
    _refuse(list(leaks.leaks(files, secret, plan.blocks)))
    return f"no solution, reference or other right answer in {len(files)} files; {len(secret)} answers were compared, as syntax trees and as text"


def _nothing_hidden(plan: KitPlan, files: Sequence[leaks.Document]) -> str:
    seed = seed_file().read_text("utf-8").strip()
    _refuse(list(leaks.seeds(files, seed)))
    drawn = known.drawn(plan.solutions, seed)
    _refuse(list(leaks.hidden_cases(files, drawn)))
    return f"no secret seed, and none of the {len(drawn)} tensors of its hidden cases"


def _nothing_passes(plan: KitPlan, kit: Path, tell: Tell) -> tuple[str, str]:
    tell("grading everything that can be called")
    seen = _tried(plan, kit)
    _refuse([f"{found} passes" for found in seen["passing"]])
    _refuse([f"the reference of {name} does not pass with the kit's bundle" for name in seen["unsound"]])
    _refuse(seen["started"])
    count = len(plan.exercises)
    return (
        f"none of the kit's {seen['callables']} callables passes any of its {count} exercises ({seen['trials']} trials); each reference still passes after them",
        f"all {count} exercises are not started, as file and as notebook, graded by the kit's own package",
    )


def _tried(plan: KitPlan, kit: Path) -> dict[str, Any]:
    """Run `trial.py` with the package in the kit's wheel, and return its findings."""
    scratch = owned(Path(tempfile.gettempdir()), "headway-kit")
    with tempfile.TemporaryDirectory(prefix=scratch) as unpacked:
        for path in (kit / WHEELS).glob("*.whl"):
            with zipfile.ZipFile(path) as archive:
                archive.extractall(unpacked)
        done = subprocess.run(
            # The trial ends if this process does.
            [sys.executable, "-P", trial.__file__, str(kit), str(os.getpid())],
            input=json.dumps({a.name: a.source for a in plan.solutions}),
            capture_output=True,
            text=True,
            env={**os.environ, "PYTHONPATH": unpacked, "PYTHONDONTWRITEBYTECODE": "1"},
        )
        if done.returncode:
            said = done.stderr.strip().splitlines()
            raise Unproved(f"the kit's own package does not run: {said[-1] if said else done.returncode}")
        seen: dict[str, Any] = json.loads(done.stdout)
        if Path(seen["package"]).parent.resolve() != Path(unpacked).resolve():
            raise Unproved(f"the kit's own package was not the one that ran, but {seen['package']}")
    return seen


def _refuse(found: Sequence[str]) -> None:
    """Raise Unproved with the first sentence and the number of others, if there are any."""
    if found:
        more = f" (and {len(found) - 1} more)" if len(found) > 1 else ""
        raise Unproved(f"{found[0]}{more}")
