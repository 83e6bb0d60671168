"""Grade one exercise: attempts with the student's blocks and with reference blocks, and the one that counts.

A block is the answer to another exercise that this exercise may use; the reference block is the course's answer. The
attempts in their order, each with reference blocks instead of
1. blocks of this file that are known to be wrong: it counts only if it passes;
2. no block;
3. all blocks that are wrong;
4. these, and blocks of files beside this one that are called differently: it counts only if it passes;
5. all parts of the model, if they pass separately and fail together.
Attempts 3 to 5 are made while the exercise does not pass, and only if blocks can be the reason.

Results of exercises that take long are cached, by everything that they depend on. A student can write into the folder.
So only results of public cases are cached, and they count nowhere: in CI and with `--quick` every exercise is graded.
If a result cannot be read or written, its exercise is graded again.
"""

from __future__ import annotations

import contextlib
import hashlib
import os
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from grader.bundle.files import digest
from grader.bundle.model import Exercise
from grader.engine.attempt import attempt
from grader.engine.grading import Block, Context, Grading
from grader.engine.load_notes import file_remarks
from grader.engine.load_request import with_requirements
from grader.engine.result import blocked_by
from grader.engine.student_file import StudentFile
from grader.given import source
from grader.report.finding import PUBLIC, Fact
from grader.report.model import FORMAT, ExerciseResult, from_text, to_text
from grader.support.files import read_regular, write_own
from grader.support.i18n import language
from grader.support.version import __version__

UNUSABLE = ("failed", "blocked", "not_started")  # outcomes of an exercise that others cannot build on
WRONG = (*UNUSABLE, "could_not_grade")  # outcomes of a block that a reference block replaces
REPLACED = {"failed": "wrong", "not_started": "unwritten"}  # outcome of all blocks → variant of the rule
FOLDER = ".headway/kept"  # in a course folder: the cached results
NEWEST = 20  # the number of results that are kept per exercise


@dataclass(frozen=True)
class Swap:
    """Blocks of the student that reference blocks replace in an attempt.

    fix_first: those of them that the student should repair before this exercise. must_pass: the attempt counts only if
    it passes. why: they are replaced.
    """

    blocks: Sequence[Block] = ()
    fix_first: tuple[str, ...] = ()
    must_pass: bool = False
    why: tuple[Fact, ...] = ()
    must_gain: bool = False


def grade_exercise(grading: Grading, file: StudentFile, exercise: Exercise) -> ExerciseResult:
    """Make the attempts in their order, see above. Return the result that counts, or the one that is known already."""
    context, key = grading.context, (file, exercise.name)
    best = grading.results.get(key) or read_cached(context, file.content, exercise)
    if best is not None:
        grading.results[key] = best
        return best
    made: dict[tuple[str, ...], ExerciseResult] = {}
    for swap in _swaps(grading, file, exercise, _known_to_be_wrong(grading, file, exercise)):
        names = tuple(name for name, _of in swap.blocks)
        if names not in made:
            made[names] = attempt(grading, file, exercise, names)
        remarks = (*made[names].remarks, *map(PUBLIC.sentence, swap.why))
        result = replace(made[names], remarks=remarks, replaced=names, fix_first=swap.fix_first)
        gains = best is None or (result.score or 0) > (best.score or 0)
        if (result.outcome == "passed" or not swap.must_pass) and (gains or not swap.must_gain):
            best = result if best is None else _better(exercise, best, result)
        if best is not None and not _may_be_the_blocks(exercise, best):
            break
    assert best is not None  # one attempt is with the student's own blocks
    if best.outcome == "failed":
        best = _blocked(grading, file, exercise, best)
    grading.results[key] = best
    # A lost worker may be chance. No code runs for a cached result, so the remarks on the file would be missing.
    remarks_on_file = file_remarks(file, grading.notes.get(file, ()), [exercise], context.options.terms)
    if best.outcome in ("passed", "failed") and not (grading.lost or best.partial or remarks_on_file):
        keep(context, file.content, exercise, best)
    return best


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


def _swaps(grading: Grading, file: StudentFile, exercise: Exercise, known: Sequence[Block]) -> Iterator[Swap]:
    """Yield the attempts. known: blocks that are known to be wrong. All are graded before the third attempt."""
    parts = exercise.is_made_of_parts

    def swap(blocks: Sequence[Block], *, must_pass: bool = False) -> Swap:
        used = grading.used_exercises(file, exercise) if blocks else []
        fix_first = tuple(name for name, of in blocks if parts or (of is file and name in used))
        return Swap(blocks, fix_first, must_pass, _why_replaced(grading, file, blocks))

    if known:
        yield swap(known, must_pass=True)  # this saves time: with the wrong block most exercises fail
    yield Swap()
    own = grading.blocks(file, exercise)
    for name, of in own:
        grade_exercise(grading, of, of.course.exercises[name])
    outcomes = {(name, of): grading.results[of, name].outcome for name, of in own}
    faulty = [block for block in own if outcomes[block] in WRONG]
    if faulty:
        yield swap(faulty)
    if parts:
        if len(faulty) < len(own):
            why = (Fact("replaced/together", {"blocks": _names_of(own)}),)
            yield Swap(own, why=why, must_gain=True)  # otherwise it is the exercise that fails, not the parts
        return
    others = [block for block in own if block[1] is not file and outcomes[block] == "other_interface"]
    if others:
        yield swap([*faulty, *others], must_pass=True)


