"""Run a command and measure its memory and processor time."""

import os
import subprocess
import tempfile


def run_measured(command, **options):
    """Run a command. Return its result as `subprocess.run` does, and what it and its descendants used.

    The result's ru_maxrss is of the one process that used most memory, in KiB. Processor time, ru_utime and ru_stime,
    does not grow when other programs run.
    """
    with tempfile.TemporaryFile("w+") as out, tempfile.TemporaryFile("w+") as err:
        process = subprocess.Popen([*map(str, command)], stdout=out, stderr=err, **options)
        _pid, status, used = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
        out.seek(0)
        err.seek(0)
        return subprocess.CompletedProcess(command, process.returncode, out.read(), err.read()), used
