"""Copies of the lesson notebooks for Colab, with one cell before the others that fetches the course.

Colab has the notebook alone, in no folder. `check()` needs the wheel and the recorded cases beside it.
"""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

from grader.release.kit import KitPlan, NotReleased

NOTEBOOK = "colab.ipynb"
_ADDRESS = re.compile(r"(https|file)://[\w./~:@%+-]+")

_FIRST_CELL = """\
# Run this cell first. It fetches the course and installs the grader.
!test -d ~/course || git clone --quiet --depth 1 {url} ~/course
%pip install --quiet ~/course/wheels/{wheel}
%cd -q ~/course/{assignment}"""


def add_notebooks(kit: Path, plan: KitPlan, url: str, wheel: str) -> None:
    """Write `colab.ipynb` beside each notebook of a kit.

    url: the git repository in which the kit will be public. Raises NotReleased when it is no address.
    """
    if not _ADDRESS.fullmatch(url):
        raise NotReleased(
            f"--colab: {url} is no address of a git repository, as https://github.com/ORG/COURSE"
        )
    for assignment in plan.solutions:
        folder = kit / assignment.name
        book = json.loads((folder / f"{assignment.module}.ipynb").read_text("utf-8"))
        source = _FIRST_CELL.format(url=url, wheel=wheel, assignment=assignment.name)
        cell: dict[str, Any] = {
            "cell_type": "code",
            "execution_count": None,
            "id": "fetch-the-course",
            "metadata": {},
            "outputs": [],
        }
        book["cells"].insert(0, {**cell, "source": source.splitlines(keepends=True)})
        (folder / NOTEBOOK).write_text(json.dumps(book, indent=1, ensure_ascii=False) + "\n", "utf-8")
