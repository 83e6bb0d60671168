"""A real kit is made, checked, installed and used on its own; what cannot be released is refused in a sentence."""

import json
import os
import re
import resource
import shutil
import signal
import subprocess
import sys
import sysconfig
import venv
import zipfile
from pathlib import Path
from unittest import mock

import nbclient
import nbformat
import numpy as np
import pytest
from click.testing import CliRunner
from helpers.command_line import HANGS_AFTER, RIGHT, ROOT, WRONG

from grader.authoring.content import read_all
from grader.bundle.safetensors import decode, encode
from grader.cli.instructor.release import release as command
from grader.release.kit import add_notebooks, plan
from grader.release.wheels import WHEELS
from grader.support.errors import UsageError

pytestmark = pytest.mark.slow

GRADER = Path(sys.executable).with_name("grader")
LAST = read_all(ROOT / "solutions")[-1].name


def inherited() -> dict[str, str]:
    return {k: v for k, v in os.environ.items() if not k.startswith(("HEADWAY", "GITHUB", "PYTHON"))}


def run(*words, cwd, **env):
    options = {"capture_output": True, "text": True, "timeout": HANGS_AFTER, "env": {**inherited(), **env}}
    done = subprocess.run(list(map(str, words)), cwd=cwd, **options)
    assert "Traceback" not in done.stdout + done.stderr, done.stdout + done.stderr
    return done


# ---- the contents of a kit


def test_a_kit_holds_the_assignments_up_to_the_one_asked_for(filled, chosen):
    assert [b.assignment for b in chosen.bundles][-1] == "04_heads"
    assert sorted(p.name for p in filled.iterdir() if p.name[0].isdigit()) == [
        b.assignment for b in chosen.bundles
    ]
    for name in (
        *("README.md", "pyproject.toml", "headway.toml", ".gitignore", ".github/workflows/check.yml"),
        *("AGENTS.md", ".devcontainer/devcontainer.json", ".vscode/tasks.json"),
    ):
        # no placeholder, such as @WHEEL@, is left
        assert "@" not in re.sub(r"actions/[\w-]+@", "", (filled / name).read_text("utf-8"))
    assert len((filled / "README.md").read_text("utf-8").splitlines()) <= 48  # 61 with all assignments
    # Building blocks that are also answers to exercises.
    assert chosen.answers == ("kernel_attention_weights", "sequence_mask", "masked_softmax")
    assert len((filled / "AGENTS.md").read_text("utf-8").splitlines()) <= 60


def test_the_lessons_of_a_kit_have_their_pages_and_pictures(filled, chosen):
    for assignment in chosen.solutions:
        folder = filled / assignment.name
        pages = {path.name: path.read_text("utf-8") for path in folder.glob("*.md")}
        assert set(pages) == {"README.md", *assignment.pages}
        named = re.findall(r"\]\((pictures/[^)]+)\)", "".join(pages.values()))
        assert named
        assert {name: (folder / name).read_bytes() for name in named} == assignment.pictures


def test_a_kit_has_the_needed_blocks_and_no_instructor_s_package(filled):
    with zipfile.ZipFile(next((filled / WHEELS).iterdir())) as wheel:
        names = set(wheel.namelist())
        assert wheel.testzip() is None
    blocks = {n for n in names if n.startswith("grader/given/")}
    assert "grader/given/masked_softmax.py" in blocks
    assert "grader/given/multi_head_attention.py" not in blocks
    packages = {n.split("/")[1] for n in names if n.startswith("grader/") and n.count("/") > 1}
    assert not packages & {"authoring", "cases", "release", "classroom", "nbgrader"}
    assert not [n for n in names if n.startswith("grader/cli/instructor/")]


