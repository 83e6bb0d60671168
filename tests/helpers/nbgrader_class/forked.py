"""Run nbgrader's own commands, each in a process that is forked after the imports.

nbgrader takes seconds to start, and the walk of a class calls it a hundred times. This program reads one call per
line of its stdin as JSON (argv, cwd, env, log), runs it as `nbgrader` would, and prints its exit status.
"""

from __future__ import annotations

import atexit
import gc
import json
import os
import sys
import traceback
from typing import Any

import nbgrader.apps.nbgraderapp as nbgraderapp  # imports all that its commands need


def run(call: dict[str, Any]) -> None:
    """Run a call in the forked process, with the environment and folder of the call. End the process with its status."""
    os.environ.clear()
    os.environ.update(call["env"])
    os.chdir(call["cwd"])
    log = os.open(call["log"], os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
    for stream in (1, 2):
        os.dup2(log, stream)
    os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
    sys.argv = ["nbgrader", *call["argv"]]
    status = 1
    try:
        nbgraderapp.NbGraderApp.launch_instance(call["argv"])
        status = 0
    except SystemExit as ended:
        # As in Python, None means status 0, and a text means 1.
        status = ended.code if isinstance(ended.code, int) else int(ended.code is not None)
    except BaseException:
        traceback.print_exc()
    finally:
        atexit._run_exitfuncs()
        sys.stdout.flush()
        os._exit(status)  # an ordinary exit takes longer than the command: it frees all imported modules


def main() -> None:
    gc.freeze()
    for line in sys.stdin:
        child = os.fork()
        if not child:
            run(json.loads(line))
        status = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
        print(status, flush=True)


if __name__ == "__main__":
    main()
