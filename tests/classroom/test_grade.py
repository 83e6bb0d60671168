"""`grader grade` on a made-up class: every kind of submission, kills, the store, the forms it writes."""

from __future__ import annotations

import csv
import io
import json
import os
import shutil
import signal
import sqlite3
import subprocess
import sys
import time
from contextlib import closing
from datetime import UTC, datetime
from pathlib import Path
from unittest import mock
from xml.etree import ElementTree

import psutil
import pytest
from helpers.command_line import HANGS
from helpers.files import fill
from helpers.hostile_archives import HOSTILE as HOSTILE_ARCHIVES
from helpers.hostile_class import COSTLY, INSIDE, PACKED, costly, plant_stores
from helpers.hostile_sources import READS_THE_ANSWER
from helpers.peak_memory import run_measured
from helpers.report_schema import REPORT, assert_follows

from grader.classroom.progress_bar import speed
from grader.classroom.spreadsheet_cells import plain
from grader.classroom.store import default_store
from grader.sandbox.choose import report_on
from grader.sandbox.tiers import CONFINED

ROOT = Path(__file__).resolve().parents[2]
GRADER = Path(sys.executable).with_name("grader")
RIGHT = (
    "import torch\n"
    "def transpose_qkv(X, num_heads):\n"
    "    B, T, D = X.shape\n"
    "    return X.reshape(B, T, num_heads, -1).transpose(1, 2).reshape(B * num_heads, T, -1)\n"
)
KNOWN = RIGHT.replace(".transpose(1, 2)", "")
UNKNOWN = RIGHT.replace("return ", "return 1.37 * ")
SAME_UNKNOWN = "# written otherwise, wrong alike\n" + RIGHT.replace(
    "B, T, D = X.shape", "X = X * 1.37; B, T, D = X.shape"
)
HOSTILE = "import os\ndef transpose_qkv(X, num_heads):\n    os._exit(0)\n"
SLOW = "import time\n" + RIGHT.replace("    B, T", "    time.sleep(0.1)\n    B, T")

CLASS = {
    "ada.py": RIGHT,
    "bob.py": KNOWN,
    "cyd.py": UNKNOWN,
    "dee.py": SAME_UNKNOWN,
    "eve.py": "def transpose_qkv(:\n",
    "fay.py": "",
    "gus.py": HOSTILE,
    "=cmd|' ,C'!A0.py": RIGHT,
    "hal/04_heads/heads.py": RIGHT,
    "ivy/04_heads/heads.py": RIGHT,
    "jon/04_heads/heads.ipynb": json.dumps({"cells": [{"cell_type": "code", "source": RIGHT}]}),
    "kim/answers.py": RIGHT,
    "kim/helper.py": "x = 1\n",
}


@pytest.fixture(scope="module")
def school(tmp_path_factory) -> Path:
    """An instructor's checkout with one assignment, its secret seed, and nothing recorded twice."""
    root = tmp_path_factory.mktemp("school")
    for room in ("assignments", "solutions"):
        shutil.copytree(ROOT / room / "04_heads", root / room / "04_heads")
    shutil.copy(ROOT / "assignments" / "headway.toml", root / "assignments")
    (root / "seed").write_text("a seed that only this test knows", "utf-8")
    fill(root / "class", CLASS)
    return root


def environment(school: Path) -> dict[str, str]:
    inherited = {k: v for k, v in os.environ.items() if not k.startswith(("HEADWAY", "XDG"))}
    return {**inherited, "HEADWAY_SEED_FILE": str(school / "seed"), "XDG_CACHE_HOME": str(school / "cache")}


def run(school: Path, *args: object) -> subprocess.CompletedProcess[str]:
    command = [str(GRADER), "grade", *map(str, args)]
    done = subprocess.run(
        command, cwd=school, capture_output=True, text=True, timeout=HANGS, env=environment(school)
    )
    assert "Traceback" not in done.stdout + done.stderr, done.stderr
    return done


@pytest.fixture(scope="module")
def records(school) -> dict[str, dict]:
    """What a first run says of the whole class, by submission."""
    done = run(school, "class", "--format", "jsonl", "--jobs", 2)
    assert done.returncode == 1, done.stderr
    return {record["submission"]: record for record in map(json.loads, done.stdout.splitlines())}


