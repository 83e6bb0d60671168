"""What an answer printed: in every format, and cut to size. More in tests/files/grading.md."""

from grader.report.html import page
from grader.report.model import to_json

ANSWER = "def sequence_mask(X, valid_len, value=0):\n    {}\n    return X\n"


def test_printed_lines_are_in_html_and_json(grade):
    report = grade(ANSWER.format("print('the shape is', tuple(X.shape))"), ["sequence_mask"])
    (result,) = report.exercises
    assert result.printed == "the shape is (5, 4)\nthe shape is (5, 4)"  # the case calls the function twice
    assert "the shape is (5, 4)" in page(report)
    assert to_json(report)["exercises"][0]["printed"] == result.printed


def test_long_lines_are_cut(grade):
    (result,) = grade(ANSWER.format("for i in range(9): print(i, 'x' * 5000)"), ["sequence_mask"]).exercises
    assert len(result.printed) < 1200
    assert result.printed.startswith("0 xxx")
