"""docs/recipes.md: the commands in blocks marked `sh` and the files for Gradescope and GitLab work."""

import json
import shutil
import subprocess
import sys
import zipfile
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest
import yaml
from helpers.command_line import ROOT, make_course, process
from helpers.files import fill
from helpers.guide import MASK, SOFTMAX, TOO_LATE, commands
from helpers.nbgrader_class.school import BIN, environment
from helpers.school import make_school

from grader.sandbox.choose import report_on

pytestmark = pytest.mark.slow

GUIDE = ROOT / "docs" / "recipes.md"
HEAD = "import torch\n"
RIGHT, WRONG = HEAD + MASK + SOFTMAX, HEAD + MASK + TOO_LATE

# https://gradescope-autograders.readthedocs.io/en/latest/specs/
BOTH = {"score", "output", "output_format", "visibility", "extra_data"}
RESULTS = BOTH | {"execution_time", "stdout_visibility", "tests"}
TEST = BOTH | {"max_score", "name", "name_format", "number", "status", "tags"}

landlocked = pytest.mark.skipif(
    not report_on("landlock").available, reason="NOT TESTED: no landlock on this machine"
)


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("home")


@pytest.fixture(scope="module")
def runs(home: Path) -> dict[str, subprocess.CompletedProcess[str]]:
    """Run every command in a block marked `sh` in a checkout with one assignment. Return command → its run."""
    make_school(home, "02_masking")
    (home / "docs").symlink_to(ROOT / "docs")
    fill(home / "submissions", {"ada/masking.py": RIGHT, "bob/masking.py": WRONG})
    its = environment(home, home / "cache", HEADWAY_COURSE=str(home / "assignments"))
    return {line: process("bash", "-c", line, cwd=home, env=its) for line in commands(GUIDE)}


def test_the_commands_work(runs, home):
    assert [(line.split()[1], done.returncode) for line, done in runs.items()] == [
        ("docs/recipes/gradescope/pack.py", 0),
        ("grade", 1),
    ], [done.stderr for done in runs.values()]
    marks = (home / "marks.csv").read_text("utf-8")
    assert "softmax-masked-too-late" in marks


# ---- Gradescope


@pytest.fixture(scope="module")
def image(runs, home) -> Path:
    """Make a copy of Gradescope's /autograder: unpack the zip and run setup.sh, with this environment's packages."""
    base = home / "autograder"
    with zipfile.ZipFile(home / "autograder.zip") as archive:
        archive.extractall(base / "source")
        modes = {info.filename: info.external_attr >> 16 for info in archive.infolist()}
    for name in ("run_autograder", "setup.sh"):  # zipfile loses the executable bit
        (base / "source" / name).chmod(modes[name])
    shutil.copy(base / "source" / "run_autograder", base)
    (base / "venv").symlink_to(BIN.parent)
    done = call(base, "source/setup.sh")
    assert done.returncode == 0, done.stdout + done.stderr
    assert "get no points" in done.stdout  # setup.sh grades the empty stubs
    return base


def call(base: Path, script: str, **more: str) -> subprocess.CompletedProcess[str]:
    its = environment(base / "nobody", base / "cache", AUTOGRADER=str(base), **more)
    return process(base / script, cwd=base, env=its)


def submit(base: Path, files: dict[str, str]) -> None:
    """Replace the submission, and remove the results of the one before."""
    for name in ("submission", "results"):
        shutil.rmtree(base / name, ignore_errors=True)
        (base / name).mkdir()
    fill(base / "submission", files)


def results(base: Path, files: dict[str, str]) -> dict[str, Any]:
    """Grade a submission as Gradescope does. Return its results.json, which follows the documented format."""
    submit(base, files)
    done = call(base, "run_autograder")
    assert done.returncode == 0, done.stdout + done.stderr
    found = json.loads((base / "results" / "results.json").read_text("utf-8"))
    assert found.keys() <= RESULTS
    assert all(test.keys() <= TEST for test in found["tests"])
    return found


