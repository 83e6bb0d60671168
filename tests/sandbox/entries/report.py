"""Print what the sandbox allows the current user: `report.py PROJECT CODE [refuse]`.

PROJECT: the root of the project. CODE: the folder of `standin_torch.py`. With "refuse", a filter first refuses
namespaces, as in a container.
"""

import errno
import json
import os
import struct
import sys
from pathlib import Path

project, code, *options = sys.argv[1:]
sys.path.insert(0, project)

from grader.sandbox import kernel, seccomp  # noqa: E402
from grader.sandbox.base import Limits, Program, SandboxError  # noqa: E402
from grader.sandbox.choose import choose, report_all  # noqa: E402
from grader.sandbox.server import SandboxedProcess  # noqa: E402

# The answer is the user id, the files in the worker's folder, and a sum by torch.
SOURCE = """
import os, torch
answer = [os.getuid(), os.listdir("."), torch.ones(2).sum().item()]
"""


def answer_in(tier: str) -> object:
    """Return the answer and the capabilities of a worker in this tier, or why the tier does not work."""
    try:
        launcher = choose(tier, Program("standin_torch:serve", code=(code,)))
    except SandboxError as error:
        return str(error)
    process = launcher.start(Limits())
    os.write(process.to_worker, struct.pack("<I", len(SOURCE)) + SOURCE.encode())
    os.set_blocking(process.from_worker, True)
    (size,) = struct.unpack("<I", os.read(process.from_worker, 4))
    reply = json.loads(os.read(process.from_worker, size))
    capabilities = capabilities_of(process)
    process.close()
    launcher.close()
    return [*reply["answer"], capabilities]


def capabilities_of(process: SandboxedProcess) -> list[str]:
    """Return the worker's four sets of capabilities from /proc, without repetition."""
    fields = dict(
        line.split(":\t") for line in Path(f"/proc/self/fdinfo/{process._pidfd}").read_text().splitlines()
    )
    status = dict(
        line.strip().split(":\t")
        for line in Path(f"/proc/{int(fields['Pid'])}/status").read_text().splitlines()
        if "Cap" in line
    )
    return sorted({status[name] for name in ("CapInh", "CapPrm", "CapEff", "CapAmb")})


if "refuse" in options:
    kernel.forbid_new_privileges()
    kernel.load_filter(seccomp.assemble((), (), {"unshare": errno.EPERM}, default=None))
reports = [[report.tier, report.available, report.reason] for report in report_all(fresh=True)]
answers = {tier: answer_in(tier) for tier in ("strict", "landlock")}
print(json.dumps({"reports": reports, "auto": choose().tier, **answers}))
