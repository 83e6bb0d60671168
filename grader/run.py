"""One submission being graded: case → worker → observation → judge → diagnosis, an exercise at a time."""

from __future__ import annotations

import time
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial as partial_of
from typing import TYPE_CHECKING, Any

from grader import __version__
from grader.bundle import Exercise, RecordedCase
from grader.diagnose import diagnose
from grader.exams import examined
from grader.figures import figures
from grader.given import source
from grader.i18n import _
from grader.intake.names import Names, match, read_names, untouched
from grader.intake.policy import Use, uses
from grader.intake.read import Submission
from grader.kept import arranged
from grader.observation import BadReply, Observation, read_observation, student_error
from grader.parts import Part, content, is_made_of_parts, told
from grader.remembered import key
from grader.report.model import NO_DIAGNOSIS, CheckOutcome, CheckResult, ExerciseResult, Outcome
from grader.sandbox.base import SandboxError
from grader.sanitize import sanitize
from grader.scoring import score
from grader.sentences import (
    how_it_ended,
    how_loading_ended,
    last_line,
    of_layout,
    of_note,
    of_use,
    without_numbers,
)
from grader.session import Session, WorkerGone
from grader.shown import with_requirements
from grader.signature import fingerprint, named_by
from grader.verdict import is_trivial, judge_case, unseen_case
from grader.workplace import limits

if TYPE_CHECKING:
    from grader.engine import Engine

MAX_LOST = 2  # workers lost by one exercise before the rest of its cases is left alone
MAX_ENDLESS = 3  # top-level statements that did not end, before the file is given up

# Ways to lose a worker that may be chance (somebody killed it) or the doing of the exercise before.
PERHAPS_CHANCE = ("died", "stale", "fault")


class Blocked(Exception):
    """The exercise cannot be reached in this file; the message is a sentence."""


