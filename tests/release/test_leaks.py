"""The proof of a kit finds what must not be in it: answers, files of unknown origin, and the secret seed."""

import ast
import base64
import json
import re
import zipfile
from dataclasses import replace
from pathlib import Path

import pytest
from helpers.command_line import ROOT

from grader.authoring.content import read
from grader.release.folder import fill
from grader.release.kit import KitPlan
from grader.release.leaks import answers, leaks, prove, unmarked
from grader.release.wheels import WHEELS
from grader.support.errors import GraderError

pytestmark = pytest.mark.slow

SOLUTIONS = ROOT / "solutions"
HEADS = (SOLUTIONS / "04_heads/heads.py").read_text("utf-8")
MARKED = re.search(r"### BEGIN SOLUTION\n(.*?)### END", HEADS, re.S)[1]  # type: ignore[index]
# The same names in another layout, with a docstring and a comment.
CODE = f'''
def helper(X, num_heads):
    """Nothing to see here."""
    if True:  # always
    {MARKED.replace("(batch, steps", "((batch), steps").replace(chr(10), chr(10) + "    ")}
'''
ANSWERS = (SOLUTIONS / "04_heads/answers.md").read_bytes()  # to the questions of the lesson
SEED = "6a1f" * 16  # as in the file of the fixture `seed`


def in_comments(text: str, mark: str) -> str:
    return "".join(f"{mark} {line}\n" for line in text.splitlines())


def in_notebook(text: str) -> str:
    return json.dumps({"cells": [{"cell_type": "code", "source": text.splitlines(True)}]})


@pytest.fixture(scope="module")
def secret(chosen: KitPlan) -> dict[str, str]:
    return answers(chosen.solutions)


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("helpers.py", CODE),
        ("helpers.py", in_comments(MARKED, "#")),
        ("helpers.py", f'"""\n{MARKED}\n"""\n'),
        ("a.ipynb", in_notebook(CODE)),
        ("a.ipynb", in_notebook(in_comments(MARKED, ">"))),
        ("NOTES.md", "So:\n\n" + in_comments(MARKED, ">")),
        ("NOTES.md", f"So:\n\n```python\n{CODE}```\n"),
        ("wheels/a.whl!grader/helpers.py", CODE),
        ("wheels/a.whl!grader/given/transpose_qkv.py", CODE),
    ],
)
def test_a_solution_is_found_wherever_it_is_written(secret, name, text):
    found = list(leaks({name: text.encode()}, secret, ("transpose_output",)))
    assert found == [f"{name} holds the answer transpose_qkv"]


@pytest.mark.parametrize(
    ("text", "owner"),
    [
        (  # a right answer of variants.py
            "def way(X, num_heads):\n    return torch.stack(X.chunk(num_heads, dim=2), dim=1).flatten(0, 1)\n",
            "transpose_qkv",
        ),
        (
            (SOLUTIONS / "04_heads/mistakes/transpose_qkv.py").read_text("utf-8"),
            "04_heads/mistakes/transpose_qkv.py",
        ),
        ((SOLUTIONS / "04_heads/variants.py").read_text("utf-8"), "04_heads/variants.py"),
    ],
)
def test_other_answers_and_mistakes_are_found(secret, text, owner):
    assert f"a.py holds the answer {owner}" in leaks({"a.py": text.encode()}, secret, ())


def test_a_docstring_does_not_hide_the_repair_of_a_class():
    repairs = read(SOLUTIONS / "05_multi_head_attention")
    tree = ast.parse(repairs.source)
    fixed = [node for node in tree.body if getattr(node, "name", "") == "TangledSelfAttention"][-1]
    text = ast.unparse(fixed).replace('"""x:', '"""Another docstring. x:')
    found = list(leaks({"a.py": text.encode()}, answers([repairs]), ()))
    assert len(found) == 2  # the whole class and its method `forward`
    assert set(found) == {"a.py holds the answer TangledSelfAttention"}


