"""Measure speed and memory, and write docs/benchmarks.md.

    python scripts/bench.py                   everything; about twenty minutes; run nothing else meanwhile
    python scripts/bench.py cold watch        only these parts; print them and write no file

Parts: cold (`grader check`), watch, bulk (`grader grade` and stock nbgrader), pairs (`grader grade` in turn with that
of --against) and nbgrader (`nbgrader autograde`, stock and with our preprocessors). Ratios say more than seconds, because seconds depend on the machine. The options set how
often a part measures, or how many submissions it grades.
"""

from __future__ import annotations

import argparse
import os
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path

from benches import autograde, bulk
from benches.measure import GRADER, ROOT, Each, interleaved, machine, milliseconds, seconds, timed
from shared import parser

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
SOURCE = "import torch\ndef masked_softmax(X, valid_lens):\n    return torch.softmax(X, -1) + {n}\n"
SETTLED = 6.0  # seconds after which the worker server (it forks the workers) is warm
DONE = b"watching "  # starts the line that `grader watch` prints after a grading


def cold(folder: Path, options: argparse.Namespace) -> Iterator[Row]:
    """Yield `grader check` in a new process, as a ratio to the import of torch."""
    for name, command in checks(folder).items():
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


def checks(folder: Path) -> dict[str, list[str]]:
    """Return commands that check references: of one assignment, and of seven exercises."""
    references = (
        "02_masking/masking",
        "04_heads/heads",
        "05_multi_head_attention/multi_head_attention",
        "08_decoder/decoder",
    )
    texts = [(ROOT / f"solutions/{name}.py").read_text("utf-8") for name in references]
    (folder / "several.py").write_text("\n\n".join(texts), "utf-8")
    check = [str(GRADER), "check", "--course", "assignments", "--format", "json", "--file"]
    return {
        "one assignment": [*check, f"solutions/{references[2]}.py"],
        "seven exercises of 02, 04, 05 and 08": [*check, str(folder / "several.py"), *SEVEN],
    }


def watch(folder: Path, options: argparse.Namespace) -> Iterator[Row]:
    """Yield the time from a save to a verdict."""
    what = "save to verdict in a running `grader watch`, one exercise"
    yield what, milliseconds(saves(folder, options.saves))


def saves(folder: Path, count: int) -> list[float]:
    """Return the seconds from a save to the whole verdict on screen, in a warm `grader watch`.

    The search for a line, which follows a verdict, is off.
    """
    course = Path(shutil.copytree(ROOT / "assignments", folder / "watched"))
    with open(course / "headway.toml", "a", encoding="utf-8") as settings:
        settings.write("\nname_lines = false\n")
    file = course / "02_masking" / "masking.py"
    command = [GRADER, "watch", "masked_softmax"]
    watch = subprocess.Popen(command, cwd=course, stdout=subprocess.PIPE, stdin=subprocess.DEVNULL)
    try:
        _verdict(watch)
        time.sleep(SETTLED)
        out = []
        for n in range(count + 1):
            started = time.perf_counter()
            file.write_text(SOURCE.format(n=n), "utf-8")
            _verdict(watch)
            out.append(time.perf_counter() - started)
            time.sleep(0.5)
        return out[1:]  # the worker of the first save was forked before the server was warm
    finally:
        watch.terminate()
        watch.wait()


def _verdict(watch: subprocess.Popen[bytes]) -> None:
    """Wait until `grader watch` has printed a verdict."""
    assert watch.stdout is not None
    for line in watch.stdout:
        if line.startswith(DONE):
            return
    raise SystemExit("grader watch ended")


def many(folder: Path, options: argparse.Namespace) -> Iterator[Row]:
    """Yield `grader grade`, as a ratio to stock nbgrader."""
    size, runs = options.submissions, options.runs
    stock = [autograde.stock(folder / f"stock{run}", options.stock) for run in range(runs)]
    yield (
        f"stock `nbgrader autograde`, same notebooks, public cases, {options.stock} submissions, {runs} runs",
        f"{60 / statistics.median(one.seconds for one in stock):.0f} a minute: {seconds([one.seconds for one in stock])} each,"
        f" {seconds([one.cpu for one in stock])} of CPU",
    )
    for jobs, costs, peak in bulk.graded(folder, size, runs):
        mine = [cost / size for cost in costs]
        factors = [theirs.seconds / own.seconds for theirs, own in zip(stock, mine, strict=False)]
        rate = 60 / statistics.median(own.seconds for own in mine)
        figure = (
            f"{rate:.0f} a minute, **{statistics.median(factors):.0f} times stock** ({min(factors):.0f} to {max(factors):.0f});"
            f" {seconds([own.cpu for own in mine])} of CPU each; {peak / 2**20:.0f} MiB at most"
        )
        yield (
            f"`grader grade`, {size} notebooks of nine exercises, {counted(jobs, 'job')}, start included",
            figure,
        )


