"""Grade one exercise: attempts with the student's blocks and with reference blocks, and the one that counts.

A block is the answer to another exercise that this exercise may use; the reference block is the course's answer. The
attempts in their order, each with reference blocks instead of
1. blocks of this file that are known to be wrong: it counts only if it passes;
2. no block;
3. all blocks that are wrong;
4. these, and blocks of files beside this one that are called differently: it counts only if it passes;
5. all parts of the model, if they pass separately and fail together.
Attempts 3 to 5 are made while the exercise does not pass, and only if blocks can be the reason.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from grader.bundle.model import Exercise
from grader.engine.attempt import attempt
from grader.engine.file_remarks import file_remarks
from grader.engine.grading import Block, Grading
from grader.engine.result import blocked_by
from grader.engine.result_cache import keep, read_cached
from grader.engine.student_file import StudentFile
from grader.report.model import ExerciseResult
from grader.support.i18n import _, ngettext
from grader.support.sanitize import sanitize

UNUSABLE = ("failed", "blocked", "not_started")  # outcomes of an exercise that others cannot build on
WRONG = (*UNUSABLE, "could_not_grade")  # outcomes of a block that a reference block replaces


def grade_exercise(grading: Grading, file: StudentFile, exercise: Exercise) -> ExerciseResult:
    """Grade one exercise of a file, unless `grading` or the cache has its result."""
    context, key, before = grading.context, (file, exercise.name), grading.losses
    if key in grading.results:
        return grading.results[key]
    if cached := read_cached(context, file.content, exercise):
        grading.results[key] = cached
        return cached
    result = best_attempt(grading, file, exercise)
    if result.outcome == "failed":
        result = _blocked(grading, file, exercise, result)
    grading.results[key] = result
    blocks = {(of, name) for name, of in grading.blocks(file, exercise)}
    if grading.losses > before or grading.unsteady & blocks:
        grading.unsteady.add(key)
        return result
    remarks = file_remarks(file, grading.notes.get(file, ()), [exercise], context.options.terms)
    # No code runs for a result from the cache, so the remarks on the file would be missing.
    if result.outcome in ("passed", "failed") and not result.partial and not remarks:
        keep(context, file.content, exercise, result)
    return result


def _blocked(
    grading: Grading, file: StudentFile, exercise: Exercise, result: ExerciseResult
) -> ExerciseResult:
    """Return a failed result as *blocked* if the exercise needs another one that is unusable and that no reference
    block can replace.
    """
    for name in grading.used_exercises(file, exercise):
        if name not in exercise.given:
            other = grade_exercise(grading, file, file.course.exercises[name])
            if other.outcome in UNUSABLE:
                return blocked_by(result, other)
    return result


@dataclass(frozen=True)
class Swap:
    """Blocks of the student that reference blocks replace in an attempt.

    fix_first: those of them that the student should repair before this exercise. must_pass: the attempt counts only if
    it passes. remark: why they are replaced; by default, because they are faulty.
    """

    blocks: Sequence[Block]
    fix_first: tuple[str, ...] = ()
    must_pass: bool = False
    remark: str = ""


def best_attempt(grading: Grading, file: StudentFile, exercise: Exercise) -> ExerciseResult:
    """Make the attempts in their order, see above; return the result that counts."""
    made: dict[tuple[str, ...], ExerciseResult] = {}

    def with_reference(swap: Swap) -> ExerciseResult:
        names = tuple(name for name, _of in swap.blocks)
        if names not in made:
            made[names] = attempt(grading, file, exercise, names)
        remarks = [swap.remark] if swap.remark else _on_faulty(grading, file, swap.blocks)
        result = made[names]
        return replace(result, remarks=(*result.remarks, *remarks), replaced=names, fix_first=swap.fix_first)

    if known := _known_to_be_wrong(grading, file, exercise):
        first = with_reference(Swap(known, _to_fix_first(grading, file, exercise, known)))
        if first.outcome == "passed":  # this saves time: with the wrong block most exercises fail
            return first
    best = attempt(grading, file, exercise)
    if best.outcome not in ("failed", "could_not_grade") or not _may_be_the_blocks(exercise, best):
        return best
    for swap in _swaps(grading, file, exercise):
        if not _may_be_the_blocks(exercise, best):
            break
        if swap.blocks:
            best = _better(exercise, best, with_reference(swap), must_pass=swap.must_pass)
    return best


def _swaps(grading: Grading, file: StudentFile, exercise: Exercise) -> list[Swap]:
    """Return the attempts after the one with the student's own blocks. The exercises of the blocks are graded first."""
    own = grading.blocks(file, exercise)
    outcomes = [grade_exercise(grading, of, of.course.exercises[name]).outcome for name, of in own]
    faulty = [block for block, its in zip(own, outcomes, strict=True) if its in WRONG]
    fix_first = _to_fix_first(grading, file, exercise, faulty)
    if exercise.is_made_of_parts:
        says = _(
            "your parts ({blocks}) pass separately but fail together; graded with the reference parts instead;"
            " one possible reason is a decoder that restarts its positions in prediction"
        )
        together = Swap(own, remark=says.format(blocks=_names_of(own)))
        return [Swap(faulty, fix_first), *([together] if len(faulty) < len(own) else [])]
    beside = [(block, its) for block, its in zip(own, outcomes, strict=True) if block[1] is not file]
    others = [block for block, its in beside if its == "other_interface"]
    return [
        Swap(faulty, fix_first),
        *([Swap([*faulty, *others], fix_first, must_pass=True)] if others else []),
    ]


