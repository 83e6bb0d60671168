"""Scripts are used now and then: each can at least be imported at any time, and says what it takes."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

SCRIPTS = sorted((Path(__file__).resolve().parents[1] / "scripts").glob("*.py"))


@pytest.mark.parametrize("script", SCRIPTS, ids=lambda script: script.stem)
def test_a_script_can_be_imported(script):
    source = "import runpy, sys; sys.path.insert(0, sys.argv[1]); runpy.run_path(sys.argv[2], run_name='looked_at')"
    done = subprocess.run(
        [sys.executable, "-W", "ignore", "-c", source, str(script.parent), str(script)],
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stderr
