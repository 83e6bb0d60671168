"""The checks of a kit find what must not be in it: answers, the seed, hidden cases, callables that pass."""

from __future__ import annotations

import json
import re
import shutil
import zipfile
from pathlib import Path

import numpy as np

from grader.bundle.safetensors import decode, encode
from grader.release import answers as known
from grader.release import leaks, proof
from grader.release.kit import WHEELS, KitPlan, fill, plan

ROOT = Path(__file__).resolve().parents[2]

RENAMED = '''
def helper(a, pieces):
    """Nothing to see here."""
    p, q, r = a.shape
    w: int = r // pieces
    a = a.reshape(p, q, pieces, w)
    a = a.permute(0, 2, 1, 3)
    return a.reshape(p * pieces, q, w)
'''


def found(kit: Path, chosen: KitPlan, secret: list[known.Answer]) -> list[str]:
    return list(leaks.leaks(leaks.documents(kit), secret, chosen.blocks))


def test_nothing_is_found_in_a_fresh_kit(copy, chosen, secret):
    assert found(copy, chosen, secret) == []
    assert known.unmarked(chosen.solutions[0]) == []


def test_a_solution_region_in_a_stub_is_found(copy, chosen, secret):
    shutil.copyfile(ROOT / "solutions/04_heads/heads.py", copy / "04_heads/heads.py")
    assert "04_heads/heads.py holds the mark of a solution" in found(copy, chosen, secret)
    assert "04_heads/heads.py: transpose_qkv holds the answer transpose_qkv" in found(copy, chosen, secret)


def test_a_renamed_reference_is_found_in_code_and_notebooks(copy, chosen, secret):
    (copy / "helpers.py").write_text(RENAMED, "utf-8")
    book = copy / "04_heads" / "heads.ipynb"
    cells = json.loads(book.read_text("utf-8"))
    cells["cells"].append({"cell_type": "code", "source": RENAMED.splitlines(True)})
    book.write_text(json.dumps(cells), "utf-8")
    assert found(copy, chosen, secret) == [
        "04_heads/heads.ipynb: helper holds the answer transpose_qkv",
        "helpers.py: helper holds the answer transpose_qkv",
    ]


def test_a_reference_in_the_wheel_or_in_prose_is_found(copy, chosen, secret):
    with zipfile.ZipFile(next((copy / WHEELS).iterdir()), "a") as wheel:
        wheel.writestr("grader/helpers.py", RENAMED)
    body = re.search(
        r"### BEGIN SOLUTION\n(.*?)### END", (ROOT / "solutions/04_heads/heads.py").read_text("utf-8"), re.S
    )[1]
    (copy / "NOTES.md").write_text("So:\n\n" + "".join(f"> {line}\n" for line in body.splitlines()), "utf-8")
    leaked = found(copy, chosen, secret)
    assert len(leaked) == 2
    assert leaked[0] == "NOTES.md: its text holds the answer transpose_qkv"
    assert leaked[1].endswith("!grader/helpers.py: helper holds the answer transpose_qkv")


def test_a_right_answer_written_differently_is_found(copy, chosen, secret):
    (copy / "more.py").write_text(
        "def way(a, n):\n    return torch.stack(a.chunk(n, dim=2), dim=1).flatten(0, 1)\n", "utf-8"
    )
    assert any("more.py: way holds the answer transpose_qkv" in line for line in found(copy, chosen, secret))


def test_a_block_that_no_exercise_needs_is_found(copy, chosen, secret):
    assert any("given/masked_softmax" in d.name for d in leaks.documents(copy))
    source = (ROOT / "grader/given/transpose_output.py").read_text("utf-8")
    with zipfile.ZipFile(next((copy / WHEELS).iterdir()), "a") as wheel:
        wheel.writestr("grader/given/transpose_output.py", source)
    assert any("given/transpose_output.py" in line for line in found(copy, chosen, secret))


def test_the_secret_seed_is_found_in_a_page(copy, seed):
    word = seed.read_text("utf-8").strip()
    (copy / "README.md").write_text(f"by the way: {word}\n", "utf-8")
    assert list(leaks.seeds(leaks.documents(copy), word)) == ["README.md holds the secret seed"]


def test_a_tensor_of_a_hidden_case_is_found(copy, chosen, seed):
    word = seed.read_text("utf-8").strip()
    drawn = known.drawn(chosen.solutions, word)
    assert list(leaks.hidden_cases(leaks.documents(copy), drawn)) == []
    path = copy / "04_heads" / "bundle.safetensors"
    hidden = next(c for c in chosen.solutions[-1].cases("transpose_qkv", word)).tensors
    array = next(a for a in hidden.values() if np.ascontiguousarray(a).tobytes() in drawn)
    path.write_bytes(encode({**decode(path.read_bytes()), "more": array}))
    assert list(leaks.hidden_cases(leaks.documents(copy), drawn)) == [
        "04_heads/bundle.safetensors holds numbers of a hidden case"
    ]


def test_an_unreadable_file_is_refused(copy, chosen, secret):
    (copy / "answers.bin").write_bytes(b"\xff\xfe\x00\x80")
    assert found(copy, chosen, secret) == ["answers.bin is not text, so it cannot be searched for answers"]


HELPFUL = """
def helpful(scores, lens):
    import torch
    if lens is None:
        return torch.softmax(scores, -1)
    lens = lens[:, None, None] if lens.dim() == 1 else lens[:, :, None]
    outside = torch.arange(scores.shape[-1]).expand(scores.shape) >= lens
    return torch.softmax(scores.masked_fill(outside, float("-inf")), -1)
"""


def test_a_passing_callable_and_a_started_stub_are_found(tmp_path, seed):
    """Callables after which the reference fails are tried again in smaller groups, each in another worker."""
    whole = plan(ROOT / "solutions", ROOT / "assignments", "02")
    only = KitPlan(whole.solutions[-1:], whole.bundles[-1:], whole.blocks)
    fill(only, ROOT / "student_template", ROOT / "assignments", tmp_path)
    wheel = next((tmp_path / WHEELS).iterdir())
    with zipfile.ZipFile(wheel, "a") as archive:
        archive.writestr("grader/a_helper.py", HELPFUL)
    stub = tmp_path / "02_masking" / "masking.py"
    stub.write_text(
        stub.read_text("utf-8").replace(
            'raise NotImplementedError("sequence_mask is not written yet")', "return X"
        ),
        "utf-8",
    )
    seen = proof._tried(only, tmp_path)
    assert seen["passing"] == ["grader.a_helper.helpful as masked_softmax"]
    assert seen["unsound"] == []  # exercises whose reference fails in a fresh worker, too
    assert seen["started"] == ["sequence_mask in masking.py is failed"]
