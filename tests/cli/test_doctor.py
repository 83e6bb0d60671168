"""`grader doctor`: the oldest versions, and how many attacks a sandbox blocked."""

import re
import tomllib

from helpers.command_line import ROOT

from grader.cli import doctor
from grader.sandbox.base import Canary, TierReport


def test_doctor_ci_and_documents_state_the_versions_of_pyproject():
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
    (torch,) = (word.removeprefix("torch>=") for word in project["dependencies"] if word.startswith("torch"))
    python = project["requires-python"].removeprefix(">=")
    assert doctor._oldest_supported() == {"python": python, "torch": torch}
    assert f'"torch=={torch}.0"' in (ROOT / ".github/workflows/ci.yml").read_text("utf-8")
    supported = f"Python {python} or newer, torch {torch} or newer"
    assert supported in (ROOT / "docs/platforms.md").read_text("utf-8")
    for page in ("README.md", "student_template/README.md"):
        assert set(re.findall(r"Python (\d\.\d+) or newer", (ROOT / page).read_text("utf-8"))) == {python}


def test_doctor_counts_only_the_attacks_that_a_sandbox_must_block():
    canaries = [
        Canary("mount", held=True, promised=True, achieved=""),
        Canary("see_processes", held=True, promised=False, achieved="saw the parent's pid"),
    ]
    report = TierReport("strict", available=True, reason="", canaries=tuple(canaries))
    assert doctor._tier(report) == "available; self-test passed; number of attempts: 1"