def test_the_kit_of_the_whole_course_is_proved_in_time(tmp_path, seed):
    before = resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime
    done = run(GRADER, "release", tmp_path / "kit", cwd=ROOT, HEADWAY_SEED_FILE=str(seed))
    assert done.returncode == 0, done.stderr
    assert LAST in done.stdout
    assert done.stdout.count("✓") == 5  # one per claim of the proof
    assert len(done.stderr.splitlines()) == 3  # one per step
    # a block that answers an exercise is reported
    assert "MultiHeadAttention" in done.stdout.splitlines()[-1]
    assert resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime - before < 60


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGHUP, signal.SIGINT, signal.SIGKILL])
def test_nothing_is_left_of_a_release_that_is_ended(tmp_path, seed, number):
    """What SIGKILL leaves is removed by the next release."""
    command = [GRADER, "release", tmp_path / "kit", "--through", "05"]
    environment = {**os.environ, "HEADWAY_SEED_FILE": str(seed)}
    own = {"cwd": ROOT, "env": environment, "stderr": subprocess.PIPE, "text": True}
    own["preexec_fn"] = lambda: signal.signal(number, signal.SIG_DFL) if number != signal.SIGKILL else None
    with subprocess.Popen(command, **own) as release:  # also when the tests run under nohup
        assert release.stderr is not None
        assert any("looking for" in line for line in release.stderr)
        assert [path.name.startswith(".kit.") for path in tmp_path.iterdir()] == [True]
        release.send_signal(number)
    assert release.returncode != 0
    if number == signal.SIGKILL:
        assert len(list(tmp_path.iterdir())) == 1
        assert run(*command, cwd=ROOT, HEADWAY_SEED_FILE=str(seed)).returncode == 0
        assert [path.name for path in tmp_path.iterdir()] == ["kit"]
    else:
        assert list(tmp_path.iterdir()) == []


# ---- the use of a kit


@pytest.fixture(scope="module")
def installed(tmp_path_factory, filled) -> Path:
    """Make an environment with the libraries of this one, and install only the kit's wheel there."""
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
    python = folder / "bin" / "python"
    install = ("install", "--no-index", "--disable-pip-version-check", wheel)
    done = run(sys.executable, "-m", "pip", "--python", python, *install, cwd=folder)
    assert done.returncode == 0, done.stderr
    where = run(python, "-P", "-c", "import grader; print(grader.__file__)", cwd=folder).stdout
    assert Path(where).is_relative_to(folder)
    return folder / "bin"


def answer(kit: Path, exercise: str, code: str) -> None:
    """Write the body of an answer into the file of assignment 04."""
    file = kit / "04_heads" / "heads.py"
    raises = f'raise NotImplementedError("{exercise} is not written yet")'
    file.write_text(file.read_text("utf-8").replace(raises, code), "utf-8")


def test_an_installed_kit_lists_grades_hints_and_tests(installed, copy, chosen, tmp_path):
    def grader(*words):
        return run(installed / "grader", *words, cwd=copy, HOME=str(tmp_path)).stdout

    def outcomes():
        return {e["name"]: e["outcome"] for e in json.loads(grader("check", "--format", "json"))["exercises"]}

    shown = grader()
    assert all(name in shown for name in chosen.exercises)
    assert "Next: " in shown
    before = outcomes()
    assert before == dict.fromkeys(chosen.exercises, "not_started")
    right = (
        "X.reshape(*X.shape[:2], num_heads, -1).transpose(1, 2).reshape(len(X) * num_heads, X.shape[1], -1)"
    )
    answer(copy, "transpose_qkv", f"return {right}")
    assert outcomes() == {**before, "transpose_qkv": "passed"}
    last = chosen.bundles[-1].exercises[-1]
    assert " ".join(grader("hint", last.name).split()).startswith(last.hints[0])
    tested = (installed / "python", "-m", "pytest", "-q", "-k", "transpose_qkv", "04_heads")
    assert run(*tested, cwd=copy, HOME=str(tmp_path)).returncode == 0


@pytest.mark.parametrize("missing", ["verify", "release"])
def test_a_command_that_is_not_in_the_kit_is_refused(installed, copy, missing):
    done = run(installed / "grader", missing, cwd=copy)
    assert done.returncode == 2
    assert done.stderr.strip() == f"grader: `grader {missing}` is not part of the student kit"


def test_the_workflow_of_a_kit_annotates_and_fills_the_summary(installed, copy, tmp_path):
    summary = tmp_path / "summary.md"
    answer(copy, "transpose_output", "return X")
    step = re.findall(r"- run: (grader .*)", (copy / ".github/workflows/check.yml").read_text("utf-8"))
    assert step == ["grader check --format github"]
    command = (installed / "grader", "check", "04", "--format", "github")
    done = run(*command, cwd=copy, GITHUB_STEP_SUMMARY=str(summary), HOME=str(tmp_path))
    assert done.returncode == 1
    error = r"^::error file=04_heads/heads.py,line=\d+,title=transpose_output%3A failed::.+$"
    assert re.search(error, done.stdout, re.M)
    assert "title=transpose_qkv" not in done.stdout  # not started: in the table only
    row = r"^\| 04 transpose\\_output \| ❌ failed \| 0 / 3 \| .+ \|$"
    assert re.search(row, summary.read_text("utf-8"), re.M)


