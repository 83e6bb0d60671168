"""`pytest` in a course folder shows the public checks as test items; elsewhere the plugin does nothing."""

import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from helpers.command_line import FILL_BEYOND_FLOAT16, RIGHT, ROOT, make_course, process
from helpers.command_line import run as run_grader

from grader.engine.grade_exercise import FOLDER


@pytest.fixture
def course(tmp_path) -> Path:
    return make_course(tmp_path / "course")


def run(folder: Path, *args: str) -> subprocess.CompletedProcess[str]:
    options = ("-p", "no:cacheprovider", "-rA", "--color=no")
    return process(sys.executable, "-m", "pytest", *options, *args, cwd=folder)


@pytest.mark.slow
def test_public_checks_are_items_with_their_messages(course):
    (course / "04_heads" / "heads.py").write_text(
        RIGHT + RIGHT.replace("transpose_qkv", "transpose_output"), "utf-8"
    )
    done = run(course, "04_heads")
    assert done.returncode == 1
    assert "PASSED" in done.stdout
    assert "heads.py::transpose_qkv::small/values" in done.stdout
    assert "shape" in done.stdout
    # pytest names the exception once, with its module, and shows no line of the plugin.
    assert "CheckFailed" not in done.stdout.replace("grader.student.pytest_plugin.CheckFailed", "")
    assert "Traceback" not in done.stdout


@pytest.mark.slow
def test_a_module_beside_the_file_is_used(course):
    split = RIGHT.replace("transpose_qkv", "split")
    (course / "04_heads" / "pieces.py").write_text(split, "utf-8")
    (course / "04_heads" / "heads.py").write_text(
        "from pieces import split\ndef transpose_qkv(X, num_heads):\n    return split(X, num_heads)\n"
    )
    done = run(course, "04_heads/heads.py", "-k", "transpose_qkv")
    assert done.returncode == 0, done.stdout
    assert "passed" in done.stdout


@pytest.mark.slow
def test_advice_fails_no_item_a_stub_is_skipped_and_a_syntax_error_fails(course):
    (course / "02_masking" / "masking.py").write_text(FILL_BEYOND_FLOAT16, "utf-8")
    done = run(course, "02_masking", "04_heads", "-k", "masked_softmax or heads")
    assert done.returncode == 0, done.stdout
    assert "2 skipped" in done.stdout  # the stubs of 04_heads
    assert "advice, which costs no points" in done.stdout
    assert "masked_softmax: the fill value is out of range for float16" in done.stdout
    assert "masking.py, line 4" in done.stdout
    assert "add at the top `import torch` (line 4); the grader did so" in done.stdout
    (course / "04_heads" / "heads.py").write_text("def transpose_qkv(X, num_heads)\n    pass\n", "utf-8")
    done = run(course, "04_heads")
    assert done.returncode == 1
    assert "heads.py, line 1" in done.stdout


def test_outside_a_course_the_plugin_imports_only_itself(tmp_path):
    (tmp_path / "masking.py").write_text("def masked_softmax(): pass\n", "utf-8")
    (tmp_path / "test_other.py").write_text(
        "import sys\ndef test_it():\n    ours = [m for m in sys.modules if m.startswith('grader.')]\n    assert ours == ['grader.student', 'grader.student.pytest_plugin']\n",
        "utf-8",
    )
    done = run(tmp_path)
    assert done.returncode == 0
    assert "1 passed" in done.stdout


@pytest.mark.slow
def test_the_capstone_is_graded_with_the_students_earlier_code(course, monkeypatch):
    """`grader check` finds the stored result of the training, so both grade the same code."""
    monkeypatch.delenv("CI", raising=False)  # no result is stored in CI
    for name in ("07_encoder/encoder.py", "11_capstone/capstone.py"):
        shutil.copy(ROOT / "solutions" / name, course / name)
    done = run(course, "11_capstone")
    assert done.returncode == 0, done.stdout
    stored = sorted((course / FOLDER).iterdir())
    assert stored
    assert run_grader("check", "train", cwd=course).returncode == 0
    assert sorted((course / FOLDER).iterdir()) == stored
