"""Every attack in every tier of this machine: never a pass, no trace, and the next student is unharmed.

An attack never makes an exercise *could not be graded* either: that costs no points, so it would be a way
to have an exercise that one cannot do taken out of the sum. What a worker says of its own breakdown is
believed only if a worker without the submission breaks down as well.
"""

from __future__ import annotations

import io
import json
import time
from xml.etree import ElementTree

import pytest
from attacks.conftest import LITTLE, processes, settled
from attacks.suite import Attack
from attacks.table import ATTACKS, FAMILIES
from helpers.lanes import first_of_each
from rich.console import Console

from grader.intake.read import Blocked
from grader.report.formats import FORMATS
from grader.report.terminal import show

FAMILY_OF = {attack.id: family for family, attacks in FAMILIES.items() for attack in attacks}


def test_the_suite_is_as_large_as_it_claims():
    assert len(ATTACKS) >= 90
    assert len(FAMILIES) == 6
    assert all(attack.tries and attack.success for attack in ATTACKS.values())


@pytest.mark.parametrize("attack", first_of_each(ATTACKS.values(), lambda a: FAMILY_OF[a.id], lambda a: a.id))
def test_an_attack_gains_nothing_and_harms_nobody(attack: Attack, fenced, monkeypatch):
    with monkeypatch.context() as little:
        if attack.exhausts:
            little.setattr("grader.engine.load_request.limits", lambda exercise: LITTLE)
        started = time.monotonic()
        result, refusal = None, ""
        try:
            result = fenced.grade(attack)
        except Blocked as refused:
            refusal = str(refused)
        assert refusal.isprintable()
        if result is not None:
            assert result.outcome in ("failed", "blocked"), (result.outcome, result.message)
            assert (result.score or 0) <= result.points / 2, (
                "what is not passed gets no more than what it did right"
            )
            shown_harmlessly(fenced.engine.report([result]))
        assert time.monotonic() - started < 240  # it ends by itself, also beside other work
    fenced.engine.close()
    assert fenced.targets.touched() == []
    honest = fenced.grade_honest()
    assert (honest.outcome, honest.score) == ("passed", honest.points), honest.message
    fenced.engine.close()
    assert settled(fenced.processes), f"{processes()} processes are left"


@pytest.mark.parametrize(
    "attack",
    first_of_each((a for a in ATTACKS.values() if a.control), lambda a: FAMILY_OF[a.id], lambda a: a.id),
)
def test_the_attack_is_one_and_works_where_nothing_is_in_its_way(attack: Attack, unfenced):
    result = unfenced.grade(attack)
    touched = unfenced.targets.touched()
    assert result.outcome == "passed" or touched, "it shows nothing if it fails everywhere"
    if "file is" in attack.success or "connection" in attack.success:
        assert touched or "read" in attack.success or attack.id == "read-file"
    unfenced.engine.close()
    if attack.id == "daemon":
        assert within(60, lambda: unfenced.targets.touched() == ["daemon is in the folder"]), (
            "it outlived its grader"
        )


def test_the_next_student_is_unharmed_in_the_weakest_tier_too(unfenced):
    honest = unfenced.grade_honest()
    unfenced.engine.close()
    assert (honest.outcome, honest.score) == ("passed", honest.points)


def shown_harmlessly(report) -> None:
    """No form of the report holds a command to a terminal, and each is of its own kind."""
    json.loads(FORMATS["json"](report).encode())
    ElementTree.fromstring(FORMATS["junit"](report).encode())
    page = FORMATS["html"](report)
    assert not [
        tag for tag in ("<script", "<img", "<b>", "onerror=alert(1)>") if tag in page.partition("</style>")[2]
    ]
    commands = [line for line in FORMATS["github"](report).splitlines() if line.startswith(("::", "##"))]
    assert len(commands) <= 1 and all(line.startswith("::error file=") for line in commands)
    assert len([line for line in FORMATS["markdown"](report).splitlines() if line.startswith("|")]) == 3
    out = io.StringIO()
    show(report, Console(file=out, width=100, color_system=None, force_terminal=False), full=True)
    text = out.getvalue()
    text.encode()
    assert not [c for c in text if not c.isprintable() and c not in "\n\t"]
    assert not set("\u202e\u2066\u2069") & set(text)


def within(seconds: float, holds) -> bool:
    deadline = time.monotonic() + seconds
    while not holds():
        if time.monotonic() > deadline:
            return False
        time.sleep(0.02)
    return True
