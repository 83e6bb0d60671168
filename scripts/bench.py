"""Measure speed and memory, and write docs/benchmarks.md.

    python scripts/bench.py                   everything; about twenty minutes; run nothing else meanwhile
    python scripts/bench.py cold watch        only these parts; print them and write no file

Parts: cold (`grader check`), watch, bulk (`grader grade` and stock nbgrader) and nbgrader (`nbgrader autograde`, stock
and with our preprocessors). Ratios say more than seconds, because seconds depend on the machine. The options set how
often a part measures, or how many submissions it grades.
"""

from __future__ import annotations

import argparse
import os
import statistics
import sys
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path

from benches import bulk, ours, session, stock
from benches.measure import GRADER, ROOT, Each, interleaved, load, machine, milliseconds, seconds, timed

Row = tuple[str, str]
SEVEN = (
    "sequence_mask",
    "masked_softmax",
    "transpose_qkv",
    "transpose_output",
    "MultiHeadAttention",
    "MixedUpAttention",
    "DecoderBlock",
)


def cold(folder: Path, options: argparse.Namespace) -> Iterator[Row]:
    """Yield `grader check` in a new process, as a ratio to the import of torch."""
    for name, command in checks(folder):
        floor, checked = interleaved(
            options.pairs,
            lambda: timed([sys.executable, "-c", "import torch"]),
            lambda command=command: timed(command),
        )
        ratio = statistics.median(b / a for a, b in zip(floor, checked, strict=True))
        yield (
            f"cold `grader check` of {name} over `import torch`",
            f"{ratio:.2f} times: {seconds(checked)} over {seconds(floor)}",
        )


def checks(folder: Path) -> tuple[tuple[str, list[str]], ...]:
    """Return commands that check references: of one assignment, of seven exercises, and of assignments 01 to 10."""
    one = ROOT / "solutions/05_multi_head_attention/multi_head_attention.py"
    everything = folder / "everything.py"
    references = (
        p for p in sorted(ROOT.glob("solutions/*/*.py")) if p.stem == p.parent.name.split("_", 1)[1]
    )
    # Without the capstone: its training takes longer than all grading.
    texts = [path.read_text("utf-8") for path in references if path.stem != "capstone"]
    everything.write_text("\n\n".join(texts), "utf-8")
    return (
        ("one assignment", checking(one)),
        ("seven exercises of 02, 04, 05 and 08", checking(everything, *SEVEN)),
        ("01 to 10", checking(everything)),
    )


def checking(file: Path, *names: str) -> list[str]:
    """Return the command that checks these exercises of a file; no names: all its exercises."""
    return [str(GRADER), "check", *names, "--file", str(file), "--course", "assignments", "--format", "json"]


def watch(folder: Path, options: argparse.Namespace) -> Iterator[Row]:
    """Yield the time from a save to a verdict, in the best tier and in `basic`."""
    yield (
        "save to verdict in a running `grader watch`, one exercise",
        milliseconds(session.saves(folder, options.saves, "auto", pause=0.5)),
    )
    yield (  # between two saves, `basic` needs time to start the next worker
        "save to verdict in a running `grader watch`, one exercise, basic",
        milliseconds(session.saves(folder, options.saves, "basic", pause=session.SETTLED)),
    )


def many(folder: Path, options: argparse.Namespace) -> Iterator[Row]:
    """Yield `grader grade`, as a ratio to stock nbgrader."""
    theirs = stock.autograded(folder, options.stock)
    yield (
        f"stock `nbgrader autograde`, same notebooks, public cases, {options.stock} submissions",
        f"{60 / theirs.seconds:.0f} a minute ({each(theirs)})",
    )
    for run in bulk.graded(folder, options.submissions):
        cores = "1 core" if run.cores == 1 else f"{run.cores} cores"
        ratio = run.a_minute * theirs.seconds / 60
        less_cpu = theirs.cpu * run.size / run.cpu
        figure = (
            f"{run.a_minute:.0f} a minute ({run.seconds:.1f} s), **{ratio:.0f} times stock**; "
            f"{run.cpu / run.size:.2f} s of CPU each, {less_cpu:.0f} times less; {run.peak / 2**20:.0f} MiB at most"
        )
        yield f"`grader grade`, {run.size} notebooks of nine exercises, {cores}, start included", figure


