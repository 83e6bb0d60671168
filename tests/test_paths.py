"""What documents and the Makefile name exists."""

import re
import shlex
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from helpers.command_line import ROOT, process

FILES = [
    ROOT / "Makefile",
    *ROOT.glob(".github/**/*.yml"),
    *ROOT.glob("docs/**/*.md"),
    *(ROOT / f"{name}.md" for name in ("README", "CONTRIBUTING", "ARCHITECTURE", "SECURITY", "PRIVACY")),
]
LINK = re.compile(r"\]\((?!\w+:|#)([^)#\s]+)")
PATH = re.compile(r"\.?\w[\w.-]*(?:/[\w.*-]+)+")
# In ARCHITECTURE.md: a file, or a file and a name in it; `package/` first in the row of a table.
IN_GRADER = re.compile(r"`([\w/]+\.(?:py|jinja))(?:: ([\w.]+))?`")
ANY = re.compile("NN_name|Exercise")


def named(file: Path) -> Iterator[tuple[Path, str]]:
    """Yield each path that a file names, as a pattern, and the folder that has it."""
    text = ANY.sub("*", file.read_text("utf-8"))
    yield from ((file.parent, link) for link in LINK.findall(text))
    tops = {path.name for path in ROOT.iterdir()}
    yield from ((ROOT, path.rstrip(".")) for path in PATH.findall(text) if path.split("/")[0] in tops)
    if (
        file.name == "ARCHITECTURE.md"
    ):  # a row of its first table has a package, and files of it in the last column
        for line in text.splitlines():
            package = re.match(r"\| `(\w+/)` \|", line)
            files = IN_GRADER.findall(line.rpartition("| ")[2] if package else line)
            paths = [path for path, _name in files if path.split("/")[0] not in tops]
            yield from ((ROOT / "grader", (package[1] if package else "") + path) for path in paths)


def test_every_path_in_a_document_exists():
    found = [(file.name, folder, path) for file in FILES for folder, path in named(file)]
    assert len(found) > 200
    assert [(file, path) for file, folder, path in found if not any(folder.glob(path))] == []


@pytest.mark.slow
def test_make_cuda_finds_its_tests():
    (call,) = re.findall(r"^cuda: .*\n\t\$\(BIN\)/python (.+)", (ROOT / "Makefile").read_text("utf-8"), re.M)
    done = process(sys.executable, *shlex.split(call), "--collect-only", cwd=ROOT)
    assert done.returncode == 0, done.stdout + done.stderr


def test_every_function_that_the_architecture_names_is_in_its_file():
    named_here = IN_GRADER.findall((ROOT / "ARCHITECTURE.md").read_text("utf-8"))
    names = [(path, part) for path, name in named_here for part in name.split(".") if part]
    assert len(names) > 15
    text = {path: (ROOT / "grader" / path).read_text("utf-8") for path, _part in names}
    assert [name for name in names if not re.search(rf"(?:def|class) {name[1]}\b", text[name[0]])] == []
