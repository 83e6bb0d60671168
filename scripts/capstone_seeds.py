"""Train the reference solution of the capstone on the cases of many seeds, and measure it on new sequences.

    python scripts/capstone_seeds.py                           ten seeds, the reference solution as it is
    python scripts/capstone_seeds.py --seeds 3 --rate 0.001    another learning rate
    python scripts/capstone_seeds.py --first 68 --seeds 30     the seeds from 68 to 97
    python scripts/capstone_seeds.py --write                   add the rows to docs/capstone.md, or replace them

Exits with 1 if a share of right sequences is below the share that the exercise requires.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Iterator

import torch
from shared import ROOT, parser

import grader.authoring.record  # noqa: F401 (before `load` replaces grader.given)
from grader.authoring.content import Assignment, read
from grader.cases.case import Case
from grader.engine.load_request import with_requirements
from grader.given import source as given_source
from grader.judge.generated_text import right_ones
from grader.worker.load import Files, Loaded, load
from grader.worker.program import Program
from grader.worker.steps import Run

ASSIGNMENT, EXERCISE = "11_capstone", "train"
RATE = "lr=0.003"  # as the reference solution writes it; `rows` replaces the number
TARGET = ROOT / "docs" / "capstone.md"


def trained(loaded: Loaded, case: Case) -> tuple[float, float, float]:
    """Return the share of new sequences that are right, the required share, and the CPU seconds."""
    started = time.process_time()
    observed = run(loaded, case, {}).observed
    seconds = time.process_time() - started
    assert case.exam is not None
    check = next(c for c in case.checks if c.judge == "accuracy" and c.facet == "values")
    states = {name: tensor for name, tensor in observed.items() if name.startswith("state ")}
    scores = run(loaded, case.exam, states).observed[check.of[0]].numpy()
    labels, lens = (case.for_judge[check.params[key]] for key in ("labels", "lens"))
    share = right_ones(scores, labels, lens).mean()
    return float(share), check.params["least"], seconds


def run(loaded: Loaded, case: Case, more: dict[str, torch.Tensor]) -> Program:
    """Run a case, with tensors in addition to its own. Raises SystemExit if the case raises an exception."""
    tensors = {name: torch.from_numpy(array.copy()) for name, array in case.tensors.items()} | more
    program = Program(loaded.names, Run(case.steps, case.dtype), tensors)
    program.run(loaded.files)
    if "error" in program.reply:
        raise SystemExit(f"{case.id}: {program.reply['error']}")
    return program


Row = dict[str, tuple[float, float, float]]  # training → share, required share, seconds


def rows(assignment: Assignment, seeds: range, rate: str) -> Iterator[tuple[str, Row]]:
    """Yield the name of each seed and its row: one training per task. rate: the learning rate."""
    exercise = next(e for e in assignment.exercises if e.name == EXERCISE)
    given = {name: given_source(name) for name in with_requirements(assignment.given(exercise))}
    text = assignment.source.replace(RATE, f"lr={rate}")
    loaded = load(Files(units=[{"name": "capstone.py", "source": text}], given=given))
    for number in seeds:
        seed, found = f"seed {number}", {}
        for case in assignment.cases(EXERCISE, seed):
            if case.exam is not None:
                found[case.id] = trained(loaded, case)
        yield seed, found


def main() -> int:
    known = parser(__doc__)
    known.add_argument("--first", type=int, default=0)
    known.add_argument("--seeds", type=int, default=10)
    known.add_argument("--rate", action="append")
    known.add_argument("--write", action="store_true")
    options = known.parse_args()
    torch.set_num_threads(1)
    assignment = read(ROOT / "solutions" / ASSIGNMENT)
    seeds, missed = range(options.first, options.first + options.seeds), 0
    for rate in options.rate or ["0.003"]:
        table: list[Row] = []
        before = TARGET.read_text("utf-8")
        for seed, found in rows(assignment, seeds, rate):
            print(rate, seed, {id: f"{s:.3f} in {t:.1f} s" for id, (s, _, t) in found.items()}, flush=True)
            missed += sum(share < least for share, least, _ in found.values())
            table.append(found)
            if options.write:
                TARGET.write_text(with_rows(before, rate, options.first, table), "utf-8")
    print(f"{missed} shares are below the required share")
    return missed > 0


PAGE = """# How reliably the reference solution learns the capstone tasks

`python scripts/capstone_seeds.py --write` writes this page; do not edit it.

Each seed draws new tables of words, new sequences and a new untrained model. For each seed, the reference solution
trains for as many steps as a student's solution, on one thread. The table shows the share of sequences that are right,
word for word, among sequences that were in no batch. Seconds are CPU seconds, on a machine that did other work too.

| learning rate of Adam | seeds | task | required | least | median | most | median CPU seconds |
|--:|---|---|--:|--:|--:|--:|--:|
"""


def with_rows(page: str, rate: str, first: int, table: list[Row]) -> str:
    """Return the page with these rows. They replace the rows of the same rate that start with the same seed."""
    kept = [line for line in page.splitlines() if line.startswith("| 0.")]
    kept = [line for line in kept if not line.startswith(f"| {rate} | {first} to ")]
    return PAGE + "\n".join([*kept, *_lines(rate, first, table)]) + "\n"


def _lines(rate: str, first: int, table: list[Row]) -> Iterator[str]:
    for id in table[0]:
        shares = sorted(found[id][0] for found in table)
        seconds = sorted(found[id][2] for found in table)
        middle = len(shares) // 2
        yield (
            f"| {rate} | {first} to {first + len(table) - 1} | {id} | {table[0][id][1]}"
            f" | {shares[0]:.3f} | {shares[middle]:.3f} | {shares[-1]:.3f} | {seconds[middle]:.1f} |"
        )


if __name__ == "__main__":
    sys.exit(main())
