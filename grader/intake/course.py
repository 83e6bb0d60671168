"""The student's course folder: its settings, its files, and the instructor's solutions beside it."""

from __future__ import annotations

import json
import os
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from functools import cached_property, partial
from pathlib import Path, PurePath
from typing import Annotated, Any

import msgspec
from msgspec import Meta

from grader.bundle.files import MANIFEST_FILE, load, load_all
from grader.bundle.model import FACETS, PAGE, POLICIES, Bundle, Exercise, Rules
from grader.intake.names import is_changed
from grader.intake.read import read_bytes
from grader.support.errors import UsageError
from grader.support.files import read_within
from grader.support.i18n import _
from grader.support.sanitize import sanitize

MARK = "headway.toml"
BUNDLED = Path(__file__).resolve().parents[1] / "course"  # a wheel has the course there; see pyproject.toml
MAX_BYTES = 1 << 16
KEEP = ("newest", "best")
MISSING = ("blank", "zero")
MAX_TITLE = 255  # as in Canvas


def _one_of(names: tuple[str, ...]) -> Meta:
    """Allow these texts. Unlike `Literal`, a pattern is in the message about another one."""
    return Meta(pattern=f"^({'|'.join(names)})$")


Number = Annotated[float, Meta(ge=0, le=10_000)]
Facet = Annotated[str, _one_of(FACETS)]


