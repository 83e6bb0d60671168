"""Make a class with hostile submissions: costly files, attacks in the worker, links, archives, forged stores."""

import json
import os
import sqlite3
from contextlib import closing
from pathlib import Path

from grader.classroom.store import Store, StoreKey
from helpers.command_line import RIGHT
from helpers.command_line import WRONG as KNOWN
from helpers.files import fill
from helpers.hostile_archives import HOSTILE as HOSTILE_ARCHIVES
from helpers.hostile_sources import HOSTILE as HOSTILE_SOURCES
from helpers.hostile_sources import READS_THE_ANSWER

# Folder → (key of HOSTILE_SOURCES, a part of the sentence that refuses this source; "" if the grader reads it).
COSTLY = {
    "dots": ("a dotted name in the answer", "joins more than 100 names by dots"),
    "lines": ("a dotted name over many lines", ""),
    "names": ("one chain of assignments", ""),
    "imports": ("an import with spaces and dots", "joins more than 100 names by dots"),
    "letters": ("eight million letters", "larger than 1 MiB"),
    "short": ("many short lines", "more than 100000 words and symbols"),
    "chain": ("a chain of calls", ""),
    "unknown": ("many unknown names", ""),
}
# A wrong answer; {}: the lines that attack. KNOWN, used below, has a known mistake and no attack.
WRONG = "import os, sys\nimport torch\ndef transpose_qkv(X, num_heads):\n{}    return X * 1.37\n"
# Print a long forged stack, and end the worker.
STACK = """    os.write(2, b"Timeout (0:00:01)!" + b\'File "\' * 20_000 + b"\\n")
    os._exit(1)
"""
# Folder → (source of code that attacks in the worker, a part of the sentence about it; "": any sentence).
INSIDE = {
    "surrogate": (WRONG.format('    raise RuntimeError("\\ud800")\n'), "RuntimeError"),
    "stack": (WRONG.format(STACK), "the worker process ended twice"),
}
# Keys of HOSTILE_ARCHIVES.
PACKED = ("bzip2.zip", "name.tar.gz", "broken.zip", "members.tar.gz")


def costly(kind: str) -> str:
    """Return the hostile source of a folder in COSTLY, as an answer for `transpose_qkv`."""
    source = HOSTILE_SOURCES[COSTLY[kind][0]]()
    named = source.replace("masked_softmax", "transpose_qkv").replace("valid_lens=None", "num_heads")
    return named.replace("transpose_qkv(X)", "transpose_qkv(X, num_heads)")


# Turns every result that the grader writes into full marks.
TRIGGER = """
CREATE TRIGGER forge AFTER INSERT ON results BEGIN
    UPDATE results SET result = replace(result, '"failed"', '"passed"') WHERE content = new.content;
END;
"""


def plant_stores(folder: Path) -> None:
    """Write forged stores where a grader could look for one: in the class and in a student's folder."""
    for place in (folder, folder / "planted"):
        (place / ".headway").mkdir(parents=True)
        path = place / ".headway" / "grades.sqlite"
        Store(path, StoreKey("cases", "grader", "strict")).close()
        with closing(sqlite3.connect(path)) as database:
            database.executescript(TRIGGER)


def hostile_class(folder: Path) -> Path:
    """Make a folder of hostile submissions, and two right ones that attack nothing: ada and zoe."""
    for kind in COSTLY:
        fill(folder / kind, {"heads.py": costly(kind)})
        # Also an older notebook, which does not count because heads.py is newer.
        (folder / kind / "heads.ipynb").write_text("{}", "utf-8")
        os.utime(folder / kind / "heads.ipynb", (1, 1))
    for kind, (source, _sentence) in INSIDE.items():
        fill(folder / kind, {"heads.py": source})
    half = {"cells": [{"cell_type": "markdown", "source": "\ud800"}, {"cell_type": "code", "source": KNOWN}]}
    fill(folder / "half", {"heads.ipynb": json.dumps(half)})
    fill(folder / "planted", {"heads.py": KNOWN, "conftest.py": f"open({str(folder / 'ran')!r}, 'w')\n"})
    fill(folder / "reads", {"06_positions/positions.py": READS_THE_ANSWER})
    plant_stores(folder)
    (folder / "linked").symlink_to(folder / "zoe")
    (folder / "linked inside").mkdir()
    (folder / "linked inside" / "04_heads").symlink_to(folder / "zoe")
    for name in PACKED:
        HOSTILE_ARCHIVES[name][0](folder / name)
    return fill(folder, {"ada.py": RIGHT, "zoe/heads.py": RIGHT})
