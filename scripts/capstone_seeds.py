"""Train the reference solution of the capstone on the cases of many seeds, and measure it on new sequences.

    python scripts/capstone_seeds.py                           ten seeds, the reference solution as it is
    python scripts/capstone_seeds.py --seeds 3 --rate 0.001    another learning rate
    python scripts/capstone_seeds.py --first 68 --seeds 30     the seeds from 68 to 97
    python scripts/capstone_seeds.py --without positions       the encoder gets no positions
    python scripts/capstone_seeds.py --without attention       the decoder weighs all source words alike
    python scripts/capstone_seeds.py --write                   add the rows to docs/capstone.md, or replace them

Exits with 1 if a share of right sequences is below the share that the exercise requires or, with --without, above.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Iterator

import torch
from msgspec import structs
from shared import ROOT, parser

import grader.authoring.record  # noqa: F401 (before `load` replaces grader.given)
from grader.authoring.content import Assignment, read
from grader.cases.case import Case
from grader.engine.load_request import with_requirements
from grader.given import source as given_source
from grader.judge.generated_text import right_ones
from grader.worker.load import Files, Loaded, load
from grader.worker.program import Program
from grader.worker.steps import Provide, Run

ASSIGNMENT, EXERCISE = "11_capstone", "train"
RATE = "lr=0.003"  # as the reference solution writes it; `rows` replaces the number
TARGET = ROOT / "docs" / "capstone.md"
# What a model cannot do → lines of its constructor. Scores of 0 give every source word the same weight.
WITHOUT = {
    "positions": "self.encoder.pos_encoding.P.zero_()",
    "attention": "for block in self.decoder.blks:"
    " block.attention2.W_q.register_forward_hook(lambda layer, given, out: 0 * out)",
}
LOOKS_BACK = "induction"  # the task that needs both
BUILT = "TransformerDecoder(**sizes))\n"  # the end of the model's constructor


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


def blinded(case: Case, without: str) -> None:
    """Change the model of a case so that it lacks an ability."""
    changed = BUILT + " " * 8 + WITHOUT[without] + "\n"
    case.steps[:] = [
        structs.replace(s, source=s.source.replace(BUILT, changed)) if isinstance(s, Provide) else s
        for s in case.steps
    ]


def rows(assignment: Assignment, seeds: range, rate: str, without: str | None) -> Iterator[tuple[str, Row]]:
    """Yield the name of each seed and its row: one training per task. rate: the learning rate."""
    exercise = next(e for e in assignment.exercises if e.name == EXERCISE)
    given = {name: given_source(name) for name in with_requirements(assignment.given(exercise))}
    text = assignment.source.replace(RATE, f"lr={rate}")
    loaded = load(Files(units=[{"name": "capstone.py", "source": text}], given=given))
    for number in seeds:
        seed, found = f"seed {number}", {}
        for case in assignment.cases(EXERCISE, seed):
            if case.exam is not None:
                for part in (case, case.exam) if without else ():
                    blinded(part, without)
                found[case.id] = trained(loaded, case)
        yield seed, found


def main() -> int:
    known = parser(__doc__)
    known.add_argument("--first", type=int, default=0)
    known.add_argument("--seeds", type=int, default=10)
    known.add_argument("--rate", action="append")
    known.add_argument("--without", choices=WITHOUT)
    known.add_argument("--write", action="store_true")
    options = known.parse_args()
    torch.set_num_threads(1)
    assignment = read(ROOT / "solutions" / ASSIGNMENT)
    seeds, missed = range(options.first, options.first + options.seeds), 0
    for rate in options.rate or ["0.003"]:
        table: list[Row] = []
        before = TARGET.read_text("utf-8")
        name = f"{rate}, without {options.without}" if options.without else rate
        for seed, found in rows(assignment, seeds, rate, options.without):
            print(name, seed, {id: f"{s:.3f} in {t:.1f} s" for id, (s, _, t) in found.items()}, flush=True)
            if options.without:
                found = {LOOKS_BACK: found[LOOKS_BACK]}
            missed += sum((share < least) != bool(options.without) for share, least, _ in found.values())
            table.append(found)
            if options.write:
                TARGET.write_text(with_rows(before, name, options.first, table), "utf-8")
    print(f"{missed} shares are {'above' if options.without else 'below'} the required share")
    return missed > 0


PAGE = """# How reliably the reference solution learns the capstone tasks

`python scripts/capstone_seeds.py --write` writes this page; do not edit it.

Each seed draws new tables of words, new sequences and a new untrained model. For each seed, the reference solution
trains for as many steps as a student's solution, on one thread. The table shows the share of sequences that are right,
word for word, among sequences that were in no batch. Seconds are CPU seconds, on a machine that did other work too.

*induction* needs to know where a word stood: without positions in the encoder, or with the same weight for every
source word in the attention from decoder to encoder, no share reaches what is required. *reverse* needs the positions;
its sentences are so short that a mean of the source is enough for some of them.

| learning rate of Adam | seeds | task | required | least | median | most | median CPU seconds |
|--:|---|---|--:|--:|--:|--:|--:|
"""


def with_rows(page: str, name: str, first: int, table: list[Row]) -> str:
    """Return the page with these rows. They replace the rows of the same name that start with the same seed."""
    kept = [line for line in page.splitlines() if line.startswith("| 0.")]
    kept = [line for line in kept if not line.startswith(f"| {name} | {first} to ")]
    return PAGE + "\n".join([*kept, *_lines(name, first, table)]) + "\n"


def _lines(name: str, first: int, table: list[Row]) -> Iterator[str]:
    for id in table[0]:
        shares = sorted(found[id][0] for found in table)
        seconds = sorted(found[id][2] for found in table)
        middle = len(shares) // 2
        yield (
            f"| {name} | {first} to {first + len(table) - 1} | {id} | {table[0][id][1]}"
            f" | {shares[0]:.3f} | {shares[middle]:.3f} | {shares[-1]:.3f} | {seconds[middle]:.1f} |"
        )


if __name__ == "__main__":
    sys.exit(main())
