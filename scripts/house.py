"""Print how large and how deep the house is: what one `grader check` enters, and what grows if nobody looks.

    python scripts/house.py

Imports are left out: only modules of `grader` whose functions run in the parent process count.
"""

from __future__ import annotations

import ast
import contextlib
import io
import shutil
import sys
import tempfile
import threading
from pathlib import Path
from types import FrameType

ROOT = Path(__file__).resolve().parents[1]
GRADER = ROOT / "grader"
STEPS = "worker/steps.py"  # the module that may know the fields of every step
WRONG = "    return torch.softmax(X, dim=-1)  # no mask\n"


class Walk:
    """The modules that were entered, and the deepest stack of frames of `grader`."""

    def __init__(self) -> None:
        self.entered: set[str] = set()
        self.deepest: list[str] = []
        self._of_thread = threading.local()

    def __call__(self, frame: FrameType, event: str, _argument: object) -> None:
        """Note a call; `sys.setprofile` calls this."""
        file = frame.f_code.co_filename
        if not file.startswith(str(GRADER)) or event not in ("call", "return"):
            return
        stack = self._of_thread.__dict__.setdefault("stack", [])
        if event == "return":
            if stack:
                stack.pop()
            return
        stack.append(f"{file.removeprefix(str(GRADER))[1:]}:{frame.f_code.co_name}")
        if any(name.endswith(":<module>") for name in stack):
            return
        self.entered.add(file.removeprefix(str(GRADER))[1:])
        if len(stack) > len(self.deepest):
            self.deepest = list(stack)


def walk_of(*options: str) -> Walk:
    """Return the walk of `grader check masked_softmax` with an answer that ignores the mask."""
    from grader.cli import run

    with tempfile.TemporaryDirectory() as folder:
        shutil.copytree(ROOT / "assignments" / "02_masking", Path(folder) / "02_masking")
        shutil.copy(ROOT / "assignments" / "headway.toml", folder)
        file = Path(folder) / "02_masking" / "masking.py"
        head, stub, rest = file.read_text("utf-8").partition("def masked_softmax(")
        line, _newline, _body = rest.partition("\n")
        file.write_text(head + stub + line + "\n" + WRONG, "utf-8")
        walk = Walk()
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


def trees() -> dict[str, ast.Module]:
    """Return the syntax tree of every module by its path below `grader`."""
    return {
        path.relative_to(GRADER).as_posix(): ast.parse(path.read_text("utf-8"))
        for path in sorted(GRADER.rglob("*.py"))
    }


def reads_steps(tree: ast.Module) -> bool:
    """Whether a module reads a key of a step by a string: `step["do"]`, `step.get("name")`, or "do" of anything."""
    for node in ast.walk(tree):
        match node:
            case ast.Subscript(value=value, slice=ast.Constant(value=str(key))):
                pass
            case ast.Call(
                func=ast.Attribute(value=value, attr="get"), args=[ast.Constant(value=str(key)), *_]
            ):
                pass
            case _:
                continue
        if key == "do" or (isinstance(value, ast.Name) and value.id in ("step", "load", "call")):
            return True
    return False


def exceptions(all_trees: dict[str, ast.Module]) -> list[str]:
    """Return the exception classes of the package."""
    known = {"Exception", "BaseException", "ValueError", "OSError", "RuntimeError"}
    found: list[str] = []
    classes = [
        (file, n) for file, tree in all_trees.items() for n in ast.walk(tree) if isinstance(n, ast.ClassDef)
    ]
    for _round in range(4):  # a base may come after its subclass
        for file, node in classes:
            bases = {ast.unparse(base).rpartition(".")[2] for base in node.bases}
            if bases & known and node.name not in known:
                known.add(node.name)
                found.append(f"{file}: {node.name}")
    return sorted(found)


def main() -> None:
    """Print one line per figure."""
    for options in (["--no-line"], []):
        walk = walk_of(*options)
        print(f"check {' '.join(options)}: {len(walk.entered)} modules, {len(walk.deepest)} frames deep")
        if "-v" in sys.argv[1:] or options:
            print("  " + "\n  ".join(walk.deepest))
    all_trees = trees()
    readers = [file for file, tree in all_trees.items() if file != STEPS and reads_steps(tree)]
    classes = exceptions(all_trees)
    print(f"modules that read a step by a string: {len(readers)}  {' '.join(readers)}")
    print(f"exception classes: {len(classes)}\n  " + "\n  ".join(classes))
    sizes = {file: len((GRADER / file).read_text("utf-8").splitlines()) for file in all_trees}
    print("files over 400 lines:", {file: size for file, size in sizes.items() if size > 400} or "none")
    print(f"lines: {sum(sizes.values())} in {len(sizes)} files")


if __name__ == "__main__":
    main()
