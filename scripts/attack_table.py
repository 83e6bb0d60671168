"""Write docs/attacks.md from the attack suite: python scripts/attack_table.py [--check]"""

from __future__ import annotations

import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT / "tests"))

from attacks.suite import Attack  # noqa: E402 (it lies beside the tests)
from attacks.table import ATTACKS, FAMILIES  # noqa: E402

TARGET = ROOT / "docs" / "attacks.md"
HEAD = """# What has been tried against the grader

Made by `python scripts/attack_table.py` from `tests/attacks/`; do not edit.

{count} hostile submissions. `tests/attacks/test_attacks.py` grades each in every sandbox tier of the machine and
asserts four things: it is *failed* or *blocked*, never passed and never taken out of the sum as *could not be
graded*; no file, connection, process or segment shows its success; an attack marked ● does succeed in the
tier `basic`, which fences nothing, so that its failure elsewhere means something; and the submission graded
right after it, honest, gets full marks.

| family | attacks | shown to work in `basic` |
|---|--:|--:|
{summary}

The known exception: `catches_*` exercises, a student's own tests, put sound and broken modules beside student
code, which could look inside them. They are worth a point at most, and their workers grade nothing else.
"""


def rendered() -> str:
    """The page."""
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
    return "\n".join(parts)


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