def lines(done: subprocess.CompletedProcess[str]) -> list[dict]:
    return [json.loads(line) for line in done.stdout.splitlines()]


def outcome(record: dict) -> str:
    return next(e["outcome"] for e in record["exercises"] if e["name"] == "transpose_qkv")


def store_of(school: Path, folder: Path) -> Path:
    """Where a call in `environment(school)` stores the results of a folder."""
    with mock.patch.dict(os.environ, environment(school)):
        return default_store(folder)


def rows(store: Path) -> list[tuple]:
    with closing(sqlite3.connect(store)) as database, database:
        return database.execute("SELECT content, exercise, times FROM results").fetchall()


# ---- a class


def test_everyone_gets_what_is_deserved(records):
    for name in (
        "ada.py",
        "=cmd|' ,C'!A0.py",
        "hal/04_heads/heads.py",
        "ivy/04_heads/heads.py",
        "jon/04_heads/heads.ipynb",
        "kim/answers.py",
    ):
        assert outcome(records[name]) == "passed", name
    for name in ("bob.py", "cyd.py", "dee.py", "gus.py"):
        assert outcome(records[name]) == "failed", name
    assert records["gus.py"]["score"] == 0
    assert records["bob.py"]["exercises"][0]["diagnosis"]["kind"] == "exact"


def test_an_exercise_that_is_missing_where_it_belongs_is_blocked(records):
    hal = {e["name"]: e["outcome"] for e in records["hal/04_heads/heads.py"]["exercises"]}
    assert hal == {"transpose_qkv": "passed", "transpose_output": "blocked"}


def test_what_cannot_be_read_is_reported_and_a_helper_is_not(records):
    eve = records["eve.py"]["exercises"][0]
    assert (eve["name"], eve["outcome"]) == ("transpose_qkv", "blocked")
    assert "Python cannot read transpose_qkv: eve.py, line 1: invalid syntax" in eve["message"]
    assert records["fay.py"]["remarks"] == ["fay.py is empty"]
    assert "kim/helper.py" not in records


def test_records_follow_the_schema_and_name_student_and_sandbox(records):
    for record in records.values():
        extra = {key: record.pop(key) for key in ("student", "submission", "content")}
        if record["exercises"]:
            assert_follows(record, REPORT)
        else:
            assert record["remarks"]
        assert record["seed"] == "hidden"
        assert record["sandbox"] in ("strict", "landlock")
        record.update(extra)
    assert records["jon/04_heads/heads.ipynb"]["student"] == "jon"
    assert len(records["ada.py"]["content"]) == 64


def test_equal_files_are_graded_once_and_nothing_is_graded_again(school, records):
    store = store_of(school, school / "class")
    before = rows(store)
    same = records["hal/04_heads/heads.py"]["content"]
    assert same == records["ivy/04_heads/heads.py"]["content"]
    assert [row[2] for row in before if row[0] == same] == [1, 1]
    assert store.stat().st_mode & 0o777 == 0o600
    shown = run(school, "class").stdout
    assert "0 graded now" in shown
    assert rows(store) == before


def test_the_class_report_shows_known_and_shared_mistakes(school, records):
    shown = run(school, "class").stdout
    assert "heads-cut-straight" in shown
    assert "2 submissions share this in transpose_qkv; the smallest is cyd.py" in " ".join(shown.split())
    assert "fay.py: fay.py is empty" in shown


def test_one_exercise_alone_and_afresh(school, records):
    store = store_of(school, school / "class")
    kept = school / "copy.sqlite"
    with closing(sqlite3.connect(store)) as old, closing(sqlite3.connect(kept)) as new:
        old.backup(new)
    done = run(school, "class/ada.py", "--regrade", "--only", "04", "--store", kept, "--format", "gradescope")
    assert done.returncode == 0
    found = json.loads(done.stdout)
    assert found["score"] == found["tests"][0]["max_score"] == 3
    content = records["ada.py"]["content"]
    assert [row[2] for row in rows(kept) if row[0] == content] == [2]


