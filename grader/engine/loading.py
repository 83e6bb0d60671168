"""Bring a submission into a worker for one exercise, and say what stands in the way."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from grader.bundle.model import Exercise
from grader.engine.load_request import Setting
from grader.engine.messages import how_loading_ended, of_note
from grader.engine.session import Session, WorkerGone
from grader.engine.student_parts import Part
from grader.engine.worker_slot import Workplace
from grader.intake.names import Names
from grader.intake.read import Submission
from grader.judge.observation import student_error
from grader.support.i18n import _
from grader.support.sanitize import sanitize

NO_OWN: Mapping[str, str] = {}
MAX_ENDLESS = 3  # top-level statements that did not end, before the file is given up

# Ways to lose a worker that may be chance (somebody killed it) or the doing of the exercise before.
PERHAPS_CHANCE = ("died", "stale", "fault")


class Blocked(Exception):
    """The exercise cannot be reached in this file; the message is a sentence."""


@dataclass
class Loading:
    """One submission, the names that its exercises stand under, and what has to be left out of it."""

    place: Workplace
    submission: Submission
    names: Names
    aliases: dict[str, str]
    skip: list[tuple[str, int]] = field(default_factory=list)
    lost: int = 0  # workers that ended over it, ever

    def session(
        self,
        exercise: Exercise,
        replaced: tuple[str, ...] = (),
        parts: Sequence[Part] = (),
        own: Mapping[str, str] = NO_OWN,
    ) -> Session:
        """A session in which the file is loaded; a top-level statement that does not end is left out the next time.

        Raises Blocked when it cannot be loaded, and SandboxError when that is not its fault.
        """
        lost = 0
        while True:
            try:
                setting = Setting(self.submission, exercise, replaced, tuple(self.skip), parts, own)
                session = self.place.session(setting)
                if not self.place.again or self._defines(exercise):
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
                    self.place.require_well(exercise, None, None, gone.detail)
                raise Blocked(how_loading_ended(gone)) from None

    def _defines(self, exercise: Exercise) -> bool:
        return bool({exercise.name, self.aliases.get(exercise.name)} & self.place.names)

    def require_definition(self, exercise: Exercise) -> None:
        """Raises Blocked with the reason why the exercise is not there."""
        alias = self.aliases.get(exercise.name)
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

    def remarks(self) -> list[str]:
        """What was left out of the file."""
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
