"""A submission that searches everywhere for hidden numbers, the seed and the reference finds none of them.

It walks its file system, environment, descriptors, /proc, all Python objects and all of its own memory, and
says what it found. What it finds without a sandbox shows that it can search.
"""

from __future__ import annotations

import ast
import re
import shutil
import sysconfig
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass, replace
from itertools import pairwise
from pathlib import Path
from unittest import mock

import numpy as np
import pytest

from grader.authoring.content import read
from grader.authoring.record import record
from grader.bundle.files import save
from grader.bundle.model import Bundle
from grader.engine.engine import Engine
from grader.engine.grading_options import GradingOptions
from grader.intake.read import Submission, Unit
from grader.report.model import Report
from grader.sandbox.choose import choose, report_on
from grader.sandbox.tiers import CONFINED
from grader.support.stub import BEGIN, END

ROOT = Path(__file__).resolve().parents[2]
SEARCH = Path(__file__).with_name("search.py")
SEED = "a seed that only this test knows, and no worker"
EXERCISE = "masked_softmax"
# The search may take all the time it needs on a busy machine: processor time limits it, not the clock.
AMPLE = {"wall_seconds": 800, "cpu_seconds": 200, "memory_bytes": 3 << 30}
DTYPES = {"<f4": 2, ">f4": 2, "<f8": 1, ">f8": 1}  # values per eight bytes

pytestmark = pytest.mark.timeout(900)


@dataclass(frozen=True)
class Secrets:
    """Make secrets that no attack may find, and a folder with them that every user may read."""

    bundle: Bundle
    folder: Path
    needles: dict[str, bytes]


@pytest.fixture(scope="module")
def secrets() -> Iterator[Secrets]:
    folder = Path(tempfile.mkdtemp(prefix="reach-"))
    folder.chmod(0o755)
    bundle = record(read(ROOT / "solutions" / "02_masking"), SEED, diagnosis=False)
    save(bundle, folder / "hidden" / "02_masking")
    shutil.copytree(ROOT / "solutions" / "02_masking", folder / "solutions" / "02_masking")
    (folder / "seed").write_text(SEED, "utf-8")
    for path in folder.rglob("*"):
        path.chmod(0o755 if path.is_dir() else 0o644)
    yield Secrets(bundle, folder, needles(bundle))
    shutil.rmtree(folder)


def needles(bundle: Bundle) -> dict[str, bytes]:
    """Return the bytes to search for: expected values in each dtype and as text, lines and bytecode of the reference,
    the seed.
    """
    exercise = next(e for e in bundle.exercises if e.name == EXERCISE)
    found = {"planted": b"made by the search itself", "seed": SEED.encode()}
    for case in exercise.cases:
        expected = [case.expected[n] for check in case.checks if check.judge == "equal" for n in check.of]
        pair = next(filter(None, map(distinctive_pair, expected)), None)
        if pair is not None and len(found) < 26:
            found |= {
                f"{case.id} as {dtype}": np.array(pair[:count], dtype).tobytes()
                for dtype, count in DTYPES.items()
            }
            found[f"{case.id} as text"] = repr(pair[0]).encode()
    source = (ROOT / "solutions" / "02_masking" / "masking.py").read_text("utf-8")
    for region in re.findall(f"{BEGIN}\n(.*?){END}", source, re.S):
        found |= {
            f"line {line.strip()[:20]}": line.strip().encode()
            for line in region.splitlines()
            if len(line.strip()) > 30
        }
    for function in ast.parse(source).body:
        if isinstance(function, ast.FunctionDef):
            space: dict[str, object] = {}
            exec("import torch\n" + ast.get_source_segment(source, function), space)
            found[f"bytecode of {function.name}"] = space[function.name].__code__.co_code
    return found


def distinctive_pair(array: np.ndarray) -> tuple[float, float] | None:
    """Return two neighbours in a result that do not occur by chance; None if there are none."""
    flat = array.astype(np.float64).ravel()
    for a, b in pairwise(flat):
        if 0.001 < a < 0.999 and 0.001 < b < 0.999 and a != b and a * 2**30 % 1 and b * 2**30 % 1:
            return float(a), float(b)
    return None


