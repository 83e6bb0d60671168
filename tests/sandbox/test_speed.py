"""How fast a worker is there and what it costs. Figures are printed (`-s`); the bounds are generous,
because other work may share the machine."""

from __future__ import annotations

import os
import statistics
import time
from pathlib import Path

import pytest

from grader.sandbox.launcher import SandboxLauncher

FIRST = """
import torch
layer = torch.nn.Linear(8, 8)
y = layer(torch.ones(2, 8)).sum()
y.backward()
answer = True
"""
TRANSFORMS = """
import sys, torch
before = set(sys.modules)
layer = torch.nn.Linear(2, 2)
optimizer = torch.optim.AdamW(layer.parameters())
layer(torch.ones(1, 2)).sum().backward()
optimizer.step()
x = torch.ones(3, requires_grad=True)
torch.autograd.grad(x * x, x, torch.ones(3))
torch.func.vmap(torch.func.grad(lambda row: (row * row).sum()))(torch.ones(2, 2))
answer = sorted(set(sys.modules) - before)
"""


@pytest.mark.parametrize("ready", [0, 1], ids=["forked when asked", "one ready ahead"])
def test_request_to_first_result(tier, with_torch, start, ready):
    taken = []
    with SandboxLauncher(tier, with_torch, ready=ready) as launcher:
        start(launcher).process.close()
        for _ in range(30):
            began = time.perf_counter()
            worker = start(launcher)
            assert worker.ask(FIRST) == {"answer": True}
            taken.append((time.perf_counter() - began) * 1000)
            worker.process.close()
    taken.sort()
    print(f"\n{tier}, {ready} ready: median {statistics.median(taken):.1f} ms, p95 {taken[28]:.1f} ms")
    assert statistics.median(taken) < 200


def test_private_memory(tier, start):
    worker = start()
    worker.ask(FIRST)
    if os.geteuid() != 0:
        pytest.skip("only root may see how much memory a confined process has of its own")
    lines = Path(f"/proc/{worker.pid}/smaps_rollup").read_text().splitlines()[1:]
    sizes = {line.split(":")[0]: int(line.split()[1]) / 1024 for line in lines}
    clean, private = sizes["Private_Clean"], sizes["Private_Dirty"]  # clean: files that others may map too
    print(
        f"\n{tier}: private {private:.1f} MiB, and {clean:.1f} of files; proportional {sizes['Pss']:.1f} MiB"
    )
    assert private < 15


def test_a_warm_server_spares_workers_the_late_imports(tier, with_torch, start):
    with SandboxLauncher(tier, with_torch) as launcher:
        cold = start(launcher).ask(TRANSFORMS)["answer"]
        assert cold
        launcher.warm("full")
        deadline = time.monotonic() + 20
        while launcher._server.is_alive() and launcher._server.level != "full":
            assert time.monotonic() < deadline
            time.sleep(0.01)
        began = time.perf_counter()
        assert start(launcher).ask(TRANSFORMS) == {"answer": []}  # not from one forked before
        print(f"\n{tier}, warm: {(time.perf_counter() - began) * 1000:.0f} ms for optimizer and transforms")
        assert start(launcher).ask(FIRST) == {"answer": True}


def test_a_level_that_is_none_is_refused(own_launcher):
    with pytest.raises(ValueError, match="'hot' is no warm level: choose one of none, full"):
        own_launcher.warm("hot")


def test_construction_does_not_wait(tier, with_torch):
    began = time.perf_counter()
    launcher = SandboxLauncher(tier, with_torch)
    taken = time.perf_counter() - began
    launcher.close()
    print(f"\n{tier}: constructed in {taken * 1000:.1f} ms")
    assert taken < 0.2