def _better(exercise: Exercise, best: ExerciseResult, again: ExerciseResult) -> ExerciseResult:
    """Return the new result with the higher of both scores, if it counts; otherwise the best one so far.

    It does not count if it has no score or the same checks, or if it is worse and the exercise is made of parts.
    """
    if again.score is None or (exercise.is_made_of_parts and again.score < (best.score or 0)):
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
    if not wrong or exercise.is_made_of_parts:
        return []
    used = grading.used_exercises(file, exercise)
    return wrong if any(of is file and name in used for name, of in wrong) else []


def _may_be_the_blocks(exercise: Exercise, result: ExerciseResult) -> bool:
    """Whether blocks may be why a result fails. If the exercise is made of parts, a case of the parts must fail."""
    if result.outcome not in ("failed", "could_not_grade"):
        return False
    if not exercise.is_made_of_parts:
        return True
    cases = {case.id for case in exercise.cases if case.is_made_of_parts}
    return any(c.outcome == "failed" and c.id.split("/")[0] in cases for c in result.checks)


def _why_replaced(grading: Grading, file: StudentFile, blocks: Sequence[Block]) -> tuple[Fact, ...]:
    """Return why reference blocks replace blocks of the student.

    One fact is about all blocks of this file and of earlier files. A block of a file beside this one has its own.
    """
    beside = [block for block in blocks if block[1] is not file and block[1] in file.beside]
    own = [block for block in blocks if block not in beside]
    outcomes = {grading.results[of, name].outcome for name, of in own}
    variant = next((variant for outcome, variant in REPLACED.items() if outcomes == {outcome}), "unusable")
    facts = [Fact(f"replaced/{variant}", {"blocks": _names_of(own), "n": len(own)})] if own else []
    for name, of in beside:
        variant = "wrong-beside" if grading.results[of, name].outcome == "failed" else "unusable-beside"
        facts.append(Fact(f"replaced/{variant}", {"block": name, "file": of.submission.units[0].name[:100]}))
    return tuple(facts)


def _names_of(blocks: Sequence[Block]) -> str:
    return ", ".join(name for name, _of in blocks)


# ---- the cache


def read_cached(context: Context, content: str, exercise: Exercise) -> ExerciseResult | None:
    """Return the cached result of an exercise; None if there is none, or if it may not be cached.

    content: a hash of the submission.
    """
    path = _path(context, content, exercise)
    try:
        result = from_text(read_regular(path).decode()) if path else None
    except (OSError, ValueError):
        return None
    if result is None or result.name != exercise.name:
        return None
    return replace(result, remarks=(*result.remarks, PUBLIC.sentence(Fact("cached"))), seconds=0.0)


def keep(context: Context, content: str, exercise: Exercise, result: ExerciseResult) -> None:
    """Cache the result of an exercise without its picture and code, if this is allowed."""
    path = _path(context, content, exercise)
    if path is None:
        return
    with contextlib.suppress(OSError):
        path.parent.mkdir(parents=True, exist_ok=True)
        write_own(path, to_text(replace(result, picture=None, code=None)).encode())
        files = path.parent.glob(f"{exercise.name}-*.json")
        for old in sorted(files, key=lambda file: file.stat().st_mtime_ns)[:-NEWEST]:
            old.unlink(missing_ok=True)


def _path(context: Context, content: str, exercise: Exercise) -> Path | None:
    """Return the file of a result, named by a hash of all that it depends on; None if it may not be cached."""
    options = context.options
    if options.cache is None or not options.terms.caches or options.quick or os.environ.get("CI"):
        return None
    if not any(case.costly for case in exercise.cases):
        return None
    blocks = (text for name in with_requirements(exercise.given) for text in (name, source(name)))
    tier = context.workers.launcher.tier
    circumstances = (__version__, str(FORMAT), options.torch_version, tier, options.device, language())
    parts = (exercise.name, digest(exercise), content, *blocks, *circumstances)
    key = hashlib.sha256("\0".join(parts).encode()).hexdigest()[:32]
    return options.cache / f"{exercise.name}-{key}.json"