class CourseFile(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The settings of a course: the file, key by key.

    name_lines: whether to search for the line to look at. other_forms: whether classes in a form of another school
    count. second_half: whether the course has its second half, which is optional.
    keep: which of two submissions of an exercise counts. missing: the cell in a gradebook of a student who submitted
    nothing. canvas: assignment → its name in Canvas. The other keys are the `rules`.
    """

    course: Any = None  # any value: a name for readers of the file
    policies_that_count: tuple[Annotated[str, _one_of(POLICIES)], ...] = ()
    name_lines: bool = True
    other_forms: bool = False
    second_half: bool = True
    level: Annotated[int, Meta(ge=0, le=PAGE)] = PAGE
    keep: Annotated[str, _one_of(KEEP)] = KEEP[0]
    missing: Annotated[str, _one_of(MISSING)] = MISSING[0]
    points: dict[str, Number] = {}
    weights: dict[str, Number | dict[Facet, Number]] = {}  # facet → weight, or exercise → facet → weight
    canvas: dict[str, Annotated[str, Meta(min_length=1, max_length=MAX_TITLE)]] = {}

    def __post_init__(self) -> None:
        for name, value in self.weights.items():
            if not isinstance(value, dict) and name not in FACETS:
                says = _("weights.{name}: the facets are {names}")
                raise ValueError(says.format(name=name, names=", ".join(FACETS)))
        for name, title in self.canvas.items():
            if not title.isprintable():
                raise ValueError(_("canvas.{name}: it is more than one line").format(name=name))

    @property
    def rules(self) -> Rules:
        own = {name: value for name, value in self.weights.items() if isinstance(value, dict)}
        everywhere = {name: value for name, value in self.weights.items() if not isinstance(value, dict)}
        return Rules(
            frozenset(self.policies_that_count),
            self.points,
            everywhere,
            own,
            self.level,
            self.other_forms,
            self.second_half,
        )


def read_course_file(path: Path) -> CourseFile:
    """Read the file. Raises UsageError with one sentence: why it cannot be read, or which key is wrong."""
    try:
        return msgspec.toml.decode(read_within(path, MAX_BYTES), type=CourseFile)
    except (OSError, ValueError, RecursionError) as error:
        why = sanitize(str(error), 200)
        raise UsageError(_("{file} cannot be read: {why}").format(file=path, why=why)) from None


@dataclass(frozen=True)
class Course:
    """A folder with `headway.toml` and one folder per assignment, or a single assignment as nbgrader releases it."""

    root: Path
    named: bool = False  # with --course

    @cached_property
    def bundles(self) -> list[Bundle]:
        """The public bundles, in order, with the rules of the course applied.

        Raises UsageError if there is no bundle, if one has another version, as `settings` does, and for rules that do
        not fit the exercises.
        """
        try:
            found = [load(self.root)] if self.is_one_assignment else load_all(self.root)
        except ValueError as error:
            raise UsageError(_("{why}; download the course folder again").format(why=error)) from None
        except OSError as error:
            says = _("{file} cannot be read: {why}; download the course folder again")
            raise UsageError(says.format(file=error.filename, why=error.strerror)) from None
        if not found:
            says = _("{root} holds no assignment with a {file}; download the course folder again")
            raise UsageError(says.format(root=self.root, file=MANIFEST_FILE))
        return self._ruled(found)

    @cached_property
    def settings(self) -> CourseFile:
        """Return the values of `headway.toml`. Raises UsageError with a sentence for a wrong value."""
        file = self.root / MARK
        return CourseFile() if self.is_one_assignment and not file.exists() else read_course_file(file)

    @property
    def is_one_assignment(self) -> bool:
        """Whether the course is a single assignment: its bundle is in the root folder."""
        return (self.root / MANIFEST_FILE).is_file()

    @property
    def rules(self) -> Rules:
        """Return the changes of the course to its exercises. Raises UsageError as `settings` does."""
        return self.settings.rules

    def require_solutions(self) -> Path:
        """Return the instructor's solutions/, whose Python files the caller will run. Raises UsageError as `trusted`."""
        if self.solutions is None:
            says = _("this command needs the folder solutions/ beside {root}; only instructors have it")
            raise UsageError(says.format(root=self.root))
        return trusted(self.solutions, self.named)

    def _ruled(self, found: Sequence[Bundle]) -> list[Bundle]:
        """Apply the rules of the course. Raises UsageError for rules that leave an exercise without a check.

        In an instructor's checkout, which has all exercises, also raises it for a name that is no exercise.
        """
        known = [exercise.name for bundle in found for exercise in bundle.exercises]
        of_exercises = _("{file}: {table}.{name}: there is no such exercise; there are {known}")
        of_assignments = _("{file}: {table}.{name}: there is no such assignment; there are {known}")
        for table, names, existing, says in (
            ("points", self.rules.points, known, of_exercises),
            ("weights", self.rules.own_weights, known, of_exercises),
            ("canvas", self.settings.canvas, [bundle.assignment for bundle in found], of_assignments),
        ):
            wrong = [name for name in names if name not in existing] if self.solutions is not None else []
            if wrong:
                named = {"table": table, "name": sanitize(wrong[0], 100), "known": ", ".join(existing)}
                raise UsageError(says.format(file=self.root / MARK, **named))
        ruled = self.rules.apply(found)
        exercises = [exercise for bundle in ruled for exercise in bundle.exercises]
        for exercise in exercises:
            if not any(exercise.counts(check.facet) for case in exercise.cases for check in case.checks):
                says = _("{file}: weights: every facet of {name} has weight 0, so nothing would be graded")
                raise UsageError(says.format(file=self.root / MARK, name=exercise.name))
        return ruled

    def file_for(self, bundle: Bundle) -> Path:
        """Return the file that `choose` returns."""
        return self.choose(bundle)[0]

    def choose(self, bundle: Bundle) -> tuple[Path, str]:
        """Return the file in which the student works on an assignment, and a remark on it, "" if there is none.

        Of script and notebook, it is the one that was changed; if both were, the newer; if neither, the script. The
        file may be missing; that of a single assignment is then the notebook as nbgrader names it.
        """
        script, book, released = self.possible_files(bundle)
        here = [path for path in (script, book if book.exists() else released) if path.exists()]
        if len(here) < 2:
            missing = released if self.is_one_assignment else script
            return (here[0] if here else missing), ""
        names = [exercise.name for exercise in bundle.exercises]
        both = ((path, partial(read_bytes, path)) for path in here)
        changed = [path for path, read in both if is_changed(path, read, bundle.stub, names)]
        if len(changed) < 2:
            return (changed[0] if changed else script), ""
        newer = max(changed, key=lambda path: path.stat().st_mtime)
        says = _("both {a} and {b} were changed; the newer one, {newer}, was graded")
        return newer, says.format(a=script.name, b=here[1].name, newer=newer.name)

    def possible_files(self, bundle: Bundle) -> list[Path]:
        """Return the script, the notebook, and the notebook as nbgrader names it."""
        names = (f"{bundle.module}.py", f"{bundle.module}.ipynb", f"{bundle.assignment}.ipynb")
        return [self.folder_of(bundle) / name for name in names]

    def folder_of(self, bundle: Bundle) -> Path:
        """Return the folder of an assignment."""
        return self.root if self.is_one_assignment else self.root / bundle.assignment

    @property
    def solutions(self) -> Path | None:
        """Return the instructor's solutions/, beside the course folder, if this is an instructor's checkout."""
        folder = self.root.parent / "solutions"
        return folder if folder.is_dir() and any(folder.glob("*/exercise.toml")) else None


def find(named: Path | None = None) -> Course:
    """Find the course of the folder `named`, else of the working directory. Raises UsageError if there is none.

    The course is this folder, a folder above it, `assignments/` in one of these, or an assignment without a course
    folder.
    """
    start = (named or Path.cwd()).resolve()
    found = _found(start)
    if found is None:
        says = _("no {mark} in {start} or above it: change into the course folder, or name it with --course")
        raise UsageError(says.format(mark=MARK, start=start))
    return Course(found, named is not None)


def find_for_file(named: Path | None) -> Course:
    """Find the course for `--file`: as `find` does, or if no folder is named and none is found, the one that comes with
    the installed package or its checkout. Raises UsageError if there is none.
    """
    here = Path.cwd().resolve()
    if named is not None or _found(here) is not None:
        return find(named)
    return Course(installed())


def installed() -> Path:
    """Return the course folder that comes with the installed package or its checkout. Raises UsageError if there is none."""
    for folder in (BUNDLED, BUNDLED.parents[1] / "assignments"):
        if (folder / MARK).is_file():
            return folder
    raise UsageError(_("this installation has no course; name a course folder with --course"))


def _found(start: Path) -> Path | None:
    for folder in (start, *start.parents):
        for candidate in (folder, folder / "assignments"):
            if (candidate / MARK).is_file():
                return candidate
        if (folder / MANIFEST_FILE).is_file() and not (folder.parent / MARK).is_file():
            return folder
    return None


def solutions_of(named: Path | None) -> Path:
    """Return the solutions/ of the checkout in, or whose course is, the folder `named`, else the working directory.

    Raises UsageError if there is none, and as `trusted`.
    """
    start = named or Path()
    for folder in (start / "solutions", start / ".." / "solutions"):
        if folder.is_dir() and (named or folder == Path("solutions")):
            return trusted(Path(os.path.normpath(folder)), named is not None)
    says = _("there is no folder solutions/ in {folder}; this command is for instructors")
    raise UsageError(says.format(folder=start.resolve()))


def trusted(solutions: Path, named: bool) -> Path:
    """Return solutions/ if it belongs to the checkout of this program, or the user named it. Raises UsageError.

    Otherwise a command in a student's folder would run the student's files, with the instructor's rights.
    """
    home = solutions.resolve().parent
    if named or home in (Path(__file__).resolve().parents[2], _installed_from()):
        return solutions
    says = _(
        "{home} is not the checkout that this grader is installed from, and this command would run the Python files"
        " in its solutions/; if you trust them, say so with --course {home}"
    )
    raise UsageError(says.format(home=home))


def _installed_from() -> Path | None:
    from importlib.metadata import PackageNotFoundError, distribution
    from urllib.parse import urlsplit
    from urllib.request import url2pathname

    try:
        noted = json.loads(distribution("headway").read_text("direct_url.json") or "{}")
    except (PackageNotFoundError, ValueError):
        return None
    url = urlsplit(noted.get("url", ""))
    return Path(url2pathname(url.path)).resolve() if url.scheme == "file" else None


def wanted_exercises(names: Sequence[str], bundles: Sequence[Bundle]) -> list[str]:
    """Return the exercises that are named by their own names, or by an assignment's name, module or number.

    Return all exercises if there are no names. Raises UsageError for an unknown name.
    """
    known = {e.name: [e.name] for b in bundles for e in b.exercises}
    groups = {b.assignment: [e.name for e in b.exercises] for b in bundles}
    numbers = {b.assignment.split("_")[0]: groups[b.assignment] for b in bundles}
    modules = {b.module: groups[b.assignment] for b in bundles}
    table = {**numbers, **modules, **groups, **known}  # an exercise's own name comes first
    out: list[str] = []
    for name in names:
        if name.rstrip("/") not in table:
            raise UsageError(_unknown(name, table))
        out += table[name.rstrip("/")]
    return out or list(known)


def _unknown(name: str, known: Collection[str]) -> str:
    from difflib import get_close_matches

    file = PurePath(name)
    if file.suffix in (".py", ".ipynb") and file.stem in known:
        says = _(
            "{name} is a file: write `grader check {stem}` for its assignment, or `grader check --file {name}`"
        )
        return says.format(name=name, stem=file.stem)
    near = get_close_matches(name, known, n=1)
    if near:
        return _("there is no exercise {name}; did you mean {near}?").format(name=name, near=near[0])
    return _("there is no exercise {name}; `grader` lists them all").format(name=name)


def one_assignment(name: str, bundles: Sequence[Bundle]) -> Bundle:
    """Return the assignment of a number, a name or a module, or of one of its exercises. Raises UsageError."""
    wanted = name.rstrip("/")
    for bundle in bundles:
        number = bundle.assignment.split("_")[0]
        exercises = [exercise.name for exercise in bundle.exercises]
        if wanted.zfill(2) == number or wanted in (bundle.assignment, bundle.module, *exercises):
            return bundle
    says = _("there is no assignment {name}; there are {names}")
    raise UsageError(says.format(name=name, names=", ".join(bundle.assignment for bundle in bundles)))


def one_exercise(name: str, bundles: Sequence[Bundle]) -> Exercise:
    """Return the exercise of a name, or the only one of an assignment. Raises UsageError for any other name."""
    found = wanted_exercises([name], bundles)
    if len(found) > 1 and name not in found:
        says = _("{name} has several exercises; name one of them: {exercises}")
        raise UsageError(says.format(name=name, exercises=", ".join(found)))
    return next(e for b in bundles for e in b.exercises if e.name == found[0])
