"""Attacks on the reading of files and on reports.

Files are disguised or costly to read; texts contain commands for a terminal, a browser or another reader of a report.
"""

import json
import pickle
import zipfile
from io import BytesIO
from typing import Any

from attacks.suite import WRONG, Attack, calling, wrong

FAMILY = "intake and reports"
HARM = "the file @FOLDER@/touched"
ENDLESS = "the grader does not end, or takes all memory"
FAILS = "the grader fails, so the exercise could not be graded"
SHOWN = "a terminal, a browser or an XML reader obeys it"
TOUCH = "open('@FOLDER@/touched', 'w').write('x')"
START = "import torch\n" + WRONG
FORBIDDING = "DotProductAttention"  # an exercise that forbids nn.MultiheadAttention
# A wrong answer to it. The grader looks for calls of nn.MultiheadAttention only in a source that contains the name.
START_FORBIDDING = """import torch  # MultiheadAttention
class DotProductAttention(torch.nn.Module):
    def __init__(self, dropout):
        super().__init__()
    def forward(self, queries, keys, values, valid_lens=None):
        return help(queries) * 0.9 + 0.01
def help(X):
    return X
"""


def file(
    id: str, tries: str, data: str | bytes, name: str = "answer.py", success: str = HARM, **more: Any
) -> Attack:
    """Return an attack that submits a file with this content and name."""
    content = data.encode() if isinstance(data, str) else data
    return Attack(id, tries, "", name=name, data=content, success=success, **more)


def notebook(id: str, tries: str, *cells: object, success: str = HARM, **more: object) -> Attack:
    """Return an attack that submits a notebook with a wrong answer, `cells`, and other keys (`more`).

    A text is the source of a code cell.
    """
    book = [
        {"cell_type": "code", "source": cell} if isinstance(cell, str) else cell for cell in (START, *cells)
    ]
    text = json.dumps({"cells": book, "metadata": {}, "nbformat": 4, **more})
    return file(id, tries, text, "answer.ipynb", success)


def shown(id: str, tries: str, body: str) -> Attack:
    """Return an attack whose `body` puts hostile text into the report."""
    return calling(id, tries, body, success=SHOWN)


def raising(id: str, which: str, text: str) -> Attack:
    """Return an attack that raises an exception. text: the source of its text."""
    return shown(id, f"raises an exception {which}", f"raise ValueError({text})")


def named(id: str, which: str, name: str) -> Attack:
    """Return an attack whose file has a hostile name, which is in the report of an exception."""
    return file(id, f"has {which}", START + "raise ValueError\n", name, success=SHOWN)


class _Pickle:
    def __reduce__(self) -> tuple[object, ...]:
        return (exec, (TOUCH,))


def _zipped(name: str, content: bytes = bytes(4 << 20)) -> bytes:
    out = BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr(name, content)
    return out.getvalue()