@pytest.mark.parametrize("mark", ["### BEGIN SOLUTION", "    # ### END SOLUTION"])
def test_the_mark_of_a_solution_is_found(mark):
    assert list(leaks({"a.md": f"a\n{mark}\n".encode()}, {}, ())) == ["a.md holds the mark of a solution"]


def test_a_listed_building_block_may_be_an_answer(secret):
    block = {"wheels/a.whl!grader/given/transpose_qkv.py": CODE.encode()}
    assert list(leaks(block, secret, ("transpose_qkv",))) == []


def add(path: str, data: bytes):
    """Return a function that adds to a file of a kit, or to a file of its wheel: "!" stands for the wheel."""

    def change(kit: Path) -> None:
        if path.startswith("!"):
            with zipfile.ZipFile(next((kit / WHEELS).iterdir()), "a") as wheel:
                wheel.writestr(path[1:], data)
        else:
            with open(kit / path, "ab") as file:
                file.write(data)

    return change


@pytest.mark.parametrize(
    ("change", "why"),
    [
        (add("04_heads/heads.py", CODE.encode()), "04_heads/heads.py is not the file in"),
        (add("04_heads/bundle.safetensors", b" "), "04_heads/bundle.safetensors is not the file in"),
        (add("04_heads/more.md", b"text"), "04_heads/more.md is no file of"),
        (add("04_heads/answers.md", b"## 1"), "04_heads/answers.md is no file of"),
        (add("notes.md", ANSWERS), "notes.md holds the answer 1 of 04_heads/answers.md"),
        (add("!grader/answers.md", ANSWERS), "grader/answers.md holds the answer 1 of 04_heads/answers.md"),
        (add("more.safetensors", b"text"), "more.safetensors is no file of"),
        (
            add("!grader/given/transpose_output.py", b"1"),
            "is a building block that no exercise of the kit may use",
        ),
        (add("!grader/helpers.py", CODE.encode()), "grader/helpers.py holds the answer transpose_qkv"),
        (add("README.md", in_comments(MARKED, "").encode()), "README.md holds the answer transpose_qkv"),
        (add("answers.bin", b"\xff\xfe\x00\x80"), "answers.bin is not text, so it cannot be searched"),
        (add("README.md", f"by the way: {SEED}\n".encode()), "README.md holds the secret seed"),
        (add("!grader/a.py", base64.b64encode(SEED.encode())), "grader/a.py holds the secret seed"),
    ],
)
def test_a_kit_with_anything_else_is_not_proved(copy, chosen, seed, monkeypatch, change, why):
    monkeypatch.setenv("HEADWAY_SEED_FILE", str(seed))
    change(copy)
    with pytest.raises(GraderError, match=re.escape(why)) as refused:
        prove(chosen, copy, ROOT / "assignments")
    assert refused.value.exit_status == 1


def test_a_kit_with_nothing_else_is_proved(chosen, filled, seed, monkeypatch):
    monkeypatch.setenv("HEADWAY_SEED_FILE", str(seed))
    assert "answers to questions are in no file" in prove(chosen, filled, ROOT / "assignments")


def test_a_kit_may_have_the_answers_to_questions_as_they_are(chosen, tmp_path, seed, monkeypatch):
    monkeypatch.setenv("HEADWAY_SEED_FILE", str(seed))
    fill(chosen.bundles, ROOT / "assignments", tmp_path, answers=True)
    assert (tmp_path / "04_heads/answers.md").read_bytes() == ANSWERS
    assert len(prove(chosen, tmp_path, ROOT / "assignments", with_answers=True)) == 5
    (tmp_path / "04_heads/answers.md").write_bytes(ANSWERS + CODE.encode())
    with pytest.raises(GraderError, match=r"answers\.md is not the file in"):
        prove(chosen, tmp_path, ROOT / "assignments", with_answers=True)


def test_a_solution_without_marks_is_reported(chosen):
    heads = chosen.solutions[-1]
    assert unmarked(heads) == []
    assert unmarked(
        replace(heads, source=HEADS.replace("### BEGIN SOLUTION", "", 1).replace("### END SOLUTION", "", 1))
    ) == ["transpose_qkv"]
