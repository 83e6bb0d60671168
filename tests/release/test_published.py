"""What is published: a wheel that starts the course, and gives no answer away."""

import re
import shutil
import sys
import tarfile
import zipfile
from collections.abc import Iterator
from email import message_from_bytes
from pathlib import Path

import pytest
from helpers.command_line import ROOT, process

from grader.authoring.content import read_all
from grader.authoring.hidden_cases import seed_file
from grader.bundle.answers import ANSWERS_FILE
from grader.bundle.files import load_all
from grader.given import BLOCKS
from grader.intake.course import MARK
from grader.release.folder import files_of_lesson, fill
from grader.release.leaks import MIN_TEXT, _plain, answers, documents, leaks, seeds

pytestmark = pytest.mark.slow

SOLUTIONS = read_all(ROOT / "solutions")
COURSE = "grader/course/"
CLUTTER = shutil.ignore_patterns("__pycache__", ".headway", ".pytest_cache", ".ipynb_checkpoints")


@pytest.fixture(scope="module")
def dist(tmp_path_factory) -> Path:
    """Build all that the checkout would publish, from a copy without files of earlier runs."""
    source, made = tmp_path_factory.mktemp("source"), tmp_path_factory.mktemp("dist")
    for folder in ("grader", "assignments", "student_template", "solutions", "docs"):
        shutil.copytree(ROOT / folder, source / folder, ignore=CLUTTER)
    for name in ("pyproject.toml", "LICENSE", "README.md"):
        shutil.copy(ROOT / name, source)
    done = process(sys.executable, "-m", "hatchling", "build", "--directory", made, cwd=source)
    assert done.returncode == 0, done.stderr
    return made


@pytest.fixture(scope="module")
def files(dist) -> dict[str, bytes]:
    """Return the files of the wheel by their names."""
    (wheel,) = dist.glob("*.whl")
    with zipfile.ZipFile(wheel) as archive:
        return {name: archive.read(name) for name in archive.namelist()}


def wrong_answers() -> Iterator[tuple[str, str]]:
    """Yield the code of each known mistake and mutant, as `leaks` compares it, and its id."""
    for assignment in SOLUTIONS:
        for mistake in (*assignment.mistakes(), *assignment.mutants()):
            for form in (mistake, *mistake.forms):
                for code in (form.code, *(edit.new for edit in form.edits)):
                    if len(_plain(code)) >= MIN_TEXT:
                        yield _plain(code), mistake.id


def test_the_wheel_holds_the_grader_the_course_and_the_template(files):
    course = {
        f"{a.name}/{name}"
        for a in SOLUTIONS
        for name in (*files_of_lesson(a.module), *a.pictures, *a.pages, *a.answers)
    } | {MARK}
    assert {name.removeprefix(COURSE) for name in files if name.startswith(COURSE)} == course
    others = {name.split("/")[1] for name in files if name.startswith("grader/")}
    assert others == {p.name for p in (ROOT / "grader").iterdir() if p.name != "__pycache__"} | {
        "course",
        "student_template",
    }
    (about,) = {name.split("/")[0] for name in files} - {"grader"}
    assert about.endswith(".dist-info")


def test_no_file_of_the_wheel_holds_an_answer_a_mistake_or_a_seed(files):
    secret = {**answers(SOLUTIONS), **dict(wrong_answers())}
    # `leaks` knows the lessons by their folders, and a building block by the wheel that it is in.
    inside = {
        name.removeprefix(COURSE) if name.startswith(COURSE) else f"!{name}": data
        for name, data in files.items()
        if not name.endswith(f"/{ANSWERS_FILE}")  # the public course has them
    }
    assert len(secret) > 500
    template = (
        "!grader/authoring/templates/module.py.jinja"  # `grader new` writes it: a module with its solution
    )
    assert list(leaks(inside, secret, BLOCKS)) == [f"{template} holds the mark of a solution"]
    assert list(seeds(files, seed_file().read_text("utf-8").strip())) == []


def test_a_source_distribution_would_hold_no_solution(dist):
    (archive,) = dist.glob("*.tar.gz")
    with tarfile.open(archive) as opened:
        tops = {name.split("/")[1] for name in opened.getnames() if "/" in name}
    assert tops == {
        "PKG-INFO",
        "LICENSE",
        "assignments",
        "docs",
        "grader",
        "pyproject.toml",
        "student_template",
    }


def test_the_page_of_the_package_is_complete_and_has_absolute_links(files):
    about = message_from_bytes(next(data for name, data in files.items() if name.endswith("/METADATA")))
    assert all(
        about[field] for field in ("Author", "Keywords", "Classifier", "License-Expression", "Summary")
    )
    page = about.get_payload()
    links = re.findall(r"\]\(([^)]*)\)", page)
    assert [link for link in links if not link.startswith("https://")] == []
    assert links
    assert "grader start" in page


def test_the_installed_wheel_writes_what_a_kit_has(dist, tmp_path):
    """Without torch, too: only its worker needs it."""
    (wheel,) = dist.glob("*.whl")
    site = tmp_path / "site"
    with zipfile.ZipFile(wheel) as archive:
        archive.extractall(site)
    code = "import sys; sys.modules['torch'] = None; from grader.cli import run; run()"
    done = process(
        sys.executable, "-c", code, "start", "attention", cwd=tmp_path, env={"PYTHONPATH": str(site)}
    )
    assert (done.returncode, done.stderr) == (0, "")
    kit = tmp_path / "kit"
    kit.mkdir()
    fill(load_all(ROOT / "assignments"), ROOT / "assignments", kit, answers=True)
    assert documents(tmp_path / "attention") == documents(kit)
