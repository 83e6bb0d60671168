"""Hidden cases: drawn from a secret seed, recorded by a process of their own, cached by all they depend on."""

from __future__ import annotations

import hashlib
import hmac
import os
import secrets
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from importlib.metadata import version
from pathlib import Path

from grader.authoring.content import read_all
from grader.bundle import files as bundles
from grader.bundle.model import Bundle
from grader.support.cache_folder import cache_folder
from grader.support.errors import GraderError, UsageError
from grader.support.i18n import _
from grader.support.scratch_dirs import owned

SEED_VARIABLE = "HEADWAY_SEED_FILE"


def seed_file() -> Path:
    """The file that holds the secret seed: `$HEADWAY_SEED_FILE`, else one in the user's configuration
    folder, made with mode 600 on first use. Raises UsageError where the variable names none."""
    named = os.environ.get(SEED_VARIABLE)
    if named:
        path = Path(named)
        if not path.is_file():
            raise UsageError(
                _("${name} names {path}, which is not there").format(name=SEED_VARIABLE, path=path)
            )
        return path
    path = Path(os.environ.get("XDG_CONFIG_HOME", Path.home() / ".config")) / "headway" / "seed"
    if not path.exists():
        path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        fd = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
        with open(fd, "w") as file:
            file.write(secrets.token_hex(32) + "\n")
    return path


def hidden_bundles(solutions: Path) -> Sequence[Bundle]:
    """Load the bundles of the secret seed. Raises what `hidden_folder` does."""
    return bundles.load_all(hidden_folder(solutions))


def hidden_folder(solutions: Path) -> Path:
    """Return the folder with the bundles of the secret seed: recorded once per state of solutions, seed, grader, torch.

    Raises UsageError for a seed that cannot be one, and GraderError where the cases cannot be recorded.
    """
    seed = _seed()
    folder = cache_folder() / "hidden" / _key(solutions, seed)
    if not (folder / "complete").exists():
        _record(solutions, folder)
    return folder


def derived_key(purpose: str) -> bytes:
    """Return 32 bytes that only the secret seed gives; the seed cannot be computed from them (HMAC-SHA256)."""
    return hmac.digest(_seed().encode(), purpose.encode(), "sha256")


def _seed() -> str:
    seed = seed_file().read_text("utf-8").strip()
    if len(seed) < 16:
        raise UsageError(_("the secret seed in {path} is too short to be one").format(path=seed_file()))
    return seed


def _key(solutions: Path, seed: str) -> str:
    parts = hashlib.sha256(f"{version('torch')}\0{seed}\0".encode())
    for assignment in read_all(solutions):
        parts.update(assignment.digest().encode())
    engine = Path(__file__).parents[1]
    for path in sorted(engine.rglob("*.py")):
        parts.update(path.read_bytes())
    return parts.hexdigest()


def _record(solutions: Path, folder: Path) -> None:
    """Record in another process, into a folder that gets its name when it is complete."""
    folder.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
    work = Path(tempfile.mkdtemp(dir=folder.parent, prefix=owned(folder.parent, ".recording")))
    try:
        command = [
            sys.executable,
            "-m",
            "grader.authoring.hidden_cases",
            str(solutions),
            str(work),
            str(os.getpid()),
        ]
        done = subprocess.run(
            command, capture_output=True, text=True, env={**os.environ, SEED_VARIABLE: str(seed_file())}
        )
        if done.returncode:
            said = done.stderr.strip().splitlines()
            raise GraderError(
                _("hidden cases could not be recorded: {reason}").format(
                    reason=said[-1] if said else done.returncode
                )
            )
        (work / "complete").touch()
        if not folder.exists():
            os.replace(work, folder)
    finally:
        shutil.rmtree(work, ignore_errors=True)


def _main(solutions: str, target: str, parent: str) -> None:
    if sys.platform == "linux":
        from grader.sandbox import kernel

        kernel.die_with_parent(int(parent))
    from grader.authoring.record import record_all

    seed = seed_file().read_text("utf-8").strip()
    for bundle in record_all(read_all(Path(solutions)), seed):
        bundles.save(bundle, Path(target) / bundle.assignment)


if __name__ == "__main__":
    _main(*sys.argv[1:])
