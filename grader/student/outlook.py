"""What a report says when everything passed: what the student has built, how far they are, and what comes next."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace

from grader.bundle.model import Bundle
from grader.intake.course import Course
from grader.report.model import Report
from grader.student import progress
from grader.support.i18n import _, ngettext

_QUESTIONS = re.compile(r"^# ## Questions.*\n((?:#.*\n)+)", re.M)
_FIRST = re.compile(r"^1\. (.*(?:\n {2,}.*)*)", re.M)


def with_outlook(report: Report, course: Course) -> Report:
    """Return the report of a course folder with its outlook; unchanged if an exercise has not passed."""
    if report.exit_status or any(result.partial for result in report.exercises):
        return report
    return replace(report, outlook=tuple(_outlook(report, course)))


def _outlook(report: Report, course: Course) -> Iterator[str]:
    names = {result.name for result in report.exercises}
    exercises = {exercise.name: exercise for bundle in course.bundles for exercise in bundle.exercises}
    known = progress.load(course.root)
    passed = names | {name for name, last in known.items() if last.outcome == "passed"}
    if len(names) == 1:
        yield from (_(exercise.built) for name, exercise in exercises.items() if name in names)
    for bundle in course.bundles:
        mine = {exercise.name for exercise in bundle.exercises}
        if names & mine and mine <= passed and (question := first_question(bundle)):
            yield _("Something to think about: {question}").format(question=question)
    done = len(passed & exercises.keys())
    far = _("{done} of {all} exercises passed.").format(done=done, all=len(exercises))
    name = progress.next_to_do(course.root, [name for name in exercises if name not in names])
    if not name:
        yield far
        return
    minutes = exercises[name].minutes
    says = ngettext(
        "{far} Next: {name}, about {n} minute.", "{far} Next: {name}, about {n} minutes.", minutes
    )
    yield says.format(far=far, name=name, n=minutes)


def first_question(bundle: Bundle) -> str:
    """Return the first of the lesson's questions to think about; "" if it has none."""
    section = _QUESTIONS.search(bundle.stub)
    found = _FIRST.search(re.sub(r"^# ?", "", section[1], flags=re.M)) if section else None
    return " ".join(found[1].split()) if found else ""
