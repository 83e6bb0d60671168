"""Print what the sandbox allows the current user: `report.py PROJECT CODE [refuse]`.

PROJECT: the root of the project. CODE: the folder of `standin.py`. With "refuse", a filter first refuses
namespaces, as in a container.
"""

import json
import os
import sys

project, code, *options = sys.argv[1:]
sys.path[:0] = [project, os.path.dirname(code)]

from conftest import Worker  # noqa: E402

from grader.sandbox import kernel, seccomp  # noqa: E402
from grader.sandbox.base import Limits, Program, SandboxError  # noqa: E402
from grader.sandbox.choose import choose, report_all  # noqa: E402

# The answer is the user id, the files in the worker's folder, and a sum by torch.
SOURCE = """
import os, torch
answer = [os.getuid(), os.listdir("."), torch.ones(2).sum().item()]
"""


def answer_in(tier: str) -> object:
    """Return the answer and the capabilities of a worker in this tier, or why the tier does not work."""
    program = Program("standin:serve", prepare="standin:import_torch", code=(code,))
    try:
        launcher = choose(tier, program)
    except SandboxError as error:
        return str(error)
    worker = Worker(launcher.start(Limits()))
    answer, capabilities = worker.ask(SOURCE)["answer"], worker.capabilities
    worker.process.close()
    launcher.close()
    return [*answer, capabilities]


if "refuse" in options:
    kernel.forbid_new_privileges()
    kernel.load_filter(seccomp.assemble({"unshare": seccomp.REFUSE}, (), seccomp.ALLOW))
reports = [[report.tier, report.available, report.reason] for report in report_all(fresh=True)]
answers = {tier: answer_in(tier) for tier in ("strict", "landlock")}
print(json.dumps({"reports": reports, "auto": choose().tier, **answers}))
