"""Write docs/attacks.md: python scripts/attack_table.py [--check]

The page has the attack suite, the faults of `tests/attacks/reviewed.py`, and the recorded runs with generated inputs.
`--check` writes nothing; it exits with 1 if the page is not up to date.
"""

from __future__ import annotations

import re
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT / "tests"))

from attacks.reviewed import FOUND, WAYS, Found  # noqa: E402 (tests/ must be on the path first)
from attacks.suite import Attack  # noqa: E402
from attacks.table import ATTACKS, FAMILIES  # noqa: E402
from fuzz.run import MEMORY, SECONDS, Findings, recorded  # noqa: E402

RECORD = ROOT / "tests" / "fuzz" / "record.json"
TARGET = ROOT / "docs" / "attacks.md"
HEAD = """# What has been tried against the grader

Made by `python scripts/attack_table.py` from `tests/attacks/`; do not edit.

{count} hostile submissions. `tests/attacks/test_attacks.py` grades each in the tiers `strict` and `landlock` and
asserts four things. The submission is *failed* or *blocked*; it never passes, and it is never *could not be graded*, which
would leave it out of the sum of the points. No file, connection, process or shared memory shows its success. An attack marked
● succeeds in the tier `basic`, which isolates nothing; this shows that the attack itself works. An honest submission that is
graded next gets full marks.

| family | attacks | shown to work in `basic` |
|---|--:|--:|
{summary}

There is a known exception: in `catches_*` exercises, students write tests. These tests get right and broken modules, and could
inspect them. Each of these exercises is worth two points, and their workers grade nothing else.
"""

REVIEWED = """## What a review found

Each row is a fault that an attack made use of, and the test that shows the attack now fails: by `grader check` and `check()`,
by `grader grade`, and by nbgrader. The words after a test are the parameters with which it ran. An empty cell: the attack does
not exist there. The last column: each attack was run once against the code before the fix, by the commands of that code. A
command was stopped after 25 to 150 seconds, or at 2.2 GiB.

| | found | check | grade | nbgrader | seen on the code before |
|---|---|---|---|---|---|
{rows}
"""

FUZZED = """## Generated inputs

`python -m tests.fuzz` changes good input in the ways in which input goes wrong, and reads it in a process with {memory} GiB
and {seconds:.0f} seconds per input. The table counts all runs that were recorded in `tests/fuzz/record.json`.

| reader | inputs | crashes | hangs | growth |
|---|--:|--:|--:|--:|
{rows}
"""


def rendered() -> str:
    """Return the page in Markdown."""
    summary = "\n".join(
        f"| {family} | {len(attacks)} | {sum(a.control for a in attacks)} |"
        for family, attacks in FAMILIES.items()
    )
    parts = [HEAD.format(count=len(ATTACKS), summary=summary)]
    for family, attacks in FAMILIES.items():
        rows = "\n".join(map(_row, attacks))
        parts.append(
            f"## {family.capitalize()}\n\n| attack | what it tries | success would be | `basic` |\n|---|---|---|---|\n{rows}\n"
        )
    parts.append(REVIEWED.format(rows="\n".join(map(_found, FOUND))))
    parts.append(_fuzzed())
    return "\n".join(parts)


def _found(found: Found) -> str:
    tests = [_short(getattr(found, way)) for way in WAYS]
    return "| " + " | ".join([found.id, found.what, *tests, found.before]) + " |"


def _short(tests: str) -> str:
    """Return the text with the name of each test in backquotes, without its folder and file."""
    return re.sub(r"\S+::(\w+)", r"`\1`", tests)


def _fuzzed() -> str:
    record = recorded(RECORD)
    whole = sum(record.values(), Findings())
    rows = [*record.items(), ("**all**", whole)]
    lines = (f"| {n} | {f.inputs:,} | {f.crashes} | {f.hangs} | {f.growth >> 20} MiB |" for n, f in rows)
    return FUZZED.format(memory=MEMORY >> 30, seconds=SECONDS, rows="\n".join(lines))


def _row(attack: Attack) -> str:
    cells = (f"`{attack.id}`", attack.tries, attack.success, "●" if attack.control else "")
    return "| " + " | ".join(_plain(cell) for cell in cells) + " |"


def _plain(text: str) -> str:
    return text.replace("|", "\\|").replace("@FOLDER@/", "")


def main() -> int:
    if "--check" in sys.argv:
        return 0 if TARGET.exists() and TARGET.read_text("utf-8") == rendered() else 1
    TARGET.parent.mkdir(exist_ok=True)
    TARGET.write_text(rendered(), "utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
