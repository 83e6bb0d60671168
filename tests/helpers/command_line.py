"""Run `grader` as a process in a student's course folder."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

GRADER = Path(sys.executable).with_name("grader")
RIGHT = (
    "import torch\n"
    "def transpose_qkv(X, num_heads):\n"
    "    B, T, D = X.shape\n"
    "    return X.reshape(B, T, num_heads, -1).transpose(1, 2).reshape(B * num_heads, T, -1)\n"
)
WRONG = RIGHT.replace(".transpose(1, 2)", "")


def run(*args, cwd, **env):
    home = Path(cwd).parent / "home"
    home.mkdir(exist_ok=True)
    inherited = {k: v for k, v in os.environ.items() if not k.startswith(("HEADWAY", "XDG"))}
    done = subprocess.run(
        [str(GRADER), *map(str, args)],
        cwd=cwd,
        capture_output=True,
        encoding=env.get("PYTHONIOENCODING", "utf-8"),
        timeout=120,
        env={**inherited, "HOME": str(home), **env},
    )
    assert "Traceback" not in done.stdout + done.stderr
    return done
