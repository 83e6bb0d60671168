"""Make the zip that Gradescope asks for: python docs/recipes/gradescope/pack.py 02_masking autograder.zip

Run it in a checkout of this repository. The zip holds the reference solution and your secret seed: keep it secret.
"""

from __future__ import annotations

import sys
import zipfile
from collections.abc import Iterator
from pathlib import Path

from grader.authoring.hidden_cases import seed_file

HERE = Path(__file__).resolve().parent
ROOT = HERE.parents[2]
PLAIN = ("pyproject.toml", "README.md", "LICENSE", "constraints.txt", "assignments/headway.toml")


def main(assignment: str, target: Path) -> None:
    if not (ROOT / "solutions" / assignment / "exercise.toml").is_file():
        names = ", ".join(path.name for path in sorted((ROOT / "solutions").iterdir()))
        sys.exit(f"there is no assignment {assignment}; there are {names}")
    with zipfile.ZipFile(target, "w", zipfile.ZIP_DEFLATED) as archive:
        for name in ("run_autograder", "setup.sh", "grade.py"):
            _add(archive, name, HERE / name, executable=name != "grade.py")
        _add(archive, "seed", seed_file())
        for path in _course(assignment):
            _add(archive, f"headway/{path.relative_to(ROOT).as_posix()}", path)
    print(
        f"{target}: {target.stat().st_size / 1e6:.1f} MB for {assignment}; it holds answers, so keep it to yourself"
    )


def _course(assignment: str) -> Iterator[Path]:
    """Yield the files of the grader and of one assignment, and those in PLAIN."""
    yield from (ROOT / name for name in PLAIN)
    for folder in ("grader", f"solutions/{assignment}", f"assignments/{assignment}"):
        for path in sorted((ROOT / folder).rglob("*")):
            if path.is_file() and "__pycache__" not in path.parts:
                yield path


def _add(archive: zipfile.ZipFile, name: str, path: Path, executable: bool = False) -> None:
    entry = zipfile.ZipInfo(name, (2020, 1, 1, 0, 0, 0))  # one date, so that equal files give equal archives
    entry.compress_type = zipfile.ZIP_DEFLATED
    entry.external_attr = (0o100755 if executable else 0o100644) << 16
    archive.writestr(entry, path.read_bytes())


if __name__ == "__main__":
    if len(sys.argv) != 3:
        sys.exit("usage: python docs/recipes/gradescope/pack.py ASSIGNMENT TARGET.zip")
    main(sys.argv[1], Path(sys.argv[2]))
