"""nbgrader's preprocessors use one grader for all notebooks, and results from a store."""

import os
import sqlite3
from contextlib import closing
from functools import partial
from pathlib import Path

import nbformat
import pytest
from helpers.files import fill
from helpers.nbgrader_class.school import QKV
from traitlets.config import Config

from grader.authoring.build import build
from grader.authoring.scaffold import scaffold
from grader.classroom.grade import Task
from grader.classroom.groups import Groups, Named, write_groups
from grader.classroom.purge import content_of
from grader.classroom.store import Store, StoreKey
from grader.intake.read import Blocked, read_bytes
from grader.nbgrader import engine_cache
from grader.nbgrader.engine_cache import CourseGrader, Headway
from grader.nbgrader.notebook_file import readable
from grader.report.model import ExerciseResult
from grader.support.errors import UsageError

pytestmark = pytest.mark.filterwarnings("ignore::DeprecationWarning")

WANTED = ["transpose_qkv", "transpose_output"]


@pytest.fixture
def settings(school, monkeypatch) -> Headway:
    recorded = next(folder.parent for folder in (school.root / "cache").glob("headway/hidden/*/complete"))
    monkeypatch.setattr(engine_cache, "hidden_folder", lambda *_asked: recorded)
    seed = school.root / "home" / ".config" / "headway" / "seed"
    chosen = {"solutions": str(school.root / "solutions"), "seed_file": str(seed)}
    return Headway(config=Config(Headway=chosen))


@pytest.fixture
def make(settings, tmp_path):
    """Return a function that gives the grader; the store in `tmp_path` is not there yet."""
    yield partial(engine_cache.course_grader, settings, WANTED, tmp_path / "grades.sqlite")
    engine_cache.close()


@pytest.mark.slow
def test_one_grader_serves_all_until_sources_or_settings_change(
    school, settings, make, tmp_path, monkeypatch
):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "gradebook.db-journal").touch()
    grader = make()
    assert make() is grader
    os.utime(school.root / "solutions" / "04_heads" / "exercise.toml", (1, 1))
    changed = make()
    assert changed is not grader
    (tmp_path / "grades.sqlite").touch()
    assert make() is not changed
    changed = make()
    settings.trusted_submissions = True
    assert make() is not changed
    before = engine_cache._made_from(settings)
    settings.seed_file = str(fill(tmp_path, {"seed": "another seed, which is long enough"}) / "seed")
    assert engine_cache._made_from(settings) != before


@pytest.mark.slow
@pytest.mark.parametrize("asked", ["second_mean", "of_no_assignment"])
def test_only_cases_of_the_asked_assignment_are_recorded(tmp_path, monkeypatch, asked):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))
    solutions, course = tmp_path / "solutions", tmp_path / "assignments"
    scaffold(solutions, "12_first", "first_mean")
    scaffold(solutions, "13_second", "second_mean")
    build(solutions, course)
    (course / "headway.toml").touch()
    chosen = {"solutions": str(solutions), "course": str(course)}
    made = engine_cache.course_grader(Headway(config=Config(Headway=chosen)), [asked], tmp_path / "none")
    hidden = [bundle.assignment for bundle in made.bundles if bundle.seed == "hidden"]
    assert hidden == (["13_second"] if asked == "second_mean" else [])
    assert set(made.exercises) == {"first_mean", "second_mean"}
    engine_cache.close()


FILE = Path("04_heads.ipynb")
BOOK = nbformat.writes(nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(QKV)])).encode()


def scores(grader: CourseGrader, warnings: list[str], *names: str) -> dict[str, float | None]:
    """Grade these exercises in a notebook with one code cell."""
    report = grader.grade(Task(0, FILE, partial(bytes, BOOK), names), warnings.append)
    return {result.name: result.score for result in report.exercises}


def stored(path: Path, key: StoreKey) -> Path:
    """Make a store with a result that no grader would compute."""
    content = content_of(FILE, lambda: BOOK, {})
    with closing(Store(path, key)) as store:
        store.put([ExerciseResult("transpose_qkv", "04_heads", "failed", 2.25, 3.0, content=content)])
    return path


@pytest.mark.slow
def test_answers_come_from_a_whole_store(make, tmp_path):
    path, warnings = stored(tmp_path / "grades.sqlite", make().key), list[str]()
    grader = make()
    assert scores(grader, warnings, "transpose_qkv", "transpose_output") == {
        "transpose_qkv": 2.25,
        "transpose_output": 0.0,
    }
    assert warnings == []
    with closing(sqlite3.connect(path)) as database, database:
        database.execute("UPDATE results SET result = '{'")
    assert scores(grader, warnings, "transpose_qkv") == {"transpose_qkv": 3.0}
    engine_cache.close()
    path.write_bytes(b"not a database, and longer than its header would have to be" * 4)
    for _submission in range(2):
        assert scores(make(), warnings, "transpose_qkv") == {"transpose_qkv": 3.0}
    assert ["damaged" in warnings[0], "cannot be used as a store" in warnings[1]] == [True, True]
    assert len(warnings) == 2


@pytest.mark.slow
def test_the_instructor_is_warned_once_of_a_stale_group(settings, make):
    adopted = Named("too-small", "every value is too small", "By what do you multiply?", cases="0" * 64)
    group = f"transpose_qkv:{'0' * 16}"
    bank = write_groups(Path(settings.solutions).parent, Groups({group: adopted}))
    warnings: list[str] = []
    try:
        for _submission in range(2):
            scores(make(), warnings, "transpose_qkv")
    finally:
        bank.unlink()
    assert [warning.partition(",")[0] for warning in warnings] == [f"{group} was adopted as too-small"]


def test_a_notebook_of_gigabytes_is_refused_by_its_size(tmp_path):
    with (tmp_path / "a.ipynb").open("wb") as file:
        file.truncate(1 << 40)  # a sparse file
    with pytest.raises(Blocked, match="larger than 8 MiB"):
        readable(tmp_path / "a.ipynb", read_bytes(tmp_path / "a.ipynb"))


@pytest.mark.slow
@pytest.mark.parametrize(
    ("wrong", "says"),
    [
        ({"sandbox": "basic"}, "trusted_submissions"),
        ({"solutions": "/nowhere"}, "c.Headway.solutions names /nowhere"),
    ],
)
def test_refusals_of_settings_name_the_setting(settings, wrong, says):
    for name, value in wrong.items():
        setattr(settings, name, value)
    with pytest.raises(UsageError, match=says):
        engine_cache.course_grader(settings, WANTED, Path("none"))
