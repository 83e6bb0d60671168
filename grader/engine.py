"""Grade submissions: case → worker → observation → judge → report. The one place where these meet."""

from __future__ import annotations

import re
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial as partial_of
from pathlib import Path

from grader import __version__
from grader.bundle import Bundle, Exercise, RecordedCase
from grader.devices import also_on
from grader.diagnose import diagnose
from grader.exams import examined
from grader.given import BLOCKS, requires, source
from grader.i18n import _
from grader.intake.names import Names, match, read_names, untouched
from grader.intake.policy import Use, uses
from grader.intake.read import Submission, Unit
from grader.kept import arranged
from grader.observation import BadReply, Observation, StudentError, read_observation, student_error
from grader.parts import Part, content, is_made_of_parts, told
from grader.remembered import Remembered, key
from grader.report.model import NO_DIAGNOSIS, CheckOutcome, CheckResult, ExerciseResult, Outcome, Report
from grader.sandbox.base import Launcher, Limits, SandboxError
from grader.sanitize import sanitize
from grader.scoring import score
from grader.session import Session, Training, WorkerGone
from grader.signature import fingerprint, named_by
from grader.verdict import is_trivial, judge_case, unseen_case

MAX_LOST = 2  # workers lost by one exercise before the rest of its cases is left alone
MAX_ENDLESS = 3  # top-level statements that did not end, before the file is given up

# Ways to lose a worker that may be chance (somebody killed it) or the doing of the exercise before.
PERHAPS_CHANCE = ("died", "stale", "fault")

BASE_CLASSES = ("Encoder", "Decoder", "AttentionDecoder")  # of the book; they answer nothing

Progress = Callable[[str], None]


class Blocked(Exception):
    """The exercise cannot be reached in this file; the message is a sentence."""


