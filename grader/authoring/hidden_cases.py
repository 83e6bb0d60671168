"""Hidden cases: drawn from a secret seed, recorded in other processes, and cached (see `recordings`)."""

from __future__ import annotations

import hashlib
import hmac
import os
import secrets
import shutil
import tempfile
from collections.abc import Sequence
from pathlib import Path

from grader.authoring.content import Assignment, read_all
from grader.authoring.recordings import Tell, key, record_all
from grader.bundle import files as bundles
from grader.support.errors import GraderError, UsageError
from grader.support.files import cache_folder, owned
from grader.support.i18n import _

SEED_VARIABLE = "HEADWAY_SEED_FILE"
COMPLETE = "complete"  # a file with the hash of the course, written last


def seed_file() -> Path:
    """Return the file of the secret seed: `$HEADWAY_SEED_FILE`, else one in the user's configuration folder.

    The latter is made with mode 600 on first use. Raises UsageError if the variable names a missing file.
    """
    named = os.environ.get(SEED_VARIABLE)
    if named:
        path = Path(named)
        if not path.is_file():
            raise UsageError(
                _("${name} names {path}, which does not exist").format(name=SEED_VARIABLE, path=path)
            )
        return path
    path = Path(os.environ.get("XDG_CONFIG_HOME", Path.home() / ".config")) / "headway" / "seed"
    if not path.exists():
        path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        fd = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
        with open(fd, "w") as file:
            file.write(secrets.token_hex(32) + "\n")
    return path


def hidden_folder(
    solutions: Path, asked: Sequence[str] = (), public: Path | None = None, tell: Tell | None = None
) -> Path:
    """Return a folder with the bundles of the secret seed; record the cases that are not cached.

    asked: exercises; only their assignments, and those that they build on, are recorded. Empty: all.
    public: a folder with public bundles. Those of all other assignments are copied: they hold the names and
    parameters of their exercises.
    tell: called with the progress of the recording.
    Raises UsageError for a seed that is missing or too short, and GraderError where the cases cannot be recorded.
    """
    seed, assignments = _seed(), read_all(solutions)
    whole = _digest(assignments, seed)
    root = cache_folder() / "hidden"
    chosen = _with_needs(assignments, asked)
    for_all, for_some = root / whole, root / f"{whole}-{'-'.join(a.name[:2] for a in chosen)}"
    for folder in (for_all, for_some):  # the cases of the whole course serve every choice
        if (folder / COMPLETE).exists():
            return folder
    folder = for_all if len(chosen) == len(assignments) else for_some
    folder.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
    work = Path(tempfile.mkdtemp(dir=folder.parent, prefix=owned(folder.parent, ".recording")))
    try:
        _record(chosen, seed, work, public, tell)
        (work / COMPLETE).write_text(whole, "ascii")
        if not folder.exists():  # another process may have recorded the same cases meanwhile
            os.replace(work, folder)
    except Exception as error:  # of the code in solutions/
        reason = str(error) if isinstance(error, GraderError) else f"{type(error).__name__}: {error}"
        raise GraderError(_("hidden cases could not be recorded: {reason}").format(reason=reason)) from error
    finally:
        shutil.rmtree(work, ignore_errors=True)
    return folder


def cases_digest(folder: Path) -> str:
    """Return a hash of the whole course and its seed; it is the same for every choice of assignments."""
    return (folder / COMPLETE).read_text("ascii")


def _with_needs(assignments: Sequence[Assignment], asked: Sequence[str]) -> list[Assignment]:
    """Return the assignments of these exercises, and those that they build on; all if there are none."""
    of = {exercise.name: a for a in assignments for exercise in a.exercises}
    waiting, found = [name for name in asked if name in of], set[str]()
    while waiting:
        assignment = of[waiting.pop()]
        if assignment.name not in found:
            found.add(assignment.name)
            needs = [need for exercise in assignment.exercises for need in exercise.needs]
            waiting += [need for need in needs if need in of]  # `verify` reports the others
    return [a for a in assignments if not asked or a.name in found]


def derived_key(purpose: str) -> bytes:
    """Return 32 bytes that only the secret seed gives; the seed cannot be computed from them (HMAC-SHA256)."""
    return hmac.digest(_seed().encode(), purpose.encode(), "sha256")


def _seed() -> str:
    seed = seed_file().read_text("utf-8").strip()
    if len(seed) < 16:
        raise UsageError(_("the secret seed in {path} has fewer than 16 characters").format(path=seed_file()))
    return seed


def _digest(assignments: Sequence[Assignment], seed: str) -> str:
    parts = hashlib.sha256()
    for assignment in assignments:
        parts.update(assignment.digest().encode())
        for exercise in assignment.exercises:
            parts.update(key(assignment, exercise, seed).encode())
    return parts.hexdigest()


def _record(
    assignments: Sequence[Assignment], seed: str, folder: Path, public: Path | None, tell: Tell | None
) -> None:
    for bundle in record_all(assignments, seed, tell):
        bundles.save(bundle, folder / bundle.assignment)
    for bundle in bundles.load_all(public) if public is not None else ():
        if not (folder / bundle.assignment).exists():
            bundles.save(bundle, folder / bundle.assignment)
