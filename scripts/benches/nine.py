"""Write a right notebook of nine exercises, a class that submits it, and an instructor's checkout that grades it."""

from __future__ import annotations

import ast
import shutil
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


def notebook(mark: int) -> str:
    """Return the notebook of one student; `mark` makes it different from the others."""
    sources = [IMPORTS, *(f"{source}\n# submitted by {mark}" for source in definitions().values())]
    return nbformat.writes(new_notebook(cells=[new_code_cell(source) for source in sources]))


def class_of(size: int, folder: Path) -> Path:
    """Write a class of `size` students into `folder`, and return the folder."""
    for number in range(size):
        student = folder / f"student{number:03}"
        student.mkdir(parents=True)
        (student / "homework.ipynb").write_text(notebook(number), "utf-8")
    return folder


def course(folder: Path) -> Path:
    """Make an instructor's checkout with the assignments of the nine exercises. Return its folder."""
    for name in ("01_attention_pooling", *(file.split("/")[0] for file in NINE)):  # 03 builds on 01
        for top in ("assignments", "solutions"):
            shutil.copytree(ROOT / top / name, folder / top / name, dirs_exist_ok=True)
    shutil.copy(ROOT / "assignments" / "headway.toml", folder / "assignments")
    (folder / "seed").write_text("a seed for measuring only", "utf-8")
    return folder


def variables(course: Path) -> dict[str, str]:
    """Return the environment variables with which `grader` uses a checkout, its seed and its cache."""
    own = {"HEADWAY_COURSE": "assignments", "HEADWAY_SEED_FILE": "seed", "XDG_CACHE_HOME": "cache"}
    return {name: str(course / path) for name, path in own.items()}
