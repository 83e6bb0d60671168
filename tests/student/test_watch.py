"""The search for a line in `grader watch`, without a terminal."""

from helpers.command_line import make_course

from grader.intake.course import find
from grader.student.watch import Watcher

HELPER = "import math\n\n\ndef scale(d):\n    return math.sqrt(d)\n"
ANSWER = """
import torch

from helper import scale


def transpose_output(X, num_heads):
    scale(4)
    X = X.reshape(-1, num_heads, X.shape[1], X.shape[2])
    X = X.permute(0, 1, 2, 3)
    return X.reshape(X.shape[0], X.shape[1], -1)
"""


def test_the_line_is_searched_with_the_modules_beside_the_file(tmp_path, engine):
    course = make_course(tmp_path / "course", "04_heads")
    (course / "04_heads" / "helper.py").write_text(HELPER, "utf-8")
    (course / "04_heads" / "heads.py").write_text(ANSWER, "utf-8")
    watcher = Watcher(find(course), engine.launcher, "transpose_output")
    try:
        report = watcher.with_lines(watcher.grade("transpose_output"))
    finally:
        watcher.engine.close()
    (result,) = report.exercises
    first = result.diagnosis.lines[0]
    assert (first.line, first.certainty) == (10, "repaired")
