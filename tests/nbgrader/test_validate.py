"""`nbgrader validate`, as a student runs it: a stock kernel, public cases."""

from __future__ import annotations

import json
import shutil

import pytest
from helpers.nbgrader_class.school import ASSIGNMENT, BIN, QKV, answered

pytestmark = pytest.mark.slow


def test_validate_names_only_the_wrong_one_of_two_exercises(made, tmp_path):
    shutil.copytree(made.course / "release" / ASSIGNMENT, tmp_path, dirs_exist_ok=True)
    path = tmp_path / f"{ASSIGNMENT}.ipynb"
    path.write_text(json.dumps(answered(made.released(), QKV.replace(".transpose(1, 2)", ""))), "utf-8")
    output = made.run(BIN / "nbgrader", "validate", path, cwd=tmp_path)
    assert "VALIDATION FAILED ON 1 CELL(S)" in output
    assert 'check("transpose_qkv")' in output
    assert 'check("transpose_output")' not in output
