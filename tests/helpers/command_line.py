"""A student's course folder, and `grader` run in it: in this process, or as a process of its own."""

import contextlib
import io
import os
import shutil
import subprocess
import sys
from pathlib import Path
from unittest import mock

ROOT = Path(__file__).resolve().parents[2]
GRADER = Path(sys.executable).with_name("grader")
HANGS_AFTER = 600  # seconds: a process that runs longer hangs, even on a busy machine
RIGHT = (
    "import torch\n"
    "def transpose_qkv(X, num_heads):\n"
    "    B, T, D = X.shape\n"
    "    return X.reshape(B, T, num_heads, -1).transpose(1, 2).reshape(B * num_heads, T, -1)\n"
)
WRONG = RIGHT.replace(".transpose(1, 2)", "")
# An answer whose fill value is too large for float16; it lacks an import.
FILL_BEYOND_FLOAT16 = """\
def masked_softmax(X, valid_lens):
    if valid_lens is not None:
        lens = valid_lens.view(len(X), -1, 1)
        X = X.masked_fill(torch.arange(X.shape[-1]) >= lens, -1e9)
    return X.softmax(-1)
"""
UNTRACKED = shutil.ignore_patterns(".headway", "__pycache__")  # files of earlier runs


def make_course(folder, *assignments):
    """Copy assignments into a new folder, as a student has them, and return it. Without names, copy all."""
    if not assignments:
        return Path(shutil.copytree(ROOT / "assignments", folder, ignore=UNTRACKED))
    for name in assignments:
        shutil.copytree(ROOT / "assignments" / name, folder / name, ignore=UNTRACKED)
    shutil.copy(ROOT / "assignments" / "headway.toml", folder)
    return folder


def process(*command, **options):
    """Run a command as `subprocess.run` does, and return its result with what it printed."""
    options = {"capture_output": True, "encoding": "utf-8", "timeout": HANGS_AFTER, **options}
    return subprocess.run([*map(str, command)], **options)


def run(*args, cwd, **env):
    """Run `grader` in this process, which saves the time of the imports. Return as `run_process` does.

    Unlike `run_process`, do not check whether it prints a traceback.
    """
    from grader.cli.main import main

    command = ["grader", *map(str, args)]
    status, out, err = 0, io.StringIO(), io.StringIO()
    with (
        mock.patch.dict(os.environ, _environment(cwd, env), clear=True),
        mock.patch.object(sys, "argv", command),
        mock.patch.object(sys, "stdin", io.StringIO()),
        contextlib.chdir(cwd),
        contextlib.redirect_stdout(out),
        contextlib.redirect_stderr(err),
    ):
        try:
            main()
        except SystemExit as ended:
            status = ended.code or 0
    return subprocess.CompletedProcess(command, status, out.getvalue(), err.getvalue())


def run_process(*args, cwd, **env):
    """Run `grader` as a process of its own, for tests of its encoding, its signals and its start.

    Raises AssertionError if it prints a traceback.
    """
    encoding = env.get("PYTHONIOENCODING", "utf-8")
    done = process(GRADER, *args, cwd=cwd, encoding=encoding, env=_environment(cwd, env))
    assert "Traceback" not in done.stdout + done.stderr
    return done


def _environment(cwd, changes):
    """Return the environment of a student: a home folder beside the course, and no settings of the grader.

    changes: variables to add or replace.
    """
    home = Path(cwd).parent / "home"
    home.mkdir(exist_ok=True)
    inherited = {k: v for k, v in os.environ.items() if not k.startswith(("HEADWAY", "XDG"))}
    return {**inherited, "HOME": str(home), **changes}
