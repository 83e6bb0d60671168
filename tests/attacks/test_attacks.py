"""Where a worker is confined, an attack does not pass, leaves no trace and does not harm the next submission.

It does not make an exercise *could not be graded* either: that would leave out of the sum an exercise that the student
cannot solve. The controls also run in `basic`, where they must succeed.
"""

import io
import json
import os
import time
from xml.etree import ElementTree

import pytest
from attacks.conftest import LITTLE, TIERS_HERE, processes
from attacks.suite import Attack
from attacks.table import ATTACKS, FAMILIES
from helpers.lanes import first_of_each
from helpers.waiting import within
from rich.console import Console

from grader.intake.read import Blocked
from grader.report.formats import written
from grader.report.terminal import show

FAMILY_OF = {attack.id: family for family, attacks in FAMILIES.items() for attack in attacks}
CONTROLS = [attack for attack in ATTACKS.values() if attack.control]
EVERY_TIER = [attack for attack in ATTACKS.values() if attack.control or attack.every_tier]
# Where attacks must fail: all in the strongest tier, those that depend on the tier in the others.
RUNS = [(tier, attack) for tier in TIERS_HERE[:1] for attack in ATTACKS.values()]
RUNS += [(tier, attack) for tier in TIERS_HERE[1:] for attack in EVERY_TIER]
RUNS += [("basic", attack) for attack in EVERY_TIER if not attack.control]


def test_the_suite_has_at_least_286_attacks_of_6_families():
    assert len(ATTACKS) >= 286
    assert len(FAMILIES) == 6
    assert len(EVERY_TIER) >= 40
    assert all(attack.tries and attack.success for attack in ATTACKS.values())


def test_the_strongest_tier_is_strict_in_ci():
    assert TIERS_HERE[:1] == ["strict"] or not os.environ.get("CI")


@pytest.mark.parametrize(
    ("under_test", "attack"),
    [
        pytest.param(*run.values[0], id=run.id, marks=run.marks)
        for run in first_of_each(
            RUNS, key=lambda run: FAMILY_OF[run[1].id], name=lambda run: f"{run[0]}-{run[1].id}"
        )
    ],
    indirect=["under_test"],
)
def test_an_attack_gains_nothing_and_harms_nothing(under_test, attack: Attack, monkeypatch):
    with monkeypatch.context() as little:
        if attack.exhausts:
            little.setattr("grader.engine.load_request.limits", lambda exercise: LITTLE)
        started = time.monotonic()
        result, refusal = None, ""
        try:
            result = under_test.grade(attack)
        except Blocked as refused:
            refusal = str(refused)
        assert refusal.isprintable()
        if result is not None:
            assert result.outcome in ("failed", "blocked"), (result.outcome, result.message)
            assert (result.score or 0) <= result.points / 2, (
                "an answer that does not pass gets at most half of the points"
            )
            check_formats(under_test.engine.report([result]))
        assert time.monotonic() - started < 240  # seconds, enough for a busy machine
    under_test.engine.close()
    assert under_test.targets.touched() == []
    if (
        under_test.engine.launcher.tier != "basic"
    ):  # there, one honest answer after all: a start takes a second
        honest = under_test.grade_honest()
        assert (honest.outcome, honest.score) == ("passed", honest.points), honest.message
        under_test.engine.close()
    assert within(60, lambda: processes() <= under_test.allowed_processes), f"{processes()} are left"


@pytest.mark.parametrize("under_test", ["basic"], indirect=True)
@pytest.mark.parametrize(
    "attack",
    first_of_each(CONTROLS, key=lambda a: FAMILY_OF[a.id], name=lambda a: a.id),
)
def test_a_control_attack_succeeds_in_the_basic_tier(attack: Attack, under_test):
    """The attack passes or leaves a trace, so its failure in the other tiers shows that they work."""
    result = under_test.grade(attack)
    touched = under_test.targets.touched()
    assert result.outcome == "passed" or touched, "an attack that fails in every tier shows nothing"
    # These attacks leave a trace, except if they only read.
    if "file is" in attack.success or "connection" in attack.success:
        assert touched or "read" in attack.success
    under_test.engine.close()
    if attack.id == "daemon":
        wrote = ["daemon is in the folder"]  # on a slow machine before the grading ended
        assert touched == wrote or within(60, lambda: under_test.targets.touched() == wrote), (
            "the daemon ended with its grader"
        )


@pytest.mark.parametrize("under_test", ["basic"], indirect=True)
def test_an_honest_answer_passes_in_basic_after_the_attacks(under_test):
    """The control attacks run first if one process runs the whole file."""
    honest = under_test.grade_honest()
    under_test.engine.close()
    assert (honest.outcome, honest.score) == ("passed", honest.points)


def check_formats(report) -> None:
    """Assert that the report is well-formed in each format, without markup or control sequences."""
    json.loads(written("json", report).encode())
    ElementTree.fromstring(written("junit", report).encode())
    page = written("html", report)
    assert not [
        tag for tag in ("<script", "<img", "<b>", "onerror=alert(1)>") if tag in page.partition("</style>")[2]
    ]
    commands = [line for line in written("github", report).splitlines() if line.startswith(("::", "##"))]
    assert len(commands) <= 1 and all(line.startswith("::error file=") for line in commands)
    rows = [line for line in written("markdown", report).splitlines() if line.startswith("|")]
    assert len(rows) == 3  # the head of the table, the line below it, and the exercise
    out = io.StringIO()
    show(report, Console(file=out, width=100, color_system=None, force_terminal=False), full=True)
    text = out.getvalue()
    text.encode()
    assert not [c for c in text if not c.isprintable() and c not in "\n\t"]
    assert not set("\u202e\u2066\u2069") & set(text)
