"""Grade one submission as Gradescope lays it out, and write results.json.

A submission in which no file can be chosen gets 0 points and a sentence that says what to submit. If grading fails,
there is no results.json. Gradescope then reports a failed autograder to the instructor, and the student does not get
a zero. The output for instructors has the reason.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

BASE = Path(os.environ.get("AUTOGRADER", "/autograder"))
KIT = BASE / "source" / "headway"
RESULTS = BASE / "results" / "results.json"
SANDBOX = os.environ.get("HEADWAY_SANDBOX", "landlock")  # basic does not hide the solution
ATTEMPTS = 2


def main() -> int:
    RESULTS.unlink(missing_ok=True)
    assignment = next((KIT / "solutions").iterdir()).name  # pack.py packs one
    module = json.loads((KIT / "assignments" / assignment / "bundle.json").read_text("utf-8"))["module"]
    files, problem = handed_in(BASE / "submission", {module, assignment})
    if problem:
        write({"score": 0, "output": problem, "visibility": "visible", "tests": []})
        return 0
    if any(graded(files, assignment) for _attempt in range(ATTEMPTS)):
        return 0
    print("could not be graded: that is no fault of the submission, so no score was written; see above")
    return 1


def handed_in(folder: Path, names: set[str]) -> tuple[list[Path], str]:
    """Return the files to grade and "", or no files and a sentence for the student that says what to submit."""
    found = [
        path for path in sorted(folder.rglob("*")) if path.suffix in (".py", ".ipynb") and path.is_file()
    ]
    # Leave out links and hidden files, and what systems and editors add: __MACOSX/, .ipynb_checkpoints/.
    found = [
        path
        for path in found
        if not path.is_symlink() and not any(part[0] in "._" for part in path.parts[-2:])
    ]
    named = [path for path in found if path.stem in names]
    chosen = named or found
    # `graded` copies all files into one folder, where files of the same name would overwrite each other.
    names_differ = len({path.name for path in chosen}) == len(chosen)
    if names_differ and (named or len(found) == 1):
        return chosen, ""
    # Reversed, so that masking.py comes before 02_masking.py.
    wanted = " or ".join(
        f"{name}{suffix}" for name in sorted(names, reverse=True) for suffix in (".py", ".ipynb")
    )
    names_found = ", ".join(path.name for path in chosen) or "no .py and no .ipynb"
    return [], f"Please submit one file, named {wanted}. This submission holds {names_found}."


def graded(files: list[Path], assignment: str) -> bool:
    """Grade the files and write results.json. Return whether they could be graded."""
    with tempfile.TemporaryDirectory() as work:
        submissions = Path(work, "submissions")
        place = submissions / "submission" / assignment  # the student is named "submission"
        place.mkdir(parents=True)
        for path in files:
            shutil.copy2(path, place)
        done = subprocess.run(
            [
                *(str(Path(sys.executable).with_name("grader")), "grade", str(submissions)),
                *("--only", assignment),
                *("--course", str(KIT / "assignments"), "--store", str(Path(work, "grades.sqlite"))),
                *("--sandbox", SANDBOX, *(["--trusted-submissions"] if SANDBOX == "basic" else [])),
                *("--jobs", "1", "--format", "gradescope", "--output", str(Path(work, "results.json"))),
            ],
            env={
                "XDG_CACHE_HOME": str(BASE / "cache"),
                **os.environ,
                "HEADWAY_SEED_FILE": str(BASE / "source" / "seed"),
            },
            stdout=sys.stdout,
            stderr=subprocess.STDOUT,
            check=False,
        )
        is_graded = done.returncode in (0, 1)  # 0: all exercises passed; 1: one did not
        if is_graded:
            write(json.loads(Path(work, "results.json").read_text("utf-8")))
        return is_graded


def write(results: dict[str, object]) -> None:
    RESULTS.parent.mkdir(parents=True, exist_ok=True)
    RESULTS.write_text(json.dumps(results, ensure_ascii=False, indent=1), "utf-8")


if __name__ == "__main__":
    sys.exit(main())