def _better(
    exercise: Exercise, best: ExerciseResult, again: ExerciseResult, *, must_pass: bool
) -> ExerciseResult:
    """Return the new result with the higher of both scores, if it counts; otherwise the best one so far.

    It does not count if it has no score or the same checks, or if it is worse and the exercise is made of parts.
    """
    if again.score is None or (must_pass and again.outcome != "passed"):
        return best
    if exercise.is_made_of_parts and again.score < (best.score or 0):
        return best
    if again.checks == best.checks:
        return best  # the exercise does not use these blocks
    score = max(again.score, best.score or 0)  # a second try costs no points
    return replace(again, score=score, seconds=again.seconds + best.seconds)


def _known_to_be_wrong(grading: Grading, file: StudentFile, exercise: Exercise) -> list[Block]:
    """Return the blocks that were graded before and are wrong, if the exercise uses one of this file.

    A block that a file only imports is not wrong here: it does not solve its own exercise, but others may use it.
    None is known for an exercise that is made of parts.
    """
    wrong = []
    for name, of in grading.blocks(file, exercise):
        definition, result = of.definition(of.course.exercises[name]), grading.results.get((of, name))
        if result and result.outcome in WRONG and definition is not None and definition.kind != "name":
            wrong.append((name, of))
    used = grading.used_exercises(file, exercise)
    is_used = any(of is file and name in used for name, of in wrong)
    return wrong if is_used and not exercise.is_made_of_parts else []


def _to_fix_first(
    grading: Grading, file: StudentFile, exercise: Exercise, faulty: Sequence[Block]
) -> tuple[str, ...]:
    used, parts = grading.used_exercises(file, exercise), exercise.is_made_of_parts
    return tuple(name for name, of in faulty if parts or (of is file and name in used))


def _may_be_the_blocks(exercise: Exercise, result: ExerciseResult) -> bool:
    """Whether blocks may be why a result fails. If the exercise is made of parts, a case of the parts must fail."""
    if result.outcome == "passed" or not exercise.is_made_of_parts:
        return result.outcome != "passed"
    cases = {case.id for case in exercise.cases if case.is_made_of_parts}
    return any(c.outcome == "failed" and c.id.split("/")[0] in cases for c in result.checks)


def _on_faulty(grading: Grading, file: StudentFile, faulty: Sequence[Block]) -> list[str]:
    """Return remarks on blocks of the student that reference blocks replace.

    One remark is about all blocks of this file and of earlier files. A block of a file beside this one
    has its own remark.
    """
    beside = [block for block in faulty if block[1] is not file and block[1] in file.beside]
    own = [grading.results[of, name].outcome for name, of in faulty if (name, of) not in beside]
    remarks = _on_own([block for block in faulty if block not in beside], set(own))
    for name, of in beside:
        says = _("{block} in {file} could not be used; graded with the reference {block} instead")
        if grading.results[of, name].outcome == "failed":
            says = _("{block} in {file} has an error; graded with the reference {block} instead")
        remarks.append(says.format(block=name, file=sanitize(of.submission.units[0].name, 100)))
    return remarks


def _on_own(blocks: Sequence[Block], outcomes: set[str]) -> list[str]:
    if not blocks:
        return []
    if outcomes == {"failed"}:
        says = ngettext(
            "your {blocks} has an error, see its own report; graded with the reference {blocks} instead",
            "your {blocks} have errors, see their own reports; graded with the reference blocks instead",
            len(blocks),
        )
    elif outcomes == {"not_started"}:
        says = ngettext(
            "your {blocks} is not written yet; graded with the reference {blocks} instead",
            "your {blocks} are not written yet; graded with the reference blocks instead",
            len(blocks),
        )
    else:
        says = ngettext(
            "your {blocks} could not be used, see its own report; graded with the reference {blocks} instead",
            "your {blocks} could not be used as they are, see their own reports; graded with the reference blocks instead",
            len(blocks),
        )
    return [says.format(blocks=_names_of(blocks))]


def _names_of(blocks: Sequence[Block]) -> str:
    return ", ".join(name for name, _of in blocks)