@dataclass
class Run:
    """One submission being graded."""

    engine: Engine
    submission: Submission
    names: Names
    parts: tuple[Part, ...] = ()
    skip: list[tuple[str, int]] = field(default_factory=list)
    done: dict[str, ExerciseResult] = field(default_factory=dict)
    earlier: dict[str, Run] = field(default_factory=dict)
    lost: int = 0  # workers that ended while the exercise at hand was graded

    def __post_init__(self) -> None:
        self.aliases = match(self.engine.constructors, self.names)
        self.place = self.engine.place

    def grade(self, exercise: Exercise) -> ExerciseResult:
        """Grade one exercise; where a building block of the student's own is wrong, once more with ours."""
        if exercise.name not in self.done:
            self.done[exercise.name] = self._remembered(exercise) or self._anew(exercise)
        return self.done[exercise.name]

    def _anew(self, exercise: Exercise) -> ExerciseResult:
        self.lost = 0
        result = self._without_inherited_faults(exercise, self._once(exercise, ()))
        if result.outcome in ("passed", "failed") and not result.partial and not self.lost:
            self._remember(exercise, result)
        return result

    def _without_inherited_faults(self, exercise: Exercise, result: ExerciseResult) -> ExerciseResult:
        if result.outcome != "failed" or (is_made_of_parts(exercise) and not _by_parts(exercise, result)):
            return result
        faulty = tuple(
            name
            for name, run in self._own(exercise)
            if run.grade(self.engine.exercises[name]).outcome in ("failed", "blocked", "not_started")
        )
        says = _("graded with the course's own {blocks}: yours has a fault of its own, reported there")
        again = self._with_ours(exercise, result, faulty, says)
        if not is_made_of_parts(exercise) or not _by_parts(exercise, again):
            return again
        every = tuple(name for name, _run in self._own(exercise))
        says = _(
            "graded with the course's own parts: yours ({blocks}) pass alone, and did not do together;"
            " a decoder that restarts its positions in prediction is one reason"
        )
        return again if set(every) == set(faulty) else self._with_ours(exercise, again, every, says)

    def _with_ours(
        self, exercise: Exercise, result: ExerciseResult, names: tuple[str, ...], says: str
    ) -> ExerciseResult:
        """The result of a second try with our blocks in the place of `names`, unless it is worse."""
        if not names:
            return result
        again = self._once(exercise, names)
        if again.score is None or again.score < (result.score or 0):
            return result  # with blocks that are right, what is left is the exercise's own
        remark = says.format(blocks=", ".join(names))
        return replace(again, remarks=(*again.remarks, remark), seconds=again.seconds + result.seconds)

    def _own(self, exercise: Exercise) -> list[tuple[str, Run]]:
        """The blocks of an exercise that its author wrote, and where: in this file or in an earlier one."""
        here = {n: self for n in exercise.given if n in self.aliases and n in self.engine.exercises}
        if not is_made_of_parts(exercise):
            return list(here.items())
        for part in self.parts:
            run = self.earlier.setdefault(
                part.submission.content, Run(self.engine, part.submission, read_names(part.submission))
            )
            here |= {n: run for n in part.names if n not in here and n in self.engine.exercises}
        return [(name, here[name]) for name in exercise.given if name in here]

    # ---- what takes long is remembered

    def _key(self, exercise: Exercise) -> str:
        engine = self.engine
        circumstances = (__version__, engine.torch_version, engine.launcher.tier, engine.device)
        seed = "hidden" if engine.hidden else "public"
        return key(exercise, content(self.submission, self.parts), *circumstances, seed)

    def _is_kept(self, exercise: Exercise) -> bool:
        return not self.engine.quick and any(case.costly for case in exercise.cases)

    def _remembered(self, exercise: Exercise) -> ExerciseResult | None:
        if self.engine.remembered is None or not self._is_kept(exercise):
            return None
        found = self.engine.remembered.find(self._key(exercise))
        if found is None:
            return None
        remark = _("kept from an earlier check of the same files: nothing was run again")
        return replace(found, remarks=(*found.remarks, remark), seconds=0.0)

    def _remember(self, exercise: Exercise, result: ExerciseResult) -> None:
        if self.engine.remembered is not None and self._is_kept(exercise):
            self.engine.remembered.keep(self._key(exercise), result)

    # ---- one try

    def _once(self, exercise: Exercise, replaced: tuple[str, ...]) -> ExerciseResult:
        started = time.monotonic()
        alias = self.aliases.get(exercise.name)
        remarks = []
        if alias is not None and alias != exercise.name:
            remarks.append(_("graded {found} as {name}").format(found=sanitize(alias), name=exercise.name))
        try:
            if alias is not None and self._untouched(exercise, alias):
                return self._result(exercise, "not_started", started=started)
            self._load(exercise, replaced)
            self._require_definition(exercise, alias)
        except Blocked as blocked:
            return self._result(exercise, "blocked", message=str(blocked), started=started, remarks=remarks)
        except SandboxError as error:
            return self._result(exercise, "could_not_grade", message=str(error), started=started)
        remarks += self._told_about_the_file()
        if is_made_of_parts(exercise):
            known = [name for name in exercise.given if name in self.engine.exercises]
            remarks.append(told(self.place.own, known))
        return self._cases(exercise, alias or exercise.name, replaced, remarks, started)

    def _untouched(self, exercise: Exercise, alias: str) -> bool:
        stub = self.engine.stubs.get(exercise.assignment)
        return stub is not None and alias == exercise.name and untouched(exercise.name, self.names, stub)

    # ---- loading

    def _load(self, exercise: Exercise, replaced: tuple[str, ...]) -> Session:
        """Load the file; a top-level statement that does not end is left out the next time."""
        lost = 0
        while True:
            try:
                parts, own = self._made_of(exercise, replaced)
                session = self.place.session(self.submission, exercise, replaced, self.skip, parts, own)
                if not self.place.again or self._defined(exercise):
                    return session
                self.place.close()  # what a first loading defines, and says, is what counts
            except WorkerGone as gone:
                self.lost += 1
                if gone.why == "time" and gone.statement is not None and len(self.skip) < MAX_ENDLESS:
                    self.skip.append(gone.statement)
                    continue
                lost += 1
                if gone.why in PERHAPS_CHANCE and lost == 1:
                    continue
                if gone.why == "fault":
                    self.place.require_well(exercise, None, None, self._told(gone))
                raise Blocked(how_loading_ended(gone)) from None

    def _made_of(
        self, exercise: Exercise, replaced: tuple[str, ...]
    ) -> tuple[tuple[Part, ...], dict[str, str]]:
        """The earlier files, and what this one defines, for an exercise that is made of the student's own parts."""
        if not is_made_of_parts(exercise):
            return (), {}
        here = {n: self.aliases[n] for n, run in self._own(exercise) if run is self and n not in replaced}
        return self.parts, {
            n: bound for n, bound in here.items() if not self._untouched(self.engine.exercises[n], bound)
        }

    def _defined(self, exercise: Exercise) -> bool:
        return bool({exercise.name, self.aliases.get(exercise.name)} & self.place.names)

    def _require_definition(self, exercise: Exercise, alias: str | None) -> None:
        if alias is not None and alias in self.place.names:
            return
        if exercise.name in self.place.names:
            self.aliases[exercise.name] = exercise.name
            return
        for note in self.place.notes:
            error = student_error(note.get("error"))
            defines = note.get("defines")
            if error is not None and (
                note.get("whole") or (isinstance(defines, list) and (alias or exercise.name) in defines)
            ):
                raise Blocked(of_note(note, error))
            if (
                note.get("endless")
                and isinstance(note.get("line"), int)
                and self._defined_at(alias or exercise.name) == note["line"]
            ):
                raise Blocked(
                    _("{file}, line {line}: this definition did not end").format(
                        file=note.get("file"), line=note["line"]
                    )
                )
        if self.names.broken:
            unit, why = next(iter(self.names.broken.items()))
            raise Blocked(_("{file}, {why}").format(file=unit, why=sanitize(why)))
        raise Blocked(
            _("{name} is not defined in {file}").format(
                name=exercise.name, file=sanitize(self.submission.path.name)
            )
        )

    def _defined_at(self, name: str) -> int:
        definition = self.names.definitions.get(name)
        return definition.line if definition else 0

    def _told_about_the_file(self) -> list[str]:
        out = []
        for note in self.place.notes[:3]:
            error = student_error(note.get("error"))
            if note.get("endless"):
                out.append(
                    _("{file}, line {line}: this statement did not end and was left out").format(
                        file=note.get("file"), line=note.get("line")
                    )
                )
            elif error is not None:
                out.append(_("left out, since it does not run: {what}").format(what=of_note(note, error)))
        return [sanitize(line, 400) for line in out]

    # ---- running

    def _cases(
        self, exercise: Exercise, alias: str, replaced: tuple[str, ...], remarks: list[str], started: float
    ) -> ExerciseResult:
        checks: list[CheckResult] = []
        observations: dict[str, Observation] = {}
        lost = 0
        hidden, device = self.engine.hidden, self.engine.device
        partial = False
        for case in exercise.cases:
            if case.costly and self.engine.quick:
                partial = True
                continue
            why = (
                _("not looked at: the cases before did not end")
                if lost >= MAX_LOST
                else _why_untrained(case, checks)
            )
            if why:
                checks += unseen_case(case, "skipped", why, hidden=hidden, device=device)
                continue
            try:
                observation = self._observe(exercise, case, alias, replaced)
                found = judge_case(case, observation, hidden=hidden, device=device)
                if self.place.again and any(check.outcome != "passed" for check in found):
                    self.place.close()  # a verdict against an answer comes from a worker that loaded it once
                    observation = self._observe(exercise, case, alias, replaced)
                    found = judge_case(case, observation, hidden=hidden, device=device)
            except WorkerGone as gone:
                lost += 1
                self.lost += 1
                # A loss on another device may be ours.
                outcome: CheckOutcome = "failed" if device == "cpu" else "could_not_grade"
                said = how_it_ended(gone, hidden)
                checks += unseen_case(case, outcome, said, hidden=hidden, device=device)
                continue
            except (Blocked, SandboxError) as error:
                checks += unseen_case(case, "could_not_grade", str(error), hidden=hidden, device=device)
                continue
            observations[case.id] = observation
            checks += found
        if partial:
            remarks.append(
                _("a quick check: the training that takes longer was left out, so this is no grade")
            )
        return replace(self._concluded(exercise, checks, observations, remarks, started), partial=partial)

    def _observe(
        self, exercise: Exercise, case: RecordedCase, alias: str, replaced: tuple[str, ...]
    ) -> Observation:
        """Run one case. A worker that is lost by what may be chance, or by what it did before, is replaced once."""
        request = request_for(case, {n: a for n, a in self.aliases.items() if n != a}, exercise.forbids)
        for attempt in (1, 2):
            session = self._load(exercise, replaced)
            again = self.place.again
            printed = len(session.printed)
            try:
                title = f"{exercise.name}, {case.id}"
                reply = session.ask(request, case.body, tell=partial_of(self.engine.training, title))
                if "fault" in reply.words:
                    raise WorkerGone("fault", last_line(reply.words["fault"]))
                break
            except WorkerGone as gone:
                self.place.close()
                if attempt == 1 and (again or gone.why in PERHAPS_CHANCE):
                    continue
                if gone.why == "fault":
                    self.place.require_well(exercise, request_for(case, {}), case, self._told(gone))
                raise
        try:
            observation = read_observation(reply.words, reply.body, case.asked, reply.seconds, session.files)
        except BadReply as error:
            raise WorkerGone("reply", str(error)) from None
        observation = replace(observation, printed=session.printed[printed:])
        return arranged(self._examined(exercise, case, observation), case.steps)

    def _examined(self, exercise: Exercise, case: RecordedCase, observation: Observation) -> Observation:
        """What was trained is measured in a worker of its own, in which no student code runs."""
        if case.exam is None:
            return observation
        given = {name: source(name) for name in with_requirements(exercise.given)}
        return examined(case, observation, self.engine.launcher, limits(exercise), given)

    def _told(self, gone: WorkerGone) -> str:
        return _("on a hidden case") if self.engine.hidden else gone.detail

    def _concluded(
        self,
        exercise: Exercise,
        checks: list[CheckResult],
        observations: Mapping[str, Observation],
        remarks: list[str],
        started: float,
    ) -> ExerciseResult:
        if any(c.outcome == "could_not_grade" for c in checks):
            why = next(c.message for c in checks if c.outcome == "could_not_grade")
            return self._result(exercise, "could_not_grade", message=why, checks=checks, started=started)
        passed = all(c.outcome == "passed" for c in checks)
        seen = [(case, observations[case.id]) for case in exercise.cases if case.id in observations]
        trivial = (
            not passed
            and any(c.facet == "values" and c.outcome != "passed" for c in checks)
            and is_trivial(exercise, seen)
        )
        layouts = {o.parameters["layout"] for _case, o in seen if o.parameters and o.parameters["layout"]}
        remarks = remarks + [of_layout(layout, self.engine.hidden) for layout in sorted(layouts)]
        remarks = remarks + _measured(exercise, checks)
        used = self._used(exercise, observations.values())
        remarks += [of_use(use, exercise.forbids_costs) for use in used]
        reached = exercise.points if passed else score(exercise.points, exercise.weights, checks, trivial)
        diagnosis = NO_DIAGNOSIS if passed else diagnose(exercise, observations, checks)
        if self.engine.hidden and diagnosis.kind in ("unknown", "none"):
            diagnosis = replace(diagnosis, says=without_numbers(diagnosis.says))
        return replace(
            self._result(
                exercise, "passed" if passed else "failed", checks=checks, started=started, remarks=remarks
            ),
            score=round(reached * (1 - exercise.forbids_costs), 6) if used else reached,
            diagnosis=diagnosis,
            fingerprint=fingerprint(named_by(exercise.cases), observations)
            if diagnosis.kind == "unknown"
            else "",
            figures={} if self.engine.hidden else figures(exercise.cases, observations),
        )

    def _used(self, exercise: Exercise, observations: Iterable[Observation]) -> list[Use]:
        """Calls that the exercise is about: in the text with their place, and those that were only seen to be made."""
        found = uses(self.submission, self.aliases.get(exercise.name, exercise.name), exercise.forbids)
        made = {call for observation in observations for call in observation.used} - {
            use.call for use in found
        }
        return found + [Use(call, "", 0) for call in exercise.forbids if call in made]

    def _result(
        self,
        exercise: Exercise,
        outcome: Outcome,
        *,
        started: float,
        message: str = "",
        checks: Sequence[CheckResult] = (),
        remarks: Sequence[str] = (),
    ) -> ExerciseResult:
        return ExerciseResult(
            name=exercise.name,
            assignment=exercise.assignment,
            outcome=outcome,
            score=None if outcome == "could_not_grade" else 0.0,
            points=exercise.points,
            title=_(exercise.title),
            message=sanitize(message, 600),
            checks=tuple(checks),
            remarks=tuple(remarks),
            seconds=time.monotonic() - started,
            content=self.submission.content,
        )


