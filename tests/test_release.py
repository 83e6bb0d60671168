"""A real kit is made, proved, installed alone and worked in; and every guard refuses what it guards against."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
import sysconfig
import venv
import zipfile
from pathlib import Path

import numpy as np
import pytest
from click.testing import CliRunner

from grader.cli.release import command
from grader.content import read_all
from grader.release import answers as known
from grader.release import leaks, proof
from grader.release.kit import WHEELS, NotReleased, Plan, Unproved, fill, plan
from grader.tensors import decode, encode

ROOT = Path(__file__).resolve().parents[1]
GRADER = Path(sys.executable).with_name("grader")
SEED = "6a1f" * 16
LAST = read_all(ROOT / "solutions")[-1].name


def run(*words, cwd, **env):
    inherited = {k: v for k, v in os.environ.items() if not k.startswith(("HEADWAY", "GITHUB", "PYTHON"))}
    done = subprocess.run(
        list(map(str, words)),
        cwd=cwd,
        capture_output=True,
        text=True,
        timeout=600,
        env={**inherited, **env},
    )
    assert "Traceback" not in done.stdout + done.stderr, done.stdout + done.stderr
    return done


@pytest.fixture(scope="module")
def seed(tmp_path_factory) -> Path:
    path = tmp_path_factory.mktemp("secret") / "seed"
    path.write_text(SEED + "\n", "utf-8")
    return path


@pytest.fixture(scope="module")
def chosen() -> Plan:
    return plan(ROOT / "solutions", ROOT / "assignments", "04")


@pytest.fixture(scope="module")
def filled(tmp_path_factory, chosen) -> Path:
    """The kit of assignments 01 to 04, before its proof; that of the whole course is proved by a test below."""
    folder = tmp_path_factory.mktemp("kit")
    fill(chosen, ROOT / "student_template", ROOT / "assignments", folder)
    return folder


@pytest.fixture(scope="module")
def secret(chosen) -> list[known.Answer]:
    return known.answers(chosen.solutions)


@pytest.fixture
def copy(filled, tmp_path) -> Path:
    """A copy of the kit that a test may spoil."""
    return Path(shutil.copytree(filled, tmp_path / "kit"))


def found(kit: Path, chosen: Plan, secret: list[known.Answer]) -> list[str]:
    return list(leaks.leaks(leaks.documents(kit), secret, chosen.blocks))


# ---- what a kit is


def test_a_kit_holds_the_assignments_up_to_the_one_asked_for(filled, chosen):
    assert [b.assignment for b in chosen.bundles][-1] == "04_heads"
    assert sorted(p.name for p in filled.iterdir() if p.name[0].isdigit()) == [
        b.assignment for b in chosen.bundles
    ]
    for name in ("README.md", "pyproject.toml", "headway.toml", ".gitignore", ".github/workflows/check.yml"):
        assert "@" not in re.sub(r"actions/[\w-]+@", "", (filled / name).read_text("utf-8"))
    assert len((filled / "README.md").read_text("utf-8").splitlines()) <= 50
    assert chosen.answers == ("masked_softmax",)


def test_its_lessons_show_their_pictures(filled, chosen):
    for assignment in chosen.solutions:
        page = filled / assignment.name / "README.md"
        named = re.findall(r"\]\((pictures/[^)]+)\)", page.read_text("utf-8"))
        assert named
        assert {name: (page.parent / name).read_bytes() for name in named} == assignment.pictures


def test_it_ships_the_blocks_that_are_needed_and_no_room_of_the_instructor(filled):
    with zipfile.ZipFile(next((filled / WHEELS).iterdir())) as wheel:
        names = set(wheel.namelist())
        assert wheel.testzip() is None
    blocks = {n for n in names if n.startswith("grader/given/")}
    assert "grader/given/masked_softmax.py" in blocks
    assert "grader/given/multi_head_attention.py" not in blocks
    for room in (
        "record",
        "content",
        "draw",
        "build",
        "verify",
        "hidden",
        "demo",
        "stub",
        "scaffold",
        "cli/verify",
        "cli/release",
    ):
        assert f"grader/{room}.py" not in names
    assert not [n for n in names if n.startswith(("grader/release/", "grader/grading/"))]


@pytest.mark.timeout(1200)  # every callable against every exercise
def test_the_whole_course_gives_nothing_away(tmp_path, seed):
    done = run(GRADER, "release", tmp_path / "kit", cwd=ROOT, HEADWAY_SEED_FILE=str(seed))
    assert done.returncode == 0, done.stderr
    assert LAST in done.stdout
    assert done.stdout.count("✓") == 4
    assert "MultiHeadAttention" in done.stdout.splitlines()[-1]  # a block that answers an exercise is told


# ---- what it is for


@pytest.fixture(scope="module")
def installed(tmp_path_factory, filled) -> Path:
    """An environment into which the kit's wheel alone was installed, beside the libraries that are here."""
    folder = tmp_path_factory.mktemp("environment")
    venv.create(folder, with_pip=False)
    site = next(folder.glob("lib/python*/site-packages"))
    here = Path(sysconfig.get_path("purelib"))
    for entry in here.iterdir():
        if (
            not entry.name.startswith(("headway", "_headway", "__pycache__", "grader"))
            and entry.suffix != ".pth"
        ):
            (site / entry.name).symlink_to(entry)
    (site / "libraries.pth").write_text(f"{here}\n", "utf-8")
    wheel = next((filled / WHEELS).iterdir())
    done = run(
        sys.executable,
        "-m",
        "pip",
        "--python",
        folder / "bin" / "python",
        "install",
        "--no-index",
        "--disable-pip-version-check",
        wheel,
        cwd=folder,
    )
    assert done.returncode == 0, done.stderr
    where = run(
        folder / "bin" / "python", "-P", "-c", "import grader; print(grader.__file__)", cwd=folder
    ).stdout
    assert Path(where).is_relative_to(folder)
    return folder / "bin"


