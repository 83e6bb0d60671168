"""The page about the suite says what the suite is."""

import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]


def test_the_page_is_what_the_suite_gives():
    done = subprocess.run([sys.executable, "scripts/attack_table.py", "--check"], cwd=ROOT, check=False)
    assert done.returncode == 0, "run `python scripts/attack_table.py`"
