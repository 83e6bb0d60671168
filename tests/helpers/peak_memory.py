"""Run a command and measure the largest of its processes."""

import json
import subprocess
import sys

_CODE = """
import json, resource, subprocess, sys
done = subprocess.run(sys.argv[1:], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
peak = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss << 10
print(json.dumps([done.returncode, done.stdout, done.stderr, peak]))
"""


def run_measured(command, **options):
    """The completed command, and the memory in bytes of the largest process among it and its children."""
    outer = subprocess.run(
        [sys.executable, "-c", _CODE, *map(str, command)],
        stdout=subprocess.PIPE,
        text=True,
        check=True,
        **options,
    )
    status, output, errors, peak = json.loads(outer.stdout)
    return subprocess.CompletedProcess(command, status, output, errors), peak