def test_installed_alone_it_shows_the_map_and_nothing_is_started(installed, copy, chosen, tmp_path):
    shown = run(installed / "grader", cwd=copy, HOME=str(tmp_path)).stdout
    assert all(name in shown for name in chosen.exercises)
    assert "Next: " in shown
    done = run(installed / "grader", "check", "--format", "json", cwd=copy, HOME=str(tmp_path))
    before = {e["name"]: e["outcome"] for e in json.loads(done.stdout)["exercises"]}
    assert before == dict.fromkeys(chosen.exercises, "not_started")

    file = copy / "04_heads" / "heads.py"
    right = "B, T, D = X.shape\n    return X.reshape(B, T, num_heads, -1).transpose(1, 2).reshape(B * num_heads, T, -1)"
    file.write_text(
        file.read_text("utf-8").replace(
            'raise NotImplementedError("transpose_qkv is not written yet")', right
        ),
        "utf-8",
    )
    done = run(installed / "grader", "check", "--format", "json", cwd=copy, HOME=str(tmp_path))
    after = {e["name"]: e["outcome"] for e in json.loads(done.stdout)["exercises"]}
    assert after == {**before, "transpose_qkv": "passed"}


@pytest.mark.parametrize("missing", ["verify", "release"])
def test_a_command_that_is_not_in_the_kit_is_one_sentence(installed, copy, missing):
    done = run(installed / "grader", missing, cwd=copy)
    assert done.returncode == 2
    assert (
        done.stderr.strip()
        == f"grader: `grader {missing}` is not part of this kit; instructors and maintainers have it"
    )


def test_the_kits_workflow_annotates_and_fills_the_summary(installed, copy, tmp_path):
    summary = tmp_path / "summary.md"
    file = copy / "04_heads" / "heads.py"
    file.write_text(
        file.read_text("utf-8").replace(
            'raise NotImplementedError("transpose_output is not written yet")', "return X"
        ),
        "utf-8",
    )
    step = re.findall(r"- run: (grader .*)", (copy / ".github/workflows/check.yml").read_text("utf-8"))
    assert step == ["grader check --format github"]
    done = run(
        installed / "grader",
        "check",
        "04",
        "--format",
        "github",
        cwd=copy,
        GITHUB_STEP_SUMMARY=str(summary),
        HOME=str(tmp_path),
    )
    assert done.returncode == 1
    assert re.search(
        r"^::error file=04_heads/heads.py,title=transpose_output%3A failed::.+$", done.stdout, re.M
    )
    assert re.search(r"^::notice file=04_heads/heads.py,title=transpose_qkv", done.stdout, re.M)
    assert re.search(
        r"^\| 04 transpose\\_output \| ❌ failed \| 0 / 3 \| .+ \|$", summary.read_text("utf-8"), re.M
    )