def test_only_grades_no_other_exercise(school, records):
    store = store_of(school, school / "class")
    folder = fill(school / "one", {"hal/04_heads/heads.py": CLASS["hal/04_heads/heads.py"]})
    for wanted in (["transpose_output"], ["transpose_qkv"], ["transpose_output", "transpose_qkv"]):
        options = [part for name in wanted for part in ("--only", name)]
        (record,) = lines(run(school, folder, *options, "--store", store, "--format", "jsonl"))
        assert sorted(e["name"] for e in record["exercises"]) == sorted(wanted)
        assert record["points"] == 3 * len(wanted)


def test_since_leaves_out_what_was_not_changed(school, records):
    store = store_of(school, school / "class")
    folder = fill(school / "lately", {name: CLASS[name] for name in ("ada.py", "bob.py", "cyd.py")})
    now = time.time()
    hours = {"ada.py": 0.1, "bob.py": 5.0, "cyd.py": 30.0}  # ago
    for name, ago in hours.items():
        os.utime(folder / name, (now - 3600 * ago,) * 2)
    six_hours_ago = datetime.fromtimestamp(now - 6 * 3600)
    for since, expected in {
        "30m": ["ada"],
        "12h": ["ada", "bob"],
        "2d": ["ada", "bob", "cyd"],
        six_hours_ago.isoformat(timespec="seconds"): ["ada", "bob"],
        six_hours_ago.astimezone(UTC).isoformat(timespec="seconds"): ["ada", "bob"],
        "2001-01-01": ["ada", "bob", "cyd"],
    }.items():
        done = run(school, folder, "--since", since, "--store", store, "--format", "jsonl")
        assert [record["student"] for record in lines(done)] == expected, since


def test_regrade_with_only_grades_the_named_exercise_again(school, records):
    folder = fill(school / "again", {"hal/04_heads/heads.py": CLASS["hal/04_heads/heads.py"] + "# again\n"})
    store = store_of(school, folder)
    for options in ([], [], ["--regrade", "--only", "transpose_qkv"], ["--regrade"]):
        run(school, folder, *options, "--format", "jsonl")
    assert {row[1]: row[2] for row in rows(store)} == {"transpose_qkv": 3, "transpose_output": 2}


def test_the_table_holds_no_formula(school, records, tmp_path):
    out = tmp_path / "marks.csv"
    run(school, "class", "--format", "csv", "--output", out)
    table = list(
        csv.DictReader(
            io.StringIO(
                out.read_text("utf-8", newline="") if sys.version_info >= (3, 13) else out.read_text("utf-8")
            )
        )
    )
    assert len(table) == len(records)
    hostile = next(row for row in table if "cmd" in row["student"])
    assert hostile["student"].startswith("'=")
    assert hostile["submission"].startswith("'=")
    assert hostile["transpose_qkv"] == "3"
    assert all(cell[:1] not in tuple("=+-@") for row in table for cell in row.values())


@pytest.mark.parametrize("cell", ["=1+1", "+1", "-1", "@sum", "\t=1", "\r=1", " =1", "＝1", "\n=1"])
def test_a_cell_that_begins_like_a_formula_is_defused(cell):
    assert plain(cell) == f"'{cell}"
    assert plain("ada") == "ada"


def test_junit_and_gradescope(school, records):
    suites = ElementTree.fromstring(run(school, "class", "--format", "junit").stdout.encode()).findall(
        "testsuite"
    )
    assert "bob.04_heads.transpose_qkv" in [suite.get("name") for suite in suites]
    refused = run(school, "class", "--format", "gradescope")
    assert refused.returncode == 2
    assert "exactly one submission" in refused.stderr


def test_rate_and_time_left():
    assert speed(60, 120, 60.0) == "120 a minute, 0:30 left"
    assert speed(0, 120, 60.0) == "120 a minute"
    assert speed(5, 0, 1.0) == ""


# ---- in parts


