"""A submission that searches everywhere for hidden values, the seed and the reference finds none of them.

The submission is `search.py`. It searches its file system, environment, descriptors, /proc, all Python
objects and its own writable memory, and prints what it found. In the tier `basic` it finds answers, which
shows that the search works.
"""

import ast
import re
import shutil
import sysconfig
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from unittest import mock

import numpy as np
import pytest
from attacks.conftest import TIERS_HERE
from helpers.command_line import ROOT
from helpers.minimal import submission_of
from msgspec import structs

from grader.authoring.content import read
from grader.authoring.record import record
from grader.bundle.files import save
from grader.bundle.model import Bundle
from grader.engine.engine import Engine
from grader.engine.grading import HIDDEN, GradingOptions
from grader.engine.session import Session
from grader.intake.read import Submission
from grader.report.model import Report
from grader.sandbox.base import AUTO
from grader.sandbox.choose import choose
from grader.support.code import BEGIN, END

SEARCH = Path(__file__).with_name("search.py")
SEED = "a seed that only this test uses, and no worker"
EXERCISE = "masked_softmax"
# The search may take long on a busy machine, so the limit of processor time is the one that stops it.
LARGE_LIMITS = {"wall_seconds": 800, "cpu_seconds": 200, "memory_bytes": 3 << 30}
DTYPES = {"<f4": 2, ">f4": 2, "<f8": 1, ">f8": 1}  # dtype → the number of values in a needle of eight bytes

pytestmark = pytest.mark.timeout(900)


@dataclass(frozen=True)
class Secrets:
    """Hidden cases, a folder with answers and seed that every user may read, and the bytes to search for."""

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
    """Return the bytes to search for, by name.

    They are expected values in several dtypes and as text, the seed, lines and bytecode of the reference
    solution, and `planted`, which the search makes itself.
    """
    exercise = next(e for e in bundle.exercises if e.name == EXERCISE)
    found = {"planted": b"made by the search itself", "seed": SEED.encode()}
    for case in exercise.cases:
        expected = [case.expected[n] for check in case.checks if check.judge == "equal" for n in check.of]
        pair = next(filter(None, map(distinctive_pair, expected)), None)
        if pair is not None and len(found) < 26:  # two needles, and five for each of five cases
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
    """Return two neighbouring values that hardly occur elsewhere by chance; None if there are none.

    They are between 0 and 1, differ, and are no multiples of 2**-30, as 0.5 and other common values are.
    """
    flat = array.astype(np.float64).ravel()
    for a, b in pairwise(flat):
        if 0.001 < a < 0.999 and 0.001 < b < 0.999 and a != b and a * 2**30 % 1 and b * 2**30 % 1:
            return float(a), float(b)
    return None


def hostile(secrets: Secrets, roots: list[str]) -> Submission:
    """Return `search.py` with short names for the needles (n0, n1, ... and planted), shifted as its SHIFT does."""
    shifted = {name: bytes((b + 37) % 256 for b in data).hex() for name, data in secrets.needles.items()}
    short = {name: f"n{number}" for number, name in enumerate(shifted)} | {"planted": "planted"}
    source = SEARCH.read_text("utf-8")
    source = source.replace('"@NEEDLES@"', repr({short[name]: text for name, text in shifted.items()}))
    return submission_of(source.replace('"@ROOTS@"', repr(roots)))


def search(secrets: Secrets, tier: str, roots: list[str]) -> tuple[Report, list[str], dict[str, int]]:
    """Grade the search. Return the report, the findings ("needle in place"), and how much was read."""
    exercises = tuple(structs.replace(e, limits=LARGE_LIMITS) for e in secrets.bundle.exercises)
    launcher = choose(tier)
    engine = Engine(
        [structs.replace(secrets.bundle, exercises=exercises)], launcher, GradingOptions(terms=HIDDEN)
    )
    try:
        with mock.patch("grader.engine.load_request.SHORT_SECONDS", LARGE_LIMITS["wall_seconds"]):
            report = engine.grade(hostile(secrets, roots), [EXERCISE])
        assert engine.context.workers.held is not None, report
        printed = engine.context.workers.held.session.printed
    finally:
        engine.close()
        launcher.close()
    walks = re.findall(r"WALKED (\{.*\})", printed)
    assert walks, printed[-2000:]
    assert "STOPPED" not in printed, printed[-2000:]
    names = {f"n{number}": name for number, name in enumerate(secrets.needles)} | {"planted": "planted"}
    found = [f"{names[short]} in {place}" for short, place in re.findall(r"FOUND (\S+) in (.*)", printed)]
    return report, found, ast.literal_eval(walks[-1])


# In landlock no folder with answers can be listed. So that the short search reads some files, it also gets the
# folder of Python's standard library.
STDLIB = sysconfig.get_path("stdlib")
SEARCHES = [pytest.param(tier, ["/"], 1000, id=f"{tier}-everywhere") for tier in TIERS_HERE[:1]]
SEARCHES += [pytest.param(tier, [STDLIB], 300, id=f"{tier}-where answers are") for tier in TIERS_HERE[1:]]


@pytest.mark.slow
@pytest.mark.parametrize(("tier", "also", "least_files"), SEARCHES)
def test_no_part_of_an_answer_is_reachable(secrets, tier, also, least_files, monkeypatch):
    monkeypatch.setenv("HEADWAY_SEED_FILE", str(secrets.folder / "seed"))
    monkeypatch.setenv("HEADWAY_SEED", SEED)
    report, found, walked = search(secrets, tier, [*also, str(secrets.folder), str(ROOT)])
    planted = [finding for finding in found if finding.startswith("planted")]
    assert {finding.partition(" in ")[2] for finding in planted} == {"objects", "memory"}
    assert found == planted
    assert walked["files"] > least_files and walked["objects"] > 10_000 and walked["memory"] > 10 << 20, (
        walked
    )
    assert (report.exercises[0].outcome, "FOUND" in str(report)) == ("failed", False)


@pytest.mark.slow
def test_the_search_finds_answers_in_the_basic_tier(secrets):
    _report, found, _walked = search(secrets, "basic", [str(secrets.folder)])
    found_names = {finding.partition(" in ")[0] for finding in found if " in file " in finding}
    lines = {name for name in secrets.needles if name.startswith("line")}
    values = {name for name in secrets.needles if name.endswith(("<f8", "<f4"))}
    assert lines <= found_names
    assert "seed" in found_names
    assert values & found_names


@pytest.mark.slow
def test_the_search_finds_answers_that_a_request_contains(secrets, monkeypatch):
    """Send the expected values and the lines of the reference solution to the worker."""
    ask = Session.ask
    lines = [data.decode() for name, data in secrets.needles.items() if name.startswith("line")]
    expected = [
        {name: array.tolist() for name, array in case.expected.items()}
        for case in secrets.bundle.exercise(EXERCISE).cases
    ]

    def with_answers(session, message, *rest):
        if message["op"] in ("run", "run_all"):
            message = {**message, "expected": expected, "reference": lines}
        return ask(session, message, *rest)

    monkeypatch.setattr(Session, "ask", with_answers)
    _report, found, _walked = search(secrets, AUTO, [])
    found_names = {finding.partition(" in ")[0] for finding in found}
    assert {name for name in secrets.needles if name.startswith("line")} <= found_names
    assert {name for name in secrets.needles if name.endswith(("<f8", "as text"))} & found_names
