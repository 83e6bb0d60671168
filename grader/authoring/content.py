"""Read one folder of solutions/: the single source of an assignment. Instructor and maintainer only."""

from __future__ import annotations

import hashlib
import re
import runpy
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from difflib import get_close_matches
from pathlib import Path
from typing import Annotated, Any

import msgspec
from msgspec import Meta, Struct, structs

from grader.authoring.bank import KnownAnswer
from grader.bundle.answers import ANSWERS_FILE
from grader.cases.case import Case, collected
from grader.cases.draw import Draw
from grader.sandbox.base import Limits
from grader.support.errors import UsageError
from grader.support.i18n import _

# Values count most; masks and gradients are where attention code often breaks. Each facet not named here has weight 1.
DEFAULT_WEIGHTS = {"values": 4.0, "masking": 2.0, "gradients": 2.0, "cost": 2.0}
PICTURES = "pictures"  # the folder with the pictures of a lesson
Level = Annotated[int, Meta(ge=0, le=3)]


class OwnLimits(Struct, frozen=True, forbid_unknown_fields=True):
    """The limits that `limits` in exercise.toml may set; see `sandbox.base.Limits`."""

    wall_seconds: float = float(Limits.wall_seconds)
    cpu_seconds: float = float(Limits.cpu_seconds)
    memory_bytes: float = float(Limits.memory_bytes)
    output_bytes: float = float(Limits.output_bytes)


class Described(Struct, frozen=True, forbid_unknown_fields=True):
    """An exercise as exercise.toml describes it; CONTRIBUTING.md explains the keys."""

    name: str
    title: str
    points: float
    minutes: int
    built: str  # said when it passes: what the student has now, and where it returns
    hints: tuple[str, ...]
    needs: tuple[str, ...] = ()
    given: tuple[str, ...] | None = None  # None: those of the assignment
    forbids: tuple[str, ...] = ()
    forbids_costs: float = 0.0
    about: str = "values"
    facets: dict[str, float] = {}
    limits: OwnLimits = OwnLimits()
    level: Level | None = None  # None: that of the assignment
    pairs: tuple[str, ...] = ()


class Manifest(Struct, frozen=True, forbid_unknown_fields=True):
    """The file exercise.toml. second: the assignment is of the second half, which is optional. module: the student's file
    without ".py", if it is not the folder's name without its number.
    """

    title: str
    summary: str
    exercise: tuple[Described, ...]
    given: tuple[str, ...] = ()
    level: Level = 3
    second: bool = False
    module: str = ""


