"""Write docs/attacks.md: python scripts/attack_table.py

The page has the attack suite and the recorded runs with generated inputs.
"""

from __future__ import annotations

import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT / "tests"))

from attacks.suite import Attack  # noqa: E402 (tests/ must be on the path first)
from attacks.table import ATTACKS, FAMILIES  # noqa: E402
from fuzz.run import MEMORY, SECONDS, Findings, recorded  # noqa: E402

RECORD = ROOT / "tests" / "fuzz" / "record.json"
TARGET = ROOT / "docs" / "attacks.md"
HEAD = """# What has been tried against the grader

Made by `python scripts/attack_table.py` from `tests/attacks/`; do not edit.

{count} hostile submissions. `tests/attacks/test_attacks.py` grades each in the strongest tier that the machine has, in CI
in `strict`, and asserts four things. The submission is *failed* or *blocked*; it never passes, and it is never *could not be
graded*, which would leave it out of the sum of the points. No file, connection, process or shared memory shows its success. An
honest submission that is graded next gets full marks.

{marked} attacks depend on the tier, and run in `strict`, `landlock` and `basic`. Those marked ● succeed in `basic`, which isolates
nothing; this shows that the attack itself works. Those marked ○ fail in `basic`, too.

[Faults that attacks made use of](fixed-faults.md) has the faults that were found and fixed.

| family | attacks | shown to work in `basic` |
|---|--:|--:|
{summary}

There is a known exception: in `catches_*` exercises, students write tests. These tests get right and broken modules, and could
inspect them. Each of these exercises is worth two points, and their workers grade nothing else.
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
    marked = sum(attack.control or attack.every_tier for attack in ATTACKS.values())
    parts = [HEAD.format(count=len(ATTACKS), marked=marked, summary=summary)]
    for family, attacks in FAMILIES.items():
        rows = "\n".join(map(_row, attacks))
        parts.append(
            f"## {family.capitalize()}\n\n| attack | what it tries | success would be | `basic` |\n|---|---|---|---|\n{rows}\n"
        )
    parts.append(_fuzzed())
    return "\n".join(parts)


def _fuzzed() -> str:
    record = recorded(RECORD)
    rows = [*record.items(), ("**all**", sum(record.values(), Findings()))]
    lines = (f"| {n} | {f.inputs:,} | {f.crashes} | {f.hangs} | {f.growth >> 20} MiB |" for n, f in rows)
    return FUZZED.format(memory=MEMORY >> 30, seconds=SECONDS, rows="\n".join(lines))


def _row(attack: Attack) -> str:
    tries, success = (
        text.replace("|", "\\|").replace("@FOLDER@/", "") for text in (attack.tries, attack.success)
    )
    mark = "●" if attack.control else "○" if attack.every_tier else ""
    return f"| `{attack.id}` | {tries} | {success} | {mark} |"


if __name__ == "__main__":
    TARGET.write_text(rendered(), "utf-8")
