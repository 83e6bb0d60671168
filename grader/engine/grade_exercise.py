"""Grade one exercise, with reference blocks instead of the student's blocks that are wrong.

A block is the answer to another exercise that this exercise may use; the reference block is the course's answer.

If the exercise uses a block that is known to be wrong, the first try has the reference block. If there is no such
block, or if this try does not pass, the next try has the student's blocks. If that fails, another try has reference
blocks instead of the wrong ones.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from grader.bundle.model import Exercise
from grader.engine.file_remarks import file_remarks
from grader.engine.grade_once import grade_once
from grader.engine.result import blocked_by
from grader.engine.result_cache import cached, keep
from grader.engine.student_parts import content
from grader.engine.submission_run import Block, SubmissionRun
from grader.report.model import ExerciseResult
from grader.support.i18n import _, ngettext
from grader.support.sanitize import sanitize

UNUSABLE = ("failed", "blocked", "not_started")  # outcomes of an exercise that others cannot build on
WRONG = (*UNUSABLE, "could_not_grade")  # outcomes of a block that a reference block replaces


def grade_exercise(run: SubmissionRun, exercise: Exercise) -> ExerciseResult:
    """Grade one exercise, unless `run.done` or the cache has its result."""
    if exercise.name not in run.done:
        known = cached(run.context, content(run.submission, run.parts), exercise)
        run.done[exercise.name] = known or _graded(run, exercise)
    return run.done[exercise.name]


def _graded(run: SubmissionRun, exercise: Exercise) -> ExerciseResult:
    before = run.lost
    result = _without_wrong_blocks(run, exercise)
    if result is None:
        result = retry_with_reference_blocks(run, exercise, grade_once(run, exercise))
    if result.outcome == "failed":
        result = _blocked(run, exercise, result)
    if run.lost > before or any(name in other.unsteady for name, other in run.blocks(exercise)):
        run.unsteady.add(exercise.name)
    elif result.outcome in ("passed", "failed") and not result.partial and not file_remarks(run, [exercise]):
        # No code runs for a result from the cache, so the remarks on the file would be missing.
        keep(run.context, content(run.submission, run.parts), exercise, result)
    return result


def _blocked(run: SubmissionRun, exercise: Exercise, result: ExerciseResult) -> ExerciseResult:
    """Return a failed result as *blocked* if the exercise needs another one that is unusable and that no reference
    block can replace.
    """
    for name in run.used_exercises(exercise):
        other = run.context.exercises.get(name)
        if other and name not in exercise.given and grade_exercise(run, other).outcome in UNUSABLE:
            return blocked_by(result, run.done[name])
    return result


def _without_wrong_blocks(run: SubmissionRun, exercise: Exercise) -> ExerciseResult | None:
    """Try with reference blocks instead of blocks known to be wrong. Return the result if it passes; None otherwise.

    Also return None if the exercise uses no such block of this file, or if it is made of parts.

    This saves time: with the wrong block most exercises fail, and fail again in a new worker.
    """
    wrong = [(name, of) for name, of in run.blocks(exercise) if _is_known_to_be_wrong(name, of)]
    named = run.used_exercises(exercise)
    if exercise.is_made_of_parts or not any(of is run and name in named for name, of in wrong):
        return None
    result = _with_reference(run, exercise, wrong)
    if result.outcome != "passed":
        return None
    return replace(result, fix_first=_to_fix_first(run, exercise, wrong))


def _is_known_to_be_wrong(name: str, run: SubmissionRun) -> bool:
    """Whether a block that the file defines was graded before, and is wrong.

    A block that the file only imports is not wrong here: it does not solve its own exercise, but others may use it.
    """
    if name not in run.done or run.done[name].outcome not in WRONG:
        return False
    definition = run.definition(run.context.exercises[name])
    return definition is not None and definition.kind != "name"


def retry_with_reference_blocks(
    run: SubmissionRun, exercise: Exercise, result: ExerciseResult
) -> ExerciseResult:
    """Return a better result with reference blocks instead of blocks that are wrong; `result` if there is none."""
    if result.outcome not in ("failed", "could_not_grade"):
        return result
    if exercise.is_made_of_parts and not _by_parts(exercise, result):
        return result
    own = run.blocks(exercise)
    results = [grade_exercise(of, of.context.exercises[name]) for name, of in own]
    faulty = [block for block, its in zip(own, results, strict=True) if its.outcome in WRONG]
    again = _with_reference_blocks(run, exercise, result, faulty)
    again = _without_other_interfaces(run, exercise, again, own, faulty)
    if again is not result:
        again = replace(again, fix_first=_to_fix_first(run, exercise, faulty))
    all_were_replaced = len(faulty) == len(own)
    if not exercise.is_made_of_parts or not _by_parts(exercise, again) or all_were_replaced:
        return again
    says = _(
        "your parts ({blocks}) pass separately but fail together; graded with the reference parts instead;"
        " one possible reason is a decoder that restarts its positions in prediction"
    )
    remark = says.format(blocks=_names_of(own))
    return _with_reference_blocks(run, exercise, again, own, remark)


def _to_fix_first(run: SubmissionRun, exercise: Exercise, faulty: Sequence[Block]) -> tuple[str, ...]:
    used, parts = run.used_exercises(exercise), exercise.is_made_of_parts
    return tuple(name for name, of in faulty if parts or (of is run and name in used))


def _with_reference_blocks(
    run: SubmissionRun, exercise: Exercise, result: ExerciseResult, blocks: Sequence[Block], remark: str = ""
) -> ExerciseResult:
    """Try again with reference blocks instead of `blocks`. Return the new result, with the higher of both scores.

    Return `result` if the new one has no score or the same checks, or if it is worse and the exercise is made of parts.
    """
    if not blocks:
        return result
    again = _with_reference(run, exercise, blocks, remark)
    if again.score is None or (exercise.is_made_of_parts and again.score < (result.score or 0)):
        return result
    if again.checks == result.checks:
        return result  # the exercise does not use these blocks
    score = max(again.score, result.score or 0)  # a second try costs no points
    return replace(again, score=score, seconds=again.seconds + result.seconds)


def _with_reference(
    run: SubmissionRun, exercise: Exercise, blocks: Sequence[Block], remark: str = ""
) -> ExerciseResult:
    """Return the result with reference blocks instead of `blocks`. The same try is made once per run.

    remark: why they are replaced; by default, because they are faulty.
    """
    names = tuple(name for name, _of in blocks)
    tried = exercise.name, names
    if tried not in run.tried:
        run.tried[tried] = grade_once(run, exercise, names)
    again = run.tried[tried]
    remarks = [remark] if remark else _on_faulty(run, blocks)
    return replace(again, remarks=(*again.remarks, *remarks), replaced=names)


def _without_other_interfaces(
    run: SubmissionRun,
    exercise: Exercise,
    result: ExerciseResult,
    own: Sequence[Block],
    faulty: Sequence[Block],
) -> ExerciseResult:
    """Try again with reference blocks for `faulty`, and for blocks of files beside this one whose interface differs.

    Return the new result if it passes, otherwise `result`.
    """
    others = [(name, of) for name, of in own if of is not run and name in of.done]
    others = [(name, of) for name, of in others if of.done[name].outcome == "other_interface"]
    if exercise.is_made_of_parts or not others or result.outcome == "passed":
        return result
    again = _with_reference_blocks(run, exercise, result, [*faulty, *others])
    return again if again.outcome == "passed" else result


def _by_parts(exercise: Exercise, result: ExerciseResult) -> bool:
    cases = {case.id for case in exercise.cases if case.is_made_of_parts}
    return any(c.outcome == "failed" and c.id.split("/")[0] in cases for c in result.checks)


def _on_faulty(run: SubmissionRun, faulty: Sequence[Block]) -> list[str]:
    """Return remarks on blocks of the student that reference blocks replace.

    One remark is about all blocks of this file and of earlier files. A block of a file beside this one
    has its own remark.
    """
    files_beside = [of for of in run.neighbours.values() if of is not run]
    beside = [block for block in faulty if block[1] in files_beside]
    remarks = _on_own([block for block in faulty if block not in beside])
    for name, of in beside:
        says = _("{block} in {file} could not be used; graded with the reference {block} instead")
        if of.done[name].outcome == "failed":
            says = _("{block} in {file} has an error; graded with the reference {block} instead")
        remarks.append(says.format(block=name, file=sanitize(of.submission.units[0].name, 100)))
    return remarks


def _on_own(blocks: Sequence[Block]) -> list[str]:
    if not blocks:
        return []
    outcomes = {of.done[name].outcome for name, of in blocks}
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
