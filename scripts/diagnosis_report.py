"""Measure how well the grader names mistakes, on answers whose authors did not see the bank.

    python scripts/diagnosis_report.py [--write]

Prints the report; with `--write` it also writes docs/diagnosis.md. `equals` in tests/answers says which known mistake
a wrong answer equals; this was decided by reading the code.
"""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass

from common_pairs import pairs
from shared import ANSWERS, Answer, course_engine, print_page

from grader.bundle.model import Exercise
from grader.engine.engine import Engine
from grader.report.model import ExerciseResult

# Of the last two sets of answers that were written. 200: 20 per assignment from 01 to 10, two mistakes at once in about
# 20 of them; with and without the mistakes and sentences that were added after reading them. 93: by others, after that
# work, and before anything was added for them. The figures are those of the day.
STRANGERS = (
    "## New answers, before and after they were read",
    "",
    "*Quiet*: the first failure is a wrong result; *raising*: an exception. The columns *before* are the honest ones: they",
    "say what to expect for answers that nobody has read. All were measured once, on 26 November 2026; the rest of this",
    "page is measured each time.",
    "",
    "| measure | 200, before | 200, after | 93 others, before |",
    "|---|---|---|---|",
    "| quiet, with the name of a known mistake | 94 of 141 (67 %) | 125 of 141 (89 %) | 38 of 50 (76 %) |",
    "| raising, with the name of a known mistake | 11 of 58 (19 %) | 22 of 58 (38 %) | 6 of 25 (24 %) |",
    "| raising, with a name, a slip or the cause of the exception | 14 of 58 (24 %) | 58 of 58 (100 %) | 22 of 25 (88 %) |",
    "| wrong answers that passed | 2 | 0 | 1 |",
    "| names of a mistake that is not there | 0 | 0 | 0 |",
    "",
    "Of the 200, 199 fail; one has another interface. The 93 were written by others, after the work on names that the",
    "second column shows. 11 of them are right, and passed. One breaks only a policy, and got the advice. 75 are wrong",
    "answers to exercises with known mistakes. The table counts these; their authors said which of them are quiet. The one",
    "that passed is a quiet one, and fails now. Six more belong to the repairs and tests of lesson 05, which have no known",
    "mistakes: all six failed, without a name, and the two that raise without a cause. Of the 44 names, one is that of one",
    "of two mistakes at once, and one is among several that fit, where the report shows another as its example.",
)


@dataclass(frozen=True)
class Graded:
    """One independent answer: its label, and the names that the grader gave."""

    name: str
    exercise: str
    right: bool
    policy: bool  # breaks a policy, which costs no points
    equals: tuple[frozenset[str], ...] | None  # None: not labelled
    result: ExerciseResult

    @property
    def named(self) -> bool:
        return bool(self.result.diagnosis.alternatives)

    @property
    def advised(self) -> bool:
        return any(advice.mistakes for advice in self.result.advice)

    @property
    def correctly(self) -> bool:
        named = {frozenset(names) for names in self.result.diagnosis.alternatives}
        return bool(self.equals) and bool(named & set(self.equals or ()))


def page() -> str:
    with course_engine() as engine:
        exercises = {name: e for name, e in engine.exercises.items() if e.signatures is not None}
        graded = [_graded(engine, exercises[a.exercise], a) for a in ANSWERS if a.exercise in exercises]
    return report(exercises, graded)


def _graded(engine: Engine, exercise: Exercise, answer: Answer) -> Graded:
    result = engine.grade(answer.submission, [exercise.name]).exercises[0]
    if result.outcome == "could_not_grade":
        raise RuntimeError(f"{answer.id}: {result.message}")
    right = answer.breaks <= {"device", "precision"}  # a failure in these costs no points on the CPU
    # `later` lists the policies that the answer breaks, and `device`.
    policy = bool(answer.later - {"device"})
    return Graded(answer.id, exercise.name, right, policy, answer.equals, result)


