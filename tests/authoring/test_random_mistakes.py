"""Mistakes that draw random numbers: nothing of their results that depends on these numbers is recorded."""

import json
import subprocess
import sys
from contextlib import closing
from pathlib import Path

import numpy as np
import pytest
from helpers.answers import BY_ID
from helpers.command_line import ROOT

from grader.authoring.content import read
from grader.authoring.record import record
from grader.authoring.scaffold import scaffold
from grader.diagnosis.signature import ANY
from grader.engine.engine import Engine
from grader.sandbox.choose import choose
from grader.support.errors import UsageError

MISTAKE = """
    mistake(
        "random-{id}",
        edit(
            "    def forward(self",
            "    def __init__(self):\\n        super().__init__()\\n        self.drawn = {drawn}\\n\\n    def forward(self",
        ),
        edit("X - mean", "{result}"),
        says="a random value is subtracted",
        asks="Do two modules give the same?",
    ),
]
"""
DRAWS = {
    "torch": "torch.randn(())",
    "python": "__import__('random').random()",
    "numpy": "float(__import__('numpy').random.rand())",
}
PRINT_ROWS = """
import json, sys
from pathlib import Path
from grader.authoring.content import read
from grader.authoring.record import record
from grader.support.errors import UsageError
table = record(read(Path(sys.argv[1])), "public").exercises[0].signatures
rows = zip(table.explains, table.states.tolist(), table.numbers.tolist())
print(json.dumps([[ids, states, repr(numbers)] for ids, states, numbers in rows if "random-" in str(ids)]))
"""


def exercise_with(folder: Path, result: str) -> Path:
    """Return an assignment whose known mistakes draw a value in their constructor."""
    scaffold(folder, "12_random", "Centred")
    bank = folder / "12_random" / "mistakes" / "Centred.py"
    text = bank.read_text("utf-8")
    for id, drawn in DRAWS.items():
        added = MISTAKE.format(id=id, drawn=drawn, result=result).lstrip("\n")
        text = text[: text.rindex("]")] + added
        page = bank.with_suffix(".md")
        page.write_text(page.read_text("utf-8") + f"\n## random-{id}\n\nIt is random.\n", "utf-8")
    bank.write_text(text, "utf-8")
    return folder / "12_random"


@pytest.mark.slow
def test_two_processes_record_equal_signatures(tmp_path):
    folder = exercise_with(tmp_path, "X - self.drawn")
    command = [sys.executable, "-c", PRINT_ROWS, str(folder)]
    one, other = (
        json.loads(subprocess.run(command, cwd=ROOT, capture_output=True, check=True).stdout)
        for _process in range(2)
    )
    assert one == other
    assert {ids[0] for ids, _states, _numbers in one} == {f"random-{id}" for id in DRAWS}


def test_random_values_are_open_and_steady_gradients_stay(tmp_path):
    (exercise,) = record(read(exercise_with(tmp_path, "X - self.drawn")), "public").exercises
    table = exercise.signatures
    assert table is not None
    values = [not slot.partition("|")[2].startswith(("grad ", "check:")) for slot in table.slots]
    assert any(values)
    rows = [row for row, ids in enumerate(table.explains) if ids and ids[0].startswith("random-")]
    assert len(rows) == len(DRAWS)
    for row in rows:
        is_open = np.isnan(table.numbers[row]).any(axis=1) | (table.states[row] == ANY)
        assert is_open[: len(values)].tolist() == values


def test_a_mistake_whose_every_wrong_result_is_random_is_refused(tmp_path):
    with pytest.raises(UsageError, match="random-torch: every wrong result depends on random numbers"):
        record(read(exercise_with(tmp_path, "X - mean + self.drawn")), "public")


@pytest.mark.slow
def test_an_answer_has_the_same_fingerprint_in_another_server(bundles):
    """A worker server starts with other random numbers each time."""
    submission = BY_ID["PositionalEncoding/wrong_learned"].submission
    found = set()
    for _start in range(2):
        with closing(choose()) as launcher, closing(Engine(bundles, launcher)) as engine:
            found.add(engine.grade(submission, ["PositionalEncoding"]).exercises[0].fingerprint)
    (fingerprint,) = found
    assert fingerprint