def _by_parts(exercise: Exercise, result: ExerciseResult) -> bool:
    """Whether a case that builds on the student's own parts failed."""
    cases = {case.id for case in exercise.cases if any(step.get("own") for step in case.steps)}
    return any(c.outcome == "failed" and c.id.split("/")[0] in cases for c in result.checks)


def _why_untrained(case: RecordedCase, checks: Sequence[CheckResult]) -> str:
    """Why a training would change nothing any more; "" where it may."""
    lost = any(check.facet == "values" and check.outcome == "failed" for check in checks)
    if case.exam is not None and lost:
        return _("not trained: what was checked before comes first")
    return ""


def _measured(exercise: Exercise, checks: Sequence[CheckResult]) -> list[str]:
    """How well what was trained does, for what passed; a failed check says so itself."""
    measures = {c.id: case.id for case in exercise.cases for c in case.checks if c.judge == "accuracy"}
    fine = [c for c in checks if c.id in measures and c.facet == "values" and c.outcome == "passed"]
    return [f"{measures[c.id]}: {c.message}" for c in fine]


def request_for(case: RecordedCase, aliases: Mapping[str, str], about: Sequence[str] = ()) -> dict[str, Any]:
    return {
        "op": "run",
        "case": {"steps": case.steps, "dtype": case.dtype, "aliases": aliases, "about": about},
    }