def report(exercises: dict[str, Exercise], graded: list[Graded]) -> str:
    wrong = [g for g in graded if not g.right and g.equals is not None]
    known = [g for g in wrong if g.equals]
    named = [g for g in wrong if g.named]
    unknown = [g for g in wrong if not g.equals]
    two = list(pairs(exercises))
    right = [g for g in graded if g.right and not g.policy]
    policy = [g for g in graded if g.right and g.policy]
    lines = [
        "# How well the grader names mistakes",
        "",
        "`make diagnosis-report` writes this page; do not edit it. The authors of the answers in `tests/answers/` had",
        "one-line descriptions and did not see the bank. Which known mistake an answer equals was decided by reading",
        "its code (`equals` in its header). Some forms of mistakes were added to the bank after these answers were",
        "read, so expect fewer names for other answers. [How well the grader points to a line](lines.md) has its",
        "own page.",
        "",
        *STRANGERS,
        "",
        "## All answers",
        "",
        "| measure | result |",
        "|---|---|",
        f"| wrong answers that equal a known mistake | {len(known)} |",
        f"| … of these, the grader named (coverage) | {_share(sum(g.named for g in known), len(known))} |",
        f"| named answers whose name is right (precision) | {_share(sum(g.correctly for g in named), len(named))} |",
        f"| wrong answers that equal no known mistake | {len(unknown)} |",
        f"| … of these, the grader gave a name (false names) | {_share(sum(g.named for g in unknown), len(unknown))} |",
        f"| average over the known mistakes of the share that is named correctly (macro coverage) | {_macro(known)} |",
        f"| two of the commonest mistakes at once, each visible in a result: both named | {_share(sum(p.both_named for p in two), len(two))} |",
        f"| … with a name of a mistake that is not there | {_share(sum(p.falsely for p in two), len(two))} |",
        f"| right answers with a name | {sum(g.named for g in right)} of {len(right)} |",
        f"| answers that break only a policy, which the advice names | {sum(g.advised for g in policy)} of {len(policy)} |",
        "",
        "## By exercise",
        "",
        "| exercise | known mistakes | known pairs | answers that equal one | named | named correctly |",
        "|---|---|---|---|---|---|",
    ]
    for name, exercise in exercises.items():
        mine = [g for g in known if g.exercise == name]
        recorded = sum(len(ids) == 2 for ids in exercise.signatures.explains)
        lines.append(
            f"| {name} | {len(exercise.mistakes)} | {recorded} | {len(mine)} | {sum(g.named for g in mine)} | {sum(g.correctly for g in mine)} |"
        )
    lines += ["", "## Pairs of the commonest mistakes without both names", ""]
    lines += [
        f"- {p.exercise}: {'+'.join(sorted(p.ids))}; the grader named {_ids_of(p.named)}"
        for p in two
        if not p.both_named
    ]
    lines += ["", "## Answers without a name, or with a wrong name", ""]
    lines += [
        f"- {g.name}: equals {_ids(g.equals)}; the grader named {_ids_of(g.result.diagnosis.alternatives)}"
        for g in wrong
        if (g.equals or g.named) and not g.correctly
    ]
    return "\n".join(lines) + "\n"


def _share(part: int, whole: int) -> str:
    return f"{part} of {whole} ({100 * part / whole:.1f} %)" if whole else "none"


def _macro(known: list[Graded]) -> str:
    """Return the average of the shares that are named correctly, with the same weight for every mistake and pair,
    however many answers have it.
    """
    shares = defaultdict(list)
    for g in known:
        shares[(g.exercise, frozenset(g.equals or ()))].append(g.correctly)
    average = sum(sum(found) / len(found) for found in shares.values()) / max(1, len(shares))
    return f"{100 * average:.1f} % of {len(shares)}"


def _ids(equals: tuple[frozenset[str], ...] | None) -> str:
    return " or ".join("+".join(sorted(ids)) for ids in equals or ()) or "nothing known"


def _ids_of(alternatives: tuple[tuple[str, ...], ...]) -> str:
    return " or ".join("+".join(names) for names in alternatives) or "nothing"


if __name__ == "__main__":
    print_page(__doc__, "diagnosis.md", page)
