"""docs/recipes.md: the commands in blocks marked `sh` and the files for Gradescope and GitLab work."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import zipfile
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest
import yaml
from helpers.command_line import HANGS_AFTER
from helpers.guide import MASK, ROOT, SOFTMAX, TOO_LATE, commands

from grader.sandbox.choose import report_on

pytestmark = pytest.mark.slow

GUIDE = ROOT / "docs" / "recipes.md"
BIN = Path(sys.executable).parent
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


def environment(home: Path, **more: str) -> dict[str, str]:
    inherited = {k: v for k, v in os.environ.items() if not k.startswith(("HEADWAY", "XDG", "AUTOGRADER"))}
    return {
        **inherited,
        "HOME": str(home),
        "XDG_CACHE_HOME": str(home / "cache"),
        "PATH": f"{BIN}:{os.environ['PATH']}",
        **more,
    }


@pytest.fixture(scope="module")
def runs(home: Path) -> dict[str, subprocess.CompletedProcess[str]]:
    """Run every command in a block marked `sh` in a checkout with one assignment. Return command → its run."""
    for top in ("assignments", "solutions"):
        shutil.copytree(ROOT / top / "02_masking", home / top / "02_masking")
    shutil.copy(ROOT / "assignments" / "headway.toml", home / "assignments")
    (home / "docs").symlink_to(ROOT / "docs")
    for student, text in {"ada": RIGHT, "bob": WRONG}.items():
        place = home / "submissions" / student
        place.mkdir(parents=True)
        (place / "masking.py").write_text(text, "utf-8")
    return {
        line: subprocess.run(
            ["bash", "-c", line],
            cwd=home,
            env=environment(home, HEADWAY_COURSE=str(home / "assignments")),
            capture_output=True,
            text=True,
            timeout=HANGS_AFTER,
        )
        for line in commands(GUIDE)
    }


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
    return subprocess.run(
        [base / script],
        cwd=base,
        env=environment(base / "nobody", AUTOGRADER=str(base), **more)
        | {"XDG_CACHE_HOME": str(base / "cache")},
        capture_output=True,
        text=True,
        timeout=HANGS_AFTER,
    )


def submit(base: Path, files: dict[str, str]) -> None:
    """Replace the submission, and remove the results of the one before."""
    shutil.rmtree(base / "submission", ignore_errors=True)
    shutil.rmtree(base / "results", ignore_errors=True)
    (base / "results").mkdir()
    (base / "submission").mkdir()
    for name, text in files.items():
        path = base / "submission" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, "utf-8")


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
        ({"masking.ipynb": notebook(RIGHT), "helper.py": "x = 1\n"}, 8.0),
        ({"course/02_masking/masking.py": RIGHT, "course/03_other/other.py": "x = 1\n"}, 8.0),
        ({"masking.py": "def masked_softmax(:\n"}, 0.0),
        ({"masking.py": HEAD + MASK}, 3.0),
    ],
)
def test_the_file_to_grade_is_found_in_a_submission(image, files, score):
    found = results(image, files)
    assert found["score"] == score
    assert sum(test["max_score"] for test in found["tests"]) == 8
    assert found["extra_data"]["sandbox"] == "landlock"


@landlocked
def test_a_wrong_answer_gets_a_reason_and_keeps_other_points(image):
    found = results(image, {"masking.py": WRONG})
    mask, softmax = found["tests"]
    assert (mask["status"], mask["score"]) == ("passed", 3.0)
    assert softmax["status"] == "failed"
    assert 0 < softmax["score"] < 5
    assert "known mistake: the weights of the padding are set to zero after the softmax" in softmax["output"]


@landlocked
@pytest.mark.parametrize(
    ("files", "says"),
    [
        ({}, "This submission holds no .py and no .ipynb."),
        ({"a.py": RIGHT, "b.py": WRONG}, "This submission holds a.py, b.py."),
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
    done = subprocess.run(
        [sys.executable, ROOT / "docs/recipes/gradescope/pack.py", "77_nothing", tmp_path / "x.zip"],
        capture_output=True,
        text=True,
        timeout=HANGS_AFTER,
    )
    assert done.returncode == 1
    assert "there is no assignment 77_nothing; there are 01_" in done.stderr
    assert not (tmp_path / "x.zip").exists()


# ---- GitLab


def test_the_job_for_gitlab_writes_a_junit_report(home, runs, tmp_path):
    job = yaml.safe_load((ROOT / "docs" / "recipes" / "gitlab-ci.yml").read_text("utf-8"))["check"]
    command = next(line for line in job["script"] if line.startswith("grader "))
    shutil.copytree(home / "assignments", tmp_path / "course")
    done = subprocess.run(
        ["bash", "-c", command],
        cwd=tmp_path / "course",
        env=environment(home),
        capture_output=True,
        text=True,
        timeout=HANGS_AFTER,
    )
    assert done.returncode == 1, done.stderr  # the exercises are not started
    report = tmp_path / "course" / job["artifacts"]["reports"]["junit"]
    assert [suite.get("name") for suite in ElementTree.parse(report).getroot().iter("testsuite")]