@dataclass(frozen=True)
class Assignment:
    """One folder of solutions/. `cases`, `mistakes`, `mutants` and `variants` run its Python files at each call."""

    name: str
    folder: Path
    manifest: Manifest
    source: str

    @property
    def module(self) -> str:
        return self.manifest.module or self.name.split("_", 1)[1]

    @property
    def exercises(self) -> tuple[Described, ...]:
        return self.manifest.exercise

    def exercise(self, name: str) -> Described:
        return next(one for one in self.exercises if one.name == name)

    def only(self, exercise: str) -> Assignment:
        """Return the assignment with this exercise alone."""
        return replace(self, manifest=structs.replace(self.manifest, exercise=(self.exercise(exercise),)))

    @property
    def pictures(self) -> dict[str, bytes]:
        """Return the pictures of the lesson by their paths in it: "pictures/masks.svg"."""
        return {
            f"{PICTURES}/{p.name}": p.read_bytes() for p in sorted((self.folder / PICTURES).glob("*.svg"))
        }

    @property
    def answers(self) -> dict[str, bytes]:
        """Return the file with the answers to the questions of the lesson by its name; no file if there is none."""
        return {p.name: p.read_bytes() for p in self.folder.glob(ANSWERS_FILE)}

    @property
    def pages(self) -> dict[str, bytes]:
        """Return the pages beside the lesson by their names: "ground.md"."""
        return {p.name: p.read_bytes() for p in sorted(self.folder.glob("*.md")) if p.name != ANSWERS_FILE}

    def given(self, exercise: Described) -> tuple[str, ...]:
        """Return the names of the building blocks that the exercise may import from `grader.given`."""
        return self.manifest.given if exercise.given is None else exercise.given

    def cases(self, exercise: str, seed: str) -> list[Case]:
        """Return the cases that the generator of this name in cases.py yields for a seed, then those in other dtypes.

        Raises UsageError.
        """
        make: Callable[[Draw], Iterator[Case]] | None = self._run("cases.py").get(exercise)
        if make is None:
            raise UsageError(f"{self.folder / 'cases.py'} has no generator named {exercise}")
        with collected() as made:
            written = list(make(Draw(seed, self.name, exercise)))
        yielded = {id(case) for case in written} | {id(case.exam) for case in written}
        if lost := [case.id for case in made if id(case) not in yielded]:
            raise UsageError(
                f"{self.folder / 'cases.py'}: {exercise} makes the case {lost[0]} and never yields it"
            )
        cases = written + [again for case in written for again in case.in_other_dtypes()]
        ids = [case.id for case in cases]
        if len(set(ids)) != len(ids):
            raise UsageError(f"{self.name}: two cases of {exercise} have the same id")
        return cases

    def mistakes(self, exercise: str | None = None) -> list[KnownAnswer]:
        """Return wrong answers with their pages, of one exercise or of all in order."""
        return [mistake for name in self._names(exercise) for mistake in self._mistakes(name)]

    def weights(self, exercise: Described, facets: Iterable[str]) -> dict[str, float]:
        """Return the weight of each facet. The facet that the exercise is about gets a third of all weights or more.

        facets: those that the exercise checks; the facet *device* can come with every exercise. Raises UsageError.
        """
        weights = {**DEFAULT_WEIGHTS, **exercise.facets}
        about = exercise.about
        if about not in facets:
            raise UsageError(f"{exercise.name}: it is about {about}, but has no check of this facet")
        others = sum(weights.get(facet, 1.0) for facet in {*facets, "device"} - {about})
        return {**weights, about: max(weights.get(about, 1.0), others / 2)}

    def level(self, exercise: Described) -> int:
        """Return how much a diagnosis may say: 0 facts, 1 the mistake, 2 a question, 3 a page."""
        return self.manifest.level if exercise.level is None else exercise.level

    def named_mistakes(self, exercise: Described) -> list[KnownAnswer]:
        """Return the mistakes that go into a bundle: none at level 0, where no diagnosis may name a mistake."""
        return self.mistakes(exercise.name) if self.level(exercise) else []

    def mutants(self, exercise: str | None = None) -> list[KnownAnswer]:
        """Return repairs and tests that still have a fault: they must fail, and a student reads nothing about them."""
        return [
            replace(mutant, of=name)
            for name in self._names(exercise)
            for mutant in self._run(f"mutants/{name}.py").get("MUTANTS", [])
        ]

    def alternatives(self, exercise: str) -> list[KnownAnswer]:
        """Return right answers with other values; later exercises may build on them (`bank.also`)."""
        return [v for v in self.variants(exercise) if v.kind == "also"]

    def variants(self, exercise: str | None = None) -> list[KnownAnswer]:
        """Return the answers in variants.py: right ones (`variant`, `also`), and trivial ones."""
        return [v for v in self._run("variants.py").get("VARIANTS", []) if exercise in (None, v.of)]

    def check_pairs(self) -> None:
        """Raise UsageError if `pairs` (mistakes that often occur together) names an unknown mistake."""
        for exercise in self.exercises:
            unknown = set(exercise.pairs) - {m.id for m in self.mistakes(exercise.name)}
            if unknown:
                raise UsageError(
                    f"{self.folder / 'exercise.toml'}: {exercise.name} pairs unknown mistakes: {', '.join(sorted(unknown))}"
                )

    def _names(self, exercise: str | None) -> list[str]:
        return [one.name for one in self.exercises if exercise in (None, one.name)]

    def _mistakes(self, exercise: str) -> Iterator[KnownAnswer]:
        mistakes = self._run(f"mistakes/{exercise}.py").get("MISTAKES", [])
        path = self.folder / "mistakes" / f"{exercise}.md"
        pages = read_pages(path.read_text("utf-8")) if mistakes else {}
        for mistake in mistakes:
            if mistake.id not in pages:
                raise UsageError(f"{path} has no page about {mistake.id}")
            forms = tuple(replace(form, of=exercise) for form in mistake.forms)
            yield replace(mistake, of=exercise, page=pages.pop(mistake.id), forms=forms)
        if pages:
            raise UsageError(f"{path} has pages about unknown mistakes: {', '.join(pages)}")

    def _run(self, file: str) -> dict[str, Any]:
        path = self.folder / file
        return runpy.run_path(str(path)) if path.exists() else {}

    def digest(self) -> str:
        """Return a hash of the .py, .toml and .md files of the folder."""
        parts = hashlib.sha256()
        for path in sorted(self.folder.rglob("*")):
            if path.suffix in (".py", ".toml", ".md"):
                name = path.relative_to(self.folder).as_posix()
                parts.update(name.encode() + b"\0" + path.read_bytes() + b"\0")
        return parts.hexdigest()


