"""Cases are recorded again only if something that they depend on has changed, and only if they are selected."""

import json
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from helpers.command_line import ROOT

from grader.authoring import hidden_cases
from grader.authoring.build import build, is_same
from grader.authoring.content import read, read_all
from grader.authoring.hidden_cases import cases_digest, hidden_folder
from grader.authoring.recordings import CODE, key, record_all
from grader.authoring.scaffold import scaffold
from grader.authoring.verify import verify
from grader.bundle import files as bundles
from grader.support.errors import UsageError


@pytest.fixture
def solutions(tmp_path, monkeypatch) -> Path:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))
    monkeypatch.delenv("HEADWAY_SEED_FILE", raising=False)
    scaffold(tmp_path / "solutions", "12_first", "first_mean")
    scaffold(tmp_path / "solutions", "13_second", "second_mean")
    return tmp_path / "solutions"


class Recorded(list[str]):
    """The names of the exercises that were recorded. Pass it as the function that reports progress."""

    def __call__(self, name: str, done: int, total: int) -> None:
        assert 1 <= done <= total
        self.append(name)


def change(path: Path, old: str, new: str) -> None:
    text = path.read_text("utf-8")
    assert old in text
    path.write_text(text.replace(old, new), "utf-8")


HELPER = "def helper():\n    pass\n\n\n"


@pytest.mark.parametrize(
    ("file", "old", "new", "changed"),  # changed: the key of sequence_mask, the key of masked_softmax
    [
        ("masking.py", "# %% [markdown]\n", "# %% [markdown]\n# A word more.\n", [False, False]),
        ("exercise.toml", "minutes = 10", "minutes = 15", [False, False]),
        ("exercise.toml", "points = 5.0", "points = 7.0", [False, False]),
        ("exercise.toml", "Take scores that", "Try scores that", [False, False]),
        ("mistakes/masked_softmax.py", 'says="', 'says="It seems that ', [False, False]),
        ("mistakes/masked_softmax.md", "\n\n", "\n\nOne more sentence.\n\n", [False, False]),
        ("masking.py", "def masked_softmax(", f"{HELPER}def masked_softmax(", [True, True]),
        ("cases.py", "import", "import math\nimport", [True, True]),
        ("exercise.toml", '  "softmax-twice",\n', "", [False, True]),
        ("exercise.toml", 'given = ["sequence_mask"]', "given = []", [False, True]),
        (
            "mistakes/sequence_mask.py",
            "steps[None, :] <= valid_len",
            "steps[None, :] - 1 < valid_len",
            [True, False],
        ),
    ],
)
def test_what_cases_depend_on_changes_the_key(tmp_path, file, old, new, changed):
    folder = shutil.copytree(ROOT / "solutions/02_masking", tmp_path / "02_masking")
    before = read(folder)
    old_keys = [key(before, fields, "seed") for fields in before.exercises]
    assert old_keys != [key(before, fields, "another seed") for fields in before.exercises]
    change(folder / file, old, new)
    after = read(folder)
    new_keys = [key(after, fields, "seed") for fields in after.exercises]
    assert [a != b for a, b in zip(old_keys, new_keys, strict=True)] == changed


@pytest.mark.slow
def test_build_of_one_assignment_records_and_writes_that_one(solutions, tmp_path):
    recorded = Recorded()
    written = build(solutions, tmp_path / "assignments", ["12"], recorded)
    assert recorded == ["first_mean"]
    assert {path.parent.name for path in written} == {"12_first"}
    change(solutions / "12_first/first.py", "# %% [markdown]\n", "# %% [markdown]\n# A word more.\n")
    written = build(solutions, tmp_path / "assignments", ["first"], recorded)
    assert recorded == ["first_mean"], "a change of the lesson recorded the cases again"
    assert sorted(path.suffix for path in written) == [".ipynb", ".json", ".md", ".py"]


