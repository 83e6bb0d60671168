"""Hostile submissions harm neither other submissions nor the machine; planted stores and forged rows are not used."""

import json
import shutil
import sys
from pathlib import Path

import pytest
from helpers.command_line import GRADER
from helpers.files import fill
from helpers.hostile_archives import HOSTILE as HOSTILE_ARCHIVES
from helpers.hostile_class import COSTLY, INSIDE, PACKED, costly, hostile_class
from helpers.peak_memory import run_measured
from helpers.school import (
    ANSWER,
    environment,
    make_school,
    outcome,
    records_of,
    run,
    store_of,
)

GIB_IN_KIB = 1 << 20


@pytest.fixture(scope="module")
def school(tmp_path_factory) -> Path:
    """Make a checkout with the two assignments of the hostile class."""
    return make_school(tmp_path_factory.mktemp("school"), "04_heads", "06_positions")


@pytest.mark.slow
@pytest.mark.skipif(sys.platform != "linux", reason="measures processes as Linux does")
def test_hostile_submissions_do_not_affect_others(school):
    """Each hostile submission fails or is blocked with a sentence. No process needs more than 1 GiB.

    This also holds for the second run, which uses the stored results.
    """
    folder = hostile_class(school / "hostile")
    command = [GRADER, "grade", folder, "--format", "jsonl", "--jobs", "1"]
    for _time in range(2):
        done, used = run_measured(command, cwd=school, env=environment(school))
        assert "Traceback" not in done.stdout + done.stderr, done.stderr
        assert used.ru_maxrss <= GIB_IN_KIB
        found = {record["submission"]: record for record in records_of(done)}
        honest = [found.pop(name) for name in ("ada.py", "zoe/heads.py")]
        assert [outcome(record) for record in honest] == ["passed", "passed"]
        for place, record in found.items():
            require_failure_with_a_sentence(place, record)
        require_reasons(found)
    assert not (folder / "ran").exists(), "conftest.py of a submission was executed"


def require_failure_with_a_sentence(place: str, record: dict) -> None:
    """Require that no exercise passes or gets more than half of its points, and that a sentence says why."""
    assert record["exercises"] or record["remarks"], place
    for result in record["exercises"]:
        assert result["outcome"] in ("failed", "blocked"), (place, result["name"])
        assert result["score"] <= result["points"] / 2, (place, result["name"])
        assert any(sentences(result)) or record["remarks"], (place, result["name"])


def sentences(result: dict) -> list[str]:
    return [result["message"], *(check["message"] for check in result["checks"])]


def require_reasons(found: dict[str, dict]) -> None:
    """Require the outcome of each hostile file, and its sentence if the table of the file lists one."""
    for kind, (_source, sentence) in (COSTLY | INSIDE).items():
        record = found[f"{kind}/heads.py"]
        (result,) = [e for e in record["exercises"] if e["name"] == "transpose_qkv"]
        if sentence or kind in INSIDE:  # a costly file without a sentence may be failed or blocked
            assert outcome(record) == ("blocked" if kind in COSTLY else "failed"), kind
        assert any(said and sentence in said for said in sentences(result)), (kind, sentences(result))
    assert outcome(found["half/heads.ipynb"]) == outcome(found["planted/heads.py"]) == "failed"
    exercises = found["reads/06_positions/positions.py"]["exercises"]
    assert next(e["score"] for e in exercises if e["name"] == "shift_matrix") == 0
    assert not [place for place, record in found.items() if "linked" in place and record["score"]]
    for name in PACKED:
        remarks = [said for place in found if place.startswith(name) for said in found[place]["remarks"]]
        assert any(HOSTILE_ARCHIVES[name][1] in said for said in remarks), (name, remarks)


@pytest.mark.slow
@pytest.mark.parametrize("kind", COSTLY)
def test_check_reads_a_costly_file_within_bounds(school, kind):
    path = fill(school / "checked" / kind, {"heads.py": costly(kind)}) / "heads.py"
    command = [GRADER, "check", "--file", path, "--course", school / "assignments"]
    done, used = run_measured(command, cwd=school, env=environment(school))
    assert "Traceback" not in done.stdout + done.stderr, done.stderr
    assert done.returncode in (1, 2)
    assert COSTLY[kind][1] in " ".join((done.stdout + done.stderr).split())
    assert used.ru_maxrss <= GIB_IN_KIB
    assert used.ru_utime + used.ru_stime <= 60


# ---- files in the folder of submissions


@pytest.mark.slow
@pytest.mark.skipif(sys.platform == "win32", reason="plants a symbolic link")
def test_nothing_is_written_into_a_folder_of_submissions(school):
    """The grader reads no store in such a folder, and follows no link."""
    folder = fill(
        school / "planted", {"ada/answer.py": "def transpose_qkv(X, num_heads):\n    return 0 * X\n"}
    )
    (school / "elsewhere").mkdir()
    (folder / "ada" / ".headway").symlink_to(school / "elsewhere")
    (folder / ".headway").mkdir()
    honest = fill(school / "honest", {"ada.py": ANSWER})
    run(school, "grade", honest, status=0)
    shutil.copy(store_of(school, honest), folder / ".headway" / "grades.sqlite")
    before = sorted(folder.rglob("*"))
    for place in (folder, folder / "ada"):
        done = run(school, "grade", place, "--format", "jsonl")
        assert outcome(json.loads(done.stdout)) == "failed"
    assert sorted(folder.rglob("*")) == before
    assert not [*(school / "elsewhere").iterdir()]