def read(folder: Path) -> Assignment:
    """Read a folder of solutions/. Raises UsageError with a sentence."""
    manifest, name = read_manifest(folder / "exercise.toml"), folder.name
    source_path = folder / f"{manifest.module or name.split('_', 1)[1]}.py"
    if not source_path.exists():
        raise UsageError(f"{source_path} is missing")
    return Assignment(name, folder, manifest, source_path.read_text("utf-8"))


def read_manifest(path: Path) -> Manifest:
    """Read an exercise.toml. Raises UsageError with a sentence."""
    try:
        manifest = msgspec.toml.decode(path.read_bytes(), type=Manifest)
    except OSError:
        raise UsageError(f"{path} is missing") from None
    except msgspec.MsgspecError as error:
        raise UsageError(f"{path}: {error}") from None
    # Only the wall limit reports the line of an endless loop, so it must be below the CPU limit.
    for exercise in manifest.exercise:
        wall, cpu = exercise.limits.wall_seconds, exercise.limits.cpu_seconds
        if cpu <= wall:
            raise UsageError(
                f"{path}: {exercise.name} has cpu_seconds = {cpu:g} and wall_seconds = {wall:g}: an endless"
                f" loop would be killed before its line is known; take cpu_seconds = {1.5 * wall + 10:g} or more"
            )
    return manifest


def read_all(solutions: Path) -> list[Assignment]:
    """Return every assignment below solutions/, in order."""
    return [read(path.parent) for path in sorted(solutions.glob("[0-9][0-9]_*/exercise.toml"))]


def check_needs(assignments: Sequence[Assignment]) -> None:
    """Raise UsageError if `needs` of an exercise names an exercise that no assignment has."""
    known = {exercise.name for assignment in assignments for exercise in assignment.exercises}
    for assignment in assignments:
        for exercise in assignment.exercises:
            if unknown := set(exercise.needs) - known:
                raise UsageError(
                    f"{assignment.folder / 'exercise.toml'}: {exercise.name} needs unknown exercises:"
                    f" {', '.join(sorted(unknown))}"
                )


def chosen(assignments: Sequence[Assignment], only: Sequence[str]) -> list[Assignment]:
    """Return the assignments that `only` names by number, name or module; all if it is empty.

    Raises UsageError for an unknown name.
    """
    table = {key: a for a in assignments for key in (a.name, a.module, a.name.split("_")[0])}
    names = [name.rstrip("/") for name in only]
    for name in names:
        if name not in table:
            says = _("there is no assignment {name}; there are {names}")
            near = get_close_matches(name, table, n=1)
            if near:
                says = _("there is no assignment {name}; did you mean {near}?")
            names_here = ", ".join(a.name for a in assignments)
            raise UsageError(says.format(name=name, near="".join(near), names=names_here))
    wanted = [table[name] for name in names] or assignments
    return [a for a in assignments if a in wanted]


# ---- the pages about mistakes: one section `## id, id, …` per family, which a student learns as one thing. An example
# that several pages show is a section of its own, which replaces the line `[See it yourself](#its-name)`.

LINK = re.compile(r"^\[See it yourself\]\(#(.+)\)$", re.M)


def read_pages(text: str) -> dict[str, str]:
    """Return the page of each id. Raises KeyError for a link to a section that is missing."""
    sections = _sections(text)
    linked = {name for body in sections.values() for name in LINK.findall(body)}
    return {
        id: LINK.sub(lambda link: sections[link[1]].strip("\n"), body).strip("\n") + "\n"
        for title, body in sections.items()
        if title not in linked
        for id in title.split(", ")
    }


def _sections(text: str) -> dict[str, str]:
    """Return the text below each heading of the second level; a line in a code block is no heading."""
    sections: dict[str, str] = {}
    title, in_code = "", False
    for line in text.splitlines(keepends=True):
        in_code ^= line.startswith("```")
        if not in_code and line.startswith(("# ", "## ")):
            title = line.removeprefix("## ").strip() if line.startswith("## ") else ""
        elif title:
            sections[title] = sections.get(title, "") + line
    return sections