# ---- refusals


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (["kit", "--through", "99"], "there is no assignment 99"),
        (["solutions"], "solutions is not an empty folder"),
    ],
)
def test_wrong_arguments_are_refused_and_nothing_is_written(tmp_path, monkeypatch, arguments, sentence):
    for name in ("solutions", "assignments", "student_template"):
        (tmp_path / name).symlink_to(ROOT / name)
    monkeypatch.chdir(tmp_path)
    with pytest.raises(UsageError, match=sentence) as refused:
        CliRunner().invoke(command, arguments, catch_exceptions=False)
    assert refused.value.exit_status == 2
    assert len(list(tmp_path.iterdir())) == 3


def replaced(name: str, old: str, new: str):
    """Return a change of a text file of the course."""

    def change(course: Path) -> None:
        text = (course / name).read_text("utf-8")
        assert old in text
        (course / name).write_text(text.replace(old, new, 1), "utf-8")

    return change


def with_tensors(assignment: str, made):
    """Return a change of the recorded tensors of an assignment. made: a function from the tensors to other tensors."""

    def change(course: Path) -> None:
        path = course / "assignments" / assignment / "bundle.safetensors"
        arrays = decode(path.read_bytes())
        path.write_bytes(encode({**arrays, **made(arrays)}))

    return change


def with_other_input(name: str):
    return with_tensors("11_capstone", lambda arrays: {name: arrays[name] + 1})


PICTURE = "assignments/04_heads/pictures/memory.svg"


@pytest.mark.parametrize(
    ("assignment", "change", "why"),
    [
        (
            "04_heads",
            replaced("solutions/04_heads/exercise.toml", "points = 3.0", "points = 4.0"),
            "run `grader build` first",
        ),
        (
            "04_heads",
            with_tensors("04_heads", lambda _: {"transpose_qkv/hidden/want/out": np.ones(9, np.float32)}),
            "bundle.safetensors is not what solutions/04_heads gives",
        ),
        *(
            ("11_capstone", with_other_input(name), "its bundle is not what solutions/11_capstone gives")
            for name in ("train/reverse-exam/in/src", "train/induction/in/src_valid_len")
        ),
        *(
            ("04_heads", change, r"memory\.svg is .*run `grader build` first")
            for change in (lambda course: (course / PICTURE).unlink(), replaced(PICTURE, "<svg", "<svg "))
        ),
    ],
)
def test_an_assignment_that_is_not_what_its_solutions_give_is_refused(tmp_path, assignment, change, why):
    for folder in ("solutions", "assignments"):
        shutil.copytree(ROOT / folder / assignment, tmp_path / folder / assignment)
    change(tmp_path)
    with pytest.raises(UsageError, match=why):
        plan(tmp_path / "solutions", tmp_path / "assignments")


SEED = "6a1f" * 16  # as in the file of the fixture `seed`
MARKED = re.compile(r"### BEGIN SOLUTION\n(.*?)### END", re.S)
ANSWERS = "".join(MARKED.findall((ROOT / "solutions/04_heads/heads.py").read_text("utf-8")))


@pytest.mark.parametrize(
    ("page", "text", "why"),
    [
        ("NOTES.md", SEED, "NOTES.md holds the secret seed"),
        ("AGENTS.md", f"\n{ANSWERS}", "AGENTS.md holds the answer transpose_qkv (and 1 more)"),
    ],
    ids=["a seed", "an answer"],
)
def test_a_kit_with_a_leak_is_refused_and_nothing_is_left(tmp_path, monkeypatch, seed, page, text, why):
    for name in ("solutions", "assignments"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "04_heads").symlink_to(ROOT / name / "04_heads")
    shutil.copytree(ROOT / "student_template", tmp_path / "student_template")
    with open(tmp_path / "student_template" / page, "a", encoding="utf-8") as file:
        file.write(text)
    (tmp_path / "kit").mkdir()
    before = sorted(tmp_path.iterdir())
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("HEADWAY_SEED_FILE", str(seed))
    monkeypatch.setenv("HEADWAY_COURSE", ".")
    done = CliRunner().invoke(command, ["kit"])
    assert (str(done.exception), done.exception.exit_status) == (f"not released: {why}", 1)
    assert sorted(tmp_path.iterdir()) == before
    assert list((tmp_path / "kit").iterdir()) == []


