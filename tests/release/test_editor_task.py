"""The task of VS Code in the kit finds the places that `grader check --format github` prints."""

import json
import re

from helpers.command_line import ROOT
from helpers.minimal import exercise_of

from grader.engine.result import result_without_checks
from grader.report.ci import github
from grader.report.model import Report


def test_the_pattern_of_the_task_finds_file_line_and_message():
    (task,) = json.loads((ROOT / "student_template/.vscode/tasks.json").read_text("utf-8"))["tasks"]
    pattern = task["problemMatcher"]["pattern"]
    result = result_without_checks(
        exercise_of(None), "blocked", "a.py, line 7: SyntaxError: invalid syntax", ("a.py", 7)
    )
    line = github(Report((result,), "basic", "2", "0")).splitlines()[0]
    found = re.match(pattern["regexp"], line)
    assert found
    assert found[pattern["file"]] == "01_a/a.py"
    assert found[pattern["line"]] == "7"
    assert found[pattern["message"]] == "a.py, line 7: SyntaxError: invalid syntax"
