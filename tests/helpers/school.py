"""Make an instructor's checkout with a few assignments, run commands of the grader in it, and read its stores."""

import json
import os
import shutil
import sqlite3
import subprocess
from contextlib import closing
from pathlib import Path
from unittest import mock

from grader.classroom.store import default_store
from helpers.command_line import GRADER, ROOT, process
from helpers.command_line import RIGHT as ANSWER

WRONG = ANSWER.replace("return ", "return 1.37 * ")  # equals no known mistake
# Other code that returns the same values as WRONG.
SHARED = "# other code, the same values\n" + ANSWER.replace(
    "B, T, D = X.shape", "X = X * 1.37; B, T, D = X.shape"
)


def make_school(root: Path, *assignments: str) -> Path:
    """Copy assignments into an empty folder, add a seed, and return the folder. Without names, copy 04_heads."""
    for top in ("assignments", "solutions"):
        for assignment in assignments or ("04_heads",):
            shutil.copytree(ROOT / top / assignment, root / top / assignment)
    shutil.copy(ROOT / "assignments" / "headway.toml", root / "assignments")
    (root / "seed").write_text("a seed that only this test knows", "utf-8")
    return root


def environment(root: Path) -> dict[str, str]:
    """Return the environment of a school: its own course, seed and cache."""
    inherited = {k: v for k, v in os.environ.items() if not k.startswith(("HEADWAY", "XDG"))}
    own = {"HEADWAY_COURSE": root / "assignments", "HEADWAY_SEED_FILE": root / "seed"}
    return {**inherited, **{k: str(v) for k, v in own.items()}, "XDG_CACHE_HOME": str(root / "cache")}


def run(root: Path, *args: object, status: int | None = None) -> subprocess.CompletedProcess[str]:
    """Run a command of the grader. status: the exit status that it must have; None for any.

    Raises AssertionError if it has another exit status or prints a traceback.
    """
    done = process(GRADER, *args, cwd=root, env=environment(root))
    assert "Traceback" not in done.stdout + done.stderr, done.stderr
    assert status is None or done.returncode == status, done.stderr
    return done


def records_of(done: subprocess.CompletedProcess[str]) -> list[dict]:
    """Return the records that `grader grade --format jsonl` printed."""
    return [json.loads(line) for line in done.stdout.splitlines()]


def outcome(record: dict) -> str:
    """Return the outcome of `transpose_qkv`."""
    return next(e["outcome"] for e in record["exercises"] if e["name"] == "transpose_qkv")


def store_of(root: Path, folder: Path) -> Path:
    """Return the path where a command in this school stores the results of a folder."""
    with mock.patch.dict(os.environ, environment(root)):
        return default_store(folder)


def rows(store: Path) -> list[tuple]:
    """Return content, exercise and id of each row of a store. A row gets a new, higher id when it is written again."""
    with closing(sqlite3.connect(store)) as database, database:
        return database.execute("SELECT content, exercise, id FROM results").fetchall()
