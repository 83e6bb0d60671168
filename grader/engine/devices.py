"""The facet `device`: run the cases again on another device, and report the comparison as one check per exercise."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from shutil import which

from grader.engine.draft import exact, score, share
from grader.engine.engine import Engine
from grader.intake.read import Submission
from grader.judge.verdict import SKIPPED
from grader.report.finding import PUBLIC
from grader.report.model import CheckResult, ExerciseResult
from grader.sandbox.base import Launcher
from grader.support.errors import UsageError
from grader.support.i18n import _


def extra_devices(device: str) -> tuple[str, ...]:
    """Return the devices that `--device` asks for, if it is not "cpu". Raises UsageError if one is not there."""
    if device == "cuda" and not has_cuda():
        raise UsageError(_("no CUDA device found; use --device sim"))
    if device == "auto":
        return ("sim", "cuda") if has_cuda() else ("sim",)
    return (device,)


def has_cuda() -> bool:
    """Whether torch sees a CUDA device. Without a driver, torch is not imported: that would take seconds."""
    driver = any(Path("/dev").glob("nvidia[0-9]*")) or Path("/dev/dxg").exists() or which("nvidia-smi")
    if not driver:
        return False
    asks = "import sys, torch; sys.exit(not torch.cuda.is_available())"
    return subprocess.run([sys.executable, "-W", "ignore", "-c", asks], capture_output=True).returncode == 0


def launcher_for(device: str, sandbox: str = "auto") -> Launcher:
    """Return a launcher for another device than the CPU: "sim" or "cuda". Raises SandboxError.

    The simulated device must be registered before torch computes its first gradient, so "sim" has its own
    worker server.
    CUDA does not work after a fork, so workers for "cuda" start without a server, and are confined less.
    """
    if device == "cuda":
        from grader.sandbox.basic import ColdLauncher

        return ColdLauncher(cuda=True)
    from grader.sandbox.base import Program
    from grader.sandbox.choose import choose

    return choose(sandbox, Program(prepare="grader.worker.sim:register"))


def check_on_device(
    engine: Engine, submission: Submission, results: Sequence[ExerciseResult]
) -> list[ExerciseResult]:
    """Grade again with an engine for another device. Add one check to each result.

    The check passes if all that passed on the CPU passes on the other device. A result is unchanged if none of its
    checks passed, or if its exercise gives the facet `device` the weight 0.
    """
    weights = {e.name: e.weights for e in engine.exercises.values()}
    right = [r.name for r in results if any(c.outcome == "passed" for c in r.checks)]
    wanted = [name for name in right if weights[name].get("device", 1)]
    found = {r.name: r for r in results}
    for there in engine.grade(submission, wanted).exercises if wanted else ():
        here = found[there.name]
        check = _compared(here, there, engine.options.device)
        found[there.name] = _with(here, check, weights[here.name])
    return list(found.values())


def _with(here: ExerciseResult, check: CheckResult, weights: Mapping[str, float]) -> ExerciseResult:
    """Return the result with the check of the device added, and with its score scaled by the change in points."""
    checks = (*here.checks, check)
    if check.outcome == "skipped" or here.score is None or here.outcome == check.outcome == "passed":
        return replace(here, checks=checks)
    before, after = share(weights, here.checks), share(weights, checks)
    # The score is rounded. If it is not what the checks give, something else decided it, such as a forbidden call.
    whole = exact(here.points) * before
    reached = whole if score(here.points, before) == here.score else exact(here.score)
    return replace(
        here,
        checks=checks,
        score=score(here.points, reached / exact(here.points) * after / before) if whole else 0.0,
        outcome="failed" if check.outcome == "failed" else here.outcome,
    )


def _compared(here: ExerciseResult, there: ExerciseResult, device: str) -> CheckResult:
    """Return one check for everything that passed on the CPU. If checks fail only on the other device, it reports the
    first of them.
    """
    passed_here = {c.id for c in here.checks if c.outcome == "passed"}
    compared = [c for c in there.checks if c.id in passed_here]
    base = CheckResult(
        id=f"{device}/device",
        facet="device",
        title=_("same result on a simulated accelerator") if device == "sim" else _("same result on a GPU"),
        outcome="passed",
        device=device,
        visibility=here.checks[0].visibility,
    )
    broken = next((c for c in compared if c.outcome == "failed"), None)
    if broken is not None:
        copied = ("message", "expected", "got", "where", "rule", "file", "line")
        return replace(base, outcome="failed", **{name: getattr(broken, name) for name in copied})
    if there.outcome == "blocked":
        return replace(base, outcome="failed", message=there.message)
    lost = next((c for c in there.checks if c.outcome == "could_not_grade"), None)
    if lost is not None or there.outcome == "could_not_grade":
        return replace(base, outcome="could_not_grade", message=lost.message if lost else there.message)
    if any(c.outcome == "skipped" for c in compared):
        return replace(base, outcome="skipped", message=PUBLIC.sentence(SKIPPED))
    return base