@dataclass
class Engine:
    """Grades with one launcher and the bundles of one course, public or hidden.

    A worker loads one submission once. Exercises share it as long as they may use the same building blocks:
    code could keep a block that one exercise allows for another that withholds it, or an input for the
    next loading to tell of. `one_worker` lifts that for sources that are all trusted.
    """

    bundles: Sequence[Bundle]
    launcher: Launcher
    device: str = "cpu"
    elsewhere: Engine | None = None  # grades the same cases on another device, for the facet of that name
    hidden: bool = False
    one_worker: bool = False
    quick: bool = False  # leave out what takes more than a few seconds
    progress: Progress = lambda name: None
    training: Callable[[str, Training], None] = lambda title, training: None
    remembered: Remembered | None = None  # results of exercises that take long
    torch_version: str = ""
    _session: Session | None = field(default=None, repr=False)
    _loaded: tuple[object, ...] = ()
    _reply_names: tuple[frozenset[str], list[dict[str, object]]] = (frozenset(), [])
    own: frozenset[str] = frozenset()  # the student's own parts that are there

    def __post_init__(self) -> None:
        self._exercises = {e.name: (e, b) for b in self.bundles for e in b.exercises}
        self.constructors = {e.name: _keywords(e) for b in self.bundles for e in b.exercises}
        self._shown = {e.name: _shown(e) for b in self.bundles for e in b.exercises}
        self._stubs = {b.assignment: read_names(_stub(b)) for b in self.bundles}

    # ---- one submission -----------------------------------------------------------------------------

    def known(self, submission: Submission) -> dict[str, str]:
        """Exercise → the name it stands under, for every known exercise that the submission defines."""
        return match(self.constructors, read_names(submission))

    def grade(
        self, submission: Submission, wanted: Sequence[str] | None = None, parts: Sequence[Part] = ()
    ) -> Report:
        """Grade the known exercises of a submission, or those `wanted`, and tell of them in the order of the course.

        Exercises with the same building blocks are graded one after another, since they share a worker.
        An exercise that is wanted and not defined is *blocked*. parts: what its author wrote in earlier files,
        for exercises that are made of such parts.
        """
        run = _Run(self, submission, read_names(submission), tuple(parts))
        names = [n for n in self._exercises if n in wanted] if wanted is not None else list(run.aliases)
        exercises = [exercise for name, (exercise, _bundle) in self._exercises.items() if name in names]
        for exercise in sorted(exercises, key=lambda exercise: self._shown[exercise.name]):
            self.progress(exercise.name)
            run.grade(exercise)
        results = [run.done[exercise.name] for exercise in exercises]
        return self.report(
            results if self.elsewhere is None else also_on(self.elsewhere, submission, results)
        )

    def report(self, results: Sequence[ExerciseResult]) -> Report:
        return Report(
            exercises=tuple(results),
            sandbox=self.launcher.tier,
            torch=self.torch_version,
            grader=__version__,
            seed="hidden" if self.hidden else "public",
        )

    def close(self) -> None:
        """End the worker, not the launcher. Safe to call twice."""
        if self.elsewhere is not None:
            self.elsewhere.close()
        if self._session is not None:
            self._session.close()
            self._session = None
        self._loaded = ()

    # ---- the worker ---------------------------------------------------------------------------------

    def session_for(
        self,
        submission: Submission,
        exercise: Exercise,
        replaced: tuple[str, ...],
        skip: list[tuple[str, int]],
        parts: Sequence[Part] = (),
        own: Mapping[str, str] | None = None,
    ) -> Session:
        """A session in which the submission is loaded with what this exercise may use.

        `parts`, `own`: the parts of earlier files and of this one that models may be made of.
        """
        allowed = with_requirements(exercise.given)
        made_of = (content(submission, parts), tuple(own or ()))
        key = (made_of, self._shown[exercise.name], replaced, tuple(skip))
        limits = _limits(exercise)
        if self._session is not None and self._loaded == key:
            return self._session
        if self._loaded and not self.one_worker:
            self.close()
        if self._session is not None and limits.cpu_seconds > self._session.granted.cpu_seconds:
            self.close()
        if self._session is None:
            self._session = Session(self.launcher, limits)
        self._session.limits = limits
        units = (*submission.units, *(unit for part in parts for unit in part.submission.units))
        self._session.files = frozenset(unit.name for unit in units)
        request = {
            "op": "load",
            "device": self.device,
            "units": [vars(unit) for unit in submission.units],
            "given": {name: source(name) for name in allowed},
            "withheld": [name for name in BLOCKS if name not in allowed],
            "replace": list(replaced),
            "skip": skip,
            "parts": [part.request(replaced) for part in parts],
            "own": dict(own or {}),
        }
        try:
            reply = self._session.ask(request)
            if "fault" in reply.words:
                raise WorkerGone("fault", _last(reply.words["fault"]))
        except WorkerGone:
            self.close()
            raise
        names, notes, mine = (reply.words.get(what) for what in ("names", "notes", "own"))
        self.own = frozenset(n for n in mine if isinstance(n, str)) if isinstance(mine, list) else frozenset()
        self._reply_names = (
            frozenset(n for n in names if isinstance(n, str)) if isinstance(names, list) else frozenset(),
            [n for n in notes if isinstance(n, dict)] if isinstance(notes, list) else [],
        )
        self._loaded = key
        return self._session

    def require_well(self, exercise: Exercise, case: RecordedCase | None, why: str) -> None:
        """Raises SandboxError if a worker breaks down without the submission too: then the fault is ours.

        Of a worker that ran a student's code it cannot be believed: code that fails could say so, and lose
        no points.
        """
        nothing = Submission(Path("nothing.py"), (Unit("nothing.py", "pass"),))
        try:
            session = self.session_for(nothing, exercise, (), [])
            reply = session.ask(_request(case, {}), case.body) if case is not None else None
            broken = reply is not None and "fault" in reply.words
        except WorkerGone:
            broken = True
        finally:
            self.close()
        if broken:
            raise SandboxError(
                _("the worker failed: {what}").format(what=_("on a hidden case") if self.hidden else why)
            )

    @property
    def loaded_names(self) -> frozenset[str]:
        return self._reply_names[0]

    @property
    def notes(self) -> list[dict[str, object]]:
        return self._reply_names[1]


