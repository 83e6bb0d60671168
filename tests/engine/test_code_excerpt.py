"""What a report shows of an answer: its lines, which of them are marked, and what it printed."""

from dataclasses import replace
from pathlib import Path

from grader.diagnosis.match import Diagnosed
from grader.engine.draft import Draft
from grader.engine.result import code
from grader.intake.names import read_names
from grader.intake.read import submission_from
from grader.report.finding import Fact
from grader.report.html import page
from grader.report.model import to_json


def test_the_line_of_a_slip_is_not_marked_for_a_known_mistake():
    source = "x = 1\ndef f():\n    return 2\n"
    submission = submission_from(Path("a.py"), source.encode())
    definition = read_names(submission).definitions["f"]
    slip = Fact("slip", {"file": "a.py", "line": 3, "slip": "a slip"})
    bare = Draft("failed", remarks=(slip,))
    known = replace(bare, diagnosed=Diagnosed("exact", (("m",),)))
    assert code(bare, submission, definition).marked == (3,)
    assert code(known, submission, definition).marked == ()


def test_a_named_line_is_marked_unless_it_begins_the_definition():
    submission = submission_from(Path("a.py"), b"def f():\n    return 2\n")
    definition = read_names(submission).definitions["f"]
    note = Fact("note", {"file": "a.py", "line": 1, "type": "ValueError", "message": ""})
    draft = Draft("failed", note)
    assert code(draft, submission, definition).marked == ()
    assert code(draft, submission, None).marked == (1,)


def test_printed_lines_are_cut_and_in_html_and_json(grade):
    loop = "for i in range(9): print(f'{i}<', 'x' * 5000)"
    report = grade(
        f"def sequence_mask(X, valid_len, value=0):\n    {loop}\n    return X\n", ["sequence_mask"]
    )
    printed = report.exercises[0].printed
    assert len(printed) < 1200
    assert printed.startswith("0< xxx")
    assert "0&lt; xxx" in page(report)
    assert to_json(report)["exercises"][0]["printed"] == printed
