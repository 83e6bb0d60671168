"""Copy the lesson notebooks for Colab, with a first cell that fetches the course.

Colab opens the notebook alone; `check()` also needs the wheel and the recorded cases.
"""

from __future__ import annotations

import json
import re
from pathlib import Path

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

    url: the git repository in which the kit will be public. Raises NotReleased if it is not an address.
    """
    if not _ADDRESS.fullmatch(url):
        raise NotReleased(
            f"--colab: {url} is not the address of a git repository, such as https://github.com/ORG/COURSE"
        )
    for assignment in plan.solutions:
        folder = kit / assignment.name
        book = json.loads((folder / f"{assignment.module}.ipynb").read_text("utf-8"))
        source = _FIRST_CELL.format(url=url, wheel=wheel, assignment=assignment.name)
        cell = {"cell_type": "code", "id": "fetch-the-course", "source": source.splitlines(keepends=True)}
        book["cells"].insert(0, {"execution_count": None, "metadata": {}, "outputs": [], **cell})
        (folder / NOTEBOOK).write_text(json.dumps(book, indent=1, ensure_ascii=False) + "\n", "utf-8")
