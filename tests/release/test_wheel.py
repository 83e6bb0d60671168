"""The packages that the wheel of a kit requires, and what the README of the kit says."""

import re
import zipfile
from pathlib import Path

from helpers.command_line import ROOT

from grader.cli.main import COMMANDS
from grader.release.wheels import write_wheel


def test_a_kit_requires_watchfiles_and_no_instructor_s_package(tmp_path: Path):
    with zipfile.ZipFile(write_wheel(tmp_path / "wheels", ("sequence_mask",), "02")) as wheel:
        (name,) = (n for n in wheel.namelist() if n.endswith(".dist-info/METADATA"))
        needs = re.findall(r"^Requires-Dist: ([\w-]+)([^\n]*)$", wheel.read(name).decode(), re.M)
    assert "watchfiles" in dict(needs)
    assert "nbgrader" not in dict(needs)
    assert not any("extra" in rest for _package, rest in needs)


def test_the_readme_of_a_kit_shows_its_commands_and_check():
    readme = (ROOT / "student_template" / "README.md").read_text("utf-8")
    for_students = [name for name, (_group, module, _text) in COMMANDS.items() if "instructor" not in module]
    assert [name for name in for_students if f"grader {name}" not in readme] == []
    assert 'check("NAME")' in readme