def test_merged_shards_hold_the_rows_of_one_run(school, records, tmp_path):
    parts = [tmp_path / f"part-{number}.sqlite" for number in range(3)]
    for number, part in enumerate(parts):
        done = run(school, "class", "--shard", f"{number}/3", "--store", part, "--format", "csv")
        assert done.returncode in (0, 1), done.stderr
        assert rows(part), "each shard has some of this class"
    merged = tmp_path / "merged.sqlite"
    command = [str(GRADER), "merge", *map(str, parts), "--store", str(merged)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=HANGS, env=environment(school))
    whole = rows(store_of(school, school / "class"))
    assert done.stdout == f"{merged}: {len(whole)} results of {len({row[0] for row in whole})} submissions\n"
    assert sorted(row[:2] for row in rows(merged)) == sorted(row[:2] for row in whole)
    again = run(school, "class", "--store", merged, "--format", "jsonl")
    assert [without_seconds(one) for one in lines(again)] == [
        without_seconds(one) for one in records.values()
    ]
    assert {row[2] for row in rows(merged)} == {1}, "nothing was graded again"


def without_seconds(record: dict) -> dict:
    return {**record, "exercises": [{**one, "seconds": 0} for one in record["exercises"]]}


def test_a_shard_without_a_file_has_an_empty_store(school, tmp_path):
    done = run(school, "class/ada.py", "--shard", "0/1000", "--store", tmp_path / "part")
    assert done.returncode == 0, done.stderr
    assert rows(tmp_path / "part") == []


# ---- what submissions may plant


@pytest.mark.skipif(sys.platform == "win32", reason="plants a symbolic link")
def test_nothing_is_written_into_a_folder_of_submissions(school, records):
    """A planted store is not read, a planted link not followed; the instructor reads one sentence of it."""
    folder = fill(
        school / "planted", {"ada/answer.py": "def transpose_qkv(X, num_heads):\n    return 0 * X\n"}
    )
    (school / "elsewhere").mkdir()
    (folder / "ada" / ".headway").symlink_to(school / "elsewhere")
    (folder / ".headway").mkdir()
    shutil.copy(store_of(school, school / "class"), folder / ".headway" / "grades.sqlite")
    before = sorted(folder.rglob("*"))
    for place in (folder, folder / "ada"):
        done = run(school, place, "--format", "jsonl")
        assert outcome(json.loads(done.stdout)) == "failed"
        assert (f"{place / '.headway' / 'grades.sqlite'} is ignored" in done.stderr) is (place == folder)
    assert sorted(folder.rglob("*")) == before
    assert not [*(school / "elsewhere").iterdir()]


def test_a_forged_row_is_graded_again_with_a_remark(school, records):
    folder = fill(school / "forged", {"ada.py": KNOWN + "# forged\n"})
    run(school, folder)
    with closing(sqlite3.connect(store_of(school, folder))) as database, database:
        forged = "replace(replace(result, '\"failed\"', '\"passed\"'), '\"score\": 0.', '\"score\": 3.')"
        database.execute(f"UPDATE results SET result = {forged}")
    done = run(school, folder, "--format", "jsonl")
    record = json.loads(done.stdout)
    assert outcome(record) == "failed"
    assert "ada.py: The stored result of" not in run(school, folder).stdout  # by now the row is genuine
    assert "transpose_qkv is damaged or was not written by this grader" in record["remarks"][0]
    assert json.loads(run(school, folder, "--format", "jsonl").stdout)["remarks"] == []


# ---- hostile submissions


def hostile_class(folder: Path) -> Path:
    """Make a folder of hostile submissions of every kind beside two honest ones."""
    for kind in COSTLY:
        fill(folder / kind, {"heads.py": costly(kind)})
        (folder / kind / "heads.ipynb").write_text("{}", "utf-8")
        os.utime(folder / kind / "heads.ipynb", (1, 1))
    for kind, (source, _sentence) in INSIDE.items():
        fill(folder / kind, {"heads.py": source})
    half = {"cells": [{"cell_type": "markdown", "source": "\ud800"}, {"cell_type": "code", "source": KNOWN}]}
    fill(folder / "half", {"heads.ipynb": json.dumps(half)})
    fill(folder / "planted", {"heads.py": KNOWN, "conftest.py": f"open({str(folder / 'ran')!r}, 'w')\n"})
    fill(folder / "reads", {"06_positions/positions.py": READS_THE_ANSWER})
    plant_stores(folder)
    (folder / "linked").symlink_to(folder / "zoe")
    (folder / "linked inside").mkdir()
    (folder / "linked inside" / "04_heads").symlink_to(folder / "zoe")
    for name in PACKED:
        HOSTILE_ARCHIVES[name][0](folder / name)
    return fill(folder, {"ada.py": RIGHT, "zoe/heads.py": RIGHT})


