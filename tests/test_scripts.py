"""Each script can be imported, the picture in README.md is up to date, and no text installs a stranger's package."""

import re
import sys

import pytest
from helpers.command_line import ROOT, process

SCRIPTS = sorted((ROOT / "scripts").glob("*.py"))
PICTURE = ROOT / "docs/pictures/report.svg"


@pytest.mark.slow
@pytest.mark.parametrize("script", SCRIPTS, ids=lambda script: script.stem)
def test_a_script_can_be_imported(script):
    source = (
        "import runpy, sys; sys.path.insert(0, sys.argv[1]); runpy.run_path(sys.argv[2], run_name='script')"
    )
    done = process(sys.executable, "-W", "ignore", "-c", source, script.parent, script)
    assert done.returncode == 0, done.stderr


@pytest.mark.slow
def test_the_picture_in_the_readme_is_up_to_date(tmp_path):
    """Digits are not compared, because times and generated ids differ between machines."""
    picture = tmp_path / "report.svg"
    process(sys.executable, ROOT / "scripts/demo.py", "--svg", picture, check=True)
    stored, drawn = (re.sub(r"<[^>]*>|[\d.]+", "", path.read_text("utf-8")) for path in (PICTURE, picture))
    assert stored == drawn, "run: python scripts/demo.py --svg docs/pictures/report.svg"


def test_no_text_installs_the_name_headway_from_an_index():
    """The name is not registered on the package index, so a stranger could register it."""
    globs = ("*.md", "docs/**/*.md", "student_template/**/*", "grader/**/*.py")
    files = [path for pattern in globs for path in ROOT.glob(pattern) if path.is_file()]
    install = re.compile(r"pip install (?:--?\S+ )*['\"]?headway(?![-\w]*[-\w.…]*\.whl)")
    assert [path.name for path in files if install.search(path.read_text("utf-8", "replace"))] == []
    assert install.search("pip install 'headway[cluster]'")
    assert not install.search("pip install headway-….whl")
