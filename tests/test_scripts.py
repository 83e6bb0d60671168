"""Scripts are seldom used: each can be imported, and the picture that one of them draws is up to date."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
SCRIPTS = sorted((ROOT / "scripts").glob("*.py"))
PICTURE = ROOT / "docs/pictures/report.svg"


@pytest.mark.parametrize("script", SCRIPTS, ids=lambda script: script.stem)
def test_a_script_can_be_imported(script):
    source = "import runpy, sys; sys.path.insert(0, sys.argv[1]); runpy.run_path(sys.argv[2], run_name='looked_at')"
    done = subprocess.run(
        [sys.executable, "-W", "ignore", "-c", source, str(script.parent), str(script)],
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stderr


def test_the_picture_in_the_readme_shows_todays_report(tmp_path):
    """Digits are left out: they differ from machine to machine, and so do the ids that are made from them."""
    picture = tmp_path / "report.svg"
    subprocess.run(
        [sys.executable, ROOT / "scripts/demo.py", "--svg", picture], check=True, capture_output=True
    )
    kept, drawn = (re.sub(r"<[^>]*>|[\d.]+", "", path.read_text("utf-8")) for path in (PICTURE, picture))
    assert kept == drawn, "run: python scripts/demo.py --svg docs/pictures/report.svg"
