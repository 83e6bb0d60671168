"""An instructor's checkout with one assignment, and the commands that are typed in it."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

from helpers.command_line import HANGS

ROOT = Path(__file__).resolve().parents[2]
GRADER = Path(sys.executable).with_name("grader")
ANSWER = (
    "import torch\n"
    "def transpose_qkv(X, num_heads):\n"
    "    B, T, D = X.shape\n"
    "    return X.reshape(B, T, num_heads, -1).transpose(1, 2).reshape(B * num_heads, T, -1)\n"
)
WRONG = ANSWER.replace("return ", "return 1.37 * ")  # equals no known mistake
SHARED = "# other code, the same values\n" + ANSWER.replace(
    "B, T, D = X.shape", "X = X * 1.37; B, T, D = X.shape"
)


def make_school(root: Path, assignment: str = "04_heads") -> Path:
    """Fill an empty folder."""
    for room in ("assignments", "solutions"):
        shutil.copytree(ROOT / room / assignment, root / room / assignment)
    shutil.copy(ROOT / "assignments" / "headway.toml", root / "assignments")
    (root / "seed").write_text("a seed that only this test knows", "utf-8")
    return root


def environment(root: Path) -> dict[str, str]:
    """The environment of a school: its own seed and cache."""
    inherited = {k: v for k, v in os.environ.items() if not k.startswith(("HEADWAY", "XDG"))}
    return {**inherited, "HEADWAY_SEED_FILE": str(root / "seed"), "XDG_CACHE_HOME": str(root / "cache")}


def run(root: Path, *args: object, status: int | None = None) -> subprocess.CompletedProcess[str]:
    """Type a command of the grader. status: the exit status that it must have."""
    done = subprocess.run(
        [str(GRADER), *map(str, args)],
        cwd=root,
        capture_output=True,
        text=True,
        timeout=HANGS,
        env=environment(root),
    )
    assert "Traceback" not in done.stdout + done.stderr, done.stderr
    assert status is None or done.returncode == status, done.stderr
    return done