@pytest.fixture(scope="module")
def attacked(tmp_path_factory) -> Path:
    """An instructor's checkout with the two assignments that the hostile class is graded in."""
    root = tmp_path_factory.mktemp("attacked")
    for room in ("assignments", "solutions"):
        for assignment in ("04_heads", "06_positions"):
            shutil.copytree(ROOT / room / assignment, root / room / assignment)
    shutil.copy(ROOT / "assignments" / "headway.toml", root / "assignments")
    (root / "seed").write_text("a seed that only this test knows", "utf-8")
    return root


@pytest.mark.skipif(sys.platform != "linux", reason="measures processes as Linux does")
@pytest.mark.parametrize("tier", CONFINED)
def test_hostile_submissions_leave_their_neighbours_alone(attacked, tier):
    """Every one ends as failed or blocked with a sentence, and no process of the grader needs more than 1 GiB.

    The second call takes its results from the store: they are the same.
    """
    if not report_on(tier).available:
        pytest.skip(f"no {tier} sandbox on this machine")
    folder = hostile_class(attacked / f"hostile in {tier}")
    command = [GRADER, "grade", folder, "--format", "jsonl", "--jobs", "1", "--sandbox", tier]
    for _time in range(2):
        done, used = run_measured(command, cwd=attacked, env=environment(attacked))
        assert "Traceback" not in done.stdout + done.stderr, done.stderr
        assert used.memory <= 1 << 30
        found = {record["submission"]: record for record in lines(done)}
        honest = [found.pop(name) for name in ("ada.py", "zoe/heads.py")]
        assert [outcome(one) for one in honest] == ["passed", "passed"]
        for place, record in found.items():
            failed_with_a_sentence(place, record)
        told_why(found)
    assert not (folder / "ran").exists()


def failed_with_a_sentence(place: str, record: dict) -> None:
    for result in record["exercises"]:
        assert result["outcome"] in ("failed", "blocked"), (place, result["name"])
        assert result["score"] <= result["points"] / 2, (place, result["name"])
        said = [result["message"], *(check["message"] for check in result["checks"])]
        assert any(said) or record["remarks"], (place, result["name"])
    assert record["exercises"] or record["remarks"], place


def told_why(found: dict[str, dict]) -> None:
    """Each hostile file was refused or failed for the reason that is meant for it."""
    sentences = {kind: sentence for kind, (_source, sentence) in (COSTLY | INSIDE).items()}
    for kind, sentence in sentences.items():
        record = found[f"{kind}/heads.py"]
        (result,) = [e for e in record["exercises"] if e["name"] == "transpose_qkv"]
        if sentence or kind in INSIDE:
            assert outcome(record) == ("blocked" if kind in COSTLY else "failed"), kind
        said = [result["message"], *(check["message"] for check in result["checks"])]
        assert any(text and sentence in text for text in said), (kind, said)
    assert outcome(found["half/heads.ipynb"]) == outcome(found["planted/heads.py"]) == "failed"
    read = next(
        e for e in found["reads/06_positions/positions.py"]["exercises"] if e["name"] == "shift_matrix"
    )
    assert (read["outcome"], read["score"]) == ("failed", 0)
    assert not [place for place, record in found.items() if "linked" in place and record["score"]]
    for name in PACKED:
        problems = [
            r for place, remarks in found.items() if place.startswith(name) for r in remarks["remarks"]
        ]
        assert any(HOSTILE_ARCHIVES[name][1] in problem for problem in problems), (name, problems)


@pytest.mark.parametrize("kind", COSTLY)
def test_check_reads_a_costly_file_within_bounds(school, records, kind):
    path = fill(school / "checked" / kind, {"heads.py": costly(kind)}) / "heads.py"
    command = [GRADER, "check", "--file", path, "--course", school / "assignments"]
    done, used = run_measured(command, cwd=school, env=environment(school))
    assert "Traceback" not in done.stdout + done.stderr, done.stderr
    assert done.returncode in (1, 2)
    assert COSTLY[kind][1] in " ".join((done.stdout + done.stderr).split())
    assert used.memory <= 1 << 30
    assert used.seconds <= 60


