"""Run a function in a process of its own with a memory limit and a time limit."""

import json
import os
import resource
import sys
from pathlib import Path

from helpers.command_line import process

TESTS = Path(__file__).resolve().parents[1]
MIB = 1 << 20


def run_bounded(target, *arguments, memory=1024 * MIB, seconds=60):
    """Call `module:function` in a process of its own. Return its value. Arguments and value must be JSON values.

    memory: the limit of address space, in bytes. seconds: the limit of processor time, which does not grow if the
    machine is busy.
    Raises AssertionError if the function raises, is killed, or exceeds a limit.
    """

    def limit():
        resource.setrlimit(resource.RLIMIT_AS, (memory, memory))
        resource.setrlimit(resource.RLIMIT_CPU, (seconds, seconds + 1))

    path = os.pathsep.join([str(TESTS), *filter(None, [os.environ.get("PYTHONPATH")])])
    env = {**os.environ, "PYTHONPATH": path, "OPENBLAS_NUM_THREADS": "1"}
    command = (sys.executable, "-m", "helpers.bounded", target, json.dumps(arguments))
    done = process(*command, preexec_fn=limit, env=env)
    assert done.returncode == 0, f"exit status {done.returncode}: {done.stderr[-1500:]}"
    return json.loads(done.stdout.splitlines()[-1])


def main():
    from importlib import import_module

    module, _, function = sys.argv[1].partition(":")
    value = getattr(import_module(module), function)(*json.loads(sys.argv[2]))
    print(json.dumps(value))


if __name__ == "__main__":
    main()
