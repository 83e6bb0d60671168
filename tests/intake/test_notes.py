"""The code of notes: fenced blocks, and cells that were copied as text."""

import pytest

from grader.intake.names import read_names
from grader.intake.notebook import code_of_notes
from grader.intake.read import submission_from


def code(text):
    """Return line number → line of code."""
    source, _faults, _rest = code_of_notes(text, "notes.md")
    assert source.count("\n") == text.count("\n")
    return {number: line for number, line in enumerate(source.split("\n"), 1) if line}


@pytest.mark.parametrize(
    "info",
    ["", "python", "Python", " py", "python3", "python title=a", "{.python .input}", "{python}", "{code-cell} ipython3", "ipython"],
)  # fmt: skip
def test_python_fences_are_code_and_lines_keep_their_numbers(info):
    assert code(f"# Notes\n\n```{info}\nimport torch\n\nx = 1\n```\ntext\n") == {
        4: "import torch",
        6: "x = 1",
    }


@pytest.mark.parametrize(
    "block",
    [
        "```bash\npip install torch\n```",
        "```text\nx = 1\n```",
        "```output\nx = 1\n```",
        '```json\n{"a": 1}\n```',
        "```\ntensor([[0., 1.], [2., 3.]])\n```",
        "```\ntorch.Size([2, 3])\n```",
        "```\n$ python train.py\n```",
        "```\nepoch 3, loss 0.2\n```",
        "```python\n!pip install torch\n```",
    ],
)
def test_outputs_and_shell_commands_are_no_code(block):
    found = code(f"{block}\n~~~py\ny = 2\n~~~")
    assert [line for line in found.values() if line != "pass"] == ["y = 2"]
    assert code_of_notes(block, "notes.md")[1] == ()


@pytest.mark.parametrize("info", ["", "python", "pycon"])
def test_code_typed_at_the_prompt_is_read_without_its_output(info):
    typed = ">>> def f(x):\n...     return x\n...\n>>> f(2)\n2"
    assert code(f"```{info}\n{typed}\n```\n") == {2: "def f(x):", 3: "    return x", 5: "f(2)"}


@pytest.mark.parametrize(
    ("text", "lines"),
    [
        # in a quotation, up to its end
        (
            "> [!note]\n> ```python\n> def f(x):\n>     return x > 1\n>\n> y = f(2)\n> ```\n> text\n",
            {3: "def f(x):", 4: "    return x > 1", 6: "y = f(2)"},
        ),
        (">> ```python\n>> x = 1\n>> y = 2 > x\n>> ```\n", {2: "x = 1", 3: "y = 2 > x"}),
        ("> ```python\n> x = 1\n\nSo it is.\n```python\ny = 2\n```", {2: "x = 1", 6: "y = 2"}),
        # up to a mark of its kind
        ("````python\nx = 1\n```\n~~~~\n````\ny", {2: "x = 1"}),
        ("~~~python\nx = 1\n```\n~~~", {2: "x = 1"}),
        ('````python\nx = """\n```\n"""\n````\ny', {2: 'x = """', 3: "```", 4: '"""'}),
        # in a list, or without an end
        (
            "- so:\n   ```py\n   if x:\n       y = 1\n   ```\n```py\nz = 1",
            {3: "if x:", 4: "    y = 1", 7: "z = 1"},
        ),
    ],
)
def test_the_lines_of_a_fence_are_code(text, lines):
    assert code(text) == lines


def test_only_the_rest_of_a_block_with_a_syntax_error_is_lost():
    text = "```python\nx = 1\nclass A(B)：\n    y = 1\n```\n\n```python\nz = 2\n```"
    source, (fault,), _rest = code_of_notes(text, "notes.md")
    assert source.split() == ["x", "=", "1", "z", "=", "2"]
    assert (fault.unit, fault.line, fault.lost) == ("notes.md", 3, ("A",))


def test_copied_cells_are_code_up_to_what_they_printed():
    text = (
        "Title\n\nIn [None]:\nimport torch\n  from .auto import tqdm\n\nIn [2]:\nX = 1\n\nPrinted: 3, 4\n\n"
        "In [ ]: y = 2\nOut[3]: z = 3\n\n```python\nw = 1\n```\nIn [*]:\n%time\nv = 1"
    )
    assert code(text) == {4: "import torch", 8: "X = 1", 12: "y = 2", 16: "w = 1", 19: "pass", 20: "v = 1"}
    assert code_of_notes(text, "notes.md")[1] == ()


def test_only_the_pytorch_code_of_a_chapter_is_read():
    chapter = (
        "```{.python .input}\nfrom d2l import mxnet as d2l\n```\n```{.python .input}\n#@tab pytorch\nimport torch\n```\n"
        "```{.python .input}\n#@tab tensorflow\nx = 1\n```\n```{.python .input}\n%%tab mxnet, pytorch\nx = 2\n```\n"
        "```{.python .input}\n#@tab all\ny = 3\n```"
    )
    assert [line for line in code(chapter).values() if line != "pass" and not line.startswith("#")] == [
        "import torch",
        "x = 2",
        "y = 3",
    ]


@pytest.mark.parametrize("kind", ["md", "txt"])
def test_notes_are_read_as_a_submission(tmp_path, kind):
    path = tmp_path / f"notes.{kind}"
    text = b"```\ndef masked_softmax(X, valid_lens):\n    return X\n```\n"
    (unit,) = submission_from(path, text).units
    assert unit.name == path.name
    definition = read_names(submission_from(path, text)).definitions["masked_softmax"]
    assert definition.line == 2


@pytest.mark.slow
@pytest.mark.timeout(20)
@pytest.mark.parametrize(
    "text",
    [
        "`" * 200_000,
        "```\n" * 30_000,
        "In [1]:\n" * 30_000,
        "~~~\n(\n" * 10_000,
        "> " * 100_000 + "x",
        ">" * 50_000 + "```python\n" + "\n" * 50_000,
        "````\n" + "```\n" * 30_000,
        "```python\n" + "\n" * 50_000,
    ],
)
def test_hostile_notes_are_read_quickly(text):
    code_of_notes(text, "notes.md")