def notebook(text: str) -> str:
    return json.dumps({"cells": [{"cell_type": "code", "source": text}], "metadata": {}, "nbformat": 4})


@landlocked
@pytest.mark.parametrize(
    ("files", "score"),
    [
        ({"masking.py": RIGHT}, 8.0),
        ({"my answer.ipynb": notebook(RIGHT)}, 8.0),
        ({"course/02_masking/masking.py": RIGHT, "course/03_other/other.py": "x = 1\n"}, 8.0),
        ({"masking.ipynb": notebook(HEAD + MASK), "helper.py": "x = 1\n"}, 3.0),
    ],
)
def test_the_file_to_grade_is_found_in_a_submission(image, files, score):
    found = results(image, files)
    assert found["score"] == score
    assert sum(test["max_score"] for test in found["tests"]) == 8
    assert found["extra_data"]["sandbox"] == "landlock"


@landlocked
def test_a_wrong_answer_gets_a_reason_and_keeps_other_points(image):
    mask, softmax = results(image, {"masking.py": WRONG})["tests"]
    assert (mask["status"], mask["score"]) == ("passed", 3.0)
    assert softmax["status"] == "failed"
    assert 0 < softmax["score"] < 5
    assert "known mistake: the weights of the padding are set to zero after the softmax" in softmax["output"]


@landlocked
@pytest.mark.parametrize(
    ("files", "says"),
    [
        ({}, "This submission holds no .py and no .ipynb."),
        ({"x/masking.py": RIGHT, "y/masking.py": WRONG}, "This submission holds masking.py, masking.py."),
        ({"essay.txt": "dear sirs"}, "Please submit one file, named masking.py or masking.ipynb"),
    ],
)
def test_a_submission_with_no_or_several_files_is_refused(image, files, says):
    found = results(image, files)
    assert found["score"] == 0
    assert says in found["output"]


@landlocked
def test_a_submission_cannot_read_the_solution_beside_it(image):
    peek = (
        "import pathlib\n"
        f"base = pathlib.Path({str(image / 'source')!r})\n"
        "TAKEN = [(base / 'seed').read_text(), next(base.glob('headway/solutions/*/*.py')).read_text()]\n"
        "exec(TAKEN[1])\n"
    )
    found = results(image, {"masking.py": peek})
    assert found["score"] == 0
    assert (image / "source" / "seed").read_text("utf-8").strip() not in json.dumps(found)


@landlocked
def test_a_grading_that_fails_leaves_no_results(image):
    submit(image, {"masking.py": RIGHT})
    (image / "results" / "results.json").write_text('{"score": 0}', "utf-8")  # from an earlier run
    done = call(image, "run_autograder", HEADWAY_SANDBOX="nonsense")
    assert done.returncode == 1
    assert "no fault of the submission" in done.stdout
    assert not (image / "results" / "results.json").exists()


def test_an_unknown_assignment_is_not_packed(tmp_path):
    pack = ROOT / "docs/recipes/gradescope/pack.py"
    done = process(sys.executable, pack, "77_nothing", tmp_path / "x.zip")
    assert done.returncode == 1
    assert "there is no assignment 77_nothing; there are 01_" in done.stderr
    assert not (tmp_path / "x.zip").exists()


# ---- GitLab


def test_the_job_for_gitlab_writes_a_junit_report(home, tmp_path):
    job = yaml.safe_load((ROOT / "docs" / "recipes" / "gitlab-ci.yml").read_text("utf-8"))["check"]
    command = next(line for line in job["script"] if line.startswith("grader "))
    course = make_course(tmp_path / "course", "02_masking")
    done = process("bash", "-c", command, cwd=course, env=environment(home, home / "cache"))
    assert done.returncode == 1, done.stderr  # the exercises are not started
    report = course / job["artifacts"]["reports"]["junit"]
    assert [suite.get("name") for suite in ElementTree.parse(report).getroot().iter("testsuite")]