# ---- killed, and started again


@pytest.mark.skipif(sys.platform != "linux", reason="looks at processes as Linux shows them")
def test_a_killed_run_loses_nothing_and_grades_nothing_twice(school, records):
    folder = fill(school / "slow", {f"s{i}.py": f"{SLOW}# {i}\n" for i in range(4)})
    store = store_of(school, folder)
    command = [str(GRADER), "grade", "slow", "--jobs", "1", "--format", "jsonl"]
    first = subprocess.Popen(
        command, cwd=school, env=environment(school), stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
    )
    deadline = time.monotonic() + HANGS
    while time.monotonic() < deadline and not _rows_so_far(store):
        time.sleep(0.02)
    offspring = psutil.Process(first.pid).children(recursive=True)
    first.send_signal(signal.SIGKILL)
    first.wait()
    kept = _rows_so_far(store)
    assert 1 <= len(kept) < 4
    _gone, alive = psutil.wait_procs(offspring, timeout=60)
    assert not alive
    again = run(school, "slow", "--jobs", 1, "--format", "jsonl")
    assert again.returncode == 0
    assert len(again.stdout.splitlines()) == 4
    finished = rows(store)
    assert set(kept) <= set(finished)
    assert [row[2] for row in finished] == [1] * 4


def _rows_so_far(store: Path) -> list[tuple]:
    if not store.exists():
        return []
    try:
        return rows(store)
    except sqlite3.OperationalError:  # its table is not made yet
        return []


@pytest.mark.skipif(sys.platform != "linux", reason="looks at processes as Linux shows them")
def test_ctrl_c_stops_at_once_and_leaves_nothing(school, records):
    folder = fill(school / "stopped", {f"student{n}.py": f"{SLOW}# {n}\n" for n in range(100)})
    command = [str(GRADER), "grade", folder, "--jobs", "1"]
    running = subprocess.Popen(
        command,
        cwd=school,
        env=environment(school),
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        text=True,
    )
    while not _rows_so_far(store_of(school, folder)):
        time.sleep(0.02)
    offspring = psutil.Process(running.pid).children(recursive=True)
    running.send_signal(signal.SIGINT)
    _out, said = running.communicate(timeout=HANGS)
    assert running.returncode == 130
    assert said.splitlines()[-1] == "stopped"
    assert "Traceback" not in said
    assert len(_rows_so_far(store_of(school, folder))) < 50, "it went on"
    assert not psutil.wait_procs(offspring, timeout=60)[1]


# ---- refusals


@pytest.mark.parametrize(
    ("args", "sentence"),
    [
        (["nowhere"], "nowhere is not there"),
        (["class", "--sandbox", "basic"], "--trusted-submissions"),
        (["class", "--only", "transpose_qvk"], "did you mean transpose_qkv?"),
        (["class", "--since", "yesterday"], "--since takes"),
        (["class", "--store", "seed"], "cannot be used as a store"),
        (["class", "--since", "2999-01-01"], "changed since 2999-01-01"),
        (["cache"], "holds nothing to grade"),
        (["class", "--shard", "1/4"], "--shard needs --store"),
        (["class", "--shard", "4/4", "--store", "new"], "K from 0 to N-1"),
    ],
)
def test_wrong_use_is_one_sentence(school, records, args, sentence):
    done = run(school, *args)
    assert done.returncode == 2
    assert sentence in done.stderr
    assert len(done.stderr.strip().splitlines()) == 1


def test_without_solutions_it_says_so(school, tmp_path):
    shutil.copytree(school / "assignments", tmp_path / "assignments")
    fill(tmp_path / "class", {"ada.py": RIGHT})
    done = subprocess.run(
        [str(GRADER), "grade", "class"], cwd=tmp_path, capture_output=True, text=True, check=False
    )
    assert done.returncode == 2
    assert "only instructors have it" in done.stderr


def test_basic_needs_trusted_submissions_and_is_in_the_result(school, records):
    folder = fill(school / "trusted", {"ada.py": RIGHT})
    done = run(school, folder, "--sandbox", "basic", "--trusted-submissions", "--format", "jsonl")
    assert done.returncode == 0
    assert json.loads(done.stdout)["sandbox"] == "basic"
