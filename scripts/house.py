"""Print how large and how deep the house is: what one `grader check` enters, and what grows if nobody looks.

    python scripts/house.py

Imports are left out: only modules of `grader` whose functions run in the parent process count.
"""

from __future__ import annotations

import contextlib
import io
import re
import shutil
import sys
import tempfile
import threading
import traceback
from pathlib import Path
from types import FrameType

ROOT = Path(__file__).resolve().parents[1]
GRADER = ROOT / "grader"
STEPS = "worker/steps.py"  # the module that may know the fields of every step
READS_A_STEP = re.compile(r'(?<![\w.])(?:step|load|call)(?:\[|\.get\()"|(?:\[|\.get\()"do"')
CLASS = re.compile(r"^ *class (\w+)\(([\w., ]+)\):", re.M)
BUILTIN = ("Exception", "BaseException", "ValueError", "OSError", "RuntimeError")
STUB = re.compile(r"(?s)(def masked_softmax\([^\n]*\n).*")
WRONG = r"\1    return torch.softmax(X, dim=-1)  # no mask\n"


class Walk:
    """The modules that were entered, and the deepest stack of frames of `grader`."""

    def __init__(self) -> None:
        self.entered: set[str] = set()
        self.deepest: list[str] = []

    def __call__(self, frame: FrameType, event: str, _argument: object) -> None:
        """Note a call; `sys.setprofile` calls this."""
        if event != "call" or not _is_ours(frame):
            return
        stack = [one for one, _line in traceback.walk_stack(frame) if _is_ours(one)]
        if any(one.f_code.co_name == "<module>" for one in stack):
            return
        self.entered.add(frame.f_code.co_filename)
        if len(stack) > len(self.deepest):
            places = ((Path(one.f_code.co_filename), one.f_code.co_name) for one in reversed(stack))
            self.deepest = [f"{file.relative_to(GRADER).as_posix()}:{name}" for file, name in places]


def _is_ours(frame: FrameType) -> bool:
    return frame.f_code.co_filename.startswith(str(GRADER))


def walk_of(*options: str) -> Walk:
    """Return the walk of `grader check masked_softmax` with an answer that ignores the mask."""
    from grader.cli import run

    walk = Walk()
    with tempfile.TemporaryDirectory() as folder:
        shutil.copytree(ROOT / "assignments" / "02_masking", Path(folder) / "02_masking")
        shutil.copy(ROOT / "assignments" / "headway.toml", folder)
        file = Path(folder) / "02_masking" / "masking.py"
        file.write_text(STUB.sub(WRONG, file.read_text("utf-8")), "utf-8")
        sys.argv = ["grader", "check", "masked_softmax", "--course", folder, *options]
        threading.setprofile(walk)
        sys.setprofile(walk)
        try:
            with contextlib.redirect_stdout(io.StringIO()), contextlib.suppress(SystemExit):
                run()
        finally:
            sys.setprofile(None)
            threading.setprofile(None)
    return walk


def exceptions(sources: dict[str, str]) -> list[str]:
    """Return the exception classes of the package."""
    found = dict.fromkeys(BUILTIN, "")
    classes = [(file, *match.groups()) for file, text in sources.items() for match in CLASS.finditer(text)]
    for _round in range(4):  # a base may come after its subclass
        for file, name, bases in classes:
            if found.keys() & {base.rpartition(".")[2] for base in bases.split(", ")}:
                found.setdefault(name, f"{file}: {name}")
    return sorted(filter(None, found.values()))


def main() -> None:
    """Print one line per figure."""
    for options in (["--no-line"], []):
        walk = walk_of(*options)
        print(f"check {' '.join(options)}: {len(walk.entered)} modules, {len(walk.deepest)} frames deep")
        if options:
            print("  " + "\n  ".join(walk.deepest))
    sources = {p.relative_to(GRADER).as_posix(): p.read_text("utf-8") for p in sorted(GRADER.rglob("*.py"))}
    readers = [file for file, text in sources.items() if file != STEPS and READS_A_STEP.search(text)]
    classes = exceptions(sources)
    print(f"modules that read a step by a string: {len(readers)}  {' '.join(readers)}")
    print(f"exception classes: {len(classes)}\n  " + "\n  ".join(classes))
    sizes = {file: len(text.splitlines()) for file, text in sources.items()}
    print("files over 400 lines:", {file: size for file, size in sizes.items() if size > 400} or "none")
    print(f"lines: {sum(sizes.values())} in {len(sizes)} files")


if __name__ == "__main__":
    main()
