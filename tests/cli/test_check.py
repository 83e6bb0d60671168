"""`grader check`: outcomes, formats, settings of the course, and a sentence for a file that cannot be graded."""

import json
import os
import tomllib

import pytest
from helpers.command_line import FILL_BEYOND_FLOAT16, RIGHT, ROOT, WRONG, run

from grader.intake.course import BUNDLED


def exercises(course, *args) -> dict[str, str]:
    """Check exercises; return the outcome of each."""
    record = json.loads(run("check", *args, "--format", "json", cwd=course).stdout)
    return {e["name"]: e["outcome"] for e in record["exercises"]}


def test_one_filled_own_code_one_outcome(course):
    assert set(exercises(course).values()) == {"not_started"}
    with (course / "04_heads" / "heads.py").open("a", encoding="utf-8") as file:
        file.write("\n\n" + RIGHT.partition("\n")[2])
    assert {name: now for name, now in exercises(course).items() if now != "not_started"} == {
        "transpose_qkv": "passed"
    }


def test_a_changed_notebook_is_graded_or_the_script_if_it_was_changed_later(course):
    script, path = course / "04_heads" / "heads.py", course / "04_heads" / "heads.ipynb"
    book = json.loads(path.read_text("utf-8"))
    cell = next(c for c in book["cells"] if "def transpose_qkv(" in "".join(c["source"]))
    cell["source"] = "%matplotlib inline\n!ls\n" + RIGHT
    path.write_text(json.dumps(book), "utf-8")
    assert exercises(course, "04") == {"transpose_qkv": "passed", "transpose_output": "not_started"}
    script.write_text(WRONG, "utf-8")
    os.utime(script, (1, 1))
    record = json.loads(run("check", "transpose_qkv", "--format", "json", cwd=course).stdout)
    assert record["exercises"][0]["outcome"] == "passed"
    assert "heads.ipynb, was graded" in record["remarks"][0]
    os.utime(path, (0, 0))
    assert exercises(course, "transpose_qkv") == {"transpose_qkv": "failed"}


@pytest.mark.parametrize(
    ("name", "content", "sentence"),
    [
        ("empty.py", b"", "empty.py is empty"),
        ("latin.py", "x = 1\ny = 'é'\n".encode("latin-1"), "latin.py, line 2: not UTF-8 text"),
        ("nothing.py", b"x = 1\n", "no exercise of this course found in nothing.py"),
        ("half.py", b"def other(X:\n", "it has a syntax error: half.py, line 1"),
        ("deep.ipynb", b"[" * 200_000, "is not a notebook"),
    ],
)
def test_a_file_that_cannot_be_graded_is_reported_in_one_sentence(course, tmp_path, name, content, sentence):
    path = tmp_path / name
    path.write_bytes(content)
    done = run("check", "--file", path, cwd=course)
    assert (done.returncode, done.stdout, done.stderr.count("\n")) == (2, "", 1)
    assert sentence in done.stderr


def test_a_file_is_graded_outside_any_course(tmp_path):
    file = tmp_path / "notes.py"
    file.write_text(RIGHT, "utf-8")
    done = run("check", "--file", str(file), cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert "All checks passed." in done.stdout
    assert sorted(path.name for path in tmp_path.iterdir()) == ["notes.py"]


def test_a_wheel_has_the_course_where_the_grader_looks_for_it():
    settings = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))
    included = settings["tool"]["hatch"]["build"]["targets"]["wheel"]["force-include"]
    assert included["assignments"] == BUNDLED.relative_to(BUNDLED.parents[1]).as_posix()


@pytest.mark.parametrize(("counted", "status"), [("", 0), ('policies_that_count = ["precision"]\n', 1)])
def test_a_course_chooses_whether_a_policy_counts(course, counted, status):
    (course / "headway.toml").write_text(counted)
    (course / "02_masking" / "masking.py").write_text(FILL_BEYOND_FLOAT16)
    done = run("check", "masked_softmax", cwd=course)
    assert done.returncode == status
    assert ("advice, which costs no points" in done.stdout) == (status == 0)
    assert "fill value is out of range for float16" in " ".join(done.stdout.split())


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        (
            'policies_that_count = ["precison"]',
            "matching regex '^(precision|odd-width|grad-mode)$' - at `$.policies_that_count[0]`",
        ),
        ("policies_that_count = 3", "Expected `array`, got `int` - at `$.policies_that_count`"),
        ("policies_that_count = [[]]", "Expected `str`, got `array` - at `$.policies_that_count[0]`"),
        ("name_lines = 1", "Expected `bool`, got `int` - at `$.name_lines`"),
        ("a = " + "[" * 100_000, "headway.toml cannot be read: "),
    ],
    ids=["policy", "type", "unhashable", "no bool", "deep"],
)
def test_a_wrong_setting_is_one_sentence(course, text, sentence):
    (course / "headway.toml").write_text(text)
    done = run("check", "masked_softmax", cwd=course)
    assert (done.returncode, done.stderr.count("\n")) == (2, 1)
    assert sentence in done.stderr


@pytest.mark.parametrize(
    ("setting", "options", "named"),
    [("", (), True), ("", ("--no-line",), False), ("name_lines = false\n", (), False)],
)
def test_a_line_is_shown_unless_an_option_or_a_setting_forbids_it(course, setting, options, named):
    wrong = "def transpose_qkv(X, num_heads):\n    B, T, D = X.shape\n    X = X.reshape(B, T, num_heads, D // num_heads)\n"
    (course / "headway.toml").write_text(setting)
    (course / "04_heads" / "heads.py").write_text(
        wrong + "    return X.permute(2, 0, 1, 3).reshape(B * num_heads, T, -1)\n"
    )
    done = run("check", "transpose_qkv", *options, cwd=course)
    assert done.returncode == 1
    assert ("look at heads.py:4" in done.stdout) == named
    assert "failed" in done.stdout
    if named:
        assert done.stdout.index("failed") < done.stdout.index("look at")


@pytest.mark.parametrize(
    ("old", "new", "status", "says"),
    [
        ("return ", "return math.isqrt(1) * ", 0, "::notice::"),
        (".transpose(1, 2)", "", 1, "::error file=04_heads/heads.py"),
        # An exception and a syntax error have their line.
        ("X.reshape", "shpae", 1, "::error file=04_heads/heads.py,line=4,title=transpose_qkv%3A "),
        ("num_heads):", "num_heads)", 1, "::error file=04_heads/heads.py,line=2,title=transpose_qkv%3A "),
    ],
)
def test_the_github_format_has_a_command_for_each_thing_to_fix(course, old, new, status, says):
    untouched = run("check", "04", "--format", "github", cwd=course)
    assert (untouched.returncode, "::" in untouched.stdout) == (0, False)
    (course / "04_heads" / "heads.py").write_text(RIGHT.replace(old, new), "utf-8")
    done = run("check", "transpose_qkv", "--format", "github", cwd=course)
    assert done.returncode == status
    assert says in done.stdout