def pairs(folder: Path, options: argparse.Namespace) -> Iterator[Row]:
    """Yield the processor time of `grader grade` as a ratio to that of another checkout."""
    if options.against is None:
        return
    theirs, mine = bulk.pairs(folder, options.against.resolve(), options.submissions, options.pairs)
    ratio = [b / a for a, b in zip(theirs, mine, strict=True)]
    yield (
        f"CPU of `grader grade` per notebook of nine exercises, 2 jobs, over that of {options.against.name}",
        f"{statistics.median(ratio):.2f} times ({min(ratio):.2f} to {max(ratio):.2f}): {seconds(mine)} over {seconds(theirs)}",
    )


def with_ours(folder: Path, options: argparse.Namespace) -> Iterator[Row]:
    """Yield `nbgrader autograde` with our preprocessors, as a ratio to stock nbgrader."""
    size, many = options.stock, options.notebooks
    one_core = sorted(os.sched_getaffinity(0))[:1]
    alone = autograde.stock(folder / "alone", size, one_core)
    theirs = autograde.stock(folder / "all", size)  # on all cores
    mine = autograde.ours(folder, many)
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


def counted(n: int, what: str) -> str:
    return f"1 {what}" if n == 1 else f"{n} {what}s"


def each(cost: Each) -> str:
    return f"{cost.seconds:.2f} s each, {cost.cpu:.2f} s of CPU"


def against(mine: Each, theirs: Each) -> str:
    return f"{each(mine)}: **{theirs.seconds / mine.seconds:.1f} times stock**, {theirs.cpu / mine.cpu:.1f} times by CPU"


PARTS: dict[str, Callable[[Path, argparse.Namespace], Iterator[Row]]] = {
    "cold": cold, "watch": watch, "bulk": many, "pairs": pairs, "nbgrader": with_ours,
}  # fmt: skip

PAGE = """# Benchmarks

Written by `make bench`; do not edit. {machine}. Load when it began: {load:.1f}.

| what | measured |
|---|---|
{rows}

How to read it: ratios of `grader check` are medians of interleaved pairs, with the smallest and the largest time.
Milliseconds with a 95th percentile are medians; those without are means or differences. Every student of a class has their own names of
variables and forms of code. Stock nbgrader runs the same notebooks, with the
public cases in its test cells, one notebook after another; `grader grade` uses hidden cases. Its rate comes from the number of submissions
in its row, without the start of nbgrader; the rate of `grader grade` includes the start. With more jobs than cores, only the memory
says something. A factor is that of a run of each, the first with the first; the median is shown, with the smallest and the largest. The row below
"`nbgrader autograde` after `grader grade`" shows the part of this time that our preprocessors take. The rest is
nbgrader's own work: it converts, checks and writes each notebook and its database, one after another.

Where the processor time of `grader grade` goes, for a right notebook of nine exercises (69 cases, 189 checks): about two
thirds in its worker, a quarter in the process that grades, the rest in the worker server and the start of the run. Of the
worker's part, half is the student's code with its inputs; the fork, the confinement and memory that is touched for the first time take
a third; loading weights, observing and packing take the rest. Of the grading process, reading the file takes 40 %,
judging 25 %, the report 10 %, and messages the rest.
"""


def main() -> None:
    known = parser(__doc__)
    known.add_argument("parts", nargs="*", metavar="PART", help=", ".join(PARTS))
    known.add_argument("--pairs", type=int, default=10)
    known.add_argument("--against", type=Path, help="a checkout of another commit, with its own .venv")
    known.add_argument("--saves", type=int, default=20)
    known.add_argument("--submissions", type=int, default=200)
    known.add_argument("--runs", type=int, default=5, help="of `grader grade` and stock nbgrader")
    known.add_argument("--stock", type=int, default=8)
    known.add_argument("--notebooks", type=int, default=40)
    options = known.parse_args()
    unknown = [part for part in options.parts if part not in PARTS]
    if unknown:
        known.error(f"there is no part {unknown[0]}; choose from {', '.join(PARTS)}")
    began, rows = os.getloadavg()[0], []
    for part in options.parts or PARTS:
        with tempfile.TemporaryDirectory(prefix="bench-") as folder:
            for what, figure in PARTS[part](Path(folder), options):
                print(f"{what}: {figure}", flush=True)
                rows.append(f"| {what} | {figure} |")
    if not options.parts:
        (ROOT / "docs" / "benchmarks.md").write_text(
            PAGE.format(machine=machine(), load=began, rows="\n".join(rows)), "utf-8"
        )


if __name__ == "__main__":
    main()