# ---- every guard, broken once

RENAMED = '''
def helper(a, pieces):
    """Nothing to see here."""
    p, q, r = a.shape
    w: int = r // pieces
    a = a.reshape(p, q, pieces, w)
    a = a.permute(0, 2, 1, 3)
    return a.reshape(p * pieces, q, w)
'''


def test_a_fresh_kit_holds_nothing_that_is_found(copy, chosen, secret):
    assert found(copy, chosen, secret) == []
    assert known.unmarked(chosen.solutions[0]) == []


def test_a_solution_region_in_a_stub_is_found(copy, chosen, secret):
    shutil.copyfile(ROOT / "solutions/04_heads/heads.py", copy / "04_heads/heads.py")
    assert "04_heads/heads.py holds the mark of a solution" in found(copy, chosen, secret)
    assert "04_heads/heads.py: transpose_qkv holds the answer transpose_qkv" in found(copy, chosen, secret)


def test_a_reference_under_other_names_is_found_in_code_and_in_notebooks(copy, chosen, secret):
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
    said = found(copy, chosen, secret)
    assert len(said) == 2
    assert said[0] == "NOTES.md: its text holds the answer transpose_qkv"
    assert said[1].endswith("!grader/helpers.py: helper holds the answer transpose_qkv")


def test_another_right_answer_counts_as_one(copy, chosen, secret):
    (copy / "more.py").write_text(
        "def way(a, n):\n    return torch.stack(a.chunk(n, dim=2), dim=1).flatten(0, 1)\n", "utf-8"
    )
    assert any("more.py: way holds the answer transpose_qkv" in line for line in found(copy, chosen, secret))


def test_a_block_that_no_exercise_needs_is_no_exception(copy, chosen, secret):
    assert any("given/masked_softmax" in d.name for d in leaks.documents(copy))
    source = (ROOT / "grader/given/transpose_output.py").read_text("utf-8")
    with zipfile.ZipFile(next((copy / WHEELS).iterdir()), "a") as wheel:
        wheel.writestr("grader/given/transpose_output.py", source)
    assert any("given/transpose_output.py" in line for line in found(copy, chosen, secret))


def test_the_secret_seed_is_found_wherever_it_is(copy):
    (copy / "README.md").write_text(f"by the way: {SEED}\n", "utf-8")
    assert list(leaks.seeds(leaks.documents(copy), SEED)) == ["README.md holds the secret seed"]


def test_numbers_of_a_hidden_case_are_found(copy, chosen):
    drawn = known.drawn(chosen.solutions, SEED)
    assert list(leaks.hidden_cases(leaks.documents(copy), drawn)) == []
    path = copy / "04_heads" / "bundle.safetensors"
    hidden = next(c for c in chosen.solutions[-1].cases("transpose_qkv", SEED)).tensors
    array = next(a for a in hidden.values() if np.ascontiguousarray(a).tobytes() in drawn)
    path.write_bytes(encode({**decode(path.read_bytes()), "more": array}))
    assert list(leaks.hidden_cases(leaks.documents(copy), drawn)) == [
        "04_heads/bundle.safetensors holds numbers of a hidden case"
    ]


def test_an_unreadable_file_is_refused(copy, chosen, secret):
    (copy / "answers.bin").write_bytes(b"\xff\xfe\x00\x80")
    assert found(copy, chosen, secret) == ["answers.bin is not text, so nobody can tell what is in it"]


