"""The commands of students, in a process that sees the standard library of Windows or of macOS.

`helpers/other_platform.py` says what this covers. These tests do not show that the grader runs on these systems.
"""

from __future__ import annotations

import json
import os
import shutil
import sys
from pathlib import Path

import pytest
from helpers import other_platform
from helpers.command_line import RIGHT, WRONG
from helpers.emulated import PLATFORMS, PYTEST, READY, TYPESHED, Student, points, until
from helpers.lanes import first_of_each

ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture
def course(tmp_path) -> Path:
    folder = tmp_path / "Übung eins"
    shutil.copytree(ROOT / "assignments" / "04_heads", folder / "04_heads")
    shutil.copy(ROOT / "assignments" / "headway.toml", folder)
    return folder


def student(platform: str, course: Path, package: Path = ROOT) -> Student:
    return Student(platform, Path(sys.executable), course, {"PYTHONPATH": str(package)})


def outcomes(done) -> dict[str, str]:
    assert "Traceback" not in done.stderr, done.stderr
    return {e["name"]: e["outcome"] for e in json.loads(done.stdout)["exercises"]}


def save(course: Path, source: str) -> None:
    with open(course / "04_heads" / "heads.py", "a", encoding="utf-8") as file:
        file.write("\n\n" + source)


@pytest.mark.parametrize("platform", first_of_each(PLATFORMS))
def test_check_grades_on_another_platform(platform, course):
    save(course, RIGHT)
    done = student(platform, course).run("check", "transpose_qkv", "--format", "json")
    assert outcomes(done) == {"transpose_qkv": "passed"}


@pytest.mark.parametrize("platform", first_of_each(PLATFORMS))
def test_hint_and_reset_work_on_another_platform(platform, course):
    before = (course / "04_heads" / "heads.py").read_text("utf-8")
    save(course, WRONG)
    hint = student(platform, course).run("hint", "transpose_qkv")
    assert "1. " in hint.stdout, hint.stderr
    done = student(platform, course).run("reset", "transpose_qkv")
    assert "Reset transpose_qkv" in done.stdout, done.stderr
    assert (course / "04_heads" / "heads.py").read_text("utf-8").startswith(before.strip())
    assert len(list((course / "04_heads").glob("*.old"))) == 1


@pytest.mark.slow
@pytest.mark.parametrize("platform", PLATFORMS)
def test_pytest_shows_checks_on_another_platform(platform, course):
    save(course, WRONG)
    done = student(platform, course).run("-q", "-p", "no:cacheprovider", code=PYTEST)
    assert "transpose_qkv" in done.stdout, done.stderr
    assert done.returncode == 1
    save(course, RIGHT)
    done = student(platform, course).run("-q", "-p", "no:cacheprovider", "-k", "transpose_qkv", code=PYTEST)
    assert done.returncode == 0, done.stdout


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore::DeprecationWarning")
@pytest.mark.parametrize("platform", PLATFORMS)
def test_check_in_a_notebook_grades_on_another_platform(platform, course):
    call = 'check("transpose_qkv")'
    shown = student(platform, course).execute(
        course / "04_heads", ["from grader import check", WRONG, call, RIGHT, call]
    )
    assert points(shown[2]) < points(shown[4]) == 3


@pytest.mark.slow
@pytest.mark.parametrize("platform", PLATFORMS)
def test_watch_grades_saves_on_another_platform(platform, course):
    with student(platform, course).watch("transpose_qkv") as end:
        save(course, WRONG)
        assert "known mistake" in until(end, READY)
        save(course, RIGHT)
        assert "All checks passed." in until(end, READY)


# ---- the stand-ins of a platform lack what the platform lacks

# (platform, file of the grader, text in the file, replacement that uses what the platform lacks)
BROKEN = [
    ("win32", "sandbox/basic.py", "                **process_tree.", "                pass_fds=(request,),\n                **process_tree."),
    ("win32", "sandbox/basic.py", "        self._exit: Exit | None = None", "        os.set_blocking(self.log, True)\n        self._exit: Exit | None = None"),
    ("win32", "sandbox/channel.py", "import os\n", "import os\nimport fcntl\n"),
    ("win32", "support/scratch_dirs.py", 'if sys.platform == "win32":', "if False:"),
    ("darwin", "sandbox/channel.py", "        self._ended = self._closed = False", "        self._ended = self._closed = os.sched_getaffinity(0) is None"),
    ("darwin", "support/atomic_files.py", "        os.chmod(name, mode)\n", "        os.O_TMPFILE\n        os.chmod(name, mode)\n"),
    ("darwin", "sandbox/process_group.py", "        with contextlib.suppress(OSError):\n", "        with contextlib.suppress(OSError):\n            signal.pidfd_send_signal\n"),
]  # fmt: skip


@pytest.mark.slow
@pytest.mark.parametrize(("platform", "file", "text", "replacement"), BROKEN)
def test_a_call_that_the_platform_lacks_fails(platform, file, text, replacement, course, tmp_path):
    shutil.copytree(ROOT / "grader", tmp_path / "grader", ignore=shutil.ignore_patterns("__pycache__"))
    source = (tmp_path / "grader" / file).read_text("utf-8")
    assert source.count(text) == 1
    (tmp_path / "grader" / file).write_text(source.replace(text, replacement), "utf-8")
    save(course, RIGHT)
    # For scratch_dirs.py: with a scratch folder of process 1, the grader asks whether that process is alive.
    scratch = Path(os.environ.get("TMPDIR", "/tmp")) / "headway-1-x"
    scratch.mkdir(exist_ok=True)
    try:
        done = student(platform, course, tmp_path).run("check", "transpose_qkv", "--format", "json")
    finally:
        scratch.rmdir()
    assert "Traceback" in done.stderr or "passed" not in done.stdout


def test_missing_names_are_those_that_typeshed_leaves_out():
    stubs = other_platform.Typeshed(TYPESHED)
    assert {"fork", "killpg", "O_TMPFILE", "geteuid"} <= stubs.missing("os", "win32")
    assert {"O_TMPFILE", "pidfd_open", "sched_getaffinity"} <= stubs.missing("os", "darwin")
    assert "fork" not in stubs.missing("os", "darwin")
    assert {"SIGKILL", "pthread_sigmask"} <= stubs.missing("signal", "win32")
    assert "socketpair" not in stubs.missing("socket", "win32")
    assert not any(stubs.names(name, "win32") for name in ("fcntl", "termios", "resource", "pwd"))
