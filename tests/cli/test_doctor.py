"""`grader doctor`, the documents and CI state the oldest versions in pyproject.toml.

`grader doctor` counts the attacks that a sandbox must block.
"""

from __future__ import annotations

import re
import tomllib
from importlib.metadata import requires
from pathlib import Path

from grader.cli import doctor
from grader.sandbox.base import Canary, TierReport

ROOT = Path(__file__).resolve().parents[2]


def test_doctor_reads_the_oldest_supported_versions():
    oldest = doctor._oldest_supported()
    assert f"torch>={oldest['torch']}" in (requires("headway") or [])
    assert oldest["python"] == "3.11"


def test_ci_and_documents_state_the_versions_of_pyproject():
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
    (torch,) = (word.removeprefix("torch>=") for word in project["dependencies"] if word.startswith("torch"))
    python = project["requires-python"].removeprefix(">=")
    assert f'"torch=={torch}.0"' in (ROOT / ".github/workflows/ci.yml").read_text("utf-8")
    assert f"Python {python} or newer, torch {torch} or newer" in (ROOT / "docs/platforms.md").read_text(
        "utf-8"
    )
    for page in ("README.md", "student_template/README.md"):
        assert set(re.findall(r"Python (\d\.\d+) or newer", (ROOT / page).read_text("utf-8"))) == {python}


def test_doctor_counts_only_the_attacks_that_a_sandbox_must_block():
    canaries = [
        Canary("mount", held=True, promised=True, achieved=""),
        Canary("see_processes", held=True, promised=False, achieved="saw the parent's pid"),
    ]
    report = TierReport("strict", available=True, reason="", canaries=tuple(canaries))
    assert doctor._tier(report) == "available; self-test passed; number of attempts: 1"