def hostile(secrets: Secrets, roots: list[str]) -> Submission:
    masked = {name: bytes((b + 37) % 256 for b in data).hex() for name, data in secrets.needles.items()}
    named = {name: f"n{number}" for number, name in enumerate(masked)} | {"planted": "planted"}
    source = SEARCH.read_text("utf-8")
    source = source.replace('"@NEEDLES@"', repr({named[name]: text for name, text in masked.items()}))
    return Submission(Path("answer.py"), (Unit("answer.py", source.replace('"@ROOTS@"', repr(roots))),))


def looked(secrets: Secrets, tier: str, roots: list[str]) -> tuple[Report, list[str], dict[str, int]]:
    """Return the report, what the attack found, and how much it read."""
    exercises = tuple(replace(e, limits=AMPLE) for e in secrets.bundle.exercises)
    launcher = choose(tier)
    engine = Engine([replace(secrets.bundle, exercises=exercises)], launcher, GradingOptions(hidden=True))
    try:
        with mock.patch("grader.engine.load_request.SHORT_SECONDS", AMPLE["wall_seconds"]):
            report = engine.grade(hostile(secrets, roots), [EXERCISE])
        assert engine.context.slot._session is not None, report
        said = engine.context.slot._session.printed
    finally:
        engine.close()
        launcher.close()
    names = [*(n for n in secrets.needles)]
    found = re.findall(r"FOUND (\S+) in (.*)", said)
    walks = re.findall(r"WALKED (\{.*\})", said)
    assert walks, said[-2000:]
    assert "STOPPED" not in said, said[-2000:]
    named = [f"{n if n == 'planted' else names[int(n[1:])]} in {place}" for n, place in found]
    return report, named, ast.literal_eval(walks[-1])


@pytest.fixture(params=CONFINED)
def fence(request) -> str:
    if not report_on(request.param).available:
        pytest.skip(f"no {request.param} sandbox on this machine")
    return request.param


# Under landlock no folder with answers can be listed, so the short search reads Python's library too.
@pytest.mark.parametrize(
    ("beside", "least"),
    [([sysconfig.get_path("stdlib")], 300), (["/"], 1000)],
    ids=["where answers are", "everywhere"],
)
def test_nothing_of_an_answer_is_reachable(secrets, fence, beside, least, monkeypatch):
    monkeypatch.setenv("HEADWAY_SEED_FILE", str(secrets.folder / "seed"))
    monkeypatch.setenv("HEADWAY_SEED", SEED)
    report, found, walked = looked(secrets, fence, [*beside, str(secrets.folder), str(ROOT)])
    assert {place.partition(" in ")[2] for place in found if place.startswith("planted")} == {
        "objects",
        "memory",
    }
    assert [place for place in found if not place.startswith("planted")] == []
    assert walked["files"] > least and walked["objects"] > 10_000 and walked["memory"] > 10 << 20, walked
    assert (report.exercises[0].outcome, "FOUND" in str(report)) == ("failed", False)


def test_it_can_look_where_nothing_is_in_its_way(secrets):
    _report, found, _walked = looked(secrets, "basic", [str(secrets.folder)])
    places = {what.partition(" in ")[0] for what in found if " in file " in what}
    lines = {name for name in secrets.needles if name.startswith("line")}
    numbers = {name for name in secrets.needles if name.endswith(("<f8", "<f4"))}
    assert lines <= places
    assert "seed" in places
    assert numbers & places


def test_the_search_finds_answers_that_a_request_holds(secrets, fence, monkeypatch):
    """Break the guard: send the expected values and the lines of the reference to the worker."""
    import grader.engine.worker_slot as slot

    request = slot.case_message

    def with_answers(load, case):
        lines = [data.decode() for name, data in secrets.needles.items() if name.startswith("line")]
        numbers = {name: array.tolist() for name, array in case.expected.items()}
        return {**request(load, case), "expected": numbers, "reference": lines}

    monkeypatch.setattr(slot, "case_message", with_answers)
    _report, found, _walked = looked(secrets, fence, [])
    places = {what.partition(" in ")[0] for what in found}
    assert {name for name in secrets.needles if name.startswith("line")} <= places
    assert {name for name in secrets.needles if name.endswith(("<f8", "as text"))} & places
