"""docs/attacks.md is up to date, and the tests that it names exist."""

import re
import subprocess
import sys
from pathlib import Path

import pytest
from attacks.reviewed import FOUND

ROOT = Path(__file__).resolve().parents[2]


def test_the_page_is_what_the_script_writes():
    done = subprocess.run([sys.executable, "scripts/attack_table.py", "--check"], cwd=ROOT, check=False)
    assert done.returncode == 0, "run `python scripts/attack_table.py`"


@pytest.mark.parametrize("found", FOUND, ids=lambda found: found.id)
def test_the_tests_of_a_finding_exist(found):
    named = [way for way in (found.check, found.grade, found.nbgrader) if way]
    assert named
    for file, test in re.findall(r"(\S+)::(\w+)", " ".join(named)):
        assert f"def {test}(" in (ROOT / "tests" / file).read_text("utf-8")
