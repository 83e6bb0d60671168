"""Run a command and measure its memory and processor time."""

import json
import subprocess
import sys
from dataclasses import dataclass

from helpers.command_line import HANGS_AFTER

_CODE = """
import json, resource, subprocess, sys
done = subprocess.run(sys.argv[1:], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
used = resource.getrusage(resource.RUSAGE_CHILDREN)
print(json.dumps([done.returncode, done.stdout, done.stderr, used.ru_maxrss << 10, used.ru_utime + used.ru_stime]))
"""


@dataclass(frozen=True)
class Used:
    """The memory and time of a command and its children.

    memory: the bytes of the one process that used most. seconds: the processor time of all processes.
    """

    memory: int
    seconds: float


def run_measured(command, **options):
    """Run a command. Return its result as `subprocess.run` does, and what it used.

    The time is processor time, because other programs make the elapsed time longer.
    """
    outer = subprocess.run(
        [sys.executable, "-c", _CODE, *map(str, command)],
        stdout=subprocess.PIPE,
        text=True,
        check=True,
        timeout=HANGS_AFTER,
        **options,
    )
    status, output, errors, memory, seconds = json.loads(outer.stdout)
    return subprocess.CompletedProcess(command, status, output, errors), Used(memory, seconds)