def test_the_page_of_second_ways_is_written_once(tmp_path, monkeypatch):
    """The page has other right answers."""
    monkeypatch.chdir(ROOT)
    page = tmp_path / "second_ways.md"
    done = CliRunner().invoke(command, [str(page), "--second-ways"])
    assert done.exit_code == 0
    text = page.read_text("utf-8")
    assert text.count("```python") >= 90
    assert "### `masked_softmax`" in text
    assert CliRunner().invoke(command, [str(page), "--second-ways"]).exit_code == 2


def execute(python: Path, folder: Path, sources: list[str], **variables: str) -> list[list[dict]]:
    """Execute cells in a kernel of `python` that works in `folder`. Return the outputs of each cell."""
    close = "from grader.student import notebook_check\nnotebook_check._grader.close()"
    book = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(text) for text in (*sources, close)])
    spec = folder.parent / "jupyter" / "kernels" / "student" / "kernel.json"
    spec.parent.mkdir(parents=True)
    kernel = [str(python), "-m", "ipykernel_launcher", "-f", "{connection_file}"]
    spec.write_text(json.dumps({"argv": kernel, "display_name": "student", "language": "python"}), "utf-8")
    with mock.patch.dict(os.environ, JUPYTER_PATH=str(spec.parents[2])):
        nbclient.NotebookClient(
            book, timeout=HANGS_AFTER, kernel_name="student", resources={"metadata": {"path": str(folder)}}
        ).execute(env={**inherited(), **variables})
    return [cell.outputs for cell in book.cells[:-1]]


def points(outputs: list[dict]) -> float:
    """Return the points that `check()` returned in a cell. outputs: the outputs of this cell."""
    return float(next(o for o in outputs if o["output_type"] == "execute_result")["data"]["text/plain"])


@pytest.mark.filterwarnings("ignore::DeprecationWarning")
def test_the_colab_notebook_of_a_kit_fetches_the_course_and_grades(installed, copy, chosen, tmp_path):
    """The notebook is not in a course folder and is not saved; its first cell installs the grader."""
    (wheel,) = (copy / WHEELS).iterdir()
    add_notebooks(copy, chosen, f"file://{copy}", wheel.name)
    git = ("git", "-c", "user.name=A", "-c", "user.email=a@b.c", "-c", "init.defaultBranch=main")
    for words in (("init", "-q"), ("add", "-A"), ("commit", "-q", "-m", "Release")):
        assert run(*git, *words, cwd=copy).returncode == 0
    (tmp_path / "content").mkdir()
    book = json.loads((copy / "04_heads" / "colab.ipynb").read_text("utf-8"))
    first = "".join(book["cells"][0]["source"])
    assert book["cells"][1:] == json.loads((copy / "04_heads" / "heads.ipynb").read_text("utf-8"))["cells"]
    is_there = "import importlib.util as util; bool(getattr(util.find_spec('grader'), 'origin', None))"
    remove = "%pip uninstall --quiet --yes headway"
    call = 'float(check("transpose_qkv"))'
    shown = execute(
        installed / "python",
        tmp_path / "content",
        [remove, is_there, first, "from grader import check", WRONG, call, RIGHT, call],
        HOME=str(tmp_path),
        PIP_NO_INDEX="1",
    )
    assert [o["data"]["text/plain"] for o in shown[1]] == ["False"], shown[0]
    assert points(shown[5]) < points(shown[7]) == 3


@pytest.mark.parametrize("url", ["github.com/a/b", "https://a/b; rm -rf ~", "https://a/$(b)"])
def test_an_invalid_address_makes_no_colab_notebook(copy, chosen, url):
    with pytest.raises(UsageError, match="is not the address of a git repository"):
        add_notebooks(copy, chosen, url, "headway.whl")
    assert not list(copy.rglob("colab.ipynb"))
