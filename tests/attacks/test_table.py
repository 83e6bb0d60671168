"""docs/attacks.md is up to date, and the tests that docs/fixed-faults.md names exist."""

import re

from helpers.command_line import ROOT


def test_the_page_is_what_the_script_writes(monkeypatch):
    monkeypatch.syspath_prepend(ROOT / "scripts")
    import attack_table as script

    assert script.rendered() == script.TARGET.read_text("utf-8"), "run `python scripts/attack_table.py`"


def test_the_tests_of_fixed_faults_exist():
    named = set(re.findall(r"`(test_\w+)`", (ROOT / "docs" / "fixed-faults.md").read_text("utf-8")))
    sources = [path.read_text("utf-8") for path in (ROOT / "tests").glob("*/test_*.py")]
    assert len(named) > 10
    assert [name for name in sorted(named) if not any(f"def {name}(" in source for source in sources)] == []