@pytest.mark.slow
def test_hidden_cases_of_selected_exercises_are_recorded(solutions, tmp_path):
    build(solutions, tmp_path / "assignments")
    recorded = Recorded()
    folder = hidden_folder(solutions, ["second_mean"], tmp_path / "assignments", recorded)
    assert recorded == ["second_mean"]
    assert {b.assignment: b.seed for b in bundles.load_all(folder)} == {
        "12_first": "public",
        "13_second": "hidden",
    }
    whole = hidden_folder(solutions, (), tmp_path / "assignments", recorded)
    assert recorded == ["second_mean", "first_mean"]
    assert {b.seed for b in bundles.load_all(whole)} == {"hidden"}
    assert cases_digest(whole) == cases_digest(folder), "a choice of assignments discards stored results"
    assert hidden_folder(solutions, ["second_mean"], tmp_path / "assignments", recorded) == whole
    assert len(recorded) == 2


@pytest.mark.slow
def test_minutes_and_a_new_assignment_keep_other_recordings(solutions):
    recorded = Recorded()
    first = hidden_folder(solutions, tell=recorded)
    del recorded[:]
    change(solutions / "12_first/exercise.toml", "minutes = ", "minutes = 1")  # puts a 1 before the digits
    again = hidden_folder(solutions, tell=recorded)
    assert again != first
    assert not recorded
    assert bundles.load_all(again)[0].minutes != bundles.load_all(first)[0].minutes
    scaffold(solutions, "14_third", "third_mean")
    hidden_folder(solutions, tell=recorded)
    assert recorded == ["third_mean"]


def test_needed_exercises_are_recorded_too_and_an_unknown_one_is_refused_by_name(solutions):
    change(solutions / "13_second/exercise.toml", "needs = []", 'needs = ["first_mean"]')
    change(solutions / "12_first/exercise.toml", "needs = []", 'needs = ["zeroth_mean"]')
    assignments = read_all(solutions)
    for wanted, found in (("second_mean", ["12_first", "13_second"]), ("first_mean", ["12_first"])):
        assert [a.name for a in hidden_cases._with_needs(assignments, [wanted])] == found
    with pytest.raises(UsageError, match=r"exercise\.toml: first_mean needs unknown exercises: zeroth_mean"):
        next(verify(solutions))


@pytest.mark.slow
def test_a_cached_recording_equals_a_new_one(solutions):
    new = [bundles.dump(bundle) for bundle in record_all(read_all(solutions), "public")]
    assert new == [bundles.dump(bundle) for bundle in record_all(read_all(solutions), "public")]


def test_a_bundle_is_the_same_whether_or_not_a_default_is_written():
    text = (ROOT / "assignments/04_heads/bundle.json").read_bytes()
    found = json.loads(text)
    assert found.pop("second") is False  # the default
    assert is_same(text, json.dumps(found).encode(), "bundle.json")
    assert not is_same(text, json.dumps({**found, "second": True}).encode(), "bundle.json")
    assert not is_same(text, b"{}", "bundle.json")


@pytest.mark.slow
def test_a_reference_that_raises_is_reported(solutions):
    change(
        solutions / "12_first/first.py", "### BEGIN SOLUTION\n", "### BEGIN SOLUTION\n    raise KeyError(1)\n"
    )
    with pytest.raises(hidden_cases.GraderError, match=r"hidden cases could not be recorded: .*KeyError"):
        hidden_folder(solutions)


@pytest.mark.slow
def test_the_key_covers_all_code_that_records():
    code = """
import sys
from pathlib import Path
from grader.authoring.content import read
from grader.authoring.record import record
from grader.support.errors import UsageError
record(read(Path("solutions/04_heads")), "public")
print(*(m.__file__ for m in list(sys.modules.values()) if getattr(m, "__file__", None) and "grader" in m.__name__))
"""
    done = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=True)
    used = {Path(name).relative_to(ROOT / "grader").as_posix() for name in done.stdout.split()}
    # Code that changes no recorded case: default limits, pictures of reports, the reading of submissions,
    # and what runs processes.
    read_submissions = ("intake/", "engine/interface.py", "engine/schools.py", "engine/student_file.py")
    harmless = ("__init__.py", "sandbox/", "report/", "engine/__init__.py", *read_submissions)
    assert {name for name in used if not name.startswith((*CODE, *harmless))} == set()