def autograde(folder: Path, options: argparse.Namespace) -> Iterator[Row]:
    """Yield `nbgrader autograde` with our preprocessors, as a ratio to stock nbgrader."""
    size, many = options.stock, options.notebooks
    one_core = sorted(os.sched_getaffinity(0))[:1]
    alone = stock.autograded(folder / "alone", size, one_core)
    theirs = stock.autograded(folder / "all", size)  # on all cores
    mine = ours.autograded(folder, many)
    yield f"`nbgrader autograde` of nine exercises, stock, 1 core, {size} submissions", each(alone)
    yield f"the same with our preprocessors, 1 core, {many} submissions", against(mine.alone, alone)
    cores = len(os.sched_getaffinity(0))
    yield f"`nbgrader autograde` of nine exercises, stock, {cores} cores, {size} submissions", each(theirs)
    yield (
        f"`grader grade` of {many} on {cores} cores with its start, then `nbgrader autograde` on 1 core",
        against(mine.first + mine.filled, theirs),
    )
    yield "`nbgrader autograde` after `grader grade`", against(mine.filled, theirs)
    beyond = mine.filled - mine.empty
    yield (
        "of that, our preprocessors (the difference to a run without them)",
        f"{1000 * beyond.seconds:.0f} ms, {1000 * beyond.cpu:.0f} ms of CPU",
    )


def each(cost: Each) -> str:
    return f"{cost.seconds:.2f} s each, {cost.cpu:.2f} s of CPU"


def against(mine: Each, theirs: Each) -> str:
    return f"{each(mine)}: **{theirs.seconds / mine.seconds:.1f} times stock**, {theirs.cpu / mine.cpu:.1f} times by CPU"


PARTS: dict[str, Callable[[Path, argparse.Namespace], Iterator[Row]]] = {
    "cold": cold, "watch": watch, "bulk": many, "nbgrader": autograde,
}  # fmt: skip

PAGE = """# Benchmarks

Written by `make bench`; do not edit. {machine}. Load when it began: {load:.1f}.

| what | measured |
|---|---|
{rows}

How to read it: ratios of `grader check` are medians of interleaved pairs, with the smallest and the largest time.
Milliseconds with a 95th percentile are medians; those without are means or differences. Stock nbgrader runs the same notebooks, with the
public cases in its test cells, one notebook after another; `grader grade` uses hidden cases. Its rate comes from the number of submissions
in its row, without the start of nbgrader; the rate of `grader grade` includes the start. The row below
"`nbgrader autograde` after `grader grade`" shows the part of this time that our preprocessors take. The rest is
nbgrader's own work: it converts, checks and writes each notebook and its database, one after another.
"""


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("parts", nargs="*", metavar="PART", help=", ".join(PARTS))
    parser.add_argument("--pairs", type=int, default=10)
    parser.add_argument("--saves", type=int, default=20)
    parser.add_argument("--submissions", type=int, default=200)
    parser.add_argument("--stock", type=int, default=8)
    parser.add_argument("--notebooks", type=int, default=40)
    options = parser.parse_args()
    unknown = [part for part in options.parts if part not in PARTS]
    if unknown:
        parser.error(f"there is no part {unknown[0]}; choose from {', '.join(PARTS)}")
    began, rows = load(), []
    for part in options.parts or PARTS:
        with tempfile.TemporaryDirectory(prefix="bench-") as folder:
            for what, figure in PARTS[part](Path(folder), options):
                print(f"{what}: {figure}", flush=True)
                rows.append(f"| {what} | {figure} |")
    if not options.parts:
        (ROOT / "docs").mkdir(exist_ok=True)
        (ROOT / "docs" / "benchmarks.md").write_text(
            PAGE.format(machine=machine(), load=began, rows="\n".join(rows)), "utf-8"
        )


if __name__ == "__main__":
    main()