@dataclass
class _Run:
    """One submission being graded."""

    engine: Engine
    submission: Submission
    names: Names
    parts: tuple[Part, ...] = ()
    skip: list[tuple[str, int]] = field(default_factory=list)
    done: dict[str, ExerciseResult] = field(default_factory=dict)
    earlier: dict[str, _Run] = field(default_factory=dict)
    lost: int = 0  # workers that ended while the exercise at hand was graded

    def __post_init__(self) -> None:
        self.aliases = match(self.engine.constructors, self.names)

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
            if run.grade(self.engine._exercises[name][0]).outcome in ("failed", "blocked", "not_started")
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

    def _own(self, exercise: Exercise) -> list[tuple[str, _Run]]:
        """The blocks of an exercise that its author wrote, and where: in this file or in an earlier one."""
        here = {n: self for n in exercise.given if n in self.aliases and n in self.engine._exercises}
        if not is_made_of_parts(exercise):
            return list(here.items())
        for part in self.parts:
            run = self.earlier.setdefault(
                part.submission.content, _Run(self.engine, part.submission, read_names(part.submission))
            )
            here |= {n: run for n in part.names if n not in here and n in self.engine._exercises}
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

    def _once(self, exercise: Exercise, replaced: tuple[str, ...]) -> ExerciseResult:
        started = time.monotonic()
        alias = self.aliases.get(exercise.name)
        remarks = []
        if alias is not None and alias != exercise.name:
            remarks.append(_("graded {found} as {name}").format(found=sanitize(alias), name=exercise.name))
        try:
            if alias is not None and self._untouched(exercise, alias):
                return self._result(exercise, "not_started", started=started)
            session = self._load(exercise, replaced)
            self._require_definition(exercise, alias)
        except Blocked as blocked:
            return self._result(exercise, "blocked", message=str(blocked), started=started, remarks=remarks)
        except SandboxError as error:
            return self._result(exercise, "could_not_grade", message=str(error), started=started)
        remarks += self._told_about_the_file()
        if is_made_of_parts(exercise):
            known = [name for name in exercise.given if name in self.engine._exercises]
            remarks.append(told(self.engine.own, known))
        del session
        return self._cases(exercise, alias or exercise.name, replaced, remarks, started)

    def _untouched(self, exercise: Exercise, alias: str) -> bool:
        stub = self.engine._stubs.get(exercise.assignment)
        return stub is not None and alias == exercise.name and untouched(exercise.name, self.names, stub)

    # ---- loading

    def _load(self, exercise: Exercise, replaced: tuple[str, ...]) -> Session:
        """Load the file; a top-level statement that does not end is left out the next time."""
        lost = 0
        while True:
            try:
                parts, own = self._made_of(exercise, replaced)
                return self.engine.session_for(self.submission, exercise, replaced, self.skip, parts, own)
            except WorkerGone as gone:
                self.lost += 1
                if gone.why == "time" and gone.statement is not None and len(self.skip) < MAX_ENDLESS:
                    self.skip.append(gone.statement)
                    continue
                lost += 1
                if gone.why in PERHAPS_CHANCE and lost == 1:
                    continue
                if gone.why == "fault":
                    self.engine.require_well(exercise, None, gone.detail)
                raise Blocked(_how_loading_ended(gone)) from None

    def _made_of(
        self, exercise: Exercise, replaced: tuple[str, ...]
    ) -> tuple[tuple[Part, ...], dict[str, str]]:
        """The earlier files, and what this one defines, for an exercise that is made of the student's own parts."""
        if not is_made_of_parts(exercise):
            return (), {}
        here = {n: self.aliases[n] for n, run in self._own(exercise) if run is self and n not in replaced}
        return self.parts, {
            n: bound for n, bound in here.items() if not self._untouched(self.engine._exercises[n][0], bound)
        }

    def _require_definition(self, exercise: Exercise, alias: str | None) -> None:
        if alias is not None and alias in self.engine.loaded_names:
            return
        if exercise.name in self.engine.loaded_names:
            self.aliases[exercise.name] = exercise.name
            return
        for note in self.engine.notes:
            error = student_error(note.get("error"))
            defines = note.get("defines")
            if error is not None and (
                note.get("whole") or (isinstance(defines, list) and (alias or exercise.name) in defines)
            ):
                raise Blocked(_sentence_of(note, error))
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
        for note in self.engine.notes[:3]:
            error = student_error(note.get("error"))
            if note.get("endless"):
                out.append(
                    _("{file}, line {line}: this statement did not end and was left out").format(
                        file=note.get("file"), line=note.get("line")
                    )
                )
            elif error is not None:
                out.append(
                    _("left out, since it does not run: {what}").format(what=_sentence_of(note, error))
                )
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
            except WorkerGone as gone:
                lost += 1
                self.lost += 1
                outcome: CheckOutcome = (
                    "failed" if device == "cpu" else "could_not_grade"
                )  # a loss elsewhere may be ours
                checks += unseen_case(
                    case, outcome, _how_it_ended(gone, hidden), hidden=hidden, device=device
                )
                continue
            except (Blocked, SandboxError) as error:
                checks += unseen_case(case, "could_not_grade", str(error), hidden=hidden, device=device)
                continue
            observations[case.id] = observation
            checks += judge_case(case, observation, hidden=hidden, device=device)
        if partial:
            remarks.append(
                _("a quick check: the training that takes longer was left out, so this is no grade")
            )
        return replace(self._concluded(exercise, checks, observations, remarks, started), partial=partial)

    def _observe(
        self, exercise: Exercise, case: RecordedCase, alias: str, replaced: tuple[str, ...]
    ) -> Observation:
        """Run one case; a worker that is lost by what may be chance is replaced once."""
        request = _request(case, {n: a for n, a in self.aliases.items() if n != a}, exercise.forbids)
        for attempt in (1, 2):
            session = self._load(exercise, replaced)
            printed = len(session.printed)
            try:
                title = f"{exercise.name}, {case.id}"
                reply = session.ask(request, case.body, tell=partial_of(self.engine.training, title))
                if "fault" in reply.words:
                    raise WorkerGone("fault", _last(reply.words["fault"]))
                break
            except WorkerGone as gone:
                self.engine.close()
                if gone.why in PERHAPS_CHANCE and attempt == 1:
                    continue
                if gone.why == "fault":
                    self.engine.require_well(exercise, case, gone.detail)
                raise
        try:
            observation = read_observation(reply.words, reply.body, case.asked, reply.seconds, session.files)
        except BadReply as error:
            raise WorkerGone("reply", str(error)) from None
        observation = replace(observation, printed=session.printed[printed:])
        given = {name: source(name) for name in with_requirements(exercise.given)}
        observation = examined(case, observation, self.engine.launcher, _limits(exercise), given)
        return arranged(observation, case.steps)

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
        remarks = remarks + [_of_layout(layout, self.engine.hidden) for layout in sorted(layouts)]
        remarks = remarks + _measured(exercise, checks)
        used = self._used(exercise, observations.values())
        remarks += [_of_use(use, exercise.forbids_costs) for use in used]
        reached = exercise.points if passed else score(exercise.points, exercise.weights, checks, trivial)
        diagnosis = NO_DIAGNOSIS if passed else diagnose(exercise, observations, checks)
        if self.engine.hidden and diagnosis.kind in ("unknown", "none"):
            diagnosis = replace(diagnosis, says=_without_numbers(diagnosis.says))
        return replace(
            self._result(
                exercise, "passed" if passed else "failed", checks=checks, started=started, remarks=remarks
            ),
            score=round(reached * (1 - exercise.forbids_costs), 6) if used else reached,
            diagnosis=diagnosis,
            fingerprint=fingerprint(named_by(exercise.cases), observations)
            if diagnosis.kind == "unknown"
            else "",
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


def with_requirements(given: Sequence[str]) -> tuple[str, ...]:
    """The allowed blocks and those that they are made of, in a fixed order."""
    out: list[str] = []
    waiting = [*given, *BASE_CLASSES]
    while waiting:
        name = waiting.pop(0)
        if name not in out:
            out.append(name)
            waiting += requires(name)
    return tuple(sorted(out))


def _shown(exercise: Exercise) -> tuple[int, tuple[str, ...], str]:
    """What a worker that grades this exercise gets to see of answers to others, few first.

    Blocks that it may use, and classes that its cases bring along.
    """
    allowed = with_requirements(exercise.given)
    provides = any(step["do"] == "provide" for case in exercise.cases for step in case.steps)
    return len(allowed), allowed, exercise.name if provides else ""


def _keywords(exercise: Exercise) -> frozenset[str] | None:
    """The keywords that every case builds the exercise's class with; None for a function."""
    built = [
        s for case in exercise.cases for s in case.steps if s["do"] == "build" and s["of"] == exercise.name
    ]
    return (
        frozenset.intersection(*(frozenset(s["kwargs"]) - frozenset(s["may_drop"]) for s in built))
        if built
        else None
    )


def _stub(bundle: Bundle) -> Submission:
    return Submission(Path(f"{bundle.module}.py"), (Unit(f"{bundle.module}.py", bundle.stub),))


def _request(case: RecordedCase, aliases: Mapping[str, str], about: Sequence[str] = ()) -> dict[str, object]:
    return {
        "op": "run",
        "case": {"steps": case.steps, "dtype": case.dtype, "aliases": aliases, "about": about},
    }


def _limits(exercise: Exercise) -> Limits:
    chosen = exercise.limits
    return Limits(
        wall_seconds=chosen.get("wall_seconds", Limits.wall_seconds),
        cpu_seconds=int(chosen.get("cpu_seconds", Limits.cpu_seconds)),
        memory_bytes=int(chosen.get("memory_bytes", Limits.memory_bytes)),
        output_bytes=int(chosen.get("output_bytes", Limits.output_bytes)),
    )


def _last(fault: object) -> str:
    return sanitize(str(fault).strip().splitlines()[-1] if str(fault).strip() else "", 300)


def _at(gone: WorkerGone) -> str:
    return (
        "" if gone.line is None else _(" at {file}, line {line}").format(file=gone.line[0], line=gone.line[1])
    )


def _how_it_ended(gone: WorkerGone, hidden: bool = False) -> str:
    """One sentence about a worker that was lost; of a hidden case without the numbers that its code could choose."""
    much = "" if hidden or not gone.detail else f" ({sanitize(gone.detail, 200)})"
    if gone.why == "time":
        return _("stopped: its time ran out{at}").format(at=_at(gone))
    if gone.why == "output":
        return _("stopped: it printed without end{much}").format(much=much)
    if gone.why in ("reply", "stale"):
        return _("stopped: what it sent back cannot be a result{much}").format(much=much)
    if gone.why == "fault":
        return _("it broke the worker, which does well without it, twice{much}").format(much=much)
    return _("it ended the process{much}, twice").format(much=much)


def _how_loading_ended(gone: WorkerGone) -> str:
    if gone.why == "time":
        return _("the file did not finish loading: its top-level code does not end{at}").format(at=_at(gone))
    return _("the file could not be loaded: {how}").format(how=_how_it_ended(gone))


def _of_use(use: Use, costs: float) -> str:
    place = _(" ({file}, line {line})").format(file=sanitize(use.unit), line=use.line) if use.unit else ""
    told = _("uses {call}{place}, which this exercise is about; your instructor may ask you to write it out")
    cost = _(" (it costs {share:.0%} of the points)").format(share=costs) if costs else ""
    return told.format(call=use.call, place=place) + cost


def _of_layout(layout: str, hidden: bool) -> str:
    """The name comes from beside student code: it may hold anything, a hidden input too."""
    return _("weights were loaded from another layout") + ("" if hidden else f": {sanitize(_(layout), 100)}")


def _without_numbers(facts: str) -> str:
    """Facts about hidden cases: code that has seen an input could make it the factor by which it is wrong."""
    return re.sub(r"-?\d+(?:[.,]\d+)*(?:e[+-]?\d+)?(?:, \d+)*", "…", facts)


def _sentence_of(note: Mapping[str, object], error: StudentError) -> str:
    """ "masking.py, line 3: NameError: name 'torhc' is not defined"."""
    line = error.where[1] if error.where is not None else note.get("line")
    file = error.where[0] if error.where is not None else note.get("file")
    return _("{file}, line {line}: {type}: {message}").format(
        file=file, line=line, type=error.type, message=error.message
    )
