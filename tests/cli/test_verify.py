"""`grader verify`: its report and its exit status; Ctrl-C while its processes start."""

import shutil
import subprocess
from pathlib import Path

import pytest
from helpers.command_line import ROOT, run_process

from grader.authoring.scaffold import scaffold

pytestmark = pytest.mark.slow


def verify(*arguments: str, cwd: Path = ROOT) -> subprocess.CompletedProcess[str]:
    return run_process("verify", *arguments, cwd=cwd, HEADWAY_COURSE=str(cwd))


def test_results_are_in_the_order_of_the_course():
    done = verify("transpose_output", "sequence_mask", "--jobs", "2")
    assert (done.returncode, done.stderr) == (0, "")
    rows = [line.split()[2] for line in done.stdout.splitlines() if line.startswith("✓")]
    assert rows == ["sequence_mask", "transpose_output"]
    assert done.stdout.splitlines()[-1].startswith("0 problems, ")


def test_an_edit_that_does_not_match_is_reported_in_one_sentence(tmp_path):
    folder = Path(shutil.copytree(ROOT / "solutions", tmp_path / "solutions"))
    mistakes = folder / "04_heads" / "mistakes" / "transpose_output.py"
    text = mistakes.read_text("utf-8")
    mistakes.write_text(
        text.replace('edit("X.permute(0, 2, 1, 3)"', 'edit("X.purmute(0, 2, 1, 3)"', 1), "utf-8"
    )
    shutil.copytree(ROOT / "assignments" / "04_heads", tmp_path / "assignments" / "04_heads")
    done = verify("04_heads", cwd=tmp_path)
    assert done.returncode == 2
    assert done.stderr.splitlines()[-1].endswith("'X.purmute(0, 2, 1, 3)' does not occur in the reference")
    assert len(done.stderr.splitlines()) == 1


def test_a_sentence_with_code_and_a_mere_exception_are_refused(tmp_path):
    scaffold(tmp_path / "solutions", "12_normalising", "less_mean")
    mistakes = tmp_path / "solutions/12_normalising/mistakes/less_mean.py"
    text = mistakes.read_text("utf-8")
    assert '"X + mean"' in text
    text = text.replace('"X + mean"', '"(X, mean) - 1"')
    mistakes.write_text(text.replace('says="one mean over', 'says="X.mean() over'), "utf-8")
    done = verify("12_normalising", cwd=tmp_path)
    assert done.returncode == 1, done.stderr
    report = " ".join(done.stdout.split())
    assert "`says` holds code: X.mean(" in report
    problem = "raises TypeError in every case, so its code probably has a bug that `says` does not describe"
    assert problem in report