HELPFUL = """
def helpful(scores, lens):
    import torch
    if lens is None:
        return torch.softmax(scores, -1)
    lens = lens[:, None, None] if lens.dim() == 1 else lens[:, :, None]
    outside = torch.arange(scores.shape[-1]).expand(scores.shape) >= lens
    return torch.softmax(scores.masked_fill(outside, float("-inf")), -1)
"""


def test_a_callable_that_passes_and_a_stub_that_is_started_are_found(tmp_path, seed):
    """Also when another callable ruins the worker for whatever is tried after it."""
    one = plan(ROOT / "solutions", ROOT / "assignments", "02")
    only = Plan(one.solutions[-1:], one.bundles[-1:], one.blocks)
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
    assert seen["unsound"] == []
    assert seen["started"] == ["sequence_mask in masking.py is failed"]


# ---- refusals


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (["kit", "--through", "99"], "there is no assignment 99"),
        (["nowhere/kit"], "is not there"),
        (["solutions"], "solutions is not an empty folder"),
    ],
)
def test_wrong_use_is_a_sentence_and_nothing_is_written(tmp_path, monkeypatch, arguments, sentence):
    for name in ("solutions", "assignments", "student_template"):
        (tmp_path / name).symlink_to(ROOT / name)
    monkeypatch.chdir(tmp_path)
    done = CliRunner().invoke(command, arguments)
    assert done.exit_code == 2
    assert sentence in done.output
    assert len(list(tmp_path.iterdir())) == 3


def test_a_stale_assignment_is_refused(tmp_path):
    shutil.copytree(ROOT / "solutions/04_heads", tmp_path / "solutions/04_heads")
    shutil.copytree(ROOT / "assignments/04_heads", tmp_path / "assignments/04_heads")
    manifest = tmp_path / "solutions/04_heads/exercise.toml"
    manifest.write_text(manifest.read_text("utf-8").replace("points = 3.0", "points = 4.0", 1), "utf-8")
    with pytest.raises(NotReleased, match="run `grader build` first"):
        plan(tmp_path / "solutions", tmp_path / "assignments")


@pytest.mark.parametrize("harm", [Path.unlink, lambda path: path.write_text("<svg/>", "utf-8")])
def test_a_picture_that_is_not_what_the_lesson_shows_is_refused(tmp_path, harm):
    for folder in ("solutions", "assignments"):
        shutil.copytree(ROOT / folder / "04_heads", tmp_path / folder / "04_heads")
    harm(tmp_path / "assignments/04_heads/pictures/memory.svg")
    with pytest.raises(NotReleased, match=r"memory\.svg is .*run `grader build` first"):
        plan(tmp_path / "solutions", tmp_path / "assignments")


def test_a_failed_proof_leaves_nothing_behind(tmp_path, monkeypatch, seed):
    for name in ("solutions", "assignments"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "04_heads").symlink_to(ROOT / name / "04_heads")
    shutil.copytree(ROOT / "student_template", tmp_path / "student_template")
    (tmp_path / "student_template" / "NOTES.md").write_text(SEED, "utf-8")
    (tmp_path / "kit").mkdir()
    before = sorted(tmp_path.iterdir())
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("HEADWAY_SEED_FILE", str(seed))
    done = CliRunner().invoke(command, ["kit"])
    assert done.exit_code == 1
    assert done.output.strip() == "grader: not released: NOTES.md holds the secret seed"
    assert sorted(tmp_path.iterdir()) == before
    assert list((tmp_path / "kit").iterdir()) == []


def test_a_leak_is_told_with_how_many_more():
    with pytest.raises(Unproved, match=r"a \(and 1 more\)"):
        proof._refuse(["a", "b"])


def test_the_page_of_second_ways_is_written_once(tmp_path, monkeypatch):
    monkeypatch.chdir(ROOT)
    page = tmp_path / "second_ways.md"
    done = CliRunner().invoke(command, [str(page), "--second-ways"])
    assert done.exit_code == 0
    text = page.read_text("utf-8")
    assert text.count("```python") >= 90
    assert "### `masked_softmax`" in text
    assert CliRunner().invoke(command, [str(page), "--second-ways"]).exit_code == 2
