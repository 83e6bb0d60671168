"""Autograde one student three times, as formgrader's button does. Run this in a course folder.

First with the tier `basic`, which is refused. Then with this tier for trusted submissions. Then, after an instructor
has entered a score and a comment, with the settings of the course. After each step, print the gradebook's values for
one exercise as one line of JSON.
"""

from __future__ import annotations

import json
import sys

from nbgrader.api import Gradebook
from nbgrader.apps import NbGraderAPI
from nbgrader.apps.baseapp import NbGrader
from traitlets.config import Config


def print_mark(step: str, student: str, assignment: str, exercise: str) -> None:
    with Gradebook("sqlite:///gradebook.db") as gradebook:
        grade = gradebook.find_grade(f"check-{exercise}", assignment, assignment, student)
        comment = gradebook.find_comment(exercise, assignment, assignment, student)
        line = {"step": step, "auto": grade.auto_score, "manual": grade.manual_score, "score": grade.score}
        print(
            json.dumps(
                {
                    **line,
                    "needs": grade.needs_manual_grade,
                    "auto_comment": comment.auto_comment,
                    "comment": comment.comment,
                }
            )
        )


def autograde(student: str, assignment: str, **headway: object) -> None:
    app = NbGrader()
    app.load_config_file()
    config = Config(app.config)
    config.Headway.update(headway)
    done = NbGraderAPI(config=config).autograde(assignment, student, force=True)
    assert done["success"], done


def main(assignment: str, student: str, exercise: str) -> None:
    about = student, assignment, exercise
    autograde(student, assignment, sandbox="basic")
    print_mark("refused", *about)
    autograde(student, assignment, sandbox="basic", trusted_submissions=True)
    print_mark("trusted", *about)
    with Gradebook("sqlite:///gradebook.db") as gradebook:
        gradebook.find_grade(f"check-{exercise}", assignment, assignment, student).manual_score = 2.5
        gradebook.find_comment(exercise, assignment, assignment, student).manual_comment = "seen"
        gradebook.db.commit()
    autograde(student, assignment)
    print_mark("overridden", *about)


if __name__ == "__main__":
    main(*sys.argv[1:])
