"""`nbgrader validate`, as a student runs it: a stock kernel, public cases."""

from __future__ import annotations

import json
import shutil

from helpers.nbgrader_class.school import ASSIGNMENT, BIN, QKV, answered


def test_validate_gives_the_right_answer(made, tmp_path):
    """One of two exercises is wrong: the report names it, and not the other."""
    shutil.copytree(made.course / "release" / ASSIGNMENT, tmp_path, dirs_exist_ok=True)
    path = tmp_path / f"{ASSIGNMENT}.ipynb"
    path.write_text(json.dumps(answered(made.released(), QKV.replace(".transpose(1, 2)", ""))), "utf-8")
    said = made.run(BIN / "nbgrader", "validate", path, cwd=tmp_path)
    assert "VALIDATION FAILED ON 1 CELL(S)" in said
    assert 'check("transpose_qkv")' in said
    assert 'check("transpose_output")' not in said
