"""Write docs/points.md: the points that each known mistake keeps.

    python scripts/points_table.py                       print the table of every exercise; takes minutes
    python scripts/points_table.py DecoderBlock …        only these
    python scripts/points_table.py --write [EXERCISE …]  also write them into docs/points.md

Each answer is graded as `grader check --quick` grades it on the CPU, with the public cases. Mutants are faults of repairs and
of tests that no report names. Policies cost no points and are left out, and so are mistakes that only show on another
device.
"""

from __future__ import annotations

import re

from shared import ROOT, course_engine, parser, submission_of

from grader.authoring.bank import KnownAnswer, apply
from grader.authoring.content import Assignment, read_all
from grader.bundle.model import Exercise
from grader.engine.engine import Engine
from grader.report.shared_sentences import plain_number, points

PAGE = ROOT / "docs" / "points.md"
HEAD = """# What each known mistake keeps

`python scripts/points_table.py --write` writes this page; do not edit it. With the names of exercises it writes only these.

An exercise is *about* the first facet of its list: its weight is at least a third of all. The other facets follow with
their weights; *device* has weight 1 if a device is asked for, and *precision* counts only if the course says so. If *values* fails, an
answer keeps at most a quarter of the points; if *masking* or *modes* fails, at most half. The longest training of `train` is not run.
"""


def main() -> None:
    options = parser(__doc__)
    options.add_argument("exercises", nargs="*", metavar="EXERCISE")
    options.add_argument("--write", action="store_true")
    wanted = options.parse_args()
    sections = written()
    known = [(a, e.name) for a in read_all(ROOT / "solutions") for e in a.exercises]
    with course_engine(reuse_worker=True) as engine:  # all sources are trusted
        for assignment, name in known:
            if not wanted.exercises or name in wanted.exercises:
                sections[name] = section(engine, assignment, engine.exercises[name])
                print(sections[name], flush=True)
    if wanted.write:
        kept = [sections[name] for _assignment, name in known if name in sections]
        PAGE.write_text("\n".join([HEAD, *kept]), "utf-8")


def written() -> dict[str, str]:
    """Return the sections of the page by exercise."""
    text = PAGE.read_text("utf-8") if PAGE.exists() else ""
    return {
        part.split(" ", 1)[0]: f"## {part.rstrip()}\n" for part in re.split(r"^## ", text, flags=re.M)[1:]
    }


def section(engine: Engine, assignment: Assignment, exercise: Exercise) -> str:
    """Return the heading of an exercise, its facets with their weights, and a row per known mistake."""
    facets = dict.fromkeys(check.facet for case in exercise.cases for check in case.checks)
    about = assignment.exercise(exercise.name).about
    ordered = [about, *(facet for facet in facets if facet != about)]
    weights = ", ".join(f"{facet} {plain_number(exercise.weights.get(facet, 1.0))}" for facet in ordered)
    rows = [row(engine, assignment, answer) for answer in answers(assignment, exercise.name)]
    title = f"## {exercise.name} · {plain_number(exercise.points)}"
    head = "| known mistake | keeps | facets that fail |\n|---|--:|---|"
    return "\n".join([title, "", f"{weights}.", "", head, *rows, ""])


def answers(assignment: Assignment, exercise: str) -> list[KnownAnswer]:
    """Return the known mistakes and the mutants that cost points on the CPU."""
    known = [*assignment.mistakes(exercise), *assignment.mutants(exercise)]
    return [answer for answer in known if answer.kind != "policy"]


def row(engine: Engine, assignment: Assignment, answer: KnownAnswer) -> str:
    """Return the points that an answer keeps, and the facets of which a check did not pass."""
    submission = submission_of(apply(answer, assignment.source), f"{assignment.module}.py")
    result = engine.grade(submission, [answer.of]).exercises[0]
    missing = dict.fromkeys(c.facet for c in result.checks if c.counts and c.outcome != "passed")
    return f"| `{answer.id}` | {points(result.score, result.points)} | {', '.join(missing)} |"


if __name__ == "__main__":
    main()
