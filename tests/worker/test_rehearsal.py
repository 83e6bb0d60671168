"""The rehearsal, which a worker server runs before it forks, works and leaves nothing behind."""

import subprocess
import sys

import pytest

SCRIPT = """
import linecache, sys
import torch
from grader.worker import main, rehearsal
from grader.worker.training_progress import ignore_progress

loaded = main._load(rehearsal.LOAD)
assert loaded.notes == [], loaded.notes
for asked in rehearsal.cases():
    reply, body = main._run(loaded, asked, "cpu", ignore_progress)
    assert "error" not in reply and body, reply

before = torch.random.get_rng_state()
main.rehearse()
assert torch.equal(torch.random.get_rng_state(), before)
assert "submission" not in sys.modules and not any(name.startswith("d2l") for name in sys.modules)
assert "rehearsal.py" not in linecache.cache
"""


@pytest.mark.slow
def test_the_rehearsal_runs_and_leaves_nothing_behind():
    subprocess.run([sys.executable, "-c", SCRIPT], check=True)  # in a process of its own: it changes modules
