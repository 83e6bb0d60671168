"""Write right notebooks of nine exercises, a class that submits them, and an instructor's checkout that grades them."""

from __future__ import annotations

import ast
import random
import shutil
from functools import cache
from pathlib import Path

import nbformat
from nbformat.v4 import new_code_cell, new_notebook

from benches.measure import ROOT
from grader.support.code import BEGIN, END

NINE = {
    "02_masking/masking": ("sequence_mask", "masked_softmax"),
    "03_scoring/scoring": ("AdditiveAttention", "DotProductAttention"),
    "04_heads/heads": ("transpose_qkv", "transpose_output"),
    "05_multi_head_attention/multi_head_attention": ("MultiHeadAttention",),
    "06_positions/positions": ("PositionalEncoding",),
    "07_encoder/encoder": ("PositionWiseFFN",),
}
EXERCISES = tuple(name for names in NINE.values() for name in names)
IMPORTS = "import math\nimport torch\nfrom torch import nn\nfrom torch.nn import functional as F"
WORDS = [
    "scores",
    "weights",
    "mask",
    "steps",
    "heads",
    "hidden",
    "keys",
    "table",
    "flat",
    "scaled",
    "step",
    "part",
]


@cache
def definitions() -> dict[str, str]:
    """Return exercise → source of its reference."""
    out = {}
    for file, names in NINE.items():
        text = (ROOT / "solutions" / f"{file}.py").read_text("utf-8")
        for node in ast.parse(text).body:
            if getattr(node, "name", None) in names:
                lines = (ast.get_source_segment(text, node) or "").splitlines()
                out[node.name] = "\n".join(line for line in lines if line.strip() not in (BEGIN, END))
    return out


def answers(student: int) -> dict[str, str]:
    """Return exercise → a student's own code: the reference with other names of variables, in other forms."""
    return {name: _Own(student).written(source) for name, source in definitions().items()}


class _Own(ast.NodeTransformer):
    """Rewrite a definition as one student might have written it; it computes the same values."""

    def __init__(self, student: int):
        self._random = random.Random(student)
        self._names: dict[str, str] = {}  # name of a variable → the student's name

    def written(self, source: str) -> str:
        tree = ast.parse(source)
        nodes = list(ast.walk(tree))
        kept = {node.arg for node in nodes if isinstance(node, ast.arg)}
        for node in nodes:
            if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store) and node.id not in kept:
                self._names[node.id] = f"{self._random.choice(WORDS)}_{len(self._names)}"
        return ast.unparse(ast.fix_missing_locations(self.visit(tree)))

    def visit_Name(self, node: ast.Name) -> ast.Name:
        node.id = self._names.get(node.id, node.id)
        return node

    def visit_FunctionDef(self, node: ast.FunctionDef) -> ast.FunctionDef:
        """Give what is returned a name first, in every second function."""
        self.generic_visit(node)
        last = node.body[-1]
        if isinstance(last, ast.Return) and last.value and self._random.random() < 0.5:
            name = f"{self._random.choice(WORDS)}_out"
            node.body[-1:] = [ast.Assign([ast.Name(name)], last.value), ast.Return(ast.Name(name))]
        return node

    def visit_Call(self, node: ast.Call) -> ast.Call:
        """Write every second transpose as a function of torch."""
        self.generic_visit(node)
        if (
            isinstance(node.func, ast.Attribute)
            and node.func.attr == "transpose"
            and self._random.random() < 0.5
        ):
            node.args.insert(0, node.func.value)
            node.func.value = ast.Name("torch")
        return node


def notebook(student: int) -> str:
    """Return the notebook of one student."""
    sources = [IMPORTS, *answers(student).values()]
    return nbformat.writes(new_notebook(cells=[new_code_cell(source) for source in sources]))


def class_of(size: int, folder: Path) -> Path:
    """Write a class of `size` students into `folder`, and return the folder."""
    for number in range(size):
        student = folder / f"student{number:03}"
        student.mkdir(parents=True)
        (student / "homework.ipynb").write_text(notebook(number), "utf-8")
    return folder


def course(folder: Path, root: Path = ROOT) -> Path:
    """Make an instructor's checkout with the assignments of the nine exercises, from `root`. Return its folder."""
    for name in ("01_attention_pooling", *(file.split("/")[0] for file in NINE)):  # 03 builds on 01
        for top in ("assignments", "solutions"):
            shutil.copytree(root / top / name, folder / top / name, dirs_exist_ok=True)
    shutil.copy(root / "assignments" / "headway.toml", folder / "assignments")
    (folder / "seed").write_text("a seed for measuring only", "utf-8")
    return folder


def variables(course: Path) -> dict[str, str]:
    """Return the environment variables with which `grader` uses a checkout, its seed and its cache."""
    own = {"HEADWAY_COURSE": "assignments", "HEADWAY_SEED_FILE": "seed", "XDG_CACHE_HOME": "cache"}
    return {name: str(course / path) for name, path in own.items()}