ATTACKS = (
    file("pickle", "submits a pickle under the name of a script", pickle.dumps(_Pickle())),
    file(
        "weights",
        "submits an archive of torch under the name of a script",
        _zipped("archive/data.pkl"),
        success=FAILS,
    ),
    file(
        "zip-as-notebook",
        "submits an inflating archive under the name of a notebook",
        _zipped("../../answer.ipynb"),
        "answer.ipynb",
        success=ENDLESS,
    ),
    file(
        "python-archive",
        "submits an archive that Python would run",
        b"#!/usr/bin/env python\n" + _zipped("__main__.py", TOUCH.encode()),
    ),
    file(
        "utf-7",
        "hides a line in UTF-7 behind a coding line",
        f"# -*- coding: utf-7 -*-\n# +AAo-{TOUCH}\n{START}",
    ),
    file("utf-16", "submits UTF-16", START.encode("utf-16"), success=FAILS),
    file("rot13", "declares rot13, which is no encoding of text", f"# coding: rot13\n{START}", success=FAILS),
    file(
        "latin-1",
        "declares latin-1, and has a byte that is not valid UTF-8",
        b"# coding: latin-1\n# \xa0\n" + START.encode(),
        success=FAILS,
    ),
    file("null", "has code after a null character, at which some readers stop", START + "\0" + TOUCH),
    file(
        "form-feed",
        "hides a line between a carriage return and a form feed",
        f"# all is well\r{TOUCH}\f\n{START}",
    ),
    file(
        "bidirectional",
        "shows other code than it runs, by bidirectional characters",
        START.replace("return", "# \u202e } \u2066 right \u2069 \u2066\n    return"),
        success=SHOWN,
    ),
    file(
        "homoglyph",
        "defines the exercise with a letter of another alphabet",
        START + START.replace("masked", "m\u0430sked"),
        success="points for an answer that is wrong",
    ),
    file(
        "many-dots",
        "imports a name of 30,000 parts, which the parser copies for each part",
        START + "\nimport " + ".".join("a" * 30_000),
        success=ENDLESS,
    ),
    file(
        "deep-attribute",
        "uses an attribute of an attribute, 1500 times",
        # `help` is bound again, so that the search for forbidden calls reads this statement. The # between two dots hides
        # the length of the chain from the limit, whose pattern looks for names and dots without comments.
        START_FORBIDDING + "help, x = help, lambda: (torch" + "\n#\n.a" * 1500 + ")",
        success=FAILS,
        exercise=FORBIDDING,
    ),
    file(
        "many-targets",
        "assigns to 20,000 names in one statement",
        START + "\n" + "".join(f"a{i} = " for i in range(20_000)) + "1",
        success=ENDLESS,
    ),
    file(
        "many-statements",
        "holds 400,000 statements, each of which costs the parser a kilobyte",
        START + "\n" + "a\n" * 400_000,
        success=ENDLESS,
    ),
    file(
        "long-module",
        "imports 20,000 names from a module with a name of 400 KB",
        START_FORBIDDING + f"from torch.{'m' * 400_000} import " + ",".join(f"a{i}" for i in range(20_000)),
        success=ENDLESS,
        exercise=FORBIDDING,
    ),
    file(
        "dots-in-the-answer",
        "names an attribute of an attribute, 1500 times, in a function that the answer calls",
        START_FORBIDDING.replace("return X", "return torch" + ".a" * 1500),
        success=FAILS,
        exercise=FORBIDDING,
    ),
    file(
        "import-over-lines",
        "imports a name of 30,000 parts, a part on each line",
        START + "\nimport " + ".\\\n".join("a" * 30_000),
        success=ENDLESS,
    ),
    file("short-lines", "holds four million lines of one letter", "a\n" * (4 << 20), success=ENDLESS),
    notebook(
        "half-character-in-text",
        "holds half a character in a text cell",
        {"cell_type": "markdown", "source": "\ud800"},
        success=FAILS,
    ),
    file("too-large", "is larger than any answer", b"#" * (2 << 20), success="the grader reads it"),
    file(
        "traversal-name",
        "has a name that is a path to another folder",
        START,
        "..\\..\\touched.py",
        success=SHOWN,
    ),
    named("escape-name", "a name with control sequences of a terminal", "\x1b]0;pwned\x07\x1b[2J.py"),
    named("markup-name", "a name that is markup", "[red]x[-red] <b>&.py"),
    named("option-name", "the name of an option", "--hidden.py"),
    named("line-name", "a name of two lines", "a\n✓ passed   5 - 5.py"),
    notebook(
        "shell-magic", "runs shell lines of a notebook", "!touch @FOLDER@/touched\n%run @FOLDER@/x.py\n"
    ),
    notebook("cell-magic", "runs a whole cell in a shell", "%%bash\ntouch @FOLDER@/touched\n"),
    notebook(
        "system-magic",
        "runs a shell line by `get_ipython().system`",
        "get_ipython().system('touch @FOLDER@/touched')",
    ),
    notebook(
        "outputs",
        "hides code in outputs and metadata",
        {
            "cell_type": "code",
            "source": "",
            "metadata": {"nbgrader": {"grade": True, "points": 100, "score": 100}},
            "outputs": [
                {
                    "output_type": "execute_result",
                    "data": {"text/plain": "passed", "application/x-python": TOUCH},
                }
            ],
        },
    ),
    notebook(
        "kernel",
        "names a kernel that runs a command",
        metadata={"kernelspec": {"name": "x", "argv": ["touch", "@FOLDER@/touched"], "language": "bash"}},
    ),
    notebook(
        "strange-cells",
        "has cells of wrong types",
        5,
        None,
        [],
        {"cell_type": ["code"]},
        {"cell_type": "code", "source": {"x": 1}},
        {"cell_type": "code", "source": [1, None, "x = 1\n"]},
        success=FAILS,
    ),
    notebook(
        "grader-cell",
        "calls the grader from within the notebook",
        "import grader\ngrader.check('masked_softmax')\nprint('passed 5 / 5')",
        success="points for an answer that is wrong",
    ),
    file(
        "deep-json",
        "is JSON nested too deeply",
        '{"cells": ' + "[" * 200_000,
        "answer.ipynb",
        success="the grader crashes",
    ),
    file(
        "huge-number",
        "is JSON with a number of a million digits",
        '{"cells": [' + "1" * 1_000_000 + "]}",
        "answer.ipynb",
        success="the grader crashes",
    ),
    file(
        "repeated-cells",
        "is JSON that names its cells twice",
        f'{{"cells": [], "cells": [{{"cell_type": "code", "source": {json.dumps(START)}}}]}}',
        "answer.ipynb",
        success="points for an answer that is wrong",
    ),
    file(
        "half-characters",
        "is JSON with half a character",
        json.dumps({"cells": [{"cell_type": "code", "source": START + "\nx = '\ud800'\n"}]}),
        "answer.ipynb",
        success="a report that cannot be written",
    ),
    raising(
        "escapes",
        "that clears the terminal",
        "'\\x1b[2J\\x1b[1;32m passed \\x1b]8;;http://x\\x07 \\x9b31m \\r\\b'",
    ),
    raising(
        "markup",
        "that is markup for the terminal's library",
        "'[/foo] [bold green]passed[/] [link=http://x]y[/link] [@click=app.quit]'",
    ),
    raising(
        "html",
        "that is a script for a browser",
        "'<script>alert(1)</script><img src=x onerror=alert(1)> &lt; \" \\' -->'",
    ),
    raising(
        "xml",
        "that ends an XML element",
        "']]></failure></testcase><testcase name=\"x\"/><![CDATA[ \\0 \\ufffe'",
    ),
    raising(
        "workflow-command",
        "that a build server obeys",
        "'x\\n::stop-commands::x\\n::add-mask::passed\\r\\n##[group]'",
    ),
    raising(
        "markdown", "that is a link and a table", "'| [x](javascript:alert(1)) ![y](http://z) | `</td>` <b>'"
    ),
    raising("formula", "that a spreadsheet computes", '\'=HYPERLINK("http://x","y")\''),
    raising("half-character", "that cannot be encoded", "'\\ud800 \\udfff'"),
    raising("reordered", "with bidirectional characters", "'failed \\u202epassed\\u2066'"),
    shown(
        "exception-name",
        "raises an exception with a hostile name",
        "raise type('\\x1b[2J[/foo]<b>', (Exception,), {})('x')",
    ),
    shown(
        "class-name",
        "returns an object with a hostile name",
        "return type('\\x1b[2J[/foo]\\ud800', (), {})()",
    ),
    shown("warning", "warns with hostile words", "import warnings\nwarnings.warn('\\x1b[2J[/foo]')"),
    wrong(
        "layout-words",
        "claims weights in a layout with a hostile name",
        """
        from grader.worker.program import Program
        real = Program.run
        def run(self, files):
            real(self, files)
            self.reply["parameters"] = {"layout": "\\x1b[2J[/foo]\\ud800 <b>", "missing": [], "unexpected": [], "misshapen": [], "shared": [], "shapes": {}}
        Program.run = run
        """,
        success=SHOWN,
    ),
    Attack(
        "loading-words",
        "raises an exception with hostile words while it is loaded",
        "import torch\nraise ValueError('\\x1b[2J[/foo]\\ud800')\n" + WRONG,
        success=SHOWN,
    ),
    Attack(
        "hostile-definition",
        "defines a wrong answer under another spelling of the name, which the grader accepts",
        START.replace("masked_softmax", "MaskedSoftmax"),
    ),
)
