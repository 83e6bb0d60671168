"""Each file that has a pattern in `helpers/lanes.py` has fast tests and slow tests."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest
from helpers.command_line import HANGS_AFTER
from helpers.lanes import SLOW_FILES

TESTS = Path(__file__).resolve().parent


@pytest.mark.slow
@pytest.mark.parametrize("lane", ["slow", "not slow"])
def test_a_file_with_a_pattern_has_tests_in_both_lanes(lane):
    partly_slow = [name for name, pattern in SLOW_FILES.items() if pattern]
    command = [sys.executable, "-m", "pytest", "--collect-only", "-m", lane]
    files = [f"tests/{name}" for name in partly_slow]
    done = subprocess.run(
        [*command, *files], cwd=TESTS.parent, capture_output=True, text=True, timeout=HANGS_AFTER
    )
    assert done.returncode == 0, done.stdout + done.stderr
    found = {line.partition("::")[0] for line in done.stdout.splitlines()}
    assert [name for name in files if name not in found] == []
